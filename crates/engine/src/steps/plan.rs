//! Carries out an outline: steps that do not need each other have their code written side by side, those that only
//! read also run side by side, and those that write run in order. What fails is repaired, then what is left is planned
//! anew, once.

use std::sync::{Mutex, PoisonError, Weak};
use std::time::Instant;

use futures_util::future::join_all;
use ordain_planner::{Brief, Exchange, Forms, OutlineForm, Planner, Progress, Stage, StepBrief};
use ordain_types::{
    CriterionJudge, CriterionRecord, ErrorClass, Event, Outline, OutlineStep, RunError, RunRecord, RunState,
    StepKind, StepRecord, StepState, Trouble,
};
use serde_json::{Map, Value};

use super::budget::Spent;
use super::criterion::unmet;
use super::gathered::{Gathered, StepRan, rows_conflict};
use super::settle::{Course, Settled};
use super::step::{Snapshot, StepDone, StepTrial};
use crate::claims::{self, Told};
use crate::error::EngineError;
use crate::outcome::{error_of, run_error};
use crate::rounds::{self, Accepted, Ended, RoundLimits, Trial as _, Tried};
use crate::story::{Attempt, End, Story, millis};
use crate::trial::RunTrial;

/// How often what is left may be planned anew.
const REPLANS_MAX: usize = 1;
/// Looks that the author of a step may take.
const STEP_LOOKS_MAX: u32 = 1;
/// How often a step is written anew because a model says that its criterion is not met.
const JUDGED_MAX: usize = 2;
/// As much of what a step printed as its record keeps.
const OUTPUT_BYTES_MAX: usize = 4_000;
/// The longest text that a step may be.
const TEXT_BYTES_MAX: usize = 64 << 10;

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

/// One step that is being carried out.
struct StepWork {
    step: StepBrief,
    brief: Brief,
    exchange: Exchange,
    story: Story,
    started: Instant,
}

/// How a step went.
enum Driven {
    Done(Box<StepWork>, Box<StepRan>),
    /// Its program writes and waits for its turn.
    Deferred(Box<StepWork>, Box<Accepted>),
    Failed(Box<StepWork>, RunError),
    Asks(Box<StepWork>, String),
    Conflict(Trouble),
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

    /// Carries out the outline to its end, and gives the record.
    pub(crate) async fn carry_out(
        mut self,
        story: &mut Story,
        exchange: &mut Exchange,
    ) -> Result<RunRecord, EngineError> {
        let version = self.trial.engine.store.data_version().await?;
        loop {
            let stopped = self.all_steps(exchange).await?;
            self.tell(story);
            let trouble = match stopped {
                Some(Stop::Conflict(trouble)) => trouble,
                Some(Stop::Asks(question)) => {
                    self.say(&Event::Question { text: question.clone() });
                    return self.trial.wait(story, question, exchange).await;
                }
                Some(Stop::Failed(error)) => {
                    let end = End::Stopped { error, state: RunState::Failed, attempt: None };
                    return self.trial.write_down(story, end, exchange).await;
                }
                None => {
                    let attempt = self.answered.take().unwrap_or_default();
                    let course = Course { gathered: &self.gathered, version };
                    match self.trial.settle_steps(story, attempt, course, exchange).await? {
                        Settled::Conflict(trouble) => trouble,
                        Settled::Done(record) => return Ok(*record),
                    }
                }
            };
            if self.replans.len() >= REPLANS_MAX {
                let end = End::Stopped { error: error_of(&trouble), state: RunState::Failed, attempt: None };
                return self.trial.write_down(story, end, exchange).await;
            }
            // Other rows, other results: the same outline from its beginning, with code that sees the rows of now.
            self.begin_anew(&trouble.message);
        }
    }

    fn begin_anew(&mut self, why: &str) {
        self.note_replan(why);
        (self.gathered, self.records) = (Gathered::default(), Vec::new());
        self.take_outline(self.outline.clone());
    }

