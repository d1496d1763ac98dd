//! Runs that go on: each a task of its own, with a log of what happens and a way to end it.
//!
//! A connection only watches. Losing it changes nothing; cancelling is an act of its own, which drops the run's
//! future. That ends the cell and rolls the transaction back, and the run is recorded as cancelled, unless its commit
//! was faster.

mod ending;

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Instant, SystemTime};

use axum::http::StatusCode;
use ordain_engine::json_bytes;
use ordain_store::QueuedRun;
use ordain_types::{ErrorClass, RunError, RunId, RunKind, RunRecord};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::{Notify, mpsc, watch};

use super::caller::Caller;
use super::order::WorkOrder;
use super::problem::{DRAINING, Problem};
use super::service::Service;
use super::spans;
use crate::trace::{self, TraceContext};

/// Finished runs whose events are still kept, so that a watcher who lost its connection misses nothing.
const RECENT_MAX: usize = 64;
/// Events of one run.
pub(crate) const EVENTS_MAX: usize = 10_000;
/// The place of the first event of the node that carries the run out: the one before is of the node that accepted it.
pub(crate) const FIRST_TAKEN: u64 = 2;
/// Checks of one run that become spans.
const CHECKS_MAX: usize = 1000;
/// Stages of one run whose times are kept.
const STAGES_MAX: usize = 100;
/// Attempts at one run whose events are kept, where nodes are lost.
const ATTEMPTS_SHOWN: usize = 8;
/// Bytes of the events of one run.
const EVENT_BYTES_MAX: usize = 1 << 20;

/// How a run ended: its record, or why there is none.
pub(crate) type Ended = Result<RunRecord, Problem>;

/// What a run is about, known before it begins.
#[derive(Debug, Clone)]
pub(crate) struct About {
    /// Its id.
    pub(crate) run_id: RunId,
    /// What made it: `ask`, `exec`, `check`.
    pub(crate) kind: RunKind,
    /// What was asked.
    pub(crate) request: String,
    /// Who asked, for the ledger.
    pub(crate) who: String,
    /// The idempotency key that it holds.
    pub(crate) claim: Option<String>,
    /// The conversation that it is a turn of.
    pub(crate) conversation: Option<String>,
    /// Whether it is in the cluster's queue, so that any node may carry it out.
    pub(crate) is_queued: bool,
}

/// One thing that happened in a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RunEvent {
    /// Its place. A run that another node began again leaves places out.
    pub(crate) id: u64,
    /// What happened: `started`, `stage`, `text`, `stdout`, `stderr`, `check`, `finished`.
    pub(crate) name: Cow<'static, str>,
    /// What there is to say of it, as JSON.
    pub(crate) data: String,
}

/// A run that goes on, or went on a moment ago.
#[derive(Debug)]
pub(crate) struct LiveRun {
    pub(crate) about: About,
    pub(crate) started_at: String,
    began: Instant,
    pub(crate) began_at: SystemTime,
    /// Where it stands in the trace of the request that began it.
    pub(crate) trace: Option<RunPlace>,
    stages: Mutex<Vec<(String, SystemTime)>>,
    checks: Mutex<Vec<CheckDone>>,
    events: Mutex<Events>,
    /// The place of the newest event; watchers wait for it to change.
    newest: watch::Sender<u64>,
    /// Where events go besides, if others watch the run on other nodes.
    relay: Option<Relay>,
    /// Its row in the queue, if this node accepted it.
    row: OnceLock<QueuedRun>,
    /// Whether the events that were missed are asked for.
    asked_again: AtomicBool,
    /// How another node that carried it out says it ended.
    far_end: watch::Sender<Option<FarEnd>>,
    /// Whether it is certain that the run will be carried out, whatever becomes of this process.
    certain: watch::Sender<bool>,
    certainty: Notify,
    cancel: Notify,
    stop: Notify,
    leave: Notify,
    ended: watch::Sender<Option<Arc<Ended>>>,
}

/// A check of the run that is done, for its span.
#[derive(Debug, Clone)]
pub(crate) struct CheckDone {
    pub(crate) check_id: String,
    pub(crate) status: &'static str,
    pub(crate) severity: &'static str,
    pub(crate) took_ms: f64,
    pub(crate) ended: SystemTime,
}

/// A run's span, and the span above it.
#[derive(Debug)]
pub(crate) struct RunPlace {
    pub(crate) parent: [u8; 8],
    pub(crate) span: TraceContext,
}

#[derive(Debug)]
struct Events {
    list: Vec<RunEvent>,
    /// The place of the first.
    first: u64,
    bytes: usize,
    is_full: bool,
}

