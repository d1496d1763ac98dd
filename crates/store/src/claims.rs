//! Idempotency keys: the same request, sent twice, runs once.

use std::sync::{Arc, PoisonError};

use ordain_types::{ErrorClass, RunError, RunId, RunKind, RunRecord, RunState};

use crate::alive;
use crate::bookkeeping::own;
use crate::error::StoreError;
use crate::ledger::EntryNote;
use crate::progress;
use crate::queue::{self, QueuedRun};
use crate::runs;
use crate::session::{Intent, Session};
use crate::sql::{Datum, Dialect, Sql};
use crate::store::Inner;

/// How often a key is tried that others take and leave meanwhile.
const TAKES_MAX: usize = 5;
/// Keys that are remembered to be given back; what is beyond them is free after a restart.
const KEYS_LEFT_MAX: usize = 10_000;
/// The longest idempotency key.
const KEY_BYTES_MAX: usize = 500;

/// What a claim of an idempotency key found.
#[derive(Debug, Clone, PartialEq)]
pub enum Claim {
    /// The key is new, or its run has died; it belongs to the claiming run now.
    Taken,
    /// The key's run has finished; this is what came of it.
    Finished(Box<RunRecord>),
    /// The key's run is still going on.
    Running(RunId),
    /// The key was used for something else before.
    Other(RunId),
}

/// Claims a key. The claim is committed before anything else of the run happens.
///
/// `fingerprint` stands for what is asked: the same key with another one is a mistake of the caller.
pub(crate) async fn claim(
    store: &Arc<Inner>,
    key: &str,
    fingerprint: Option<&str>,
    run: &RunId,
) -> Result<Claim, StoreError> {
    if key.is_empty() || key.len() > KEY_BYTES_MAX || key.contains('\0') {
        let message = format!("an idempotency key has 1 to {KEY_BYTES_MAX} bytes of text");
        return Err(StoreError::BadCall { message });
    }
    release_left(store).await?;
    // Most repeats are found by looking, without waiting for a run that writes: it may be the very one.
    let taking = Taking { store, key, fingerprint, run, owner: store.process(), queued: None };
    if let Looked::Found(found) = taking.look(&mut store.pool.session().await?).await? {
        return Ok(found);
    }
    if key == QueuedRun::own_claim(run) {
        // It was made when the run was accepted. Another node has ended the run since.
        let ended = runs::find(&store.ledger, &mut store.pool.session().await?, run.as_str()).await?;
        return Ok(Claim::Finished(Box::new(ended)));
    }
    if let Some(process) = store.process() {
        store.pool.say_alive(alive::number(process)).await?;
    }
    let taken = taking.take().await;
    if matches!(taken, Err(StoreError::CommitUnknown { .. })) {
        leave(store, key, run);
    }
    taken
}

fn optional(text: Option<&str>) -> Datum {
    text.map_or(Datum::Null, |text| Datum::Text(text.to_owned()))
}

fn lease_until(store: &Inner) -> i64 {
    let now = i64::try_from(store.clock.unix_millis()).unwrap_or(i64::MAX);
    now.saturating_add(i64::try_from(store.limits.claim_lease.as_millis()).unwrap_or(i64::MAX))
}

/// Gives a run that goes on more time with its key.
pub(crate) async fn renew(
    store: &Inner,
    session: &mut Session,
    key: &str,
    run: &RunId,
) -> Result<(), StoreError> {
    let claims = own(session.dialect(), "claims");
    let mut sql = session.sql(&format!("UPDATE {claims} SET lease_until_ms = "));
    sql.integer_param(lease_until(store)).push(" WHERE finished = 0 AND claim = ").text_param(key);
    sql.push(" AND run_id = ").text_param(run.as_str());
    session.write(sql).await.map(drop)
}

/// The record of the finished run that holds a key. Nothing is claimed.
pub(crate) async fn finished(store: &Arc<Inner>, key: &str) -> Result<Option<RunRecord>, StoreError> {
    let mut session = store.pool.session().await?;
    let claims = own(session.dialect(), "claims");
    let mut sql = session.sql(&format!("SELECT run_id FROM {claims} WHERE finished = 1 AND claim = "));
    sql.text_param(key);
    let rows = session.read(sql).await?;
    let Some(holder) = rows.first().and_then(|row| row[0].as_text()) else { return Ok(None) };
    let holder = holder.to_owned();
    runs::find(&store.ledger, &mut session, &holder).await.map(Some)
}

/// What a key stands for.
enum Looked {
    Found(Claim),
    /// Nothing.
    Free,
    /// A run that has died.
    Left(RunId),
}

