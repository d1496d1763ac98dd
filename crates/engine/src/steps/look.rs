//! Looks: programs that only read, whose output a planner sees before it writes the plan.

use std::sync::Arc;

use ordain_planner::Draft;
use ordain_store::{Intent, Pending};
use ordain_types::Cause;
use ordain_verify::{refusal, verify};
use serde_json::Map;
use tokio::sync::Mutex;

use super::cell::{Program, unanswering};
use crate::error::EngineError;
use crate::outcome;
use crate::retry::retry;
use crate::rounds::Accepted;
use crate::trial::RunTrial;

/// As much of what a program printed as a planner is shown.
const PRINTED_BYTES_MAX: usize = 8_000;

impl RunTrial<'_> {
    /// Runs a look, and gives what the planner is shown: what it printed, or why it was not run.
    pub(crate) async fn look_over(&self, draft: &Draft, pending: &Pending) -> Result<String, EngineError> {
        let policy = unanswering(&self.policy, true);
        let verdict = verify(&draft.code, &policy, &self.schema);
        let Some(code) = verdict.verified().cloned() else {
            let refused = refusal(&verdict.findings, &draft.code);
            return Ok(format!("THE LOOK WAS REFUSED: {}", refused.message));
        };
        let accepted = Accepted::plain(code, verdict.effects.clone());
        let ran = retry(|| async {
            let transaction = Arc::new(Mutex::new(self.begin_over(pending, Intent::Read).await?));
            let (inputs, files, session) = (Map::new(), Vec::new(), None);
            let program = Program { accepted: &accepted, policy: &policy, inputs, files, session };
            self.run_in(&transaction, program).await
        });
        Ok(printed(&ran.await?.execution))
    }
}

/// What a program printed, and how it ended if it did not end well.
pub(crate) fn printed(execution: &ordain_cell::Execution) -> String {
    let stdout = String::from_utf8_lossy(&execution.stdout);
    let end = stdout.floor_char_boundary(PRINTED_BYTES_MAX);
    let mut shown = stdout[..end].to_owned();
    if end < stdout.len() {
        shown.push_str("\n… (cut: print less)");
    }
    if execution.cause != Cause::Ok {
        let said = outcome::code_error(execution).as_ref().map(outcome::describe).unwrap_or_default();
        shown = format!("{shown}\nTHE PROGRAM FAILED [{}]: {said}", execution.cause.as_str());
    }
    shown
}