/// Takes events of a run to those who watch it.
#[derive(Debug)]
pub(crate) struct Relay {
    /// The run as it is watched on this node.
    pub(crate) here: Option<Arc<LiveRun>>,
    /// The way to other nodes.
    pub(crate) others: mpsc::UnboundedSender<RunEvent>,
}

impl Relay {
    fn tell(&self, event: &RunEvent) {
        if let Some(here) = &self.here {
            here.heard(event.clone());
        }
        // Nobody listens any more when the server has stopped.
        let _ = self.others.send(event.clone());
    }
}

/// How a run ended on the node that carried it out. Its record, if it has one, is in the store.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct FarEnd {
    /// Why it has no record.
    pub(crate) problem: Option<FarProblem>,
    /// The record, if it was carried out on this node: what others tell is looked up.
    #[serde(skip)]
    pub(crate) record: Option<Box<RunRecord>>,
}

/// A problem as another node tells it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct FarProblem {
    pub(crate) status: u16,
    pub(crate) code: String,
    pub(crate) detail: String,
    pub(crate) hint: Option<String>,
}

impl LiveRun {
    pub(crate) fn new(about: About, started_at: String) -> Self {
        let trace = trace::current().map(|above| RunPlace { parent: above.span_id, span: above.child() });
        Self { trace, ..Self::relayed(about, started_at, 1, None) }
    }

    /// A run whose events begin at a place and go to others too.
    pub(crate) fn relayed(about: About, started_at: String, first: u64, relay: Option<Relay>) -> Self {
        Self {
            started_at,
            began: Instant::now(),
            began_at: SystemTime::now(),
            // It stands where the node that accepted it says.
            trace: trace::current().map(|span| RunPlace { parent: span.span_id, span }),
            stages: Mutex::default(),
            checks: Mutex::default(),
            events: Mutex::new(Events { list: Vec::new(), first, bytes: 0, is_full: false }),
            newest: watch::Sender::new(0),
            relay,
            row: OnceLock::new(),
            asked_again: AtomicBool::new(false),
            far_end: watch::Sender::new(None),
            certain: watch::Sender::new(!about.is_queued),
            certainty: Notify::new(),
            cancel: Notify::new(),
            stop: Notify::new(),
            leave: Notify::new(),
            ended: watch::Sender::new(None),
            about,
        }
    }

    /// Waits until the run is certain to be carried out, if others may do so, or has ended.
    pub(crate) async fn accepted(&self) {
        let mut certain = self.certain.subscribe();
        self.certainty.notify_one();
        tokio::select! {
            // The sender lives as long as the run does.
            _ = certain.wait_for(|certain| *certain) => {}
            _ = self.ended() => {}
        }
    }

    /// Waits until somebody wants to know that the run is certain.
    pub(crate) async fn certainty_wanted(&self) {
        self.certainty.notified().await;
    }

    /// From now on it is certain.
    pub(crate) fn make_certain(&self) {
        self.certain.send_replace(true);
    }

    /// Adds an event. When the log is full only the end is still told.
    pub(crate) fn tell(&self, name: &'static str, data: &Value) {
        let data = data.to_string();
        let mut events = lock(&self.events);
        let is_end = name == "finished";
        if events.is_full && !is_end {
            return;
        }
        let id = events.list.last().map_or(events.first, |last| last.id + 1);
        let event = if !is_end
            && (events.list.len() + 2 >= EVENTS_MAX || events.bytes + data.len() > EVENT_BYTES_MAX)
        {
            events.is_full = true;
            let note = json!({ "message": "more happened than is shown here; the record has it all" });
            RunEvent { id, name: Cow::Borrowed("cut"), data: note.to_string() }
        } else {
            events.bytes += data.len();
            RunEvent { id, name: Cow::Borrowed(name), data }
        };
        if let Some(relay) = &self.relay {
            relay.tell(&event);
        }
        events.list.push(event);
        drop(events);
        self.newest.send_replace(id);
    }

    /// Adds an event that another node tells. It keeps its place, so that watchers can come back to any node.
    fn mirror(&self, event: RunEvent) {
        let mut events = lock(&self.events);
        let (id, count) = (event.id, events.list.len());
        let is_new = events.list.last().is_none_or(|last| last.id < id && last.name != "finished");
        // The node that carries the run out keeps to the limits; what does not is not from there.
        if !is_new || count >= ATTEMPTS_SHOWN * EVENTS_MAX || event.data.len() > EVENT_BYTES_MAX {
            return;
        }
        events.list.push(event);
        drop(events);
        self.newest.send_replace(id);
    }

