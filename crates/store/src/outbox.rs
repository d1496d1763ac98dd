//! The outbox: calls that are sent after the commit of the run that made them.
//!
//! A call is written in the transaction of its run, so that it is sent if and only if the run is committed. A sender
//! takes it under a lease and a number that grows with every sender ([`Taken`]): one that was too slow finds its number
//! out of date, and what it says is not written down. Calls of one lane are sent one after the other, across runs; a
//! call that a person must look at keeps those behind it waiting. What is sent is what the run's sealed record says.

use std::sync::Arc;
use std::time::Duration;

use ordain_types::{Call, RunId, RunRecord, TakenBack};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::Answer;
use crate::bookkeeping::own;
use crate::error::StoreError;
use crate::ledger::{EntryNote, NewEntry};
use crate::runs;
use crate::session::{Intent, Session};
use crate::sql::{Datum, Sql};
use crate::store::{Inner, Store};

/// How often a call is tried before a person must look at it.
const TRIES_MAX: i64 = 8;
/// The first pause after a failed try; each is twice the one before.
const PAUSE_MS: i64 = 1_000;
/// The longest pause.
const PAUSE_MS_MAX: i64 = 300_000;
/// No pause and no lease ends later than this from now.
const AHEAD_MS_MAX: i64 = 2 * 3_600_000;
/// The longest text of an error that is kept.
const ERROR_CHARS_MAX: usize = 500;

/// Where a call stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutboxState {
    /// It waits for its turn, or for another try.
    Queued,
    /// A process is sending it.
    Sending,
    /// It arrived.
    Sent,
    /// It may have arrived: no answer came. It is tried again under the same key.
    Unknown,
    /// It failed too often, or for good. A person decides, and calls behind it wait.
    Dead,
    /// It is not sent any more.
    Cancelled,
}

ordain_types::names!(OutboxState, as_str {
    Queued = "queued", Sending = "sending", Sent = "sent", Unknown = "unknown", Dead = "dead",
    Cancelled = "cancelled",
});

/// A call in the outbox.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outgoing {
    /// The key under which it is sent: the run's id and the call's place in it.
    pub key: String,
    /// The run that made it.
    pub run_id: RunId,
    /// Its place in the run.
    pub n: u32,
    /// Who carries it.
    pub kind: String,
    /// What is called.
    pub name: String,
    /// Calls with the same one follow one another.
    pub lane: String,
    /// Where it stands.
    pub state: OutboxState,
    /// How often it was tried.
    pub attempts: u64,
    /// When it is tried next, in milliseconds since 1970.
    pub next_try_ms: u64,
    /// Why the last try failed.
    pub error: Option<String>,
    /// What it gave.
    pub result: Option<Value>,
    /// When this was last written.
    pub updated_at: String,
}

/// A call that its holder may send, until the lease ends.
#[derive(Debug, Clone)]
pub struct Taken {
    /// The call, as the run's sealed record has it.
    pub call: Call,
    /// The key under which it is sent.
    pub key: String,
    /// Grows with every sender of the call.
    fence: i64,
}

/// What became of a try.
#[derive(Debug, Clone, PartialEq)]
pub enum SendOutcome {
    /// It arrived and gave this.
    Sent(Value),
    /// It did not arrive; another try may.
    Failed(String),
    /// It was refused; another try would be refused too.
    Refused(String),
    /// No answer came.
    Unknown(String),
}

impl Store {
    /// Calls of a run, or all that are not done, oldest first.
    pub fn outbox<'a>(&'a self, run: Option<&'a RunId>, limit: u64) -> Answer<'a, Vec<Outgoing>> {
        Box::pin(async move {
            let mut session = self.inner().pool.session().await?;
            let mut sql = select(&mut session);
            match run {
                Some(run) => sql.push(" WHERE run_id = ").text_param(run.as_str()),
                None => sql.push(" WHERE state NOT IN ('sent', 'cancelled')"),
            };
            sql.push(" ORDER BY seq LIMIT ").integer_param(i64::try_from(limit).unwrap_or(i64::MAX));
            Ok(session.read(sql).await?.iter().filter_map(|row| outgoing(row)).collect())
        })
    }

