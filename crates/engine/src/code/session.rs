//! Sessions: Python state that lasts from one question to the next.
//!
//! A session is a cell that is kept alive. It ends with the process that holds it, so the store remembers its turns:
//! when a session goes on in another process, the code of its earlier turns runs again, in a new cell, before the new
//! question is answered.

use std::collections::HashSet;

use ordain_cell::{Discard, NoHost};
use ordain_planner::Turn;
use ordain_types::{Cause, RunState};
use ordain_verify::{Policy, load_modules, module_name, verify};

use super::CodeTask;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::rounds::Accepted;
use crate::trial::RunTrial;

/// Turns of a session that are run again, and that a planner is shown.
const TURNS_MAX: u64 = 50;

/// The name of a session's cell, and of the conversation that remembers its turns.
pub(crate) fn cell_name(session: &str) -> String {
    format!("code:{session}")
}

impl Engine {
    /// The turns so far.
    pub(super) async fn session_turns(&self, task: &CodeTask) -> Result<Vec<Turn>, EngineError> {
        match &task.session {
            Some(session) => self.turns_of(&cell_name(session), TURNS_MAX).await,
            None => Ok(Vec::new()),
        }
    }

    /// The cells of the sessions that are open.
    pub(crate) fn sessions(&self) -> std::sync::MutexGuard<'_, HashSet<String>> {
        self.open_sessions.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Lets code use names that earlier turns may have defined, and import their modules. Every name that they use is
    /// taken for one: the verifier then leaves it to Python to say that a name is not there.
    pub(crate) async fn extend_by_session(
        &self,
        policy: &mut Policy,
        task: &CodeTask,
    ) -> Result<(), EngineError> {
        let Some(session) = &task.session else { return Ok(()) };
        for turn in self.store.turns(&cell_name(session), TURNS_MAX).await? {
            let Ok(record) = self.store.run(&turn.run_id).await else { continue };
            for step in &record.plan.steps {
                let words = step.code.split(|c: char| !c.is_alphanumeric() && c != '_');
                policy.names.extend(words.filter(|word| !word.is_empty()).map(str::to_owned));
                policy.packages.extend(step.modules.iter().map(|module| module_name(&module.name)));
            }
        }
        Ok(())
    }

    /// Ends a session and forgets that it is open; its turns stay in the store.
    pub async fn end_code_session(&self, session: &str) -> bool {
        let cell = cell_name(session);
        self.sessions().remove(&cell);
        self.executor.end_session(&cell).await
    }
}

impl RunTrial<'_> {
    /// Runs the code of earlier turns again if the session's cell is not there any more. What no longer works is
    /// passed over: the new question tells best what it misses.
    pub(crate) async fn restore_session(&self) -> Result<(), EngineError> {
        let engine = self.engine;
        let Some(session) = self.terms.remembered_session() else { return Ok(()) };
        if engine.sessions().contains(session) {
            return Ok(());
        }
        for turn in engine.store.turns(session, TURNS_MAX).await? {
            let Ok(record) = engine.store.run(&turn.run_id).await else { continue };
            let Some(step) = record.plan.steps.first().filter(|_| record.state == RunState::Answered) else {
                continue;
            };
            let verdict = verify(&step.code, &self.policy, &self.schema);
            let Some(code) = verdict.verified().cloned() else { continue };
            let Ok(loaded) = load_modules(&step.modules, &self.policy) else { continue };
            let job = self.job(&Accepted::plain(code, verdict.effects), &loaded.loader);
            let execution = engine.executor.run(job, &mut NoHost, &mut Discard).await?;
            if execution.cause != Cause::Ok && execution.cause != Cause::Error {
                break;
            }
        }
        Ok(())
    }
}
