//! Several executors as one: the least busy one that is well gets the job.
//!
//! A job goes to another executor by itself only while nobody has heard of it: no output was passed on and no host call
//! begun. After that the host may have read or written something, so the failure is returned ([`CellError::Cut`]), and
//! the holder of the transaction rolls it back and starts again.

mod member;

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use ordain_cell::{CellError, Execution, ExecutionFuture, Executor, Host, Job, Output};
use tokio::task::JoinHandle;

use super::remote::{ConnectError, Failed, RemoteExecutor, RemoteOptions};
use super::status::RETRY_AFTER;
use member::Member;
pub use member::MemberState;

/// Executors of one pool.
const MEMBERS_MAX: usize = 1000;

/// How a pool is set up.
#[derive(Debug, Clone)]
pub struct PoolOptions {
    /// How executors are reached.
    pub remote: RemoteOptions,
    /// How often each executor is asked how it is.
    pub probe_every: Duration,
    /// How long a job waits for a place when all executors are full.
    pub busy_wait_max: Duration,
}

impl Default for PoolOptions {
    fn default() -> Self {
        Self {
            remote: RemoteOptions::default(),
            probe_every: Duration::from_secs(1),
            busy_wait_max: Duration::from_secs(30),
        }
    }
}

/// Runs jobs on one of several executors.
#[derive(Debug)]
pub struct ExecutorPool {
    /// Nobody leaves, so that a place stands for one executor for ever; one that is gone is sick.
    members: RwLock<Vec<Arc<Member>>>,
    turn: AtomicUsize,
    /// Which executor has a session.
    sessions: Mutex<HashMap<String, usize>>,
    options: PoolOptions,
    probes: Mutex<Vec<JoinHandle<()>>>,
}

