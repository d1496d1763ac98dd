//! Runs as they are opened and closed. Work that brings programs of its own, such as a run of checks, opens a run, carries its
//! programs out, and closes the run with what they came to.

use std::time::Instant;

use ordain_store::{BeginOptions, Call as TableCall, Claim, EntryNote, Intent};
use ordain_types::{Answer, Call, PlanSource, RunError, RunId, RunRecord, RunState, StepRecord};
use serde_json::{Value, json};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::story::{Attempt, End, Head, Story};
use crate::work::Order;

/// The longest request.
const REQUEST_BYTES_MAX: usize = 1 << 20;

/// What opening a run came to.
#[derive(Debug)]
pub enum Opened {
    /// It is open.
    Now(Head),
    /// Nothing is to be run: the idempotency key was used, and this is the record of that run.
    Before(Box<RunRecord>),
}

/// What programs came to, for the one record that they have.
#[derive(Debug)]
pub struct Programs {
    /// The programs, each a step.
    pub steps: Vec<StepRecord>,
    /// Who wrote them.
    pub source: PlanSource,
    /// What they found together.
    pub status: Option<String>,
    /// The same for people.
    pub answer: Answer,
    /// Why not all of them ran.
    pub stopped: Option<RunError>,
    /// What is to be sent after the commit.
    pub messages: Vec<Call>,
    /// What is written to tables together with the record.
    pub writes: Vec<TableCall>,
    /// What the ledger keeps besides the record.
    pub detail: Value,
    /// Whether nothing of it is recorded.
    pub is_trial: bool,
}

impl Engine {
    /// Opens a run, whose idempotency key stands for the work of that `fingerprint`. It is closed by [`Engine::close`] or given up by
    /// [`Engine::give_up`].
    pub async fn open(
        &self,
        order: &Order<'_>,
        fingerprint: impl Future<Output = String> + Send,
    ) -> Result<Opened, EngineError> {
        if order.request.len() > REQUEST_BYTES_MAX {
            let bytes = order.request.len();
            return Err(EngineError::RequestTooLong { bytes, bytes_max: REQUEST_BYTES_MAX });
        }
        let run_id = match &order.origin.run_id {
            Some(run_id) => run_id.clone(),
            None => self.store.new_run_id()?,
        };
        if let Some(key) = &order.origin.idempotency_key
            && !order.origin.is_claimed
        {
            match self.store.claim_for(key, &fingerprint.await, &run_id).await? {
                Claim::Taken => {}
                Claim::Finished(record) => return Ok(Opened::Before(record)),
                Claim::Running(run) => return Err(EngineError::Running { run: run.to_string() }),
                Claim::Other(run) => return Err(EngineError::KeyReused { run: run.to_string() }),
            }
        }
        let head = Head {
            run_id,
            kind: order.kind,
            request: order.request.to_owned(),
            strategy: order.strategy,
            started_at: self.store.timestamp(),
            started: Instant::now(),
        };
        if let Err(error) = self.store.refresh().await {
            let error = error.into();
            self.give_up(order, &head.run_id, Some(&error)).await;
            return Err(error);
        }
        Ok(Opened::Now(head))
    }

    /// Records programs as one run, with what they write to tables.
    pub async fn close(
        &self,
        order: &Order<'_>,
        head: &Head,
        ran: Programs,
    ) -> Result<RunRecord, EngineError> {
        let closed = self.record_programs(order, head, ran).await;
        if let Err(error) = &closed {
            self.give_up(order, &head.run_id, Some(error)).await;
        }
        closed
    }

    async fn record_programs(
        &self,
        order: &Order<'_>,
        head: &Head,
        ran: Programs,
    ) -> Result<RunRecord, EngineError> {
        let mut story = Story::default();
        story.went_through(ran.steps, ran.source);
        let (status, answer, calls) = (ran.status, ran.answer, ran.messages);
        let attempt = Box::new(Attempt { status, answer, calls, ..Attempt::default() });
        let end = match ran.stopped {
            Some(error) => End::Stopped { error, state: RunState::RolledBack, attempt: Some(attempt) },
            None => End::Ended { state: RunState::Answered, attempt },
        };
        let record = story.record(head, end);
        if ran.is_trial {
            return Ok(record);
        }
        let mut detail = ran.detail;
        detail["limits"] = json!(self.store.limits());
        let note = EntryNote {
            detail,
            claim: order.origin.idempotency_key.clone(),
            ..EntryNote::by(&order.origin.who, &order.origin.through)
        };
        if ran.writes.is_empty() {
            return Ok(self.store.record(record, note).await?);
        }
        let begin = BeginOptions { run_id: record.run_id.clone(), intent: Intent::Write };
        let mut transaction = self.store.begin(begin).await?;
        for call in &record.calls {
            transaction.note_call(call.clone());
        }
        for write in ran.writes {
            transaction.carry_out(write).await?;
        }
        Ok(transaction.commit(record, note).await?)
    }

    /// Gives up a run that is open. Its idempotency key is free for another try, and an error of the engine leaves a record;
    /// unless the run can go on.
    pub async fn give_up(&self, order: &Order<'_>, run_id: &RunId, error: Option<&EngineError>) {
        // A node of the cluster carries it out again: it keeps its key and gets no record.
        let is_queued = match error {
            Some(error) if error.may_pass() => self.is_queued(run_id).await,
            _ => false,
        };
        // A run of several steps can go on from those that are done. A store that is not there cannot record that.
        let goes_on = is_queued || self.store.cut_short(run_id).await.is_ok_and(|kept| kept.is_some());
        if goes_on {
            return;
        }
        self.release_key(order, run_id).await;
        if let Some(error) = error {
            self.record_lost(run_id, order, error).await;
        }
    }

    /// Frees the idempotency key of a run that did nothing.
    pub(crate) async fn release_key(&self, order: &Order<'_>, run_id: &RunId) {
        if let Some(key) = &order.origin.idempotency_key {
            // A store that is not there cannot free it.
            let _ = self.store.release(key, run_id).await;
        }
    }
}
