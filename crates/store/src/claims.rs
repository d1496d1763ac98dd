//! Idempotency keys: the same request, sent twice, runs once.

use std::sync::Arc;

use ordain_types::{ErrorClass, RunError, RunId, RunKind, RunRecord, RunState};

use crate::alive;
use crate::bookkeeping::own;
use crate::error::StoreError;
use crate::ledger::EntryNote;
use crate::progress;
use crate::queue;
use crate::runs;
use crate::session::{Intent, Session};
use crate::sql::Datum;
use crate::store::Inner;

/// Longer keys are no keys.
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
    // Most repeats are found by looking, without waiting for a run that writes: it may be the very one.
    let looking = Looking { store, key, fingerprint, run };
    if let Some(found) = looking.look(&mut store.pool.session().await?).await? {
        return Ok(found);
    }
    if let Some(process) = store.process() {
        store.pool.say_alive(alive::number(process)).await?;
    }
    let mut session = store.pool.begin(Intent::Own).await?;
    let claim = take(store, &mut session, key, fingerprint, run, store.process()).await?;
    session.commit().await?;
    Ok(claim)
}

/// Claims a key in the open transaction, for a process or, without one, for any node that carries the run out.
pub(crate) async fn take(
    store: &Arc<Inner>,
    session: &mut Session,
    key: &str,
    fingerprint: Option<&str>,
    run: &RunId,
    owner: Option<&str>,
) -> Result<Claim, StoreError> {
    let looking = Looking { store, key, fingerprint, run };
    if let Some(found) = looking.look(session).await? {
        return Ok(found);
    }
    let claims = own(session.dialect(), "claims");
    let mut sql = session.sql(&format!(
        "INSERT INTO {claims} (claim, run_id, lease_until_ms, finished, fingerprint, owner) VALUES ("
    ));
    let optional = |text: Option<&str>| text.map_or(Datum::Null, |text| Datum::Text(text.to_owned()));
    sql.text_param(key).push(", ").text_param(run.as_str()).push(", ");
    sql.integer_param(lease_until(store)).push(", 0, ");
    sql.bind(optional(fingerprint), "text").push(", ").bind(optional(owner), "text");
    sql.push(") ON CONFLICT (claim) DO UPDATE SET run_id = excluded.run_id, owner = excluded.owner, ");
    sql.push("lease_until_ms = excluded.lease_until_ms, fingerprint = excluded.fingerprint");
    session.write(sql).await?;
    Ok(Claim::Taken)
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

/// Who looks for what.
struct Looking<'a> {
    store: &'a Arc<Inner>,
    key: &'a str,
    fingerprint: Option<&'a str>,
    run: &'a RunId,
}

impl Looking<'_> {
    /// What the key stands for already; `None` if it is free, or its run has died.
    async fn look(&self, session: &mut Session) -> Result<Option<Claim>, StoreError> {
        let claims = own(session.dialect(), "claims");
        let mut sql = session.sql("SELECT run_id, ");
        sql.result("lease_until_ms")
            .push(", ")
            .result("finished")
            .push(&format!(", fingerprint, owner FROM {claims} WHERE claim = "));
        sql.text_param(self.key);
        let rows = session.read(sql).await?;
        let Some(row) = rows.first() else { return Ok(None) };
        let now = i64::try_from(self.store.clock.unix_millis()).unwrap_or(i64::MAX);
        let holder = RunId(row[0].as_text().unwrap_or_default().to_owned());
        let is_finished = row[2].as_integer() == Some(1);
        let has_time = !is_finished && row[1].as_integer().is_some_and(|until| until > now);
        // The key was claimed when the run was accepted, for whichever node carries it out.
        if !is_finished && holder == *self.run {
            return Ok(Some(Claim::Taken));
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
            return Ok(Some(Claim::Other(holder)));
        }
        if is_finished {
            let record = runs::find(&self.store.ledger, session, holder.as_str()).await?;
            return Ok(Some(Claim::Finished(Box::new(record))));
        }
        Ok(is_running.then_some(Claim::Running(holder)))
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

/// Gives a key back that its run could not use.
pub(crate) async fn release(store: &Arc<Inner>, key: &str, run: &RunId) -> Result<(), StoreError> {
    let mut session = store.pool.begin(Intent::Own).await?;
    let claims = own(session.dialect(), "claims");
    let mut sql = session.sql(&format!("DELETE FROM {claims} WHERE finished = 0 AND claim = "));
    sql.text_param(key).push(" AND run_id = ").text_param(run.as_str());
    session.write(sql).await?;
    session.commit().await
}
