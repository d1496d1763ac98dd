//! The trial of one step of an outline: its program runs over the rows with the pending changes laid on them, its
//! criterion is evaluated, and everything is rolled back. What it would change is kept as pending.

use std::sync::{Arc, Weak};

use ordain_planner::StepBrief;
use ordain_store::{Intent, Pending, Review, StoreError, Transaction};
use ordain_types::{Cause, Diff, RESULT, Schema, SourceFile, Trouble};
use ordain_verify::claims;
use ordain_verify::{Policy, Verdict};
use serde_json::Value;
use tokio::sync::Mutex;

use super::cell::{Program, Ran, Shared, unanswering};
use super::criterion::unmet;
use super::each::Turns;
use super::gathered::{Gathered, StepRan};
use super::look::printed;
use crate::error::EngineError;
use crate::outcome::{self, violated};
use crate::retry::{Obstacle, Retry};
use crate::rounds::{Accepted, Trial, Tried, Try};
use crate::story::{Attempt, Story};
use crate::tools::{CALLS_MAX, calls_later};
use crate::trial::RunTrial;

/// The largest result of a step.
const RESULT_BYTES_MAX: usize = 1 << 20;

/// A snapshot that steps share which only read and run at the same time.
pub(crate) type Snapshot = Mutex<Weak<Mutex<Transaction>>>;

/// The trial of one step.
pub(crate) struct StepTrial<'s, 'a> {
    pub(crate) run: &'s RunTrial<'a>,
    pub(crate) gathered: &'s Gathered,
    pub(crate) snapshot: &'s Snapshot,
    pub(crate) step: &'s StepBrief,
    pub(crate) policy: Policy,
    /// Whether a program that writes is only judged now: it runs later, in its turn.
    pub(crate) defers_writes: bool,
}

/// What the trial of a step gives.
#[derive(Debug)]
pub(crate) enum StepDone {
    Ran(Box<StepRan>),
    /// The program writes and waits for its turn.
    Deferred,
}

impl<'s, 'a> StepTrial<'s, 'a> {
    pub(crate) fn new(
        run: &'s RunTrial<'a>,
        gathered: &'s Gathered,
        snapshot: &'s Snapshot,
        step: &'s StepBrief,
    ) -> Self {
        let policy = if step.is_last { run.policy.clone() } else { unanswering(&run.policy, false) };
        Self { run, gathered, snapshot, step, policy, defers_writes: true }
    }

    /// One try, in one transaction.
    async fn attempt(
        &self,
        accepted: &Accepted,
        story: &mut Story,
        is_last: bool,
        intent: Intent,
    ) -> Result<Tried<StepDone>, EngineError> {
        let over = Arc::clone(&self.gathered.pending);
        let mut turns = match Turns::of(self.step) {
            Ok(turns) => turns,
            Err(trouble) => return Ok(failed(trouble, Attempt::default())),
        };
        let transaction = self.transaction(&over, intent).await?;
        let mut ran = StepRan { over, reads: Some(Vec::new()), ..StepRan::default() };
        let mut results = Vec::new();
        for inputs in std::mem::take(&mut turns.inputs) {
            let files = self.gathered.files(self.run.engine, &self.run.head.run_id);
            let program = Program { accepted, policy: &self.policy, inputs, files, session: None };
            let one = self.run.run_in(&transaction, program).await?;
            story.past_verdict(&one.acted.past_verdict);
            match self.took(one, &mut ran).await? {
                Ok(result) => results.push(result),
                Err(trouble) => return Ok(failed(trouble, ran.attempt)),
            }
        }
        ran.result = turns.together(&mut results);
        ran.criterion = self.run.check_step(&transaction, self.step, &ran.result).await?;
        if let Some(record) = ran.criterion.as_ref().filter(|record| !record.holds) {
            return Ok(failed(unmet(record), ran.attempt));
        }
        let (diff, broken) = self.changed(transaction, accepted, &mut ran).await?;
        if let Some(broken) = broken {
            return Ok(broken);
        }
        if let Some(trouble) = self.wrong_answer(&mut ran, &diff, accepted, story, is_last) {
            return Ok(failed(trouble, ran.attempt));
        }
        Ok(Tried::Done(StepDone::Ran(Box::new(ran))))
    }