    /// Notes when a stage of the run began, and tells of it.
    pub(crate) fn begin_stage(&self, name: &str) {
        let mut stages = lock(&self.stages);
        // A run has a few rounds; what has more is not looked at closer.
        if stages.len() < STAGES_MAX {
            stages.push((name.to_owned(), SystemTime::now()));
        }
        drop(stages);
        self.tell("stage", &json!({ "stage": name }));
    }

    /// The stages of the run and when each began.
    pub(crate) fn stages(&self) -> Vec<(String, SystemTime)> {
        lock(&self.stages).clone()
    }

    /// Notes that a check is done. Without a trace nobody asks for it.
    pub(crate) fn check_done(&self, done: CheckDone) {
        let mut checks = lock(&self.checks);
        if self.trace.is_some() && checks.len() < CHECKS_MAX {
            checks.push(done);
        }
    }

    /// The checks that are done.
    pub(crate) fn checks(&self) -> Vec<CheckDone> {
        lock(&self.checks).clone()
    }

    /// The events behind a place, and whether the last of them is the end.
    pub(crate) fn events_after(&self, place: u64) -> (Vec<RunEvent>, bool) {
        let events = lock(&self.events);
        let from = events.list.partition_point(|event| event.id <= place);
        let is_over = events.list.last().is_some_and(|event| event.name == "finished");
        (events.list[from..].to_vec(), is_over)
    }

    /// Waits until there are events behind a place.
    pub(crate) async fn more_than(&self, place: u64) {
        let mut newest = self.newest.subscribe();
        // The sender lives as long as the run does.
        let _ = newest.wait_for(|now| *now > place).await;
    }

    /// Keeps the row with which this node has just accepted the run.
    pub(crate) fn keep_row(&self, row: QueuedRun) {
        // A run is accepted once for each time that it is watched.
        let _ = self.row.set(row);
    }

    /// The row with which this node accepted the run, if it goes on.
    pub(crate) fn row(&self) -> Option<&QueuedRun> {
        self.row.get().filter(|_| !self.is_over())
    }

    /// Whether nothing is missing before an event: it is the next one, an attempt begins with it, or it is known.
    pub(crate) fn is_next(&self, event: &RunEvent) -> bool {
        let newest = lock(&self.events).list.last().map_or(0, |last| last.id);
        event.id <= newest + 1 || event.id % EVENTS_MAX as u64 == FIRST_TAKEN
    }

    /// Whether events that were missed are yet to be asked for.
    pub(crate) fn should_ask_again(&self) -> bool {
        !self.asked_again.swap(true, Ordering::Relaxed)
    }

    /// Adds an event of the run that another node sent: that node carries the run out.
    pub(crate) fn heard(&self, event: RunEvent) {
        if event.name != "finished" {
            return self.mirror(event);
        }
        if let Ok(end) = serde_json::from_str(&event.data) {
            self.has_ended(end);
        }
    }

    /// Takes in how the run ended. The first word has the record, if any has.
    pub(crate) fn has_ended(&self, end: FarEnd) {
        self.far_end.send_if_modified(|known| {
            let is_news = known.is_none();
            known.get_or_insert(end);
            is_news
        });
    }

    /// Waits until another node says that it has ended the run. Every word counts once.
    pub(crate) async fn far_end(&self) -> Option<FarEnd> {
        let mut far_end = self.far_end.subscribe();
        // The sender lives as long as the run does.
        let _ = far_end.wait_for(Option::is_some).await;
        drop(far_end);
        self.far_end.send_replace(None)
    }

    /// Waits until the run has ended.
    pub(crate) async fn ended(&self) -> Arc<Ended> {
        let mut ended = self.ended.subscribe();
        loop {
            if let Some(ended) = ended.borrow_and_update().clone() {
                return ended;
            }
            if ended.changed().await.is_err() {
                return Arc::new(Err(Problem::internal("the task of a run is gone")));
            }
        }
    }

    /// Whether it has ended.
    pub(crate) fn is_over(&self) -> bool {
        self.ended.borrow().is_some()
    }

    /// How it ended, if it has.
    pub(crate) fn outcome(&self) -> Option<Arc<Ended>> {
        self.ended.borrow().clone()
    }

    /// Ends it. Nothing happens if it has ended already.
    pub(crate) fn cancel(&self) {
        self.cancel.notify_one();
    }

    /// Asks for the end of this node's part in it: what goes on elsewhere goes on there.
    pub(crate) fn leave(&self) {
        self.leave.notify_one();
    }

    /// Done when this node's part in it should end.
    pub(crate) async fn should_leave(&self) {
        self.leave.notified().await;
    }

