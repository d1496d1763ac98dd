//! A run that grows step by step: one cell whose Python state lives on, and a planner that is shown what each step
//! printed before it writes the next.

use std::sync::{Arc, Weak};
use std::time::Instant;

use ordain_planner::{Brief, Draft, Exchange, Planner, Progress, Reply, StepBrief};
use ordain_store::Intent;
use ordain_types::{
    Cause, ErrorClass, Event, QuestionKind, RunError, RunRecord, StepRecord, StepState, Timing, Trouble,
};
use ordain_verify::claims;
use ordain_verify::{Policy, glance};
use tokio::sync::Mutex;

use super::budget::Spent;
use super::cell::{Program, Ran, unanswering};
use super::gathered::{Gathered, StepRan, conflict, rows_conflict};
use super::look::printed;
use super::settle::{Settled, StepsDone};
use super::step::{StepTrial, reviewed};
use crate::error::EngineError;
use crate::fingerprint::hash;
use crate::outcome::{self, run_error, violated};
use crate::retry::{Obstacle, Retry, retry};
use crate::rounds::{self, Accepted, Tried, declined};
use crate::story::{End, Story, millis};
use crate::tools::calls_later;
use crate::trial::RunTrial;

/// The same program with the same outcome so often in a row is no progress.
const SAME_MAX: usize = 3;
/// Two programs in turn, so many steps together.
const PING_PONG_MAX: usize = 6;
/// As much of what a step printed as its record keeps.
const OUTPUT_BYTES_MAX: usize = 4_000;
const GO_ON: &str = "That is what the step printed. Write the next step, or the one that answers.";

/// A run in a session.
pub(crate) struct ReactRun<'r, 'a> {
    pub(crate) trial: &'r RunTrial<'a>,
    pub(crate) planner: &'r Planner,
    pub(crate) brief: &'r Brief,
    pub(crate) spent: Spent,
    pub(crate) progress: &'r mut (dyn Progress + 'r),
    gathered: Gathered,
    records: Vec<StepRecord>,
    replans: Vec<String>,
    session: String,
    /// Program and outcome of each step, as hashes.
    seen: Vec<(String, String)>,
}

/// What one step came to.
enum Reacted {
    /// It printed something; the planner writes the next.
    Printed(String),
    /// It answered.
    Answered(Box<StepRan>),
    /// It was refused, or broke a rule. What it changed is not kept.
    Trouble(Trouble),
}

/// How the steps ended.
enum Stop {
    Answered(Box<StepRan>),
    Asks(String),
    Over(End),
}