    /// Whether it changes rows, or something outside after the commit: such steps run in their order.
    fn writes(&self, accepted: &Accepted) -> bool {
        accepted.effects.may_write || calls_later(&self.policy.tools, &accepted.effects.calls)
    }

    /// A transaction of its own for a step that writes; steps that only read share one while they run.
    async fn transaction(&self, over: &Pending, intent: Intent) -> Result<Shared, EngineError> {
        if intent != Intent::Read {
            let mut own = self.run.begin_over(over, intent).await?;
            for call in &self.gathered.calls {
                own.note_call(call.clone());
            }
            return Ok(Arc::new(Mutex::new(own)));
        }
        let mut snapshot = self.snapshot.lock().await;
        if let Some(open) = snapshot.upgrade() {
            return Ok(open);
        }
        let opened = Arc::new(Mutex::new(self.run.begin_over(over, Intent::Read).await?));
        *snapshot = Arc::downgrade(&opened);
        Ok(opened)
    }

    /// Takes what one execution gave into what the step came to; gives its result.
    async fn took(&self, one: Ran, ran: &mut StepRan) -> Result<Result<Value, Trouble>, EngineError> {
        let Ran { mut execution, evidence, reads, acted, calls } = one;
        ran.evidence.extend(evidence);
        ran.reads = match (ran.reads.take(), reads) {
            (Some(mut kept), Some(more)) => {
                kept.extend(more);
                Some(kept)
            }
            _ => None,
        };
        ran.printed.push_str(&printed(&execution));
        // What a step declares of itself says nothing about the run.
        execution.values.remove("ACTION");
        execution.values.remove("SHOULD_MUTATE");
        ran.attempt =
            merged(std::mem::take(&mut ran.attempt), outcome::attempt(&execution, self.run.terms.duty));
        if execution.cause != Cause::Ok {
            return Ok(Err(outcome::failed(&execution, &ran.attempt)));
        }
        if let Some(status) = acted.refused {
            let message = format!("an action was not carried out: `{status}`");
            return Ok(Err(outcome::broken(
                "action-refused",
                message,
                "check for this before calling the action",
            )));
        }
        ran.approvals.extend(acted.approvals);
        ran.calls.extend(calls);
        if self.gathered.calls.len() + ran.calls.len() > CALLS_MAX {
            let message = format!("a run may make at most {CALLS_MAX} calls of tools");
            return Ok(Err(outcome::broken("too-many-calls", message, "call for fewer items at once")));
        }
        self.run.engine.add_artifacts(&self.run.head.run_id, &execution).await?;
        let result = execution.values.get(RESULT).cloned();
        if let Some(reason) = execution.notes.get(RESULT).and_then(Value::as_str) {
            let message = format!("`{RESULT}` is no plain value: {reason}");
            return Ok(Err(outcome::broken(
                "bad-result",
                message,
                "give numbers, texts, lists and dictionaries",
            )));
        }
        let size = result.as_ref().map_or(0, |result| result.to_string().len());
        if size > RESULT_BYTES_MAX {
            let message = format!("`{RESULT}` has {size} bytes; {RESULT_BYTES_MAX} is the limit");
            return Ok(Err(outcome::broken(
                "result-too-large",
                message,
                "give what later steps need, and no more",
            )));
        }
        Ok(Ok(result.unwrap_or_default()))
    }

    /// What a step that writes has changed, held against the rules and invariants; then everything is rolled back.
    async fn changed(
        &self,
        transaction: Shared,
        accepted: &Accepted,
        ran: &mut StepRan,
    ) -> Result<(Diff, Option<Tried<StepDone>>), EngineError> {
        if !self.writes(accepted) {
            return Ok((transaction.lock().await.diff(), None));
        }
        let (review, pending) = reviewed(transaction).await?;
        if !review.violations.is_empty() {
            let attempt = std::mem::take(&mut ran.attempt);
            return Ok((review.diff, Some(violated(&review.violations, attempt))));
        }
        ran.rows_changed = (review.diff.rows() as u64).saturating_sub(self.gathered.rows);
        if pending != *ran.over {
            ran.pending = Some(pending);
        }
        Ok((review.diff, None))
    }