impl ExecutorPool {
    /// A pool of the executors at these addresses. Has to be made inside a tokio runtime, where it asks them from time
    /// to time how they are.
    pub fn new<'a>(
        addresses: impl IntoIterator<Item = &'a str>,
        options: &PoolOptions,
    ) -> Result<Self, ConnectError> {
        let pool = Self::growing(options);
        for address in addresses {
            pool.add(address)?;
        }
        if pool.list().is_empty() {
            return Err(ConnectError::Nobody);
        }
        Ok(pool)
    }

    /// A pool that executors are still to be added to.
    pub fn growing(options: &PoolOptions) -> Self {
        Self {
            members: RwLock::default(),
            turn: AtomicUsize::new(0),
            sessions: Mutex::default(),
            options: options.clone(),
            probes: Mutex::default(),
        }
    }

    /// Adds an executor, unless it is there: naming one twice would give it twice the work.
    pub fn add(&self, address: &str) -> Result<(), ConnectError> {
        if self.list().iter().any(|member| member.remote.address() == address) {
            return Ok(());
        }
        let member = Arc::new(Member::new(RemoteExecutor::new(address, &self.options.remote)?));
        let mut members = self.members.write().unwrap_or_else(PoisonError::into_inner);
        if members.len() < MEMBERS_MAX {
            let probe = tokio::spawn(Arc::clone(&member).watch(self.options.probe_every));
            self.probes.lock().unwrap_or_else(PoisonError::into_inner).push(probe);
            members.push(member);
        }
        Ok(())
    }

    fn list(&self) -> Vec<Arc<Member>> {
        self.members.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How the executors are.
    pub fn members(&self) -> Vec<MemberState> {
        self.list().iter().map(|member| member.state()).collect()
    }

    /// Reads the certificates of all of them again. If those of one are not good, all stay as they were.
    pub fn reload(&self) -> Result<(), ConnectError> {
        let members = self.list();
        let fresh = members.iter().map(|member| member.remote.fresh_clients());
        let fresh = fresh.collect::<Result<Vec<_>, _>>()?;
        for (member, clients) in std::iter::zip(&members, fresh) {
            member.remote.take_up(clients);
        }
        Ok(())
    }

    /// Gives the job to one executor after the other, until one takes it.
    async fn run_on_any(
        &self,
        job: &Job,
        host: &mut dyn Host,
        output: &mut dyn Output,
    ) -> Result<Execution, CellError> {
        let started = tokio::time::Instant::now();
        loop {
            let error = match self.run_once(job, host, output).await {
                Ok(execution) => return Ok(execution),
                Err(error) => error,
            };
            let is_full = matches!(error, CellError::Busy { .. });
            if !is_full || started.elapsed() >= self.options.busy_wait_max {
                return Err(error);
            }
            tokio::time::sleep(RETRY_AFTER).await;
        }
    }

    async fn run_once(
        &self,
        job: &Job,
        host: &mut dyn Host,
        output: &mut dyn Output,
    ) -> Result<Execution, CellError> {
        let (members, mut tried) = (self.list(), Vec::new());
        let mut first_error = None;
        while let Some(Choice { at, has_session }) = self.choose(&members, job, &tried) {
            tried.push(at);
            let Failed { error, was_heard } = match members[at].run(job, host, output).await {
                Ok(execution) => return Ok(execution),
                Err(failed) => failed,
            };
            if let Some(session) = &job.session {
                if has_session {
                    return Err(self.failed_in_session(session, error));
                }
                self.not_opened(session, &error).await;
            }
            let is_lost_unused = matches!(error, CellError::SessionLost { .. });
            if was_heard || !(is_lost_unused || may_go_elsewhere(&error)) {
                return Err(error);
            }
            // What the first one said matters most, unless another would only have to be waited for.
            first_error = match error {
                CellError::Busy { .. } => Some(error),
                error => first_error.or(Some(error)),
            };
        }
        // Without any executor the job waits for one to come.
        Err(first_error.unwrap_or(CellError::Busy { waiting: 0 }))
    }

    /// The executor that has the job's session; else the least busy one that is well and has the profile; if there is none,
    /// one that may have recovered. A session that is to be opened there is noted.
    fn choose(&self, members: &[Arc<Member>], job: &Job, tried: &[usize]) -> Option<Choice> {
        let mut sessions = self.lock();
        if let Some(&at) = job.session.as_ref().and_then(|session| sessions.get(session)) {
            return (!tried.contains(&at)).then_some(Choice { at, has_session: true });
        }
        // Executors that are equally good have their turns.
        let (count, turn) = (members.len(), self.turn.fetch_add(1, Ordering::Relaxed));
        let left = (0..count).map(|at| at.wrapping_add(turn) % count).filter(|at| !tried.contains(at));
        let at = left.min_by_key(|&at| {
            // Sessions stay where they are, so that they are spread by number and not by what goes on at the moment.
            let open = job.session.as_ref().map(|_| sessions.values().filter(|&&of| of == at).count());
            members[at].rank(job.profile, open)
        })?;
        if let Some(session) = &job.session {
            sessions.insert(session.clone(), at);
        }
        Some(Choice { at, has_session: false })
    }

    /// What the failure of a job means for the session that it was in.
    fn failed_in_session(&self, session: &str, error: CellError) -> CellError {
        match error {
            // A new one may be opened elsewhere, but what this one held is gone.
            CellError::SessionLost { executor, .. } | CellError::Unreachable { executor, .. } => {
                self.lock().remove(session);
                CellError::SessionLost { session: session.to_owned(), executor }
            }
            error => error,
        }
    }

    /// Lets a session be opened elsewhere whose first job was not taken.
    async fn not_opened(&self, session: &str, error: &CellError) {
        match error {
            // It answers, so that it can be told.
            CellError::Busy { .. } | CellError::Refused { .. } | CellError::NotOffered { .. } => {
                self.end(session).await;
            }
            _ => {
                self.lock().remove(session);
            }
        }
    }

    async fn end(&self, session: &str) -> bool {
        let at = self.lock().remove(session);
        match at.and_then(|at| self.list().get(at).cloned()) {
            Some(member) => member.remote.end_session(session).await,
            None => false,
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, usize>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Executor for ExecutorPool {
    fn run<'a>(
        &'a self,
        job: Job,
        host: &'a mut dyn Host,
        output: &'a mut dyn Output,
    ) -> ExecutionFuture<'a> {
        Box::pin(async move { self.run_on_any(&job, host, output).await })
    }

    fn end_session<'a>(&'a self, name: &'a str) -> Pin<Box<dyn Future<Output = bool> + Send + 'a>> {
        Box::pin(self.end(name))
    }
}

impl Drop for ExecutorPool {
    fn drop(&mut self) {
        for probe in self.probes.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            probe.abort();
        }
    }
}

/// Where a job goes.
struct Choice {
    at: usize,
    /// Whether its session is open there.
    has_session: bool,
}

/// Whether another executor may well take what this one did not.
fn may_go_elsewhere(error: &CellError) -> bool {
    error.may_run_again()
        || matches!(
            error,
            CellError::Busy { .. }
                | CellError::Sessions { .. }
                | CellError::Refused { .. }
                | CellError::NotOffered { .. }
        )
}
