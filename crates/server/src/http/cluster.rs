//! Runs that any node of a cluster may carry out: how they are accepted here, and watched until they end.
//!
//! Accepting a run is one transaction: its row and its claim. After that it is carried out, whatever becomes of this
//! node. The caller's run here only watches; it mirrors the events of the node that carries the run out, and finds the
//! end in the store.

mod care;
mod work;

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use ordain_engine::EngineError;
use ordain_store::{Claim, QueuedRun, StoreError};
use ordain_types::{RunId, RunKind, RunRecord, RunState};
use serde_json::json;
use tokio::sync::OwnedSemaphorePermit;

pub(crate) use care::Troubles;
pub(crate) use work::Working;

use super::caller::Caller;
use super::live::{About, FarEnd, LiveRun, RunEvent};
use super::order::{SentOrder, WorkOrder};
use super::problem::{DRAINING, Problem, QUEUE_FULL, RUN_LOST};
use super::rate;
use super::service::Service;
use super::session_book::{gone, is_gone};
use crate::cluster::{Lane, OfferError, binding, bound_to};

/// How often the store is asked for the end of a run, in case nobody tells it.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// Runs of other nodes that a list shows.
const LISTED_MAX: u64 = 500;

impl Service {
    /// Accepts an order for the cluster, and watches its run until it ends.
    pub(super) async fn through_queue(
        &self,
        caller: &Caller,
        order: WorkOrder,
        run: &LiveRun,
    ) -> Result<RunRecord, Problem> {
        let (store, about) = (self.engine().store(), &run.about);
        let fingerprint = order.fingerprint().await;
        let cluster = &self.inner.options.cluster;
        let held = match order.session() {
            Some(session) => Some(self.hold_session(&caller.id, session).await?),
            None => None,
        };
        let is_gone = held.as_ref().is_some_and(|held| is_gone(held, None, &order));
        let slot = if held.is_none() { self.room_here(about) } else { None };
        let node = held.as_ref().map(|held| held.node.as_str()).or(slot.is_some().then(|| cluster.node()));
        let workspace =
            node.map_or_else(|| cluster.workspace().to_owned(), |node| bound_to(cluster.workspace(), node));
        let files = self.keep_uploads(&about.run_id, order.files()).await?;
        let sent = SentOrder::new(order, files, held.map(|held| held.holding));
        let queued = QueuedRun {
            run_id: about.run_id.clone(),
            claim: about.claim.clone().unwrap_or_default(),
            kind: about.kind,
            who: about.who.clone(),
            request: about.request.clone(),
            work: serde_json::to_string(&sent).map_err(|error| Problem::internal(error.to_string()))?,
            workspace,
            accepted_at: run.started_at.clone(),
            conversation: about.conversation.clone(),
        };
        // Files of what is not accepted are forgotten after a while.
        match store.enqueue(&queued, &fingerprint).await? {
            Claim::Taken => {}
            Claim::Finished(record) => return Ok(*record),
            Claim::Running(run) => return Err(EngineError::Running { run: run.to_string() }.into()),
            Claim::Other(run) => return Err(EngineError::KeyReused { run: run.to_string() }.into()),
        }
        let run_id = queued.run_id.clone();
        if slot.is_none() {
            run.keep_row(queued.clone());
        }
        let offered = if is_gone { Err(gone()) } else { self.offer_accepted(caller, queued, slot).await };
        if let Err(problem) = offered {
            store.dequeue(&run_id).await?;
            return Err(problem);
        }
        // Neither may wait while the other one is not polled: it may have the place in the pool that the other one needs.
        tokio::select! {
            ended = self.follow(run) => ended,
            never = self.keep_certain(run) => match never {},
        }
    }

    /// Makes an accepted run certain whenever somebody wants to know.
    async fn keep_certain(&self, run: &LiveRun) -> Infallible {
        loop {
            run.certainty_wanted().await;
            match self.engine().store().flush().await {
                Ok(()) => run.make_certain(),
                Err(error) => self.inner.log.trouble(run.about.run_id.as_str(), &error.to_string()),
            }
        }
    }

    /// A slot of this node for a run that it is about to accept, if others could take the run over when this node dies.
    fn room_here(&self, about: &About) -> Option<OwnedSemaphorePermit> {
        let is_well = self.inner.options.cluster.is_connected() && !self.is_draining();
        if is_well { self.inner.working.room(Lane::of(about.kind, &about.who)) } else { None }
    }

