//! Carries out one step of an outline: its program is written and run, or its text written, until it holds or nothing
//! more can be done.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use ordain_planner::{Brief, Exchange, Progress, StepBrief};
use ordain_types::{
    CriterionJudge, CriterionRecord, ErrorClass, Event, OutlineStep, RunError, StepKind, Trouble,
};
use ordain_verify::claims::{self, Told};
use serde_json::Value;

use super::PlanRun;
use crate::error::EngineError;
use crate::outcome::run_error;
use crate::rounds::{self, Accepted, Ended, RoundLimits, Trial as _, Tried, Try};
use crate::steps::criterion::unmet;
use crate::steps::gathered::{StepRan, rows_conflict};
use crate::steps::step::{StepDone, StepTrial};
use crate::story::{End, Story};

/// How often a step is written anew because a model says that its criterion is not met.
const JUDGED_MAX: usize = 2;
/// The longest text that a step may be.
const TEXT_BYTES_MAX: usize = 64 << 10;

/// One step that is being carried out.
pub(super) struct StepWork {
    pub(super) step: StepBrief,
    pub(super) brief: Brief,
    pub(super) exchange: Exchange,
    pub(super) story: Story,
    pub(super) started: Instant,
}

/// How a step went.
pub(super) enum Driven {
    Done(Box<StepWork>, Box<StepRan>),
    /// Its program writes and waits for its turn.
    Deferred(Box<StepWork>, Box<Accepted>),
    Failed(Box<StepWork>, RunError),
    Asks(Box<StepWork>, String),
    Conflict(Trouble),
}

impl Driven {
    /// The title of the step, if it is done and what is done by then is to be committed.
    pub(super) fn milestone(&self) -> Option<String> {
        let Self::Done(work, _) = self else { return None };
        work.step.step.milestone.then(|| work.step.step.title.clone())
    }
}

impl PlanRun<'_, '_> {
    /// Has the step's program written and run, or its text written, until it holds or nothing more can be done.
    pub(super) async fn drive(&self, mut work: StepWork, defers_writes: bool) -> Result<Driven, EngineError> {
        for _ in 0..JUDGED_MAX {
            let tried = match work.step.step.kind {
                StepKind::Text => self.write_text(&mut work).await,
                StepKind::Code => self.write_code(&mut work, defers_writes).await,
            };
            let mut ran = match tried {
                Ok(StepTried::Ran(ran)) => ran,
                Ok(StepTried::Deferred(accepted)) => {
                    return Ok(Driven::Deferred(Box::new(work), Box::new(accepted)));
                }
                Ok(StepTried::Failed(error)) => return Ok(Driven::Failed(Box::new(work), error)),
                Ok(StepTried::Asks(question)) => return Ok(Driven::Asks(Box::new(work), question)),
                Err(error) => match rows_conflict(&error) {
                    Some(trouble) => return Ok(Driven::Conflict(trouble)),
                    None => return Err(error),
                },
            };
            match self.judged_by_model(&mut work, &mut ran).await {
                Ok(None) => return Ok(Driven::Done(Box::new(work), ran)),
                Ok(Some(trouble)) => {
                    work.story.troubled(&trouble);
                    if !self.planner.complain(&mut work.exchange, &trouble) {
                        return Ok(Driven::Failed(Box::new(work), trouble.into()));
                    }
                }
                Err(error) => return Ok(Driven::Failed(Box::new(work), error)),
            }
        }
        let message = "a model says that the criterion of the step is not met".to_owned();
        let error = run_error(ErrorClass::Criterion, "criterion-not-met", message, None);
        Ok(Driven::Failed(Box::new(work), error))
    }

    /// The rounds of a step's program.
    async fn write_code(&self, work: &mut StepWork, defers_writes: bool) -> Result<StepTried, EngineError> {
        let mut trial = StepTrial::new(self.trial, &self.gathered, &self.snapshot, &work.step);
        trial.defers_writes = defers_writes;
        let limits = RoundLimits { rounds: self.trial.engine.settings.rounds, ..RoundLimits::default() };
        let mut progress = Together(&self.progress);
        let asked = (self.planner, &work.brief);
        let ended =
            rounds::rounds(&mut work.exchange, asked, &mut work.story, &mut trial, limits, &mut progress)
                .await?;
        Ok(match ended {
            Ended::Done { done: StepDone::Ran(ran), .. } => StepTried::Ran(ran),
            Ended::Done { done: StepDone::Deferred, accepted, .. } => StepTried::Deferred(accepted),
            Ended::Asks(question) => StepTried::Asks(question),
            Ended::Over(End::Stopped { error, .. }) => StepTried::Failed(error),
            Ended::Over(End::Declined { text, .. }) => StepTried::Failed(refusal(text)),
            // An outline is not among the forms that the brief of a step allows.
            Ended::Outlined(_) | Ended::Over(End::Ended { .. }) => {
                StepTried::Failed(refusal("the step was not written".to_owned()))
            }
        })
    }