    /// What is wrong with what the step gave: nothing that later steps could use, or, of the last one, the answer.
    fn wrong_answer(
        &self,
        ran: &mut StepRan,
        diff: &Diff,
        accepted: &Accepted,
        story: &mut Story,
        is_last: bool,
    ) -> Option<Trouble> {
        if !self.step.is_last {
            let gave_nothing =
                ran.result.is_null() && ran.pending.is_none() && ran.attempt.outcome.artifacts.is_empty();
            return (gave_nothing && ran.calls.is_empty()).then(|| {
                let message = format!("the step set no `{RESULT}`, changed nothing and left no file");
                outcome::broken("missing-result", message, "set `result` to what later steps need")
            });
        }
        let statuses = &self.run.policy.statuses;
        if let Some(trouble) = outcome::broken_answer(&ran.attempt, diff, statuses) {
            return Some(trouble);
        }
        let mut evidence = self.gathered.evidence.clone();
        evidence.extend(ran.evidence.clone());
        let trouble = self.run.unsupported(&ran.attempt, diff, &evidence, accepted)?;
        if diff.is_empty() && !is_last {
            return Some(trouble);
        }
        // A change is never thrown away for the words about it.
        let said = ran.attempt.answer.text.replace(claims::plain_answer(diff, &[]));
        story.replaced(said, &trouble);
        None
    }
}

impl Trial for StepTrial<'_, '_> {
    type Done = StepDone;

    fn policy(&self) -> &Policy {
        &self.policy
    }

    fn schema(&self) -> &Schema {
        &self.run.schema
    }

    fn verdict(&self, code: &str) -> Verdict {
        ordain_verify::verify(code, &self.policy, &self.run.schema)
    }

    fn bring(&mut self, modules: &[SourceFile]) -> Result<(), Trouble> {
        if modules.is_empty() {
            return Ok(());
        }
        let message = "a step is carried out by one program without modules of its own".to_owned();
        Err(outcome::broken("modules", message, "put everything into one program"))
    }

    async fn look(&mut self, draft: &ordain_planner::Draft) -> Result<String, EngineError> {
        self.run.look_over(draft, &self.gathered.pending).await
    }

    async fn run(
        &mut self,
        Try { accepted, is_last, .. }: Try<'_>,
        story: &mut Story,
    ) -> Result<Tried<StepDone>, EngineError> {
        if self.defers_writes && self.writes(accepted) {
            return Ok(Tried::Done(StepDone::Deferred));
        }
        let mut intent = if self.writes(accepted) { Intent::Beside } else { Intent::Read };
        let mut retry = Retry::default();
        loop {
            let error = match Box::pin(self.attempt(accepted, story, is_last, intent)).await {
                Err(error) => error,
                done => return done,
            };
            match retry.after(error).await? {
                // The next try writes while no other run does.
                Obstacle::Conflict if intent == Intent::Beside => intent = Intent::Write,
                Obstacle::Conflict | Obstacle::Database => {}
                Obstacle::Executor(lost) => story.executor_lost(&lost),
            }
        }
    }
}

/// What was changed, held against the rules and invariants. Then everything is rolled back.
pub(crate) async fn reviewed(transaction: Shared) -> Result<(Review, Pending), StoreError> {
    let mut open = transaction.lock().await;
    let (review, pending) = (open.review().await?, open.pending());
    drop(open);
    if let Some(transaction) = Arc::into_inner(transaction) {
        transaction.into_inner().roll_back().await?;
    }
    Ok((review, pending))
}

fn failed(trouble: Trouble, attempt: Attempt) -> Tried<StepDone> {
    let attempt = Some(Box::new(attempt.unanswered()));
    Tried::Trouble { trouble, state: ordain_types::RunState::Failed, attempt }
}

/// What a step gave for one item, after what it gave for the ones before.
fn merged(earlier: Attempt, mut now: Attempt) -> Attempt {
    let mut artifacts = earlier.outcome.artifacts;
    artifacts.retain(|known| now.outcome.artifacts.iter().all(|artifact| artifact.name != known.name));
    artifacts.append(&mut now.outcome.artifacts);
    now.outcome.artifacts = artifacts;
    now
}
