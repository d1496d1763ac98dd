//! Which sessions are open, and whose: so many for each key, and none for ever.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::http::StatusCode;

use super::caller::Caller;
use super::exec::check_name;
use super::problem::Problem;
use super::service::Service;

/// How often idle sessions are looked for.
const ROUND: Duration = Duration::from_secs(5);

/// The open sessions by their whole names.
#[derive(Debug, Default)]
pub(crate) struct SessionBook {
    open: Arc<Mutex<HashMap<String, Open>>>,
}

#[derive(Debug)]
struct Open {
    who: String,
    /// Jobs that are in it or wait for it.
    jobs: usize,
    left_at: Instant,
}

/// A session that a job is in.
#[derive(Debug)]
pub(crate) struct InSession {
    open: Arc<Mutex<HashMap<String, Open>>>,
    /// The session's whole name.
    pub(crate) name: String,
}

impl SessionBook {
    /// Enters a session of the caller, opened if there is none of that name.
    pub(crate) fn enter(&self, caller: &Caller, session: &str, most: usize) -> Result<InSession, Problem> {
        let name = format!("{}:{session}", caller.id);
        let mut open = lock(&self.open);
        if !open.contains_key(&name) && open.values().filter(|open| open.who == caller.id).count() >= most {
            let detail = format!("{most} sessions of this key are open, which is its limit");
            return Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, "sessions_limit", detail)
                .hint("end one with `DELETE /v1/sessions/NAME`; idle ones end by themselves")
                .after(30));
        }
        let fresh = || Open { who: caller.id.clone(), jobs: 0, left_at: Instant::now() };
        open.entry(name.clone()).or_insert_with(fresh).jobs += 1;
        Ok(InSession { open: Arc::clone(&self.open), name })
    }

    /// Forgets a session that has ended.
    pub(crate) fn forget(&self, name: &str) {
        lock(&self.open).remove(name);
    }

    fn take_idle(&self, idle_max: Duration) -> Vec<String> {
        let mut open = lock(&self.open);
        let is_idle = |open: &Open| open.jobs == 0 && open.left_at.elapsed() >= idle_max;
        let idle: Vec<String> =
            open.iter().filter(|(_, open)| is_idle(open)).map(|(name, _)| name.clone()).collect();
        for name in &idle {
            open.remove(name);
        }
        idle
    }
}

impl Drop for InSession {
    fn drop(&mut self) {
        if let Some(open) = lock(&self.open).get_mut(&self.name) {
            open.jobs = open.jobs.saturating_sub(1);
            open.left_at = Instant::now();
        }
    }
}

impl Service {
    /// Enters the session that a request names, if it names one.
    pub(crate) fn enter_session(
        &self,
        caller: &Caller,
        session: Option<&str>,
    ) -> Result<Option<InSession>, Problem> {
        let Some(session) = session else { return Ok(None) };
        check_name(session, "/session")?;
        self.inner.sessions.enter(caller, session, self.inner.options.sessions).map(Some)
    }

    /// Ends sessions that nobody uses, for ever.
    pub(crate) async fn end_idle_sessions(self) {
        let idle_max = self.inner.options.session_idle_max;
        loop {
            tokio::time::sleep(ROUND.min(idle_max)).await;
            for name in self.inner.sessions.take_idle(idle_max) {
                self.engine().end_session(&name).await;
            }
        }
    }
}

fn lock(open: &Mutex<HashMap<String, Open>>) -> MutexGuard<'_, HashMap<String, Open>> {
    open.lock().unwrap_or_else(PoisonError::into_inner)
}
