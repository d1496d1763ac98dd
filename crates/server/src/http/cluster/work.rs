//! Carries out runs of the queue, for as long as the server serves.

use std::collections::HashMap;
use std::convert::Infallible;
use std::num::NonZero;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::http::StatusCode;
use ordain_checks::Schedules;
use ordain_store::{QueuedRun, StoreError};
use ordain_types::{BoxFuture, ErrorClass, RunId, RunRecord, RunState};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::time::Instant;

use super::{about, unbound};
use crate::cluster::{Lane, Place, Taken};
use crate::http::caller::{Caller, LOCAL};
use crate::http::checks::served;
use crate::http::live::{
    EVENTS_MAX, Ended, FIRST_TAKEN, FarEnd, FarProblem, LiveRun, Relay, RunEvent, run_error,
};
use crate::http::order::SentOrder;
use crate::http::problem::Problem;
use crate::http::service::Service;
use crate::http::spans;
use crate::trace;

/// How often a run is begun before it is given up: what takes a node with it every time is not tried for ever.
const ATTEMPTS_MAX: u64 = 5;
/// How long a run waits after something outside of it failed.
const LATER: Duration = Duration::from_secs(2);
/// How long to wait when the servers give out no work.
const TROUBLE_WAIT: Duration = Duration::from_secs(1);
/// Runs of checks and of the clock that a node carries out at once: each may keep all of its cells busy.
const BACKGROUND_SLOTS: u32 = 1;
/// Parts of runs of checks that a node judges at once, likewise.
const PART_SLOTS: u32 = 1;
/// How often it is looked whether the run of a part still goes on.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// How long events wait for those that follow, before other nodes are told.
const TOLD_TOGETHER: Duration = Duration::from_millis(10);
/// Bytes of events from which on they wait no longer: a message has its limit.
const TOLD_BYTES: usize = 64 << 10;
/// How long a run may take to be given back.
const GIVE_BACK_TIME: Duration = Duration::from_secs(5);

/// The runs of the queue that this node carries out.
#[derive(Debug)]
pub(crate) struct Working {
    /// The slots of each lane, in the order of [`Lane::ALL`], and how many there are.
    slots: [(Arc<Semaphore>, u32); 4],
    /// Processors of this machine. Asking for them reads several files of the system, which no run should wait for.
    processors: usize,
    /// Has parts given back when the server stops.
    leave: Notify,
    runs: Mutex<HashMap<String, Arc<LiveRun>>>,
}

impl Working {
    pub(crate) fn new(slots: u32) -> Self {
        let lane = |slots: u32| {
            let permits = usize::try_from(slots).unwrap_or(Semaphore::MAX_PERMITS);
            (Arc::new(Semaphore::new(permits)), slots)
        };
        let slots = [lane(slots), lane(BACKGROUND_SLOTS), lane(PART_SLOTS), lane(slots)];
        let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
        Self { slots, processors, leave: Notify::new(), runs: Mutex::default() }
    }

    /// A free slot for a run that was accepted here, while there are processors for it: what comes together beyond that is
    /// better shared with other nodes.
    pub(super) fn room(&self, lane: Lane) -> Option<OwnedSemaphorePermit> {
        let (slots, _) = &self.slots[lane as usize];
        if self.count() < self.processors { Arc::clone(slots).try_acquire_owned().ok() } else { None }
    }

    /// How many it carries out now.
    pub(crate) fn count(&self) -> usize {
        self.lock().len()
    }

    pub(super) fn find(&self, run: &str) -> Option<Arc<LiveRun>> {
        self.lock().get(run).cloned()
    }

