//! Goes over steps again: those of a run that waited or was cut short, and what is left when a step failed.

use ordain_planner::{Brief, Exchange, Forms, OutlineForm, Stage, StepBrief};
use ordain_types::{ErrorClass, Event, Outline, OutlineStep, RunError, StepKind, StepRecord, StepState};
use serde_json::Value;

use super::drive::Together;
use super::{PlanRun, REPLANS_MAX, STEP_LOOKS_MAX, Stop};
use crate::error::EngineError;
use crate::rounds::{self, Accepted, Ended, RoundLimits, Trial as _, Tried, Try};
use crate::steps::gathered::{Gathered, StepRan};
use crate::steps::step::{StepDone, StepTrial};
use crate::story::Story;

impl PlanRun<'_, '_> {
    pub(super) fn begin_anew(&mut self, why: &str) {
        self.note_replan(why);
        (self.gathered, self.records) = (Gathered::default(), Vec::new());
        self.take_outline(self.outline.clone());
        self.take_committed();
    }

    /// Takes the results of steps that an earlier run has committed.
    pub(super) fn take_committed(&mut self) {
        let Some(continued) = self.trial.continued() else { return };
        self.gathered.evidence.extend(self.trial.known());
        for record in continued.steps.iter().filter(|record| record.state == StepState::Done) {
            if let Some(known) = self.records.iter_mut().find(|known| known.id == record.id) {
                known.clone_from(record);
                self.gathered.results.insert(record.id.clone(), record.result.clone().unwrap_or_default());
            }
        }
    }

    /// Takes up a run that waited or was cut short: the programs of steps that were done run again, without a planner. Where one gives
    /// something else than it did, the outline begins anew.
    pub(super) async fn take_up(&mut self, records: &[StepRecord]) -> Result<(), EngineError> {
        for record in records.iter().filter(|record| record.state == StepState::Done) {
            let Some(step) = self.outline.step(&record.id).cloned() else { continue };
            let again = match step.kind {
                StepKind::Text => Some(self.text_ran(
                    StepRan { reads: Some(Vec::new()), ..StepRan::default() },
                    record.result.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned(),
                )),
                StepKind::Code => self.run_again(step, record).await?,
            };
            let Some(mut ran) = again.filter(|ran| Some(&ran.result) == record.result.as_ref()) else {
                let why = format!("step `{}` gives something else than before the run stopped", record.id);
                self.begin_anew(&why);
                return Ok(());
            };
            self.gathered.take(&record.id, &mut ran);
            if let Some(known) = self.records.iter_mut().find(|known| known.id == record.id) {
                known.clone_from(record);
            }
        }
        Ok(())
    }

    /// Runs the recorded program of a step; `None` if it no longer holds.
    pub(super) async fn run_again(
        &self,
        step: OutlineStep,
        record: &StepRecord,
    ) -> Result<Option<StepRan>, EngineError> {
        let mut work = self.work_on(step);
        let mut trial = StepTrial::new(self.trial, &self.gathered, &self.snapshot, &work.step);
        trial.defers_writes = false;
        let verdict = trial.verdict(&record.code);
        let Some(code) = verdict.verified().cloned() else { return Ok(None) };
        let mut accepted = Accepted::plain(code, verdict.effects.clone());
        accepted.params =
            record.params.iter().map(|param| (param.name.clone(), param.value.clone())).collect();
        let one = Try { accepted: &accepted, exchange: &work.exchange, is_last: false };
        match trial.run(one, &mut work.story).await? {
            Tried::Done(StepDone::Ran(ran)) => Ok(Some(*ran)),
            Tried::Done(StepDone::Deferred) | Tried::Trouble { .. } => Ok(None),
        }
    }

    /// Has what is left planned anew, once. `Some` ends the run.
    pub(super) async fn replan(
        &mut self,
        error: RunError,
        exchange: &mut Exchange,
    ) -> Result<Option<Stop>, EngineError> {
        let is_planners = matches!(error.class, ErrorClass::Planner | ErrorClass::Budget);
        if self.replans.len() >= REPLANS_MAX || is_planners {
            return Ok(Some(Stop::Failed(error)));
        }
        self.note_replan(&error.message);
        let mut brief = self.brief.clone();
        brief.forms = Forms { looks: STEP_LOOKS_MAX, outline: OutlineForm::Required };
        brief.stage = Stage::Replan {
            outline: self.outline.clone(),
            done: self.gathered.results.clone(),
            why: error.message.clone(),
        };
        let (outline, said) = self.new_outline(&brief).await?;
        exchange.messages.extend(said.messages);
        self.spent.add(said.usage, said.cost_usd);
        match outline {
            Ok(outline) => {
                self.take_outline(outline);
                Ok(None)
            }
            Err(stop) => Ok(Some(stop.unwrap_or(Stop::Failed(error)))),
        }
    }

    pub(super) async fn new_outline(
        &self,
        brief: &Brief,
    ) -> Result<(Result<Outline, Option<Stop>>, Exchange), EngineError> {
        let mut exchange = self.planner.begin(brief);
        let mut story = Story::default();
        let step = StepBrief::default();
        let mut trial = StepTrial::new(self.trial, &self.gathered, &self.snapshot, &step);
        let limits = RoundLimits { rounds: self.trial.engine.settings.rounds, ..RoundLimits::default() };
        let (asked, mut progress) = ((self.planner, brief), Together(&self.progress));
        let ended =
            rounds::rounds(&mut exchange, asked, &mut story, &mut trial, limits, &mut progress).await?;
        let outline = match ended {
            Ended::Outlined(outline) => match self.trial.judge_checks(&outline) {
                Ok(()) => Ok(outline),
                Err(trouble) => Err(Some(Stop::Failed(trouble.into()))),
            },
            Ended::Asks(question) => Err(Some(Stop::Asks(question))),
            _ => Err(None),
        };
        Ok((outline, exchange))
    }

    pub(super) fn note_replan(&mut self, why: &str) {
        self.replans.push(why.to_owned());
        self.say(&Event::Replan { why: why.to_owned() });
    }
}