impl<'r, 'a> ReactRun<'r, 'a> {
    pub(crate) fn new(
        trial: &'r RunTrial<'a>,
        (planner, brief): (&'r Planner, &'r Brief),
        spent: Spent,
        progress: &'r mut (dyn Progress + 'r),
    ) -> Self {
        let session = format!("react:{}", trial.head.run_id);
        let (gathered, records, replans, seen) = Default::default();
        Self { trial, planner, brief, spent, progress, gathered, records, replans, session, seen }
    }

    /// Goes from step to step until there is an answer, and commits what the steps changed.
    pub(crate) async fn carry_out(
        mut self,
        story: &mut Story,
        exchange: &mut Exchange,
        earlier: &[StepRecord],
    ) -> Result<RunRecord, EngineError> {
        let record = self.go_on(story, exchange, earlier).await;
        self.trial.engine.executor.end_session(&self.session).await;
        record
    }

    async fn go_on(
        &mut self,
        story: &mut Story,
        exchange: &mut Exchange,
        earlier: &[StepRecord],
    ) -> Result<RunRecord, EngineError> {
        let engine = &self.trial.engine;
        let version = retry(|| async { Ok(engine.store.data_version().await?) }).await?;
        self.take_up(earlier, exchange).await?;
        loop {
            let stop = self.steps(story, exchange).await?;
            self.tell(story, exchange);
            let mut ran = match stop {
                Stop::Asks(question) => {
                    self.progress.event(&Event::Question { text: question.clone() });
                    return self.trial.wait(story, (QuestionKind::Planner, question), exchange).await;
                }
                Stop::Over(end) => {
                    return self.trial.write_down(story, end, exchange).await;
                }
                Stop::Answered(ran) => ran,
            };
            let mut attempt = std::mem::take(&mut ran.attempt);
            attempt.outcome.artifacts = self.gathered.artifacts.values().cloned().collect();
            let asked = (self.planner, self.brief);
            let said =
                self.trial.review_steps(story, asked, (&attempt, &self.gathered), self.progress).await?;
            self.spent.add(said.usage, said.cost_usd);
            story.usage = self.spent.usage;
            exchange.reviews.extend(said.reviews);
            exchange.notes.extend(said.notes);
            let done = StepsDone { gathered: &self.gathered, version };
            let trouble = match self.trial.settle_steps(story, attempt, done, exchange).await? {
                Settled::Conflict(trouble) => trouble,
                Settled::Done(record) => return Ok(*record),
            };
            if !self.begin_anew(&trouble, exchange) {
                return self.trial.write_down(story, End::failed(trouble), exchange).await;
            }
        }
    }

    fn tell(&self, story: &mut Story, exchange: &Exchange) {
        story.plan.steps.clone_from(&self.records);
        story.plan.replans.clone_from(&self.replans);
        story.usage = exchange.usage;
        story.calls.clone_from(&self.gathered.calls);
        story.is_of_steps();
    }

    /// The rows are not what the steps saw: the planner gets the reason and starts again from no changes, once.
    fn begin_anew(&mut self, trouble: &Trouble, exchange: &mut Exchange) -> bool {
        if !self.replans.is_empty() {
            return false;
        }
        self.replans.push(trouble.message.clone());
        self.progress.event(&Event::Replan { why: trouble.message.clone() });
        self.gathered = Gathered::default();
        self.planner.complain(exchange, trouble)
    }

    /// Runs the steps of a run that waited or was cut short again: Python state dies with its cell. Where one prints
    /// something else than it did, the planner goes on from there.
    async fn take_up(&mut self, earlier: &[StepRecord], exchange: &mut Exchange) -> Result<(), EngineError> {
        for record in earlier.iter().filter(|record| record.state == StepState::Done) {
            let draft = Draft { code: record.code.clone(), title: record.title.clone(), ..Draft::default() };
            let said = format!("<execute_python>\n{}\n</execute_python>", record.code);
            exchange
                .messages
                .push(ordain_planner::Message { speaker: ordain_planner::Speaker::Model, text: said });
            let shown = match self.one(draft).await? {
                Reacted::Printed(shown) => shown,
                Reacted::Answered(_) => String::new(),
                Reacted::Trouble(trouble) => trouble.message,
            };
            self.planner.show(exchange, &shown, GO_ON);
            if self.records.last().is_some_and(|again| again.output != record.output) {
                let why = format!("step `{}` prints something else than before the run stopped", record.id);
                self.progress.event(&Event::Replan { why: why.clone() });
                self.replans.push(why);
                break;
            }
        }
        Ok(())
    }

    async fn steps(&mut self, story: &mut Story, exchange: &mut Exchange) -> Result<Stop, EngineError> {
        loop {
            self.tell(story, exchange);
            self.trial.keep_progress(story).await?;
            if let Err(error) = self.spent.step() {
                return Ok(Stop::Over(End::failed(error)));
            }
            self.progress.event(&self.spent.event());
            let reply = self.planner.next(self.brief, exchange, self.progress).await;
            self.spent.usage = exchange.usage;
            self.spent.dollars = exchange.cost_usd.unwrap_or_default();
            let draft = match reply {
                Err(error) => return Ok(Stop::Over(End::failed(error))),
                Ok(Reply::Question(question)) => return Ok(Stop::Asks(question)),
                Ok(Reply::Refusal(reason)) => return Ok(Stop::Over(declined("unsupported_intent", &reason))),
                Ok(Reply::Unusable(trouble)) => match self.complain(&trouble, exchange) {
                    Some(stop) => return Ok(stop),
                    None => continue,
                },
                // Neither is among the forms that the brief allows.
                Ok(Reply::Look(draft) | Reply::Plan(draft)) => draft,
                Ok(Reply::Outline(_)) => continue,
            };
            let code = draft.code.clone();
            match self.one(draft).await? {
                Reacted::Answered(ran) => return Ok(Stop::Answered(ran)),
                Reacted::Printed(shown) => {
                    if let Some(error) = self.stuck(&code, &shown) {
                        return Ok(Stop::Over(End::failed(error)));
                    }
                    self.planner.show(exchange, &shown, GO_ON);
                }
                Reacted::Trouble(trouble) => {
                    if let Some(stop) = self.complain(&trouble, exchange) {
                        return Ok(stop);
                    }
                }
            }
        }
    }

    /// Tells the planner what was wrong; the same twice ends the run.
    fn complain(&mut self, trouble: &Trouble, exchange: &mut Exchange) -> Option<Stop> {
        let step = (self.records.len() + 1).to_string();
        self.progress.event(&Event::StepFinding { step, message: trouble.message.clone() });
        if self.planner.complain(exchange, trouble) {
            return None;
        }
        let message = format!("the planner made the same mistake twice: {}", trouble.message);
        Some(Stop::Over(End::failed(Trouble { message, ..trouble.clone() })))
    }

    /// Whether the last steps go round in circles.
    fn stuck(&mut self, code: &str, shown: &str) -> Option<RunError> {
        self.seen.push((hash(code), hash(shown)));
        let last = |count: usize| self.seen.len().checked_sub(count).map(|from| &self.seen[from..]);
        let is_same = last(SAME_MAX).is_some_and(|steps| steps.windows(2).all(|pair| pair[0] == pair[1]));
        let is_ping_pong =
            last(PING_PONG_MAX).is_some_and(|steps| steps.windows(3).all(|three| three[0] == three[2]));
        let what = match (is_same, is_ping_pong) {
            (true, _) => format!("the same step gave the same outcome {SAME_MAX} times in a row"),
            (false, true) => format!("two steps took turns {PING_PONG_MAX} times with the same outcomes"),
            (false, false) => return None,
        };
        let message = format!("the planner goes round in circles: {what}; nothing was changed");
        let hint = Some("say more precisely what is wanted, or take another strategy");
        Some(run_error(ErrorClass::Budget, "stuck", message, hint))
    }

    /// Judges and runs one step, and writes down how it went.
    async fn one(&mut self, draft: Draft) -> Result<Reacted, EngineError> {
        let started = Instant::now();
        let id = (self.records.len() + 1).to_string();
        let title = if draft.title.is_empty() { format!("step {id}") } else { draft.title.clone() };
        self.progress.event(&Event::StepStarted { step: id.clone(), title: title.clone() });
        let mut story = Story::default();
        let (draft, accepted, policy) = self.judge(draft, &mut story);
        let reacted = match accepted {
            Ok(accepted) => self.run(&accepted, &policy, &mut story).await?,
            Err(trouble) => Reacted::Trouble(trouble),
        };
        self.progress.event(&Event::StepCode { step: id.clone(), code: draft.code.clone() });
        let mut record = StepRecord {
            id: id.clone(),
            title,
            code: draft.code,
            params: draft.params,
            state: StepState::Done,
            rounds: story.verdict.history,
            took_ms: Some(millis(started)),
            ..StepRecord::default()
        };
        let mut output = String::new();
        match &reacted {
            Reacted::Printed(shown) => output.clone_from(shown),
            Reacted::Answered(ran) => {
                output.clone_from(&ran.printed);
                record.rows_changed = ran.rows_changed;
            }
            Reacted::Trouble(trouble) => {
                record.state = StepState::Failed;
                record.error = Some(trouble.clone().into());
            }
        }
        output[..output.floor_char_boundary(OUTPUT_BYTES_MAX)].clone_into(&mut record.output);
        if !record.output.is_empty() {
            self.progress.event(&Event::StepOutput { step: id.clone(), output: record.output.clone() });
        }
        let (state, error, took_ms) =
            (record.state, record.error.clone(), record.took_ms.unwrap_or_default());
        self.progress.event(&Event::StepFinished { step: id, state, took_ms, error });
        self.records.push(record);
        Ok(reacted)
    }

    /// Names that earlier steps may have defined are left to Python.
    fn judge(&self, draft: Draft, story: &mut Story) -> (Draft, Result<Accepted, Trouble>, Policy) {
        let (snapshot, step) = (Mutex::new(Weak::new()), StepBrief::default());
        let mut trial = StepTrial::new(self.trial, &self.gathered, &snapshot, &step);
        trial.policy = unanswering(&self.trial.policy, false);
        for record in &self.records {
            let Some(seen) = glance(&record.code) else { continue };
            // A table stays a table, so that what is done to it is seen.
            let is_table = |name: &String| {
                name.strip_suffix("_tbl").is_some_and(|table| self.trial.schema.table(table).is_some())
            };
            let names = seen.assigned.into_iter().chain(seen.defined).chain(seen.imported);
            trial.policy.names.extend(names.filter(|name| !is_table(name)));
        }
        let (draft, verdict) = rounds::judge(draft, &trial, &mut Timing::default());
        story.judged(1, &draft, &verdict);
        let accepted = rounds::accepted(&verdict, &draft);
        (draft, accepted, trial.policy)
    }

    async fn run(
        &mut self,
        accepted: &Accepted,
        policy: &Policy,
        story: &mut Story,
    ) -> Result<Reacted, EngineError> {
        let may_write = accepted.effects.may_write || calls_later(&policy.tools, &accepted.effects.calls);
        // A step cannot be tried again, since its Python state has moved on; so nobody else writes beside it.
        let intent = if may_write { Intent::Write } else { Intent::Read };
        let over = Arc::clone(&self.gathered.pending);
        let trial = self.trial;
        let transaction = match retry(|| async { Ok(trial.begin_over(&over, intent).await?) }).await {
            Ok(mut transaction) => {
                for call in &self.gathered.calls {
                    transaction.note_call(call.clone());
                }
                Arc::new(Mutex::new(transaction))
            }
            Err(error) => {
                let Some(trouble) = rows_conflict(&error) else { return Err(error) };
                self.gathered = Gathered::default();
                return Ok(Reacted::Trouble(trouble));
            }
        };
        let session = Some(self.session.clone());
        let (inputs, files) = Default::default();
        let program = Program { accepted, policy, inputs, files, session };
        let ran = async {
            let ran = self.trial.run_in(&transaction, program).await?;
            Ok((ran, reviewed(transaction).await?))
        };
        let (Ran { execution, evidence, reads, acted, calls }, (review, pending)) = match ran.await {
            Ok(ran) => ran,
            // Its Python state has moved on, so the planner writes the step anew instead of it being tried again.
            Err(error) => match Retry::default().after(error).await? {
                Obstacle::Conflict => return Ok(Reacted::Trouble(conflict("rows that the step used"))),
                Obstacle::Database => return Ok(Reacted::Trouble(database_lost())),
                Obstacle::Executor(_) => {
                    self.gathered = Gathered::default();
                    return Ok(Reacted::Trouble(session_lost()));
                }
            },
        };
        story.past_verdict(&acted.past_verdict);
        let attempt = outcome::attempt(&execution, self.trial.terms.duty);
        if !review.violations.is_empty() {
            if let Tried::<()>::Trouble { trouble, .. } = violated(&review.violations, attempt) {
                return Ok(Reacted::Trouble(trouble));
            }
            return Ok(Reacted::Printed(String::new()));
        }
        if let Some(status) = acted.refused {
            let message = format!("an action was not carried out: `{status}`; nothing of this step is kept");
            return Ok(Reacted::Trouble(outcome::broken("action-refused", message, "check for it first")));
        }
        let rows_changed = (review.diff.rows() as u64).saturating_sub(self.gathered.rows);
        let mut ran = StepRan {
            attempt,
            printed: printed(&execution),
            pending: (pending != *over && execution.cause == Cause::Ok).then_some(pending),
            over,
            rows_changed,
            evidence,
            reads,
            approvals: acted.approvals,
            calls: if execution.cause == Cause::Ok { calls } else { Vec::new() },
            ..StepRan::default()
        };
        let is_answer = execution.cause == Cause::Ok && ran.attempt.answer.text.is_some();
        if is_answer
            && let Some(trouble) = self.wrong_answer(&execution, &mut ran, &review.diff, accepted, story)
        {
            return Ok(Reacted::Trouble(trouble));
        }
        self.trial.engine.add_artifacts(&self.trial.head.run_id, &execution).await?;
        let id = (self.records.len() + 1).to_string();
        self.gathered.take(&id, &mut ran);
        Ok(if is_answer { Reacted::Answered(Box::new(ran)) } else { Reacted::Printed(ran.printed) })
    }

    /// What is wrong with the answer, given what all steps changed.
    fn wrong_answer(
        &self,
        execution: &ordain_cell::Execution,
        ran: &mut StepRan,
        diff: &ordain_types::Diff,
        accepted: &Accepted,
        story: &mut Story,
    ) -> Option<Trouble> {
        let statuses = &self.trial.policy.statuses;
        let duty = self.trial.terms.duty;
        if let Some(trouble) = outcome::broken_promise(duty, execution, &ran.attempt, diff, statuses) {
            return Some(trouble);
        }
        let mut evidence = self.gathered.evidence.clone();
        evidence.extend(ran.evidence.clone());
        let trouble = self.trial.unsupported(&ran.attempt, diff, &evidence, accepted)?;
        // A change is never thrown away for the words about it.
        let said = ran.attempt.answer.text.replace(claims::plain_answer(diff, &[]));
        story.replaced(said, &trouble);
        None
    }
}

fn database_lost() -> Trouble {
    let message =
        "the connection to the database was lost; nothing that this step changed is kept".to_owned();
    Trouble::new(ErrorClass::Internal, "database-lost", message, "write the step again")
}

fn session_lost() -> Trouble {
    let message = "the executor was lost, and with it the variables and changes of all steps".to_owned();
    Trouble::new(ErrorClass::Internal, "executor-lost", message, "begin again from the first step")
}