    /// Waits until nothing is carried out any more, and gives back what still is after the time.
    pub(crate) async fn finish(&self, time: Duration) {
        let idle = || async {
            for (slots, all) in &self.slots {
                let _ = slots.acquire_many(*all).await;
            }
        };
        if tokio::time::timeout(time, idle()).await.is_ok() {
            return;
        }
        self.lock().values().for_each(|run| run.leave());
        self.leave.notify_waiters();
        let _ = tokio::time::timeout(GIVE_BACK_TIME, idle()).await;
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<LiveRun>>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What becomes of a run that was taken.
enum Fate {
    /// It has ended, with a record or with a problem.
    Ended(Option<Problem>),
    /// It is to be tried again.
    Again(Duration),
}

impl Service {
    /// Takes a run of a lane for each of its free slots, until the server stops.
    pub(crate) async fn keep_working(self, lane: Lane) {
        // A slot that waits for work which never comes would keep the server from stopping.
        if !self.inner.options.cluster.is_shared() {
            return;
        }
        loop {
            let (slots, _) = &self.inner.working.slots[lane as usize];
            let Ok(slot) = Arc::clone(slots).acquire_owned().await else { return };
            let taken = self.inner.options.cluster.take(lane).await;
            match taken {
                Ok(Some(taken)) if self.is_draining() => taken.place.give_back(Duration::ZERO).await,
                Ok(Some(taken)) => {
                    match taken.part {
                        Some(part) => tokio::spawn(self.clone().work_on_part(taken, part, slot)),
                        None => tokio::spawn(self.clone().work(taken, slot)),
                    };
                }
                Ok(None) => {}
                Err(error) => {
                    self.trouble(&error);
                    tokio::time::sleep(TROUBLE_WAIT).await;
                }
            }
            if self.is_draining() {
                return;
            }
        }
    }

    /// Begins a run at once that this node has accepted for itself.
    pub(super) fn begin_here(&self, queued: QueuedRun, slot: OwnedSemaphorePermit) {
        let (run, node) = (queued.run_id.clone(), self.inner.options.cluster.node().to_owned());
        let place = Box::new(Begun { service: self.clone(), run: queued.clone() });
        let taken = Taken { run, part: None, node, row: Some(Box::new(queued)), attempt: 1, place };
        tokio::spawn(self.clone().work(taken, slot));
    }

    async fn work(self, taken: Taken, _slot: OwnedSemaphorePermit) {
        self.inner.metrics.count("ordain_cluster_taken_total", "");
        if taken.attempt > 1 {
            self.inner.metrics.count("ordain_cluster_taken_again_total", "");
        }
        let (others, events) = mpsc::unbounded_channel();
        let relay = Relay { here: self.inner.live.find(taken.run.as_str()), others };
        let telling = tokio::spawn(self.clone().tell_others(taken.node.clone(), taken.run.clone(), events));
        let fate = tokio::select! {
            fate = self.carry_out_taken(&taken, relay) => fate,
            never = taken.place.keep() => match never {},
        };
        // The end is told before the message is gone.
        let _ = telling.await;
        match fate {
            Fate::Ended(_) => taken.place.done().await,
            Fate::Again(after) => taken.place.give_back(after).await,
        }
    }

    /// Tells other nodes what happens in a run. What happens within a moment goes together: most runs take no longer.
    async fn tell_others(self, node: String, run: RunId, mut events: mpsc::UnboundedReceiver<RunEvent>) {
        while let Some(event) = events.recv().await {
            let until = Instant::now() + TOLD_TOGETHER;
            let (mut bytes, mut told) = (event.data.len(), vec![event]);
            while bytes < TOLD_BYTES
                && let Ok(Some(event)) = tokio::time::timeout_at(until, events.recv()).await
            {
                bytes += event.data.len();
                told.push(event);
            }
            let told = serde_json::to_vec(&told).unwrap_or_default();
            self.inner.options.cluster.tell(&node, &run, told).await;
        }
    }

    /// Judges a part of a run of checks, unless the run has ended.
    async fn work_on_part(self, taken: Taken, part: u32, _slot: OwnedSemaphorePermit) {
        self.inner.metrics.count("ordain_cluster_parts_total", "");
        let judged = async {
            match served(&self) {
                Ok(checks) if taken.attempt > ATTEMPTS_MAX => {
                    checks.leave_part(&taken.run, part).await.map_err(Problem::from)
                }
                Ok(checks) => checks.judge_part(&taken.run, part).await.map_err(Problem::from),
                Err(problem) => Err(problem),
            }
        };
        let judged = tokio::select! {
            judged = judged => Some(judged),
            () = self.inner.working.leave.notified() => None,
            () = self.is_over(&taken.run) => Some(Ok(())),
            never = taken.place.keep() => match never {},
        };
        match judged {
            Some(Ok(())) => taken.place.done().await,
            Some(Err(problem)) => {
                self.inner.log.trouble(taken.run.as_str(), &problem.detail);
                taken.place.give_back(LATER).await;
            }
            None => taken.place.give_back(Duration::ZERO).await,
        }
    }

    /// Waits until a run has ended.
    async fn is_over(&self, run: &RunId) {
        while !matches!(self.engine().store().queued(run).await, Ok(None)) {
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    async fn carry_out_taken(&self, taken: &Taken, relay: Relay) -> Fate {
        let here = relay.here.clone();
        // An attempt counts once the store answers: however long it is away, the run is not given up for that.
        let (queued, is_claimed) = loop {
            match self.still_queued(taken).await {
                Ok(Some(queued)) => break queued,
                Ok(None) => return Fate::Ended(None),
                Err(_) if self.is_draining() => return Fate::Again(Duration::ZERO),
                Err(error) => self.inner.log.trouble(taken.run.as_str(), &error.to_string()),
            }
            tokio::time::sleep(LATER).await;
        };
        let sent = serde_json::from_str::<SentOrder>(&queued.work);
        let place = sent.as_ref().ok().and_then(|sent| sent.traceparent.as_deref());
        let place = trace::taken_from(|name| place.filter(|_| name == "traceparent"));
        // The node that accepted the run has told the first event. Every attempt has places of its own.
        let first = FIRST_TAKEN + (taken.attempt - 1) * EVENTS_MAX as u64;
        let (about, accepted_at) = (about(&queued, false), queued.accepted_at.clone());
        let run = trace::scope_opt(place.clone(), async {
            Arc::new(LiveRun::relayed(about, accepted_at, first, Some(relay)))
        });
        let run = run.await;
        self.inner.working.lock().insert(taken.run.to_string(), Arc::clone(&run));
        let attempt = Box::pin(self.attempt((&queued, is_claimed), sent, &run, taken.attempt));
        let ended = tokio::select! {
            ended = trace::scope_opt(place, attempt) => Some(ended),
            () = run.should_leave() => None,
        };
        self.inner.working.lock().remove(taken.run.as_str());
        let Some(ended) = ended else { return Fate::Again(Duration::ZERO) };
        spans::tell_parts(&self.inner.options.tracer, &run, &ended);
        let has_left = ended.as_ref().is_ok_and(leaves_queue);
        let fate = match ended {
            Ok(record) => {
                if let Some(here) = here.filter(|_| has_left && is_over(&record, &taken.run)) {
                    here.has_ended(FarEnd { problem: None, record: Some(Box::new(record)) });
                }
                Fate::Ended(None)
            }
            Err(problem) => self.fate(&queued, &run, problem, taken.attempt).await,
        };
        if let Fate::Ended(problem) = &fate {
            if let Err(error) = self.take_off(&run.about, has_left).await {
                // A node that looks through the queue finds out that it has ended.
                self.inner.log.trouble(taken.run.as_str(), &error.to_string());
            }
            let problem = problem.as_ref().map(FarProblem::from);
            run.tell("finished", &serde_json::json!(FarEnd { problem, record: None }));
        }
        fate
    }

    /// The row of a run that was taken, and whether the run holds its claim; `None` if the run has ended.
    async fn still_queued(&self, taken: &Taken) -> Result<Option<(QueuedRun, bool)>, StoreError> {
        // Nobody took before what is taken for the first time, so that the row is as this node has written it.
        let here = self.inner.live.find(taken.run.as_str()).filter(|_| taken.attempt == 1);
        let row = taken.row.as_deref().or_else(|| here.as_deref()?.row());
        if let Some(row) = row {
            return Ok(Some((row.clone(), true)));
        }
        let store = self.engine().store();
        let Some((queued, is_claimed)) = store.taken(&taken.run).await? else { return Ok(None) };
        // A run leaves the queue with its record; what is left of one that did not is found when it comes again.
        if taken.attempt == 1 || self.recorded(&taken.run, &queued.claim).await?.is_none() {
            return Ok(Some((queued, is_claimed)));
        }
        self.take_off(&about(&queued, false), false).await?;
        Ok(None)
    }

    async fn attempt(
        &self,
        (queued, is_claimed): (&QueuedRun, bool),
        sent: serde_json::Result<SentOrder>,
        run: &Arc<LiveRun>,
        attempt: u64,
    ) -> Ended {
        if attempt > ATTEMPTS_MAX {
            let message = format!("{ATTEMPTS_MAX} attempts at the run were cut short; nothing was changed");
            let error = run_error(ErrorClass::Internal, "lost_too_often", &message, None);
            let recorded = self.cut_short(run, RunState::Failed, error, Some(queued.claim.clone())).await;
            return recorded.map_err(Problem::from);
        }
        let work = async {
            let caller = self.caller_again(&queued.who).await?;
            let sent = sent.map_err(|error| Problem::internal(format!("a queued run: {error}")))?;
            let holding = sent.holding.clone();
            let (order, files) = self.read_order(queued, sent).await?;
            let _session = self.enter_held(&caller, &order, holding.as_deref()).await?;
            let ended = Box::pin(self.perform(&caller, order.claimed(is_claimed), run)).await;
            drop(files);
            ended
        };
        self.try_out(run, work).await
    }

    /// The caller of an accepted run, if its key is still good.
    async fn caller_again(&self, who: &str) -> Result<Caller, Problem> {
        match who {
            LOCAL | Schedules::WHO => Ok(Caller { id: who.to_owned(), key: None }),
            key => self.caller_of_id(key).await,
        }
    }

    /// Whether an attempt was the last one. What failed for reasons that pass is tried again: a node, an executor or the
    /// database was lost, or a lock was held for too long. The last attempt leaves a record that says why.
    async fn fate(&self, queued: &QueuedRun, run: &Arc<LiveRun>, problem: Problem, attempt: u64) -> Fate {
        let passes = problem.status() == StatusCode::SERVICE_UNAVAILABLE && attempt < ATTEMPTS_MAX;
        let recorded = match self.recorded(&queued.run_id, &queued.claim).await {
            Ok(None) if passes => {
                self.inner.log.trouble(queued.run_id.as_str(), &problem.detail);
                return Fate::Again(LATER);
            }
            Ok(None) => self.could_not(run, &problem).await.map(|()| Some(problem)),
            recorded => recorded.map(|_| None),
        };
        recorded.map_or_else(
            |error| {
                self.inner.log.trouble(queued.run_id.as_str(), &error.to_string());
                Fate::Again(LATER)
            },
            Fate::Ended,
        )
    }
}

/// A run that its own node began, without a message. As long as the node is there, the others leave it alone.
#[derive(Debug)]
struct Begun {
    service: Service,
    run: QueuedRun,
}

impl Place for Begun {
    fn keep(&self) -> BoxFuture<'_, Infallible> {
        Box::pin(std::future::pending())
    }

    fn done(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    /// Any node may take it then. If this is not heard, the node finds out that nobody is at it.
    fn give_back(&self, after: Duration) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            tokio::time::sleep(after).await;
            let _ = self.service.inner.options.cluster.offer(&unbound(&self.run), true).await;
        })
    }
}

/// Whether a record is the end of a run. One that waits for a person goes on, and a key may give another run's record.
fn is_over(record: &RunRecord, run: &RunId) -> bool {
    record.state != RunState::Waiting && record.run_id == *run
}

/// Whether a run left the queue with its record: its claim was finished. If no planner could be had it was not.
fn leaves_queue(record: &RunRecord) -> bool {
    record.error.as_ref().is_none_or(|error| error.class != ErrorClass::Planner)
}

impl From<&Problem> for FarProblem {
    fn from(problem: &Problem) -> Self {
        Self {
            status: problem.status,
            code: problem.code.clone(),
            detail: problem.detail.clone(),
            hint: problem.hint.clone(),
        }
    }
}

impl From<FarProblem> for Problem {
    fn from(far: FarProblem) -> Self {
        let status = axum::http::StatusCode::from_u16(far.status)
            .unwrap_or(axum::http::StatusCode::INTERNAL_SERVER_ERROR);
        let mut problem = Self::new(status, &far.code, far.detail);
        problem.hint = far.hint;
        problem
    }
}