    /// Takes the next call that may be sent now, for as long as the lease lasts.
    pub fn take_call(&self, lease: Duration) -> Answer<'_, Option<Taken>> {
        Box::pin(take(self.inner(), lease))
    }

    /// Writes down what became of a try. `false` if somebody else holds the call by now; then nothing is written.
    pub fn settle_call<'a>(&'a self, taken: &'a Taken, outcome: SendOutcome) -> Answer<'a, bool> {
        Box::pin(settle(self.inner(), taken, outcome))
    }

    /// When a call may be sent next, in milliseconds since 1970; `None` if none waits but behind a dead one.
    pub fn next_call_ms(&self) -> Answer<'_, Option<u64>> {
        Box::pin(async move {
            let mut session = self.inner().pool.session().await?;
            let sql = ready(&mut session, None);
            let rows = session.read(sql).await?;
            let latest = u64::try_from(millis(self.inner()).saturating_add(AHEAD_MS_MAX)).unwrap_or_default();
            Ok(rows
                .iter()
                .filter_map(|row| u64::try_from(row[1].as_integer()?).ok())
                .min()
                .map(|at| at.min(latest)))
        })
    }

    /// Has the calls of a run that may have arrived tried again now; whether there are any.
    pub fn hurry_unknown<'a>(&'a self, run: &'a RunId) -> Answer<'a, bool> {
        Box::pin(async move {
            let mut session = self.inner().pool.begin(Intent::Own).await?;
            let outbox = own(session.dialect(), "outbox");
            let mut sql = session
                .sql(&format!("UPDATE {outbox} SET next_try_ms = 0 WHERE state = 'unknown' AND run_id = "));
            sql.text_param(run.as_str()).push(" RETURNING key");
            let found = !session.write(sql).await?.is_empty();
            session.commit().await?;
            Ok(found)
        })
    }

    /// A person has a call tried again.
    pub fn retry_call<'a>(&'a self, key: &'a str, note: EntryNote) -> Answer<'a, Outgoing> {
        Box::pin(decide(self.inner(), key, OutboxState::Queued, note))
    }

    /// A person gives a call up.
    pub fn drop_call<'a>(&'a self, key: &'a str, note: EntryNote) -> Answer<'a, Outgoing> {
        Box::pin(decide(self.inner(), key, OutboxState::Cancelled, note))
    }
}

/// Puts the calls of a record that wait for the commit into the outbox, in the open transaction: those from a place on.
pub(crate) async fn put(
    session: &mut Session,
    record: &RunRecord,
    after: usize,
    now: &str,
) -> Result<(), StoreError> {
    let later: Vec<&Call> = record.calls.iter().skip(after).filter(|call| call.is_later()).collect();
    if later.is_empty() {
        return Ok(());
    }
    let outbox = own(session.dialect(), "outbox");
    let mut sql = session.sql("SELECT ");
    sql.result("coalesce(max(seq), 0)").push(&format!(" FROM {outbox}"));
    session.order().await?;
    let rows = session.read_newest(sql).await?;
    let last = rows.first().and_then(|row| row[0].as_integer()).unwrap_or_default();
    let mut sql = session.sql(&format!(
        "INSERT INTO {outbox} (key, seq, run_id, n, kind, name, lane, state, attempts, next_try_ms, fence, updated_at) \
         VALUES "
    ));
    let numbered: Vec<(i64, &Call)> = (last + 1..).zip(later).collect();
    sql.list(", ", &numbered, |sql, (seq, call)| {
        sql.push("(").text_param(&key(&record.run_id, call.n)).push(", ").integer_param(*seq).push(", ");
        sql.text_param(record.run_id.as_str()).push(", ").integer_param(i64::from(call.n));
        for text in [&call.kind, &call.name, &call.lane] {
            sql.push(", ").text_param(text);
        }
        sql.push(", 'queued', 0, 0, 0, ").text_param(now).push(")");
    });
    session.write(sql).await.map(drop)
}

