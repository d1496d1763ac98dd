//! Goes on with a run that waits for a person: an answer to its question, or a decision on its outline.

use ordain_planner::Progress;
use ordain_store::StoreError;
use ordain_types::{BoxFuture, RunRecord, RunState};
use serde_json::Value;

use crate::ask::{Ask, Decision, Mode, Resumed};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::work::Origin;

/// The longest answer to a question.
const ANSWER_BYTES_MAX: usize = 16 << 10;

impl Engine {
    /// Goes on with a run that waits. Who asks, through what and with which planner is taken from `ask`; all else is
    /// the run's own.
    pub fn resume_run<'a>(
        &'a self,
        run: &'a str,
        decision: Decision,
        ask: Ask,
        progress: &'a mut dyn Progress,
    ) -> BoxFuture<'a, Result<RunRecord, EngineError>> {
        Box::pin(async move {
            let record = self.store.run(run).await?;
            if record.state != RunState::Waiting {
                let (run, state, operation) = (record.run_id.to_string(), record.state, "resumed");
                return Err(StoreError::WrongState { run, state, operation }.into());
            }
            check(&record, &decision)?;
            self.bring_artifacts(&record.run_id, &record.outcome.artifacts).await?;
            let ask = Ask {
                request: record.request.clone(),
                strategy: record.strategy,
                origin: Origin {
                    run_id: Some(record.run_id.clone()),
                    idempotency_key: Some(Self::resume_key(&record)),
                    ..ask.origin
                },
                cache: false,
                mode: self.mode_of(&record).await?,
                resumed: Some(Box::new(Resumed { record, decision })),
                ..ask
            };
            self.ask_with(ask, progress).await
        })
    }

    /// The key under which a run goes on once: another answer to the same question, at the same time, gets an error that
    /// the run goes on.
    pub fn resume_key(record: &RunRecord) -> String {
        format!("resume:{}:{}", record.run_id, record.plan.questions.len())
    }

    /// What was to become of the changes of a run when it was asked for.
    async fn mode_of(&self, record: &RunRecord) -> Result<Mode, EngineError> {
        let entries = self.store.entries_of_run(&record.run_id).await?;
        let body = entries.first().and_then(|entry| serde_json::from_str::<Value>(entry.body.get()).ok());
        let mode = body.as_ref().and_then(|body| body["detail"]["mode"].as_str());
        Ok(match mode {
            Some("commit") => Mode::Commit,
            Some("dry_run") => Mode::DryRun,
            // What is not known is not committed unseen.
            _ => Mode::Hold,
        })
    }
}

fn check(record: &RunRecord, decision: &Decision) -> Result<(), EngineError> {
    let wrong = |message: &str, hint: &str| {
        Err(EngineError::Decision { message: message.to_owned(), hint: hint.to_owned() })
    };
    let has_outline = record.plan.outline.is_some();
    let can_be_approved = record.plan.questions.last().is_some_and(|asked| asked.kind.can_be_approved());
    match decision {
        Decision::Respond(text) if text.trim().is_empty() => {
            wrong("the answer is empty", "say what the run asked for")
        }
        Decision::Respond(text) if text.len() > ANSWER_BYTES_MAX => {
            wrong("the answer is longer than 16 KiB", "say it in fewer words")
        }
        Decision::Approve if !can_be_approved => {
            wrong("the run has a question, not an outline", "answer it with `ordain runs answer`")
        }
        Decision::Edit(_) if !has_outline => {
            wrong("the run has no outline to edit", "answer its question with `ordain runs answer`")
        }
        Decision::Edit(outline) => match outline.problems().as_slice() {
            [] => Ok(()),
            problems => {
                wrong(&format!("the outline cannot be carried out: {}", problems.join("; ")), "edit it again")
            }
        },
        Decision::Respond(_) | Decision::Approve => Ok(()),
    }
}
