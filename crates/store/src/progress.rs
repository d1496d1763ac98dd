//! What a run of several steps has come to so far, kept for the case that its process ends before it does.
//!
//! It is the record that the run would have if it were cut short now, with the note of its ledger entry. It has no entry
//! of its own while the run goes on, so it is signed. When the run ends, it goes in the same transaction.

use std::sync::Arc;

use ordain_types::{RunId, RunRecord, RunState};
use serde::{Deserialize, Serialize};

use crate::bookkeeping::own;
use crate::claims;
use crate::error::StoreError;
use crate::ledger::EntryNote;
use crate::runs;
use crate::session::{Intent, Session};
use crate::sql::{Datum, Dialect, Sql};
use crate::store::Inner;

#[derive(Debug, Serialize, Deserialize)]
struct KeptProgress {
    record: RunRecord,
    note: EntryNote,
}

/// Keeps what a run has come to, in place of what was kept before.
pub(crate) async fn keep(store: &Arc<Inner>, record: RunRecord, note: EntryNote) -> Result<(), StoreError> {
    let (run, claim) = (record.run_id.clone(), note.claim.clone());
    let kept = serde_json::to_string(&KeptProgress { record, note })
        .map_err(|error| StoreError::Database { message: error.to_string() })?;
    let mut session = store.pool.begin(Intent::Own).await?;
    let progress = own(session.dialect(), "progress");
    let mut sql = session.sql(&format!("INSERT INTO {progress} (run_id, owner, kept, seal) VALUES ("));
    sql.text_param(run.as_str()).push(", ");
    sql.bind(store.process().map_or(Datum::Null, |id| Datum::Text(id.to_owned())), "text");
    sql.push(", ").text_param(&kept).push(", ").text_param(&store.ledger.seal(&message(&kept)));
    sql.push(") ON CONFLICT (run_id) DO UPDATE SET owner = excluded.owner, kept = excluded.kept, ");
    sql.push("seal = excluded.seal");
    session.write(sql).await?;
    if let Some(claim) = claim {
        claims::renew(store, &mut session, &claim, &run).await?;
    }
    session.commit().await
}

/// Forgets the progress of a run that ends with the open transaction.
pub(crate) async fn forget(session: &mut Session, run: &RunId) -> Result<(), StoreError> {
    let sql = forgetting(session.dialect(), run);
    session.write(sql).await.map(drop)
}

/// The statement that forgets the progress of a run.
pub(crate) fn forgetting(dialect: Dialect, run: &RunId) -> Sql {
    let mut sql = Sql::new(dialect, &format!("DELETE FROM {} WHERE run_id = ", own(dialect, "progress")));
    sql.text_param(run.as_str());
    sql
}

/// Records a run that was cut short as far as it came. `None` if nothing of it was kept.
pub(crate) async fn cut_short(store: &Arc<Inner>, run: &RunId) -> Result<Option<RunRecord>, StoreError> {
    let mut session = store.pool.begin(Intent::Own).await?;
    let progress = own(session.dialect(), "progress");
    let mut sql = session.sql(&format!("SELECT kept, seal FROM {progress} WHERE run_id = "));
    sql.text_param(run.as_str());
    let rows = session.read(sql).await?;
    let text = |at: usize| rows.first().and_then(|row| row[at].as_text()).unwrap_or_default();
    let kept = serde_json::from_str::<KeptProgress>(text(0)).ok().filter(|kept| kept.record.run_id == *run);
    // What nobody here has signed is not carried on, nor is a run that has ended.
    let is_sealed = store.ledger.is_sealed(&message(text(0)), text(1));
    let is_open = match runs::find(&store.ledger, &mut session, run.as_str()).await {
        Ok(there) => there.state == RunState::Waiting,
        Err(StoreError::UnknownRun { .. }) => true,
        Err(error) => return Err(error),
    };
    let Some(KeptProgress { record, note }) = kept.filter(|_| is_sealed && is_open) else {
        forget(&mut session, run).await?;
        session.commit().await?;
        return Ok(None);
    };
    match runs::finish_claim(&mut session, &EntryNote { has_progress: true, ..note.clone() }, run).await {
        // Another run has the key by now.
        Ok(()) | Err(StoreError::KeyHeld { .. }) => {}
        Err(error) => return Err(error),
    }
    let kind = record.kind.as_str();
    runs::finish(store, session, kind, record, None, EntryNote { claim: None, ..note }).await.map(Some)
}

/// What a seal covers.
fn message(kept: &str) -> String {
    format!("progress {kept}")
}

/// The runs that a process has left unfinished.
pub(crate) async fn left_by(session: &mut Session, process: &str) -> Result<Vec<RunId>, StoreError> {
    let progress = own(session.dialect(), "progress");
    let mut sql = session.sql(&format!("SELECT run_id FROM {progress} WHERE owner = "));
    sql.text_param(process);
    let rows = session.read(sql).await?;
    Ok(rows.iter().filter_map(|row| row[0].as_text()).map(|run| RunId(run.to_owned())).collect())
}
