//! What the steps of a run have gathered so far. A step that failed has left nothing here.

use std::collections::BTreeMap;
use std::sync::Arc;

use ordain_cell::InputFile;
use ordain_store::{Pending, ReadDigest, StoreError, Transaction};
use ordain_types::{Approval, Artifact, Call, CriterionRecord, ErrorClass, RunId, Trouble};
use ordain_verify::claims::Evidence;
use serde_json::{Map, Value};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::story::Attempt;

/// What is known after some steps.
#[derive(Debug, Clone, Default)]
pub(crate) struct Gathered {
    /// What the steps changed, all together.
    pub(crate) pending: Arc<Pending>,
    /// How many rows that are.
    pub(crate) rows: u64,
    /// What steps read, and over which pending changes.
    reads: Vec<(Arc<Pending>, Vec<ReadDigest>)>,
    /// Whether some step read more than could be kept.
    is_cut: bool,
    /// What they have seen, for the numbers of the answer.
    pub(crate) evidence: Evidence,
    /// When the changes of each of their actions wait for a person.
    pub(crate) approvals: Vec<(String, Approval)>,
    /// What they called outside of the tables, or is to be called after the commit.
    pub(crate) calls: Vec<Call>,
    /// The files that they left.
    pub(crate) artifacts: BTreeMap<String, Artifact>,
    /// What they gave, by their ids.
    pub(crate) results: Map<String, Value>,
}

/// What one step came to.
#[derive(Debug, Default)]
pub(crate) struct StepRan {
    pub(crate) attempt: Attempt,
    pub(crate) result: Value,
    pub(crate) printed: String,
    pub(crate) over: Arc<Pending>,
    /// What all steps together have changed after it; `None` if it wrote nothing.
    pub(crate) pending: Option<Pending>,
    pub(crate) rows_changed: u64,
    pub(crate) evidence: Evidence,
    pub(crate) reads: Option<Vec<ReadDigest>>,
    pub(crate) approvals: Vec<(String, Approval)>,
    pub(crate) criterion: Option<CriterionRecord>,
    pub(crate) calls: Vec<Call>,
}

impl Gathered {
    /// Takes what a step came to.
    pub(crate) fn take(&mut self, id: &str, ran: &mut StepRan) {
        match ran.reads.take() {
            Some(reads) if reads.is_empty() => {}
            Some(reads) => self.reads.push((Arc::clone(&ran.over), reads)),
            None => self.is_cut = true,
        }
        if let Some(pending) = ran.pending.take() {
            self.pending = Arc::new(pending);
            self.rows = self.rows.saturating_add(ran.rows_changed);
        }
        self.evidence.extend(std::mem::take(&mut ran.evidence));
        self.evidence.take(None, &ran.result);
        self.approvals.append(&mut ran.approvals);
        for mut call in std::mem::take(&mut ran.calls) {
            call.n = u32::try_from(self.calls.len() + 1).unwrap_or(u32::MAX);
            self.calls.push(call);
        }
        for artifact in &ran.attempt.outcome.artifacts {
            self.artifacts.insert(artifact.name.clone(), artifact.clone());
        }
        self.results.insert(id.to_owned(), ran.result.clone());
    }

    /// The files that later steps find.
    pub(crate) fn files(&self, engine: &Engine, run: &RunId) -> Vec<InputFile> {
        let found = self.artifacts.keys().filter_map(|name| {
            let path = engine.artifact(run, name)?;
            Some(InputFile { name: name.clone(), path })
        });
        found.collect()
    }

    /// Reads again what the steps decided from, and says what is different now.
    pub(crate) async fn compare(&self, transaction: &mut Transaction) -> Result<Option<String>, StoreError> {
        if self.is_cut {
            return Ok(Some("a step read more than could be compared, and rows".to_owned()));
        }
        for (over, reads) in &self.reads {
            if let Some(differs) = transaction.compare(over, reads).await? {
                return Ok(Some(differs));
            }
        }
        Ok(None)
    }
}

/// Rows on which a run rests were changed by somebody else.
pub(crate) fn conflict(what: &str) -> Trouble {
    let message = format!("{what} changed while the steps were carried out");
    let hint = "nothing was changed; ask again when fewer requests change the same rows";
    Trouble::new(ErrorClass::Conflict, "rows-changed", message, hint)
}

/// What an error of the store means, if it is a conflict over the rows themselves.
pub(crate) fn rows_conflict(error: &EngineError) -> Option<Trouble> {
    let EngineError::Store(StoreError::RowsConflict { conflicts }) = error else { return None };
    let rows: Vec<String> = conflicts.iter().take(5).map(ToString::to_string).collect();
    Some(conflict(&rows.join(", ")))
}
