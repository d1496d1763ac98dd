//! Carries out an outline: steps that do not need each other have their code written side by side, those that only
//! read also run side by side, and those that write run in order. What fails is repaired, then what is left is planned
//! anew, once.

mod again;
mod drive;

use std::sync::{Mutex, PoisonError, Weak};
use std::time::Instant;

use futures_util::future::join_all;
use ordain_planner::{Brief, Exchange, Forms, OutlineForm, Planner, Progress, Stage, StepBrief};
use ordain_types::{
    Event, Outline, OutlineStep, QuestionKind, RunError, RunRecord, StepKind, StepRecord, StepState, Trouble,
};
use serde_json::{Map, Value};

use self::drive::{Driven, StepWork, Together, refusal};
use super::budget::Spent;
use super::gathered::{Gathered, StepRan};
use super::settle::{Settled, StepsDone};
use super::step::Snapshot;
use crate::error::EngineError;
use crate::retry::retry;
use crate::story::{Attempt, End, Story, millis};
use crate::trial::RunTrial;

/// How often what is left may be planned anew.
const REPLANS_MAX: usize = 1;
/// Looks that the author of a step may take.
const STEP_LOOKS_MAX: u32 = 1;
/// As much of what a step printed as its record keeps.
const OUTPUT_BYTES_MAX: usize = 4_000;

/// A run that carries out an outline.
pub(crate) struct PlanRun<'r, 'a> {
    pub(crate) trial: &'r RunTrial<'a>,
    pub(crate) planner: &'r Planner,
    pub(crate) brief: &'r Brief,
    pub(crate) outline: Outline,
    pub(crate) gathered: Gathered,
    /// The steps so far, in the order of the outline.
    pub(crate) records: Vec<StepRecord>,
    pub(crate) spent: Spent,
    pub(crate) replans: Vec<String>,
    progress: Mutex<&'r mut (dyn Progress + 'r)>,
    snapshot: Snapshot,
    /// What the last step answered.
    answered: Option<Attempt>,
    /// Answers that were replaced, for the record of the run.
    modifications: Vec<ordain_types::Modification>,
}

