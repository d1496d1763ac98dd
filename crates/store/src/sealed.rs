//! Holds what is kept beside the ledger against the ledger: records of runs, their changes, and kept plans.
//!
//! A run's record is in a table, so that it is found quickly; its newest entry has the same record, hashed and signed.
//! Somebody who can write to the database can edit the one and not the other. So a record is believed only if its entry
//! says the same. Kept plans have no entry of their own and are signed instead.

use ordain_types::{RunError, RunId, RunRecord, RunState};
use serde_json::Value;

use crate::changes::ChangeSet;
use crate::error::StoreError;
use crate::ledger::{self, Ledger, LedgerEntry};
use crate::runs::digest;
use crate::session::Session;

/// Checks a record, and its changes where they are given, against the newest entry about the run.
pub(crate) async fn check(
    ledger: &Ledger,
    session: &mut Session,
    run: &RunId,
    stored: &str,
    changes: Option<&ChangeSet>,
) -> Result<(), StoreError> {
    let entries = ledger::newest_of_runs(session, &[run.as_str()]).await?;
    let entry = entries.into_iter().next().flatten();
    let Some(content) = entry.as_ref().and_then(|entry| content(ledger, entry)) else {
        return Err(altered(format!("run `{run}` has no genuine entry in the ledger")));
    };
    if !says(&content, stored) {
        return Err(altered(format!("the record of run `{run}` is not the one of its ledger entry")));
    }
    match changes {
        Some(changes) if content["changes_sha256"].as_str() != Some(digest(changes).as_str()) => {
            Err(altered(format!("the kept changes of run `{run}` are not those of its ledger entry")))
        }
        _ => Ok(()),
    }
}

/// The same for a list that is only shown: a record that was altered is replaced by one that says so.
pub(crate) async fn marked(
    ledger: &Ledger,
    session: &mut Session,
    records: Vec<(RunRecord, String)>,
) -> Result<Vec<RunRecord>, StoreError> {
    let runs: Vec<&str> = records.iter().map(|(record, _)| record.run_id.as_str()).collect();
    let entries = ledger::newest_of_runs(session, &runs).await?;
    let checked = std::iter::zip(records, entries).map(|((record, stored), entry)| {
        let content = entry.as_ref().and_then(|entry| content(ledger, entry));
        let is_genuine = content.is_some_and(|content| says(&content, &stored));
        if is_genuine { record } else { in_place_of(&record) }
    });
    Ok(checked.collect())
}

/// What an entry says, if it is one that a trusted key signed.
fn content(ledger: &Ledger, entry: &LedgerEntry) -> Option<Value> {
    let mut body = ledger.genuine(entry)?;
    Some(body["content"].take())
}

/// Whether an entry has a record as it is stored. The texts are compared as values: an entry sorts its names.
fn says(content: &Value, stored: &str) -> bool {
    serde_json::from_str::<Value>(stored).is_ok_and(|stored| stored == content["run"])
}

fn in_place_of(record: &RunRecord) -> RunRecord {
    let mut shown = RunRecord::new(record.run_id.clone(), &record.kind, "(altered)");
    shown.state = RunState::Failed;
    shown.started_at.clone_from(&record.started_at);
    shown.error = Some(RunError {
        code: "altered".to_owned(),
        message: "the record is not the one of its ledger entry, so it is not shown".to_owned(),
        hint: Some("look at `ordain ledger verify`, and at the entry with `ordain ledger list`".to_owned()),
    });
    shown
}

fn altered(message: String) -> StoreError {
    StoreError::Ledger {
        message,
        hint: Some("somebody wrote to the database; look at `ordain ledger verify`".to_owned()),
    }
}
