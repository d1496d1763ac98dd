//! One run for one message, however often a client sends it.
//!
//! Client libraries send a call again when a connection breaks or an answer is late, without any key. So a call that
//! says the same as one before, by the same caller, joins the run that goes on for it; if that run has just ended and
//! changed rows, its outcome is the answer. A conversation that went on has more messages and is another call.
//!
//! Every call also claims a durable key, so that a server that was restarted in between knows the call again.
//! A run that nobody waits for any more is cancelled; what it committed before that stays.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use ordain_types::{RunRecord, RunState};

use super::work::Work;
use crate::http::caller::Caller;
use crate::http::live::LiveRun;
use crate::http::problem::Problem;
use crate::http::service::Service;

/// How long after its end the outcome of a run is the answer to the same call.
const WINDOW: Duration = Duration::from_mins(1);

/// The calls of the last minute.
#[derive(Debug, Default)]
pub(crate) struct Retries {
    calls: Mutex<HashMap<String, Called>>,
}

#[derive(Debug)]
struct Called {
    run: Arc<LiveRun>,
    fingerprint: String,
    /// Connections that wait for it.
    watchers: usize,
    /// Nobody waited any more, so it was cancelled.
    is_left: bool,
    ended: Option<Instant>,
}

/// What identifies a call.
#[derive(Debug, Clone)]
pub(super) struct Call {
    /// The key that the caller sent, made the caller's own.
    pub(super) given: Option<String>,
    /// Stands for what was asked.
    pub(super) fingerprint: String,
    /// Who asks.
    pub(super) who: String,
}

/// A run that this connection waits for. Dropping it may be the end of the run.
#[derive(Debug)]
pub(super) struct Watching {
    pub(super) service: Service,
    key: String,
    pub(super) run: Arc<LiveRun>,
    /// Whether the run was begun by an earlier call.
    pub(super) is_joined: bool,
}

/// What a call leads to.
#[derive(Debug)]
pub(super) enum CallRun {
    /// A run that goes on or has just ended.
    Run(Watching),
    /// A run of which only the record is left.
    Record(Box<RunRecord>),
}

/// What is known of a call under the lock.
enum CallState {
    Watched(Watching),
    /// It is being cancelled; whether it was committed before is not known yet.
    Ending(Arc<LiveRun>),
    /// It has ended; what it changed may have been taken back since, or be committed in spite of a problem.
    Over(Arc<LiveRun>),
}

impl Service {
    /// Joins the run of an equal call, or begins one.
    pub(super) async fn join_or_begin(
        &self,
        caller: &Caller,
        call: Call,
        work: &Work,
    ) -> Result<CallRun, Problem> {
        let key = call.given.clone().unwrap_or_else(|| format!("chat:{}:{}", call.who, call.fingerprint));
        if let Some(record) = self.told_before_the_start(&key, &call, caller).await? {
            return Ok(CallRun::Record(Box::new(record)));
        }
        let mut previous = None;
        loop {
            match self.look(&key, &call, caller, work, previous.as_ref())? {
                CallState::Watched(watching) => return Ok(CallRun::Run(watching)),
                CallState::Ending(run) => {
                    run.ended().await;
                }
                CallState::Over(run) => {
                    let recorded = self.run_seen_by(caller, run.about.run_id.as_str()).await;
                    if let Some(record) = recorded.ok().filter(changed) {
                        return Ok(CallRun::Record(Box::new(record)));
                    }
                    previous = Some(run);
                }
            }
        }
    }

    /// `previous` is a run of which it is known that nothing it did still stands.
    fn look(
        &self,
        key: &str,
        call: &Call,
        caller: &Caller,
        work: &Work,
        previous: Option<&Arc<LiveRun>>,
    ) -> Result<CallState, Problem> {
        let watch = |run: &Arc<LiveRun>, is_joined| {
            let (service, run) = (self.clone(), Arc::clone(run));
            CallState::Watched(Watching { service, key: key.to_owned(), run, is_joined })
        };
        let mut calls = lock(&self.inner.retries.calls);
        calls.retain(|_, called| called.is_worth_keeping());
        let mut after = None;
        if let Some(called) = calls.get_mut(key) {
            if called.fingerprint != call.fingerprint {
                let detail = "this idempotency key was used for something else before";
                let run = called.run.about.run_id.as_str();
                return Err(Problem::unprocessable("idempotency_key_reused", "/messages", detail).of_run(run));
            }
            let is_known = previous.is_some_and(|run| Arc::ptr_eq(run, &called.run));
            match called.run.outcome().as_deref() {
                None if called.is_left => return Ok(CallState::Ending(Arc::clone(&called.run))),
                None => {
                    called.watchers += 1;
                    return Ok(watch(&called.run, true));
                }
                Some(Ok(record)) if !changed(record) => {}
                Some(_) if is_known => {}
                Some(_) => return Ok(CallState::Over(Arc::clone(&called.run))),
            }
            // A key that the caller gave stands for the first outcome, except where nobody waited for it.
            if call.given.is_none() || called.is_left {
                after = Some(called.run.about.run_id.to_string());
            }
        }
        let claim = match (&call.given, after) {
            (Some(given), None) => given.clone(),
            (None, None) => durable(key, now_s()),
            // Nothing that the run before did still stands, so its outcome binds nobody.
            (_, Some(after)) => format!("{key}:after:{after}"),
        };
        let run = work.begin(self, caller, claim)?;
        let fingerprint = call.fingerprint.clone();
        let begun = Called { run: Arc::clone(&run), fingerprint, watchers: 1, is_left: false, ended: None };
        calls.insert(key.to_owned(), begun);
        Ok(watch(&run, false))
    }

    /// The run of an equal call just before this server was started.
    async fn told_before_the_start(
        &self,
        key: &str,
        call: &Call,
        caller: &Caller,
    ) -> Result<Option<RunRecord>, Problem> {
        // The key that a caller gave is claimed by the run itself, whenever it was first used.
        if call.given.is_some() || self.inner.began.elapsed() > 2 * WINDOW {
            return Ok(None);
        }
        if lock(&self.inner.retries.calls).contains_key(key) {
            return Ok(None);
        }
        let before = durable(key, now_s().saturating_sub(WINDOW.as_secs()));
        let record = self.store_for(caller).claimed(&before).await?;
        Ok(record.filter(changed))
    }
}

impl Called {
    /// Runs that go on, and those whose outcome still answers the same call.
    fn is_worth_keeping(&mut self) -> bool {
        if !self.run.is_over() || self.watchers > 0 {
            return true;
        }
        let ended = *self.ended.get_or_insert_with(Instant::now);
        ended.elapsed() < WINDOW
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let mut calls = lock(&self.service.inner.retries.calls);
        // Another run may have taken the place meanwhile.
        let ours = calls.get_mut(&self.key).filter(|called| Arc::ptr_eq(&called.run, &self.run));
        let Some(called) = ours else { return };
        called.watchers = called.watchers.saturating_sub(1);
        if called.watchers > 0 {
            return;
        }
        if self.run.is_over() {
            called.ended.get_or_insert_with(Instant::now);
        } else {
            called.is_left = true;
            self.run.cancel();
        }
    }
}

/// The key of a call in the store, with the minute in it, so that the same words can be meant again later.
fn durable(key: &str, now_s: u64) -> String {
    format!("{key}:{}", now_s / WINDOW.as_secs())
}

/// Whether carrying out the same again would do something twice.
pub(super) fn changed(record: &RunRecord) -> bool {
    matches!(record.state, RunState::Committed | RunState::Held)
}

fn now_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