    /// Done when the run should come to its end by itself, with what it has.
    pub(crate) async fn should_stop(&self) {
        self.stop.notified().await;
    }

    /// The record as far as it is known.
    pub(crate) fn record(&self) -> RunRecord {
        let mut record = RunRecord::new(self.about.run_id.clone(), self.about.kind, &self.about.request);
        record.started_at.clone_from(&self.started_at);
        record.timing_ms.total = millis(self.began);
        record
    }
}

/// All runs that go on, and the last that ended.
#[derive(Debug)]
pub(crate) struct LiveRuns {
    runs_max: usize,
    state: Mutex<State>,
    idle: Notify,
    /// Counts beginnings and ends; lists of runs wait for it to change.
    changes: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct State {
    going_on: HashMap<String, Arc<LiveRun>>,
    recent: VecDeque<Arc<LiveRun>>,
}

impl LiveRuns {
    pub(crate) fn new(runs_max: usize) -> Self {
        Self { runs_max, state: Mutex::default(), idle: Notify::new(), changes: watch::Sender::new(0) }
    }

    /// How many go on.
    pub(crate) fn count(&self) -> usize {
        lock(&self.state).going_on.len()
    }

    /// The run of that id, if it goes on or ended a moment ago.
    pub(crate) fn find(&self, id: &str) -> Option<Arc<LiveRun>> {
        let state = lock(&self.state);
        let recent = || state.recent.iter().find(|run| run.about.run_id.as_str() == id);
        state.going_on.get(id).or_else(recent).cloned()
    }

    /// Runs that go on, newest first.
    pub(crate) fn going_on(&self) -> Vec<Arc<LiveRun>> {
        let mut runs: Vec<_> = lock(&self.state).going_on.values().cloned().collect();
        runs.sort_by(|one, other| other.about.run_id.cmp(&one.about.run_id));
        runs
    }

    /// Changes whenever a run begins or ends.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Waits until none goes on.
    pub(crate) async fn idle(&self) {
        loop {
            let idle = self.idle.notified();
            if self.count() == 0 {
                return;
            }
            idle.await;
        }
    }

    /// Ends all of them. Those that may go on elsewhere do.
    pub(crate) fn cancel_all(&self) {
        for run in self.going_on() {
            if run.about.is_queued { run.leave() } else { run.cancel() }
        }
    }

    pub(crate) fn add(&self, run: &Arc<LiveRun>) -> Result<(), Problem> {
        let mut state = lock(&self.state);
        if state.going_on.len() >= self.runs_max {
            let detail = format!("{} runs go on, which is the limit", self.runs_max);
            return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "runs_full", detail).after(1));
        }
        // A run that waited goes on under its own id; its earlier part is in the record.
        state.recent.retain(|earlier| earlier.about.run_id != run.about.run_id);
        state.going_on.insert(run.about.run_id.to_string(), Arc::clone(run));
        drop(state);
        self.changes.send_modify(|count| *count += 1);
        Ok(())
    }

    fn retire(&self, run: &Arc<LiveRun>) {
        let mut state = lock(&self.state);
        state.going_on.remove(run.about.run_id.as_str());
        state.recent.push_back(Arc::clone(run));
        if state.recent.len() > RECENT_MAX {
            state.recent.pop_front();
        }
        drop(state);
        self.changes.send_modify(|count| *count += 1);
        self.idle.notify_waiters();
    }
}

