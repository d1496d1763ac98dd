//! Sessions: Python state that lasts from one question to the next.
//!
//! A session is a cell that is kept alive. It ends with the process that holds it, so the store remembers its turns:
//! when a session goes on in another process, the code of its earlier turns runs again, in a new cell, before the new
//! question is answered.

use ordain_cell::{Discard, NoHost};
use ordain_planner::Turn;
use ordain_store::ConversationTurn;
use ordain_types::{Cause, RunRecord, RunState};
use ordain_verify::{Policy, verify};

use super::trial::FileTrial;
use super::{CodeTask, modules};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::rounds::{Accepted, Trial as _};

/// Turns of a session that are run again, and that a planner is shown.
const TURNS_MAX: u64 = 50;

/// The conversation of a session.
fn conversation(session: &str) -> String {
    format!("code:{session}")
}

impl Engine {
    /// The turns so far.
    pub(super) async fn session_turns(&self, task: &CodeTask) -> Result<Vec<Turn>, EngineError> {
        let Some(session) = &task.session else { return Ok(Vec::new()) };
        let turns = self.store.turns(&conversation(session), TURNS_MAX).await?;
        Ok(turns
            .into_iter()
            .map(|turn| Turn {
                request: turn.request,
                answer: turn.answer,
                status: turn.status,
                run_id: Some(turn.run_id),
            })
            .collect())
    }

    /// Lets code use names that earlier turns may have defined, and import their modules. Every name that they use is
    /// taken for one: the verifier then leaves it to Python to say that a name is not there.
    pub(super) async fn extend_by_session(
        &self,
        policy: &mut Policy,
        task: &CodeTask,
    ) -> Result<(), EngineError> {
        let Some(session) = &task.session else { return Ok(()) };
        for turn in self.store.turns(&conversation(session), TURNS_MAX).await? {
            let Ok(record) = self.store.run(&turn.run_id).await else { continue };
            for step in &record.plan.steps {
                let words = step.code.split(|c: char| !c.is_alphanumeric() && c != '_');
                policy.names.extend(words.filter(|word| !word.is_empty()).map(str::to_owned));
                policy.packages.extend(step.modules.iter().map(|module| modules::name(&module.name)));
            }
        }
        Ok(())
    }

    /// Remembers a turn.
    pub(super) async fn remember(&self, session: &str, record: &RunRecord) -> Result<(), EngineError> {
        let turn = ConversationTurn {
            seq: 0,
            at: String::new(),
            run_id: record.run_id.to_string(),
            request: record.request.clone(),
            answer: record.answer.text.clone().unwrap_or_default(),
            status: record.status.clone(),
        };
        self.store.add_turn(&conversation(session), &turn).await?;
        self.open_sessions
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .insert(session.to_owned());
        Ok(())
    }

    /// Runs the code of earlier turns again if the session's cell is not there any more. What no longer works is
    /// passed over: the new question tells best what it misses.
    pub(super) async fn restore(&self, task: &CodeTask, trial: &FileTrial<'_>) -> Result<(), EngineError> {
        let Some(session) = &task.session else { return Ok(()) };
        let is_open =
            self.open_sessions.lock().unwrap_or_else(std::sync::PoisonError::into_inner).contains(session);
        if is_open {
            return Ok(());
        }
        for turn in self.store.turns(&conversation(session), TURNS_MAX).await? {
            let Ok(record) = self.store.run(&turn.run_id).await else { continue };
            let Some(step) = record.plan.steps.first().filter(|_| record.state == RunState::Answered) else {
                continue;
            };
            let verdict = verify(&step.code, trial.policy(), trial.schema());
            let Some(code) = verdict.verified().cloned() else { continue };
            let Ok(loaded) = modules::load(&step.modules, trial.policy()) else { continue };
            let accepted = Accepted::plain(code, verdict.effects.clone());
            let job = trial.job_with(&accepted, &loaded);
            let execution = self.executor.run(job, &mut NoHost, &mut Discard).await?;
            if execution.cause != Cause::Ok && execution.cause != Cause::Error {
                break;
            }
        }
        Ok(())
    }

    /// Ends a session and forgets that it is open; its turns stay in the store.
    pub async fn end_code_session(&self, session: &str) -> bool {
        self.open_sessions.lock().unwrap_or_else(std::sync::PoisonError::into_inner).remove(session);
        self.executor.end_session(&conversation(session)).await
    }
}

/// The name of a session's cell.
pub(super) fn cell_name(session: &str) -> String {
    conversation(session)
}