/// Who takes which key.
pub(crate) struct Taking<'a> {
    pub(crate) store: &'a Arc<Inner>,
    pub(crate) key: &'a str,
    pub(crate) fingerprint: Option<&'a str>,
    pub(crate) run: &'a RunId,
    /// The process that carries the run out; without one, any node may.
    pub(crate) owner: Option<&'a str>,
    /// The run to queue if, and only if, the key is taken.
    pub(crate) queued: Option<&'a QueuedRun>,
}

impl Taking<'_> {
    /// Takes the key. PostgreSQL tells two that come at once apart by itself; SQLite has one writer. Turns of conversations
    /// are queued one by one, so that each finds those before it.
    pub(crate) async fn take(&self) -> Result<Claim, StoreError> {
        let is_turn = self.queued.is_some_and(|queued| queued.conversation.is_some());
        if self.store.pool.has_many_writers() && !is_turn {
            return self.take_on(&mut self.store.pool.session().await?).await;
        }
        let mut session = self.store.pool.begin(Intent::Own).await?;
        let claim = self.take_on(&mut session).await?;
        session.commit().await?;
        Ok(claim)
    }

    async fn take_on(&self, session: &mut Session) -> Result<Claim, StoreError> {
        let mut looked = Looked::Free;
        for _ in 0..TAKES_MAX {
            let sql = match &looked {
                Looked::Found(_) => break,
                Looked::Free => self.inserting(session.dialect()),
                Looked::Left(run) => self.replacing(session.dialect(), run),
            };
            if self.write(session, sql).await? {
                return Ok(Claim::Taken);
            }
            looked = self.look(session).await?;
        }
        match looked {
            Looked::Found(claim) => Ok(claim),
            Looked::Free | Looked::Left(_) => Err(StoreError::Conflict),
        }
    }

    /// Whether the key was taken.
    async fn write(&self, session: &mut Session, mut sql: Sql) -> Result<bool, StoreError> {
        let Some(queued) = self.queued else { return Ok(!session.write(sql).await?.is_empty()) };
        let now = self.store.clock.unix_millis();
        if session.dialect() == Dialect::Postgres {
            // One statement is a transaction of its own, and one way to the server and back.
            sql.text = format!("WITH claimed AS ({}) ", sql.text);
            queue::insert(&mut sql, queued, now);
            // The disk is waited for when the run is committed, or its caller is told that it is accepted.
            sql.push(
                " FROM claimed WHERE set_config('synchronous_commit', 'off', true) = 'off' RETURNING run_id",
            );
            return Ok(!session.write(sql).await?.is_empty());
        }
        if session.write(sql).await?.is_empty() {
            return Ok(false);
        }
        let mut sql = session.sql("");
        queue::insert(&mut sql, queued, now);
        session.write(sql).await.map(|_| true)
    }

    fn inserting(&self, dialect: Dialect) -> Sql {
        let mut sql = Sql::new(dialect, &format!("INSERT INTO {} ", own(dialect, "claims")));
        sql.push("(claim, run_id, lease_until_ms, fingerprint, owner, finished) VALUES (");
        sql.text_param(self.key).push(", ").text_param(self.run.as_str()).push(", ");
        sql.integer_param(lease_until(self.store)).push(", ").bind(optional(self.fingerprint), "text");
        sql.push(", ").bind(optional(self.owner), "text");
        sql.push(", 0) ON CONFLICT (claim) DO NOTHING RETURNING run_id");
        sql
    }

    fn replacing(&self, dialect: Dialect, left_by: &RunId) -> Sql {
        let mut sql = Sql::new(dialect, &format!("UPDATE {} SET run_id = ", own(dialect, "claims")));
        sql.text_param(self.run.as_str()).push(", lease_until_ms = ").integer_param(lease_until(self.store));
        sql.push(", fingerprint = ").bind(optional(self.fingerprint), "text");
        sql.push(", owner = ").bind(optional(self.owner), "text");
        sql.push(" WHERE finished = 0 AND claim = ").text_param(self.key);
        sql.push(" AND run_id = ").text_param(left_by.as_str()).push(" RETURNING run_id");
        sql
    }

    async fn look(&self, session: &mut Session) -> Result<Looked, StoreError> {
        let claims = own(session.dialect(), "claims");
        let mut sql = session.sql("SELECT run_id, ");
        sql.result("lease_until_ms")
            .push(", ")
            .result("finished")
            .push(&format!(", fingerprint, owner FROM {claims} WHERE claim = "));
        sql.text_param(self.key);
        let rows = session.read(sql).await?;
        let Some(row) = rows.first() else { return Ok(Looked::Free) };
        let now = i64::try_from(self.store.clock.unix_millis()).unwrap_or(i64::MAX);
        let holder = RunId(row[0].as_text().unwrap_or_default().to_owned());
        let is_finished = row[2].as_integer() == Some(1);
        let has_time = !is_finished && row[1].as_integer().is_some_and(|until| until > now);
        // The key was claimed when the run was accepted, for whichever node carries it out.
        if !is_finished && holder == *self.run {
            // Accepted a second time, it goes on already.
            let is_accepted = self.queued.is_some();
            return Ok(Looked::Found(if is_accepted { Claim::Running(holder) } else { Claim::Taken }));
        }
        let is_alive = match row[4].as_text() {
            Some(owner) if has_time => alive::may_be_alive(session, owner).await?,
            _ => has_time,
        };
        let is_running = is_alive || (!is_finished && queue::is_queued(session, &holder).await?);
        if let (Some(given), Some(kept)) = (self.fingerprint, row[3].as_text())
            && (is_finished || is_running)
            && given != kept
        {
            return Ok(Looked::Found(Claim::Other(holder)));
        }
        if is_finished {
            let record = runs::find(&self.store.ledger, session, holder.as_str()).await?;
            return Ok(Looked::Found(Claim::Finished(Box::new(record))));
        }
        Ok(if is_running { Looked::Found(Claim::Running(holder)) } else { Looked::Left(holder) })
    }
}

