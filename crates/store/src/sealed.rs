//! Holds what is kept beside the ledger against the ledger: records of runs, their changes, who asked and who decided.
//!
//! A run's record is in a table, so that it is found quickly; its newest entry has the same record, hashed and signed.
//! Somebody who can write to the database can edit the one and not the other. So a record is believed only if its entry
//! says the same. Kept plans have no entry of their own and are signed instead.

use ordain_types::{ErrorClass, RunError, RunId, RunRecord, RunState};
use serde_json::Value;

use crate::changes::ChangeSet;
use crate::error::StoreError;
use crate::ledger::{self, Ledger, LedgerEntry};
use crate::runs::{digest, is_decision};
use crate::session::Session;

/// What the entries about a run say.
#[derive(Debug)]
pub(crate) struct RunEntries {
    /// The place of the newest one.
    pub(crate) seq: u64,
    content: Value,
    pub(crate) people: People,
}

/// Who asked for a run, and who approved, rejected or undid it last.
#[derive(Debug, Default, Clone)]
pub(crate) struct People {
    pub(crate) asked_by: Option<String>,
    pub(crate) decided_by: Option<String>,
}

impl RunEntries {
    /// Nothing, if there is no entry or one of them is not genuine.
    fn of(ledger: &Ledger, entries: &[LedgerEntry]) -> Option<Self> {
        let mut told = None::<Self>;
        for entry in entries {
            let mut body = ledger.genuine(entry)?;
            let who = body["who"].as_str().map(str::to_owned);
            let people = match told.take().map(|earlier| earlier.people) {
                None => People { asked_by: who, decided_by: None },
                Some(people) if is_decision(&entry.kind) => People { decided_by: who, ..people },
                Some(people) => people,
            };
            told = Some(Self { seq: entry.seq, content: body["content"].take(), people });
        }
        told
    }

    /// Whether the newest entry has a record as it is stored. The texts are compared as values: an entry sorts its names.
    fn says(&self, stored: &str) -> bool {
        serde_json::from_str::<Value>(stored).is_ok_and(|stored| stored == self.content["run"])
    }
}

/// Checks a record, and its changes where they are given, against the entries about the run.
pub(crate) fn check(
    ledger: &Ledger,
    entries: &[LedgerEntry],
    run: &RunId,
    stored: &str,
    changes: Option<&ChangeSet>,
) -> Result<RunEntries, StoreError> {
    let Some(told) = RunEntries::of(ledger, entries) else {
        return Err(altered(format!("run `{run}` has no genuine entry in the ledger")));
    };
    if !told.says(stored) {
        return Err(altered(format!("the record of run `{run}` is not the one of its ledger entry")));
    }
    match changes {
        Some(changes) if told.content["changes_sha256"].as_str() != Some(digest(changes).as_str()) => {
            Err(altered(format!("the kept changes of run `{run}` are not those of its ledger entry")))
        }
        _ => Ok(told),
    }
}

/// The same for a list that is only shown: a record that was altered is replaced by one that says so.
pub(crate) async fn marked(
    ledger: &Ledger,
    session: &mut Session,
    records: Vec<(RunRecord, String)>,
) -> Result<Vec<(RunRecord, People)>, StoreError> {
    let runs: Vec<&str> = records.iter().map(|(record, _)| record.run_id.as_str()).collect();
    let entries = ledger::of_runs(session, &runs).await?;
    let checked = std::iter::zip(records, entries).map(|((record, stored), entries)| {
        let told = RunEntries::of(ledger, &entries).filter(|told| told.says(&stored));
        match told {
            Some(told) => (record, told.people),
            None => (in_place_of(&record), People::default()),
        }
    });
    Ok(checked.collect())
}

/// Who asked for each of some runs, as far as the ledger says so.
pub(crate) async fn askers(
    ledger: &Ledger,
    session: &mut Session,
    runs: &[&str],
) -> Result<Vec<Option<String>>, StoreError> {
    let entries = ledger::of_runs(session, runs).await?;
    Ok(entries.iter().map(|entries| RunEntries::of(ledger, entries)?.people.asked_by).collect())
}

/// Whether a record stands for one that was altered.
pub(crate) fn is_altered(record: &RunRecord) -> bool {
    record.error.as_ref().is_some_and(|error| error.code == ALTERED)
}

const ALTERED: &str = "altered";

fn in_place_of(record: &RunRecord) -> RunRecord {
    let mut shown = RunRecord::new(record.run_id.clone(), record.kind, "(altered)");
    shown.state = RunState::Failed;
    shown.started_at.clone_from(&record.started_at);
    shown.error = Some(RunError {
        class: ErrorClass::Internal,
        code: ALTERED.to_owned(),
        message: "the record is not the one of its ledger entry, so it is not shown".to_owned(),
        hint: Some("look at `ordain ledger verify`, and at the entry with `ordain ledger list`".to_owned()),
    });
    shown
}

pub(crate) fn altered(message: String) -> StoreError {
    StoreError::Ledger {
        message,
        hint: Some("somebody wrote to the database; look at `ordain ledger verify --rows`".to_owned()),
    }
}