    /// Takes up a run that waited: the programs of steps that were done run again, without a planner. Where one gives
    /// something else than it did, the outline begins anew.
    pub(crate) async fn take_up(&mut self, records: &[StepRecord]) -> Result<(), EngineError> {
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
                let why = format!("step `{}` gives something else than before the run waited", record.id);
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
    async fn run_again(
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
        match trial.run(&accepted, &mut work.story, false, &work.exchange).await? {
            Tried::Done(StepDone::Ran(ran)) => Ok(Some(*ran)),
            Tried::Done(StepDone::Deferred) | Tried::Trouble { .. } => Ok(None),
        }
    }

    /// What the record of the run says of its steps.
    fn tell(&mut self, story: &mut Story) {
        story.steps.clone_from(&self.records);
        story.outline = Some(self.outline.clone());
        story.replans.clone_from(&self.replans);
        story.usage = self.spent.usage;
        story.modifications.append(&mut self.modifications);
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
    async fn all_steps(&mut self, exchange: &mut Exchange) -> Result<Option<Stop>, EngineError> {
        loop {
            let ready = self.ready();
            if ready.is_empty() {
                return Ok(None);
            }
            for _ in &ready {
                if let Err(error) = self.spent.step() {
                    return Ok(Some(Stop::Failed(error)));
                }
            }
            self.say(&self.spent.event());
            let driven = join_all(ready.into_iter().map(|step| self.begin_step(step))).await;
            for one in driven {
                let one = match one? {
                    Driven::Deferred(work, accepted) => self.in_turn(*work, &accepted).await?,
                    one => one,
                };
                let one = self.otherwise(one).await?;
                match self.close(one) {
                    None => {}
                    Some(Stop::Failed(error)) => {
                        if let Some(stop) = self.replan(error, exchange).await? {
                            return Ok(Some(stop));
                        }
                        break;
                    }
                    Some(stop) => return Ok(Some(stop)),
                }
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

    /// Has the step's program written and run, or its text written, until it holds or nothing more can be done.
    async fn drive(&self, mut work: StepWork, defers_writes: bool) -> Result<Driven, EngineError> {
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
                        return Ok(Driven::Failed(Box::new(work), error_of(&trouble)));
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
        let limits = RoundLimits { rounds: self.trial.engine.settings.rounds, review: false };
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
    async fn in_turn(&self, mut work: StepWork, accepted: &Accepted) -> Result<Driven, EngineError> {
        let mut trial = StepTrial::new(self.trial, &self.gathered, &self.snapshot, &work.step);
        trial.defers_writes = false;
        let tried = trial.run(accepted, &mut work.story, false, &work.exchange).await;
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
            return Ok(Driven::Failed(Box::new(work), error_of(&trouble)));
        }
        self.drive(work, false).await
    }

    /// A step that failed is tried the other way that its outline names.
    async fn otherwise(&mut self, driven: Driven) -> Result<Driven, EngineError> {
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
                Err(error) => {
                    let hint = error.hint.as_deref();
                    let error = run_error(ErrorClass::Planner, error.code, error.message, hint);
                    return Ok(StepTried::Failed(error));
                }
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

    fn text_ran(&self, mut ran: StepRan, text: String) -> StepRan {
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
        let judged = self.planner.judge(&work.step, &ran.result, &mut work.exchange).await;
        let judged = judged.map_err(|error| {
            run_error(ErrorClass::Planner, error.code, error.message, error.hint.as_deref())
        })?;
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
                self.modifications.append(&mut work.story.modifications);
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
        record.rounds.clone_from(&work.story.rounds);
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

    /// Has what is left planned anew, once. `Some` ends the run.
    async fn replan(
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

    async fn new_outline(
        &self,
        brief: &Brief,
    ) -> Result<(Result<Outline, Option<Stop>>, Exchange), EngineError> {
        let mut exchange = self.planner.begin(brief);
        let mut story = Story::default();
        let step = StepBrief::default();
        let mut trial = StepTrial::new(self.trial, &self.gathered, &self.snapshot, &step);
        let limits = RoundLimits { rounds: self.trial.engine.settings.rounds, review: false };
        let (asked, mut progress) = ((self.planner, brief), Together(&self.progress));
        let ended =
            rounds::rounds(&mut exchange, asked, &mut story, &mut trial, limits, &mut progress).await?;
        let outline = match ended {
            Ended::Outlined(outline) => match self.trial.judge_checks(&outline) {
                Ok(()) => Ok(outline),
                Err(trouble) => Err(Some(Stop::Failed(error_of(&trouble)))),
            },
            Ended::Asks(question) => Err(Some(Stop::Asks(question))),
            _ => Err(None),
        };
        Ok((outline, exchange))
    }

    fn note_replan(&mut self, why: &str) {
        self.replans.push(why.to_owned());
        self.say(&Event::Replan { why: why.to_owned() });
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
}

/// What trying a step once came to.
enum StepTried {
    Ran(Box<StepRan>),
    Deferred(Accepted),
    Failed(RunError),
    Asks(String),
}

/// Progress of steps that go on side by side.
struct Together<'p, 'm>(&'p Mutex<&'m mut (dyn Progress + 'm)>);

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

fn refusal(text: String) -> RunError {
    run_error(ErrorClass::Reply, "refused", text, None)
}