/// Cleans up after processes that have died: runs whose progress was kept can go on, the others are recorded as failed,
/// and their keys are free again.
pub(crate) async fn release_dead(store: &Arc<Inner>) -> Result<(), StoreError> {
    for process in alive::dead(&store.state) {
        let mut session = store.pool.session().await?;
        let left = progress::left_by(&mut session, &process.id).await?;
        drop(session);
        for run in left {
            // Another node carries out what any node may.
            if !queue::is_queued(&mut store.pool.session().await?, &run).await? {
                progress::cut_short(store, &run).await?;
            }
        }
        let mut session = store.pool.session().await?;
        let claims = own(session.dialect(), "claims");
        let mut sql =
            session.sql(&format!("SELECT claim, run_id FROM {claims} WHERE finished = 0 AND owner = "));
        sql.text_param(&process.id);
        let held = session.read(sql).await?;
        drop(session);
        for row in held {
            let text = |at: usize| row[at].as_text().unwrap_or_default().to_owned();
            let run = RunId(text(1));
            runs::record_unless_there(store, lost(store, &run), EntryNote::by("ordain", "open")).await?;
            release(store, &text(0), &run).await?;
        }
        process.forget();
    }
    Ok(())
}

/// The record of a run whose process has died. What was asked is not known any more; nothing was changed.
fn lost(store: &Inner, run: &RunId) -> RunRecord {
    let mut record =
        RunRecord::new(run.clone(), RunKind::Lost, "(the process ended while the run was going on)");
    record.started_at = store.clock.timestamp();
    record.state = RunState::Failed;
    record.error = Some(RunError {
        class: ErrorClass::Internal,
        code: "process_ended".to_owned(),
        message: "the process that carried the run out has ended; nothing was changed".to_owned(),
        hint: Some("send the request again, under the same key if you like".to_owned()),
    });
    record
}

/// Gives a key back that its run could not use. If that cannot be written now it is before the next claim.
pub(crate) async fn release(store: &Arc<Inner>, key: &str, run: &RunId) -> Result<(), StoreError> {
    let released = try_release(store, key, run).await;
    if released.is_err() {
        leave(store, key, run);
    }
    released
}

/// Remembers a key that no run of this process uses any more.
fn leave(store: &Inner, key: &str, run: &RunId) {
    let mut left = store.keys_left.lock().unwrap_or_else(PoisonError::into_inner);
    if left.len() < KEYS_LEFT_MAX {
        left.push((key.to_owned(), run.clone()));
    }
}

/// Gives the keys back that were left while nothing could be written. A run that was committed all the same keeps its key.
async fn release_left(store: &Arc<Inner>) -> Result<(), StoreError> {
    let next = || store.keys_left.lock().unwrap_or_else(PoisonError::into_inner).last().cloned();
    while let Some(left) = next() {
        try_release(store, &left.0, &left.1).await?;
        store.keys_left.lock().unwrap_or_else(PoisonError::into_inner).retain(|other| *other != left);
    }
    Ok(())
}

async fn try_release(store: &Arc<Inner>, key: &str, run: &RunId) -> Result<(), StoreError> {
    let mut session = store.pool.begin(Intent::Own).await?;
    let claims = own(session.dialect(), "claims");
    let mut sql = session.sql(&format!("DELETE FROM {claims} WHERE finished = 0 AND claim = "));
    sql.text_param(key).push(" AND run_id = ").text_param(run.as_str());
    session.write(sql).await?;
    session.commit().await
}