    /// Runs a program that writes, when its turn has come.
    pub(super) async fn in_turn(
        &self,
        mut work: StepWork,
        accepted: &Accepted,
    ) -> Result<Driven, EngineError> {
        let mut trial = StepTrial::new(self.trial, &self.gathered, &self.snapshot, &work.step);
        trial.defers_writes = false;
        let one = Try { accepted, exchange: &work.exchange, is_last: false };
        let tried = trial.run(one, &mut work.story).await;
        let trouble = match tried {
            Ok(Tried::Done(StepDone::Ran(mut ran))) => {
                match self.judged_by_model(&mut work, &mut ran).await {
                    Ok(None) => return Ok(Driven::Done(Box::new(work), ran)),
                    Ok(Some(trouble)) => trouble,
                    Err(error) => return Ok(Driven::Failed(Box::new(work), error)),
                }
            }
            Ok(Tried::Done(StepDone::Deferred)) => {
                return Ok(Driven::Deferred(Box::new(work), Box::new(accepted.clone())));
            }
            Ok(Tried::Trouble { trouble, .. }) => trouble,
            Err(error) => match rows_conflict(&error) {
                Some(trouble) => return Ok(Driven::Conflict(trouble)),
                None => return Err(error),
            },
        };
        work.story.troubled(&trouble);
        self.say(&Event::StepFinding { step: work.step.step.id.clone(), message: trouble.message.clone() });
        if !self.planner.complain(&mut work.exchange, &trouble) {
            return Ok(Driven::Failed(Box::new(work), trouble.into()));
        }
        self.drive(work, false).await
    }

    /// A step that failed is tried the other way that its outline names.
    pub(super) async fn otherwise(&mut self, driven: Driven) -> Result<Driven, EngineError> {
        let Driven::Failed(work, error) = driven else { return Ok(driven) };
        let Some(otherwise) = work.step.step.otherwise.clone() else {
            return Ok(Driven::Failed(work, error));
        };
        self.spent.add(work.exchange.usage, work.exchange.cost_usd);
        self.say(&Event::StepFinding { step: work.step.step.id.clone(), message: error.message });
        let step = OutlineStep { title: otherwise, otherwise: None, ..work.step.step };
        match self.drive(self.work_on(step), true).await? {
            Driven::Deferred(work, accepted) => self.in_turn(*work, &accepted).await,
            driven => Ok(driven),
        }
    }

    /// Has a text written, and once more if it gives numbers from nowhere.
    async fn write_text(&self, work: &mut StepWork) -> Result<StepTried, EngineError> {
        let mut ran = StepRan { reads: Some(Vec::new()), ..StepRan::default() };
        for is_last in [false, true] {
            let mut progress = Together(&self.progress);
            let written = self.planner.write_text(&work.brief, &mut work.exchange, &mut progress).await;
            let text = match written {
                Ok(text) => text,
                Err(error) => return Ok(StepTried::Failed(error.into())),
            };
            let text = text[..text.floor_char_boundary(TEXT_BYTES_MAX)].to_owned();
            let Some(trouble) = self.unsupported_text(&text) else {
                return Ok(StepTried::Ran(Box::new(self.text_ran(ran, text))));
            };
            if is_last {
                ran.printed = format!("warning: {}", trouble.message);
                return Ok(StepTried::Ran(Box::new(self.text_ran(ran, text))));
            }
            work.story.troubled(&trouble);
            self.planner.complain(&mut work.exchange, &trouble);
        }
        Ok(StepTried::Failed(refusal("no text was written".to_owned())))
    }

    fn unsupported_text(&self, text: &str) -> Option<Trouble> {
        let told = Told {
            answer: text,
            request: &self.brief.request,
            policy: &self.brief.policy,
            code: "",
            diff: &ordain_types::Diff::default(),
        };
        claims::unsupported_in_text(told, &self.gathered.evidence)
    }

    pub(super) fn text_ran(&self, mut ran: StepRan, text: String) -> StepRan {
        ran.over = std::sync::Arc::clone(&self.gathered.pending);
        ran.attempt.status = Some("success".to_owned());
        ran.attempt.answer.text = Some(text.clone());
        ran.result = Value::String(text);
        ran
    }

    /// Holds what a step gave against a criterion in words. The outer error ends the step.
    async fn judged_by_model(
        &self,
        work: &mut StepWork,
        ran: &mut StepRan,
    ) -> Result<Option<Trouble>, RunError> {
        let step = &work.step.step;
        if step.check.is_some() || step.success.trim().is_empty() {
            return Ok(None);
        }
        let judged = self.planner.judge(&work.brief, &ran.result, &mut work.exchange).await;
        let judged = judged?;
        let record = CriterionRecord {
            judged_by: CriterionJudge::Model,
            criterion: step.success.clone(),
            holds: judged.holds,
            why: judged.why,
        };
        let trouble = (!record.holds).then(|| unmet(&record));
        ran.criterion = Some(record);
        Ok(trouble)
    }
}

/// What trying a step once came to.
enum StepTried {
    Ran(Box<StepRan>),
    Deferred(Accepted),
    Failed(RunError),
    Asks(String),
}

/// Progress of steps that go on side by side.
pub(super) struct Together<'p, 'm>(pub(super) &'p Mutex<&'m mut (dyn Progress + 'm)>);

impl Progress for Together<'_, '_> {
    fn text(&mut self, piece: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).text(piece);
    }

    fn stage(&mut self, name: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).stage(name);
    }

    fn event(&mut self, event: &Event) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).event(event);
    }
}

pub(super) fn refusal(text: String) -> RunError {
    run_error(ErrorClass::Reply, "refused", text, None)
}