/// Takes the calls of a run back, in the open transaction: what was not sent is cancelled, for what was sent the record
/// gets a call that takes it back, if there is one. The new calls are put into the outbox.
pub(crate) async fn take_back(
    session: &mut Session,
    record: &mut RunRecord,
    now: &str,
) -> Result<(), StoreError> {
    let before = record.calls.len();
    if !record.calls.iter().any(Call::is_later) {
        return Ok(());
    }
    let mut sql = select(session);
    sql.push(" WHERE run_id = ").text_param(record.run_id.as_str());
    let states: Vec<Outgoing> = session.read(sql).await?.iter().filter_map(|row| outgoing(row)).collect();
    for place in 0..before {
        let call = record.calls[place].clone();
        let Some(there) = states.iter().find(|there| there.n == call.n) else { continue };
        let became = match there.state {
            // What may have arrived is asked about first, so that what arrived is taken back.
            OutboxState::Sending | OutboxState::Unknown => {
                return Err(StoreError::CallUnderWay { key: there.key.clone() });
            }
            OutboxState::Cancelled => TakenBack::Cancelled,
            OutboxState::Queued | OutboxState::Dead => {
                write_state(session, &there.key, OutboxState::Cancelled, now).await?;
                TakenBack::Cancelled
            }
            OutboxState::Sent => {
                let n = u32::try_from(record.calls.len() + 1).unwrap_or(u32::MAX);
                let back = call.compensation(n, there.result.as_ref().unwrap_or(&Value::Null));
                let became = if back.is_some() { TakenBack::Compensated } else { TakenBack::Final };
                record.calls.extend(back);
                became
            }
        };
        record.calls[place].taken_back = Some(became);
    }
    put(session, record, before, now).await
}

/// The first call of each lane that is not done, if it may be sent by `now`; of any time if that is not given.
fn ready(session: &mut Session, now: Option<i64>) -> Sql {
    let outbox = own(session.dialect(), "outbox");
    let mut sql = session.sql("SELECT key, ");
    sql.result("CASE WHEN state = 'sending' THEN lease_until_ms ELSE next_try_ms END");
    sql.push(&format!(
        " FROM {outbox} AS one WHERE state IN ('queued', 'unknown', 'sending') AND NOT EXISTS (SELECT 1 FROM {outbox} \
         AS other WHERE other.lane = one.lane AND other.seq < one.seq AND other.state NOT IN ('sent', 'cancelled'))"
    ));
    if let Some(now) = now {
        // A time further ahead than any pause was written by a clock that was wrong: it counts as now.
        let time = "CASE WHEN state = 'sending' THEN lease_until_ms ELSE next_try_ms END";
        sql.push(" AND (").push(time).push(" <= ").integer_param(now);
        sql.push(" OR ").push(time).push(" > ").integer_param(now.saturating_add(AHEAD_MS_MAX));
        sql.push(") ORDER BY seq LIMIT 1");
    }
    sql
}

async fn take(store: &Arc<Inner>, lease: Duration) -> Result<Option<Taken>, StoreError> {
    let now = millis(store);
    // Looking needs no turn among the writers; most looks find nothing.
    let mut session = store.pool.session().await?;
    let sql = ready(&mut session, Some(now));
    if session.read(sql).await?.is_empty() {
        return Ok(None);
    }
    drop(session);
    let mut session = store.pool.begin(Intent::Own).await?;
    let sql = ready(&mut session, Some(now));
    let rows = session.read(sql).await?;
    let Some(key) = rows.first().and_then(|row| row[0].as_text()).map(str::to_owned) else {
        session.roll_back().await?;
        return Ok(None);
    };
    let outbox = own(session.dialect(), "outbox");
    let until = now.saturating_add(i64::try_from(lease.as_millis()).unwrap_or(i64::MAX));
    let mut sql = session.sql(&format!(
        "UPDATE {outbox} SET state = 'sending', attempts = attempts + 1, fence = fence + 1, lease_until_ms = "
    ));
    sql.integer_param(until).push(", updated_at = ").text_param(&store.clock.timestamp());
    sql.push(" WHERE key = ").text_param(&key).push(" RETURNING ").result("fence");
    let fence = session.write(sql).await?.first().and_then(|row| row[0].as_integer()).unwrap_or_default();
    let call = match sealed_call(store, &mut session, &key).await? {
        Ok(call) => call,
        Err(message) => {
            // A call that was written into the database by hand is not sent; other lanes go on.
            let mut sql = session.sql(&format!("UPDATE {outbox} SET state = 'dead', error = "));
            sql.text_param(&message).push(" WHERE key = ").text_param(&key);
            session.write(sql).await?;
            session.commit().await?;
            return Box::pin(take(store, lease)).await;
        }
    };
    session.commit().await?;
    Ok(Some(Taken { call, key, fence }))
}