impl Service {
    /// Begins to carry out an order, as a task of its own. `kept` is what the order needs for as long as it is carried
    /// out: files on disk, or a session.
    pub(crate) fn begin(
        &self,
        caller: &Caller,
        order: impl Into<WorkOrder>,
        kept: impl Send + 'static,
    ) -> Result<Arc<LiveRun>, Problem> {
        if self.is_draining() {
            let detail = "the server is stopping and takes no new work";
            return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, DRAINING, detail).after(5));
        }
        let (about, order) = self.prepare(caller, order.into())?;
        let cells = self.inner.rates.cell(caller, &self.inner.options)?;
        let run = Arc::new(LiveRun::new(about, self.engine().store().timestamp()));
        self.inner.live.add(&run)?;
        let data =
            json!({ "run_id": run.about.run_id, "kind": run.about.kind, "request": run.about.request });
        run.tell("started", &data);
        let (service, caller, task) = (self.clone(), caller.clone(), Arc::clone(&run));
        let place = run.trace.as_ref().map(|place| place.span.clone());
        tokio::spawn(async move {
            let work = async {
                if task.about.is_queued {
                    return Box::pin(service.through_queue(&caller, order, &task)).await;
                }
                let turn = service.inner.turns.take(task.about.conversation.as_deref()).await;
                let ended = Box::pin(service.perform(&caller, order, &task)).await;
                drop(turn);
                ended
            };
            let ended = trace::scope_opt(place, Box::pin(service.carry_out(&task, work))).await;
            drop((cells, kept));
            service.count(&task, &ended);
            service.settle(&task, ended);
        });
        Ok(run)
    }

    /// Counts what a run used, once in a cluster: where it was asked for.
    fn count(&self, run: &LiveRun, ended: &Ended) {
        let Ok(record) = ended else { return };
        // What an idempotency key gave back was counted when it ran.
        if record.run_id == run.about.run_id {
            self.inner.metrics.run(record);
            self.inner.rates.store(&run.about.who, kept_bytes(record));
        }
        self.inner.rates.spend(&run.about.who, record.usage.input_tokens + record.usage.output_tokens);
    }

    pub(crate) fn settle(&self, run: &Arc<LiveRun>, ended: Ended) {
        match &ended {
            Ok(record) => {
                let data = json!({ "run_id": record.run_id, "state": record.state, "status": record.status,
                    "receipt": record.receipt, "answer": record.answer.text, "error": record.error });
                run.tell("finished", &data);
            }
            Err(problem) => {
                if let Some(inner) = &problem.inner {
                    self.inner.log.trouble(run.about.run_id.as_str(), inner);
                }
                run.tell(
                    "finished",
                    &json!({ "run_id": run.about.run_id, "state": "failed", "error": problem }),
                );
            }
        }
        let tracer = &self.inner.options.tracer;
        if !run.about.is_queued {
            spans::tell_parts(tracer, run, &ended);
        }
        spans::tell(tracer, run, &ended);
        run.ended.send_replace(Some(Arc::new(ended)));
        self.inner.live.retire(run);
    }
}

pub(crate) fn run_error(class: ErrorClass, code: &str, message: &str, hint: Option<&str>) -> RunError {
    RunError { class, code: code.to_owned(), message: message.to_owned(), hint: hint.map(str::to_owned) }
}

/// What a run left: its record, which stands in the ledger too, and its files.
fn kept_bytes(record: &RunRecord) -> u64 {
    2 * json_bytes(record) + record.outcome.artifacts.iter().map(|artifact| artifact.bytes).sum::<u64>()
}

fn millis(since: Instant) -> f64 {
    (since.elapsed().as_secs_f64() * 1e6).round() / 1e3
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run() -> LiveRun {
        let about = About {
            run_id: RunId("r1".to_owned()),
            kind: RunKind::Ask,
            request: "buy".to_owned(),
            who: "local".to_owned(),
            claim: None,
            conversation: None,
            is_queued: false,
        };
        LiveRun::new(about, String::new())
    }

    #[test]
    fn events_are_counted_from_one_and_read_from_any_place() {
        let run = run();
        for stage in ["planning", "running"] {
            run.tell("stage", &json!({ "stage": stage }));
        }
        let (all, is_over) = run.events_after(0);
        assert_eq!(all.iter().map(|event| event.id).collect::<Vec<_>>(), [1, 2]);
        assert!(!is_over);
        run.tell("finished", &json!({}));
        let (rest, is_over) = run.events_after(2);
        assert_eq!((rest.len(), &*rest[0].name, is_over), (1, "finished", true));
        assert!(run.events_after(99).0.is_empty());
    }

    #[test]
    fn events_of_another_node_keep_their_places_and_come_once() {
        let run = run();
        run.tell("started", &json!({}));
        let event = |id| RunEvent { id, name: Cow::Borrowed("stage"), data: String::new() };
        for id in [2, 3, 2, 10_002, 3, 10_003] {
            run.mirror(event(id));
        }
        run.tell("finished", &json!({}));
        let ids = |place| run.events_after(place).0.iter().map(|event| event.id).collect::<Vec<_>>();
        assert_eq!(ids(0), [1, 2, 3, 10_002, 10_003, 10_004]);
        assert_eq!(ids(3), [10_002, 10_003, 10_004], "a place between two attempts");
    }

    #[test]
    fn a_flood_of_output_is_cut_and_the_end_is_still_told() {
        let run = run();
        for _ in 0..3 * EVENTS_MAX {
            run.tell("stdout", &json!({ "text": "x" }));
        }
        run.tell("finished", &json!({}));
        let (events, is_over) = run.events_after(0);
        assert!(events.len() <= EVENTS_MAX, "{}", events.len());
        assert_eq!(events[events.len() - 2].name, "cut");
        assert!(is_over);
    }
}