impl<'r, 'a> PlanRun<'r, 'a> {
    pub(crate) fn new(
        trial: &'r RunTrial<'a>,
        (planner, brief): (&'r Planner, &'r Brief),
        outline: Outline,
        spent: Spent,
        progress: &'r mut (dyn Progress + 'r),
    ) -> Self {
        let mut run = Self {
            trial,
            planner,
            brief,
            outline: Outline::default(),
            gathered: Gathered::default(),
            records: Vec::new(),
            spent,
            replans: Vec::new(),
            progress: Mutex::new(progress),
            snapshot: tokio::sync::Mutex::new(Weak::new()),
            answered: None,
            modifications: Vec::new(),
        };
        run.take_outline(outline);
        run
    }

    /// Carries out the outline to its end, after the steps that were done earlier, and gives the record.
    pub(crate) async fn carry_out(
        mut self,
        story: &mut Story,
        exchange: &mut Exchange,
        earlier: &[StepRecord],
    ) -> Result<RunRecord, EngineError> {
        let engine = &self.trial.engine;
        let version = retry(|| async { Ok(engine.store.data_version().await?) }).await?;
        self.take_committed();
        self.take_up(earlier).await?;
        loop {
            let stopped = self.all_steps(story, exchange).await?;
            self.tell(story);
            let trouble = match stopped {
                Some(Stop::Conflict(trouble)) => trouble,
                Some(Stop::Asks(question)) => {
                    self.say(&Event::Question { text: question.clone() });
                    return self.trial.wait(story, (QuestionKind::Planner, question), exchange).await;
                }
                Some(Stop::Failed(error)) => {
                    return self.trial.write_down(story, End::failed(error), exchange).await;
                }
                None | Some(Stop::Milestone(_)) => {
                    let attempt = match stopped {
                        Some(Stop::Milestone(title)) => self.at_milestone(&title),
                        _ => self.answered.take().unwrap_or_default(),
                    };
                    self.review(&attempt, story, exchange).await?;
                    let done = StepsDone { gathered: &self.gathered, version };
                    match self.trial.settle_steps(story, attempt, done, exchange).await? {
                        Settled::Conflict(trouble) => trouble,
                        Settled::Done(record) => return Ok(*record),
                    }
                }
            };
            if self.replans.len() >= REPLANS_MAX {
                return self.trial.write_down(story, End::failed(trouble), exchange).await;
            }
            // Other rows, other results: the same outline from its beginning, with code that sees the rows of now.
            self.begin_anew(&trouble.message);
        }
    }

    /// Has what the steps did together reviewed, before it is settled.
    async fn review(
        &mut self,
        attempt: &Attempt,
        story: &mut Story,
        exchange: &mut Exchange,
    ) -> Result<(), EngineError> {
        let asked = (self.planner, self.brief);
        let mut progress = Together(&self.progress);
        let said = self.trial.review_steps(story, asked, (attempt, &self.gathered), &mut progress).await?;
        self.spent.add(said.usage, said.cost_usd);
        story.usage = self.spent.usage;
        exchange.reviews.extend(said.reviews);
        exchange.notes.extend(said.notes);
        Ok(())
    }

    /// What the run answers where it ends at a milestone.
    fn at_milestone(&self, title: &str) -> Attempt {
        let done = self.records.iter().filter(|record| record.state == StepState::Done).count();
        let mut attempt = Attempt { status: Some("success".to_owned()), ..Attempt::default() };
        attempt.answer.text = Some(format!("Reached: {title} ({done} of {} steps).", self.records.len()));
        attempt.outcome.artifacts = self.gathered.artifacts.values().cloned().collect();
        attempt
    }

    /// What the record of the run says of its steps.
    fn tell(&mut self, story: &mut Story) {
        story.plan.steps.clone_from(&self.records);
        story.plan.outline = Some(self.outline.clone());
        story.plan.replans.clone_from(&self.replans);
        story.usage = self.spent.usage;
        story.calls.clone_from(&self.gathered.calls);
        story.verdict.modifications.append(&mut self.modifications);
        story.is_of_steps();
    }

    fn take_outline(&mut self, outline: Outline) {
        let done: Vec<StepRecord> =
            self.records.drain(..).filter(|record| record.state == StepState::Done).collect();
        let waiting = outline.in_order().unwrap_or_default().into_iter();
        let waiting = waiting.filter(|step| done.iter().all(|record| record.id != step.id)).map(record_of);
        self.records = done.iter().cloned().chain(waiting).collect();
        self.outline = outline;
        self.say(&Event::Outline { outline: self.outline.clone() });
    }

    /// Carries out what is left; says why it stopped, if it did.
    async fn all_steps(
        &mut self,
        story: &mut Story,
        exchange: &mut Exchange,
    ) -> Result<Option<Stop>, EngineError> {
        loop {
            let ready = self.ready();
            if ready.is_empty() {
                return Ok(None);
            }
            self.tell(story);
            self.trial.keep_progress(story).await?;
            for _ in &ready {
                if let Err(error) = self.spent.step() {
                    return Ok(Some(Stop::Failed(error)));
                }
            }
            self.say(&self.spent.event());
            let driven = join_all(ready.into_iter().map(|step| self.begin_step(step))).await;
            let mut reached = None;
            for one in driven {
                let one = match one? {
                    Driven::Deferred(work, accepted) => self.in_turn(*work, &accepted).await?,
                    one => one,
                };
                let one = self.otherwise(one).await?;
                // Where something is committed is for the owner to say, not for who wrote the outline.
                let milestone = one.milestone().filter(|_| self.trial.engine.settings.milestones);
                match self.close(one) {
                    None => reached = milestone.or(reached),
                    Some(Stop::Failed(error)) => {
                        if let Some(stop) = self.replan(error, exchange).await? {
                            return Ok(Some(stop));
                        }
                        break;
                    }
                    Some(stop) => return Ok(Some(stop)),
                }
            }
            if let Some(title) = reached.filter(|_| !self.ready().is_empty()) {
                return Ok(Some(Stop::Milestone(title)));
            }
        }
    }

    /// The steps that are not done and whose needs are.
    fn ready(&self) -> Vec<OutlineStep> {
        let is_done = |id: &str| self.gathered.results.contains_key(id);
        let steps = self.outline.in_order().unwrap_or_default().into_iter();
        steps.filter(|step| !is_done(&step.id) && step.inputs().all(is_done)).cloned().collect()
    }

    async fn begin_step(&self, step: OutlineStep) -> Result<Driven, EngineError> {
        self.say(&Event::StepStarted { step: step.id.clone(), title: step.title.clone() });
        self.drive(self.work_on(step), true).await
    }

    fn work_on(&self, step: OutlineStep) -> StepWork {
        let last = self.outline.in_order().unwrap_or_default().last().map(|last| last.id.clone());
        let results = &self.gathered.results;
        let inputs: Map<String, Value> =
            step.inputs().filter_map(|id| Some((id.to_owned(), results.get(id)?.clone()))).collect();
        let is_last = last.as_deref() == Some(step.id.as_str());
        let step = StepBrief { outline: self.outline.clone(), step, inputs, is_last };
        let mut brief = self.brief.clone();
        brief.forms = Forms { looks: STEP_LOOKS_MAX, outline: OutlineForm::Never };
        brief.stage = Stage::Step(Box::new(step.clone()));
        let exchange = match step.step.kind {
            StepKind::Code => self.planner.begin(&brief),
            StepKind::Text => Exchange::default(),
        };
        StepWork { step, brief, exchange, story: Story::default(), started: Instant::now() }
    }

    /// Writes down how a step went, and takes what it gave.
    fn close(&mut self, driven: Driven) -> Option<Stop> {
        match driven {
            Driven::Conflict(trouble) => Some(Stop::Conflict(trouble)),
            Driven::Deferred(work, _) => {
                Some(Stop::Failed(refusal(format!("step `{}` never ran", work.step.step.id))))
            }
            Driven::Asks(work, question) => {
                self.finish(&work, StepState::Waiting, None, None);
                Some(Stop::Asks(question))
            }
            Driven::Failed(work, error) => {
                self.finish(&work, StepState::Failed, None, Some(error.clone()));
                Some(Stop::Failed(RunError {
                    message: format!("step `{}` failed: {}", work.step.step.id, error.message),
                    ..error
                }))
            }
            Driven::Done(mut work, mut ran) => {
                self.gathered.take(&work.step.step.id, &mut ran);
                self.modifications.append(&mut work.story.verdict.modifications);
                if work.step.is_last {
                    let mut attempt = std::mem::take(&mut ran.attempt);
                    attempt.outcome.artifacts = self.gathered.artifacts.values().cloned().collect();
                    self.answered = Some(attempt);
                }
                self.finish(&work, StepState::Done, Some(&ran), None);
                None
            }
        }
    }

    fn finish(&mut self, work: &StepWork, state: StepState, ran: Option<&StepRan>, error: Option<RunError>) {
        self.spent.add(work.exchange.usage, work.exchange.cost_usd);
        let id = work.step.step.id.clone();
        let mut record = StepRecord {
            state,
            took_ms: Some(millis(work.started)),
            error: error.clone(),
            ..record_of(&work.step.step)
        };
        if let Some(draft) = work.story.draft() {
            record.code.clone_from(&draft.code);
            record.params.clone_from(&draft.params);
            self.say(&Event::StepCode { step: id.clone(), code: draft.code.clone() });
        }
        record.rounds.clone_from(&work.story.verdict.history);
        if let Some(ran) = ran {
            record.result = Some(ran.result.clone());
            let end = ran.printed.floor_char_boundary(OUTPUT_BYTES_MAX);
            ran.printed[..end].clone_into(&mut record.output);
            record.criterion.clone_from(&ran.criterion);
            record.rows_changed = ran.rows_changed;
            if !record.output.is_empty() {
                self.say(&Event::StepOutput { step: id.clone(), output: record.output.clone() });
            }
        }
        let took_ms = record.took_ms.unwrap_or_default();
        match self.records.iter_mut().find(|known| known.id == id) {
            Some(known) => *known = record,
            None => self.records.push(record),
        }
        self.say(&Event::StepFinished { step: id, state, took_ms, error });
    }

    fn say(&self, event: &Event) {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner).event(event);
    }
}

/// Why an outline was not carried out to its end.
enum Stop {
    Failed(RunError),
    Asks(String),
    Conflict(Trouble),
    /// What is done is committed, and the rest is another run's.
    Milestone(String),
}

/// A step that has not run.
pub(crate) fn record_of(step: &OutlineStep) -> StepRecord {
    StepRecord {
        id: step.id.clone(),
        title: step.title.clone(),
        needs: step.inputs().map(str::to_owned).collect(),
        success: step.check.clone().unwrap_or_else(|| step.success.clone()),
        kind: step.kind,
        ..StepRecord::default()
    }
}