    /// Begins an accepted run in its slot, or puts it into the queue, unless its key has too many or an earlier turn of its
    /// conversation goes on: then the node that ends that one offers it.
    async fn offer_accepted(
        &self,
        caller: &Caller,
        queued: QueuedRun,
        slot: Option<OwnedSemaphorePermit>,
    ) -> Result<(), Problem> {
        // Counted behind the row, so that two that come at once are never both the last that fits.
        if let Some(most) = caller.cells(&self.inner.options)
            && self.engine().store().queued_by(&queued.who).await? > most
        {
            return Err(rate::too_many_runs(most));
        }
        if !self.is_next_turn(&queued).await? {
            return Ok(());
        }
        if let Some(slot) = slot {
            self.begin_here(queued, slot);
            return Ok(());
        }
        match self.inner.options.cluster.offer(&queued, false).await {
            Ok(()) => Ok(()),
            Err(OfferError::Full) => {
                let detail = "more runs wait for a node than the queue takes";
                Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, QUEUE_FULL, detail).after(1))
            }
            // It is accepted, so a node offers it again once the servers answer.
            Err(OfferError::Other(error)) => {
                self.inner.log.trouble(queued.run_id.as_str(), &error.to_string());
                Ok(())
            }
        }
    }

    /// Whether no earlier turn of a run's conversation is left.
    async fn is_next_turn(&self, queued: &QueuedRun) -> Result<bool, StoreError> {
        let Some(conversation) = &queued.conversation else { return Ok(true) };
        let next = self.engine().store().next_turn(conversation).await?;
        Ok(next.is_none_or(|next| next.run_id == queued.run_id))
    }

    /// Takes a run off the queue that has ended, unless its record did, and lets the next turn of its conversation begin.
    async fn take_off(&self, about: &About, has_left: bool) -> Result<(), StoreError> {
        let store = self.engine().store();
        if !has_left {
            store.dequeue(&about.run_id).await?;
        }
        if matches!(about.kind, RunKind::Code | RunKind::Exec | RunKind::Check) {
            store.remove_files(&QueuedRun::uploads(&about.run_id)).await?;
        }
        let Some(conversation) = &about.conversation else { return Ok(()) };
        let (cluster, next) = (&self.inner.options.cluster, store.next_turn(conversation).await?);
        // A later turn that was cancelled leaves the earlier one where it is. What is not offered here, a node that looks
        // through the queue offers.
        if let Some(next) = next
            && cluster.has(&next).await.is_ok_and(|is_there| !is_there)
        {
            let _ = cluster.offer(&next, false).await;
        }
        Ok(())
    }

    /// Waits for the end of a run that some node carries out.
    async fn follow(&self, run: &LiveRun) -> Result<RunRecord, Problem> {
        let run_id = &run.about.run_id;
        loop {
            let end = tokio::select! {
                end = run.far_end() => end,
                () = tokio::time::sleep(LOOK_EVERY) => None,
                () = run.should_leave() => {
                    let detail = "the server is stopping; another one carries the run out";
                    let problem = Problem::new(StatusCode::SERVICE_UNAVAILABLE, DRAINING, detail).after(1);
                    let hint = format!("ask another server for /v1/runs/{run_id}, or send the request again under its key");
                    return Err(problem.of_run(run_id.as_str()).hint(hint));
                }
            };
            if let Some(FarEnd { record: Some(record), .. }) = end {
                return Ok(*record);
            }
            match self.looked_up(&run.about, end).await {
                Ok(Some(ended)) => return ended,
                Ok(None) => {}
                // The store is away for a moment; the run is safe in it.
                Err(error) => {
                    self.inner.log.trouble(run_id.as_str(), &error.to_string());
                    tokio::time::sleep(LOOK_EVERY).await;
                }
            }
        }
    }

    /// How a run ended; `None` if it goes on.
    async fn looked_up(
        &self,
        about: &About,
        end: Option<FarEnd>,
    ) -> Result<Option<Result<RunRecord, Problem>>, StoreError> {
        let (run, claim) = (&about.run_id, about.claim.as_deref().unwrap_or_default());
        let told = |record: RunRecord| Some(Problem::recorded(&record).map_or(Ok(record), Err));
        if let Some(record) = self.recorded(run, claim).await? {
            return Ok(told(self.as_asked(&about.who, record).await));
        }
        if self.engine().store().queued(run).await?.is_some() {
            return Ok(None);
        }
        // It may have ended between these two looks.
        if let Some(record) = self.recorded(run, claim).await? {
            return Ok(told(self.as_asked(&about.who, record).await));
        }
        let problem = end.and_then(|end| end.problem).map(Problem::from);
        Ok(Some(Err(problem.unwrap_or_else(|| lost(run)))))
    }

    /// The record of a run that has ended. One that waits for a person has one, and goes on under another key.
    async fn recorded(&self, run: &RunId, claim: &str) -> Result<Option<RunRecord>, StoreError> {
        let store = self.engine().store();
        match store.run(run.as_str()).await {
            Ok(record) if record.state != RunState::Waiting => Ok(Some(record)),
            Ok(_) => store.claimed(claim).await,
            Err(StoreError::UnknownRun { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Takes a cancelled run out of the queue, and asks the node that carries it out to stop.
    pub(super) async fn cancel_elsewhere(&self, run: &LiveRun) {
        if !run.about.is_queued {
            return;
        }
        self.inner.options.cluster.cancel(&run.about.run_id).await;
        let about = &run.about;
        if let Err(error) = self.take_off(about, false).await {
            self.inner.log.trouble(about.run_id.as_str(), &error.to_string());
        }
    }

    /// A run that goes on and was accepted by another node. It is watched here from now on.
    pub(super) async fn find_elsewhere(&self, run: &str) -> Option<Arc<LiveRun>> {
        if !self.inner.options.cluster.is_shared() {
            return None;
        }
        let queued = self.engine().store().queued(&RunId(run.to_owned())).await.ok()??;
        let run = Arc::new(watched(&queued));
        self.inner.live.add(&run).ok()?;
        let about = &run.about;
        run.tell("started", &json!({ "run_id": about.run_id, "kind": about.kind, "request": about.request }));
        let (service, watched) = (self.clone(), Arc::clone(&run));
        tokio::spawn(async move {
            let hearing = tokio::spawn(service.clone().hear_run(watched.about.run_id.clone()));
            let ended = Box::pin(service.carry_out(&watched, service.follow(&watched))).await;
            hearing.abort();
            service.settle(&watched, ended);
        });
        Some(run)
    }

    async fn hear_run(self, run: RunId) {
        // Without events the end is found all the same.
        if let Ok(events) = self.inner.options.cluster.hear(Some(&run)).await {
            self.hear(events, false).await;
        }
    }

    /// Runs that go on and are not known here.
    pub(super) async fn queued_elsewhere(&self) -> Result<Vec<Arc<LiveRun>>, StoreError> {
        if !self.inner.options.cluster.is_shared() {
            return Ok(Vec::new());
        }
        let queued = self.engine().store().queue(LISTED_MAX).await?;
        let unknown = queued.iter().filter(|queued| self.inner.live.find(queued.run_id.as_str()).is_none());
        Ok(unknown.map(|queued| Arc::new(watched(queued))).collect())
    }

    /// Adds events of other nodes to the runs that are watched here. Where some may be missing, what was told while the
    /// connection was lost is asked for, with everything behind it.
    async fn hear(&self, mut told: BoxStream<'static, (RunId, Vec<u8>)>, may_miss: bool) {
        while let Some((run, events)) = told.next().await {
            let Some(run) = self.inner.live.find(run.as_str()) else { continue };
            // What is no list of events is left out.
            let events = serde_json::from_slice::<Vec<RunEvent>>(&events).unwrap_or_default();
            if !may_miss || events.first().is_none_or(|first| run.is_next(first)) {
                for event in events {
                    run.heard(event);
                }
            } else if run.should_ask_again() {
                self.ask_again(run);
            }
        }
    }

    /// Hears a run from its beginning, until it has ended.
    fn ask_again(&self, run: Arc<LiveRun>) {
        let service = self.clone();
        tokio::spawn(async move {
            tokio::select! {
                () = service.hear_run(run.about.run_id.clone()) => {}
                _ = run.ended() => {}
            }
        });
    }
}

/// A run of which nothing is left: the database crashed before the run was on its disk, so that it was not committed either.
fn lost(run: &RunId) -> Problem {
    let detail = "the database lost the run before it was carried out; nothing was changed";
    let problem = Problem::new(StatusCode::SERVICE_UNAVAILABLE, RUN_LOST, detail).after(1);
    problem.of_run(run.as_str()).hint("send the request again, under the same key if you like")
}

/// A run as one that every node may carry out.
fn unbound(queued: &QueuedRun) -> QueuedRun {
    QueuedRun { workspace: binding(queued).0.to_owned(), ..queued.clone() }
}

fn watched(queued: &QueuedRun) -> LiveRun {
    let run = LiveRun::new(about(queued, true), queued.accepted_at.clone());
    run.make_certain();
    run
}

fn about(queued: &QueuedRun, is_queued: bool) -> About {
    About {
        run_id: queued.run_id.clone(),
        kind: queued.kind,
        request: queued.request.clone(),
        who: queued.who.clone(),
        claim: Some(queued.claim.clone()),
        conversation: queued.conversation.clone(),
        is_queued,
    }
}
