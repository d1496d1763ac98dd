//! The end of a run of several steps: what it decided from is compared with the rows of now, its pending changes are
//! laid over them, and one transaction commits, with invariants, receipt and one ledger entry.

use std::sync::atomic::Ordering;

use ordain_planner::{Brief, Did, Draft, Exchange, Planner, Progress, Reviewed};
use ordain_store::{Intent, Pending, StoreError};
use ordain_types::{Answer, Call, Question, QuestionKind, RunRecord, RunState, Trouble};

use super::gathered::{Gathered, conflict, rows_conflict};
use crate::error::EngineError;
use crate::retry::{Retry, retry};
use crate::rounds::Tried;
use crate::story::{Attempt, End, Story};
use crate::trial::RunTrial;

/// The question of a run that was cut short.
const CUT_SHORT: &str = "The run was cut short before its end; nothing was changed. Shall it go on?";

/// What the steps gathered, and the version of the rows when they began.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StepsDone<'g> {
    pub(crate) gathered: &'g Gathered,
    pub(crate) version: u64,
}

/// How a run of several steps ended.
#[derive(Debug)]
pub(crate) enum Settled {
    Done(Box<RunRecord>),
    /// The rows are not what the steps saw. Nothing was changed.
    Conflict(Trouble),
}

impl RunTrial<'_> {
    /// Commits, holds or shows what the steps did.
    pub(crate) async fn settle_steps(
        &self,
        story: &mut Story,
        attempt: Attempt,
        done: StepsDone<'_>,
        exchange: &Exchange,
    ) -> Result<Settled, EngineError> {
        let mut retry = Retry::default();
        loop {
            match self.settle_once(story, attempt.clone(), done, exchange).await {
                Err(error) => match rows_conflict(&error) {
                    Some(trouble) => return Ok(Settled::Conflict(trouble)),
                    None => retry.after(error).await?,
                },
                settled => return settled,
            };
        }
    }

    /// Asks for a second opinion of what the steps did together. Gives what was said.
    pub(crate) async fn review_steps(
        &self,
        story: &mut Story,
        (planner, brief): (&Planner, &Brief),
        (attempt, gathered): (&Attempt, &Gathered),
        progress: &mut dyn Progress,
    ) -> Result<Exchange, EngineError> {
        let mut exchange = Exchange::default();
        let is_changed = !gathered.pending.is_empty() || gathered.calls.iter().any(Call::is_later);
        if !is_changed || !self.engine.settings.review || !planner.reviews() {
            return Ok(exchange);
        }
        let changed = retry(|| async {
            let transaction = self.begin_over(&gathered.pending, Intent::Read).await?;
            let diff = transaction.diff();
            transaction.roll_back().await?;
            Ok(diff)
        });
        let diff = match changed.await {
            Ok(diff) => diff,
            // Nothing of it will be committed.
            Err(EngineError::Store(StoreError::RowsConflict { .. }) | EngineError::Contended { .. }) => {
                return Ok(exchange);
            }
            Err(error) => return Err(error),
        };
        let did = Did {
            diff,
            calls: gathered.calls.clone(),
            status: attempt.status.clone(),
            answer: attempt.answer.text.clone(),
        };
        let draft = Draft { code: story.program(), ..Draft::default() };
        progress.stage("reviewing");
        let what = Reviewed::Code(&draft, Some(&did));
        story.reviewed(planner.review(brief, what, &mut exchange, progress).await);
        Ok(exchange)
    }

    async fn settle_once(
        &self,
        story: &mut Story,
        mut attempt: Attempt,
        done: StepsDone<'_>,
        exchange: &Exchange,
    ) -> Result<Settled, EngineError> {
        let gathered = done.gathered;
        attempt.calls.clone_from(&gathered.calls);
        if gathered.pending.is_empty() && !attempt.has_later_calls() {
            let settled = self.settle(story, attempt, None, exchange, None).await?;
            return self.after(settled, story, exchange).await;
        }
        let mut transaction = self.begin_over(&Pending::default(), Intent::Write).await?;
        if self.may_have_changed(done.version).await?
            && let Some(what) = gathered.compare(&mut transaction).await?
        {
            transaction.roll_back().await?;
            return Ok(Settled::Conflict(conflict(&what)));
        }
        transaction.lay(&gathered.pending).await?;
        let rows = transaction.diff().rows();
        for call in &gathered.calls {
            transaction.note_call(call.clone());
        }
        let held_by = self.rule_that_holds(&gathered.approvals, rows, &gathered.calls);
        let settled = self.settle(story, attempt, Some(transaction), exchange, held_by).await?;
        self.after(settled, story, exchange).await
    }

    /// Whether somebody may have written since. To a table in place anybody may write, and nobody tells.
    async fn may_have_changed(&self, version: u64) -> Result<bool, EngineError> {
        let store = &self.engine.store;
        if retry(|| async { Ok(store.data_version().await?) }).await? != version {
            return Ok(true);
        }
        self.has_tables_in_place().await
    }

    pub(crate) async fn has_tables_in_place(&self) -> Result<bool, EngineError> {
        let store = &self.engine.store;
        Ok(retry(|| async { Ok(store.tables().await?) }).await?.iter().any(|table| table.in_place))
    }

    async fn after(
        &self,
        settled: Tried<RunRecord>,
        story: &Story,
        exchange: &Exchange,
    ) -> Result<Settled, EngineError> {
        match settled {
            Tried::Done(record) => Ok(Settled::Done(Box::new(record))),
            Tried::Trouble { trouble, state, attempt } => {
                let end = End::Stopped { error: trouble.into(), state, attempt };
                let record = self.write_down(story, end, exchange).await?;
                Ok(Settled::Done(Box::new(record)))
            }
        }
    }

    /// Records that the run waits for a person. Its steps are in the record; they run again when it goes on.
    pub(crate) async fn wait(
        &self,
        story: &mut Story,
        (kind, question): (QuestionKind, String),
        exchange: &Exchange,
    ) -> Result<RunRecord, EngineError> {
        let end = waiting(story, kind, question);
        self.write_down(story, end, exchange).await
    }

    /// Keeps what the run has come to, for the case that its process ends: it then waits for somebody who lets it go on.
    pub(crate) async fn keep_progress(&self, story: &Story) -> Result<(), EngineError> {
        let mut story = story.clone();
        let end = waiting(&mut story, QuestionKind::CutShort, CUT_SHORT.to_owned());
        let note = self.note(&Exchange::default());
        let record = story.record(&self.head, end);
        let engine = &self.engine;
        retry(|| async { Ok(engine.store.keep_progress(record.clone(), note.clone()).await?) }).await?;
        self.has_progress.store(true, Ordering::Relaxed);
        Ok(())
    }
}

fn waiting(story: &mut Story, kind: QuestionKind, question: String) -> End {
    story.plan.questions.push(Question { text: question.clone(), answer: None, kind });
    let answer = Answer { text: Some(question), ..Answer::default() };
    // What was asked outside is not asked again when the run goes on; what would be sent is planned again.
    let calls = story.calls.iter().filter(|call| !call.is_later()).cloned().collect();
    let status = Some("invalid_request".to_owned());
    let attempt = Attempt { status, answer, calls, ..Attempt::default() };
    End::Ended { state: RunState::Waiting, attempt: Box::new(attempt) }
}