/// The call as the run's record has it, which is held against the ledger; or why it is not believed.
async fn sealed_call(
    store: &Arc<Inner>,
    session: &mut Session,
    key: &str,
) -> Result<Result<Call, String>, StoreError> {
    let (run, n) = key.rsplit_once(':').unwrap_or_default();
    match runs::find(&store.ledger, session, run).await {
        Ok(record) => {
            let call = record.calls.into_iter().find(|call| call.is_later() && call.n.to_string() == n);
            Ok(call.ok_or_else(|| "the run made no such call".to_owned()))
        }
        Err(StoreError::Ledger { message, .. }) => Ok(Err(message)),
        Err(StoreError::UnknownRun { .. }) => Ok(Err("there is no such run".to_owned())),
        Err(other) => Err(other),
    }
}

async fn settle(store: &Arc<Inner>, taken: &Taken, outcome: SendOutcome) -> Result<bool, StoreError> {
    let mut session = store.pool.begin(Intent::Own).await?;
    let Some(there) = held(&mut session, taken).await? else {
        session.roll_back().await?;
        return Ok(false);
    };
    let attempts = i64::try_from(there.attempts).unwrap_or(i64::MAX);
    let is_last = attempts >= TRIES_MAX;
    let (state, error, result) = match outcome {
        SendOutcome::Sent(result) => (OutboxState::Sent, None, Some(result)),
        SendOutcome::Refused(error) => (OutboxState::Dead, Some(error), None),
        SendOutcome::Failed(error) | SendOutcome::Unknown(error) if is_last => {
            (OutboxState::Dead, Some(error), None)
        }
        SendOutcome::Failed(error) => (OutboxState::Queued, Some(error), None),
        SendOutcome::Unknown(error) => (OutboxState::Unknown, Some(error), None),
    };
    let error = error.map(|error| error.chars().take(ERROR_CHARS_MAX).collect::<String>());
    let pause = PAUSE_MS.saturating_mul(1 << (attempts - 1).clamp(0, 20)).min(PAUSE_MS_MAX);
    let outbox = own(session.dialect(), "outbox");
    let mut sql = session.sql(&format!("UPDATE {outbox} SET state = "));
    sql.text_param(state.as_str()).push(", next_try_ms = ");
    sql.integer_param(millis(store).saturating_add(pause)).push(", error = ");
    sql.bind(error.clone().map_or(Datum::Null, Datum::Text), "text").push(", result = ");
    let text = result.as_ref().map(ToString::to_string);
    sql.bind(text.map_or(Datum::Null, Datum::Text), "text");
    sql.push(", updated_at = ").text_param(&store.clock.timestamp());
    sql.push(" WHERE key = ").text_param(&taken.key);
    session.write(sql).await?;
    if !matches!(state, OutboxState::Sent | OutboxState::Dead) {
        session.commit().await?;
        return Ok(true);
    }
    let content = json!({ "call": taken.key, "name": taken.call.name, "state": state, "result": result, "error": error });
    note(store, session, &taken.key, content, EntryNote::by("ordain", "outbox")).await?;
    Ok(true)
}

/// The call as it stands, if it is still the holder's.
async fn held(session: &mut Session, taken: &Taken) -> Result<Option<Outgoing>, StoreError> {
    let mut sql = select(session);
    sql.push(" WHERE state = 'sending' AND key = ").text_param(&taken.key);
    sql.push(" AND fence = ").integer_param(taken.fence);
    Ok(session.read(sql).await?.first().and_then(|row| outgoing(row)))
}

async fn decide(
    store: &Arc<Inner>,
    key: &str,
    to: OutboxState,
    by: EntryNote,
) -> Result<Outgoing, StoreError> {
    let mut session = store.pool.begin(Intent::Own).await?;
    let mut sql = select(&mut session);
    sql.push(" WHERE key = ").text_param(key);
    let unknown = || StoreError::UnknownCall { key: crate::relation::shortened(key) };
    let mut there = session.read(sql).await?.first().and_then(|row| outgoing(row)).ok_or_else(unknown)?;
    match there.state {
        OutboxState::Queued | OutboxState::Unknown | OutboxState::Dead => {}
        OutboxState::Sending => return Err(StoreError::CallUnderWay { key: there.key }),
        OutboxState::Sent | OutboxState::Cancelled => {
            return Err(StoreError::CallDone { key: there.key, state: there.state.as_str() });
        }
    }
    let outbox = own(session.dialect(), "outbox");
    let mut sql = session.sql(&format!("UPDATE {outbox} SET attempts = 0, next_try_ms = 0, state = "));
    sql.text_param(to.as_str()).push(", updated_at = ").text_param(&store.clock.timestamp());
    sql.push(" WHERE key = ").text_param(key);
    session.write(sql).await?;
    let content = json!({ "call": there.key, "name": there.name, "from": there.state, "state": to });
    there.state = to;
    note(store, session, key, content, by).await?;
    Ok(there)
}

/// Commits with an entry in the ledger. It names no run: a run's newest entry is the one with its record.
async fn note(
    store: &Arc<Inner>,
    mut session: Session,
    key: &str,
    content: Value,
    note: EntryNote,
) -> Result<(), StoreError> {
    let entry = NewEntry { kind: "call".to_owned(), run_id: None, note, content };
    let checkpoint = store.ledger.append(&mut session, &store.clock, entry).await?;
    let committed = session.commit().await;
    store.settle(committed, &checkpoint, key).await?;
    store.ledger.remember(&checkpoint);
    Ok(())
}

async fn write_state(
    session: &mut Session,
    key: &str,
    state: OutboxState,
    now: &str,
) -> Result<(), StoreError> {
    let outbox = own(session.dialect(), "outbox");
    let mut sql = session.sql(&format!("UPDATE {outbox} SET state = "));
    sql.text_param(state.as_str()).push(", updated_at = ").text_param(now);
    sql.push(" WHERE key = ").text_param(key);
    session.write(sql).await.map(drop)
}

fn select(session: &mut Session) -> Sql {
    let outbox = own(session.dialect(), "outbox");
    let mut sql = session.sql("SELECT key, run_id, ");
    sql.result("n").push(", kind, name, lane, state, ").result("attempts").push(", ").result("next_try_ms");
    sql.push(&format!(", error, result, updated_at FROM {outbox}"));
    sql
}

fn outgoing(row: &[Datum]) -> Option<Outgoing> {
    let text = |at: usize| row[at].as_text().unwrap_or_default().to_owned();
    let number = |at: usize| row[at].as_integer().and_then(|number| u64::try_from(number).ok());
    Some(Outgoing {
        key: text(0),
        run_id: RunId(text(1)),
        n: u32::try_from(number(2)?).ok()?,
        kind: text(3),
        name: text(4),
        lane: text(5),
        state: OutboxState::named(&text(6))?,
        attempts: number(7)?,
        next_try_ms: number(8)?,
        error: row[9].as_text().map(str::to_owned),
        result: row[10].as_text().and_then(|text| serde_json::from_str(text).ok()),
        updated_at: text(11),
    })
}

fn key(run: &RunId, n: u32) -> String {
    format!("{run}:{n}")
}

fn millis(store: &Inner) -> i64 {
    i64::try_from(store.clock.unix_millis()).unwrap_or(i64::MAX)
}
