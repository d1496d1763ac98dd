//! Which sessions are open, and whose: so many for each key, and none for ever.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::http::StatusCode;

use super::caller::Caller;
use super::exec::check_name;
use super::order::WorkOrder;
use super::problem::{Problem, SESSION_GONE, SESSIONS_LIMIT};
use super::service::Service;
use crate::cluster::{Cluster, Held};

/// How often idle sessions are looked for.
const ROUND: Duration = Duration::from_secs(5);

/// The open sessions by their whole names.
#[derive(Debug, Default)]
pub(crate) struct SessionBook {
    open: Arc<Mutex<HashMap<String, Open>>>,
    /// Held while a node finds out whether a session of the cluster begins anew.
    entering: tokio::sync::Mutex<()>,
}

#[derive(Debug)]
struct Open {
    who: String,
    /// The cluster's name for what this node holds; empty where there is no cluster.
    holding: String,
    /// Jobs that are in it or wait for it.
    jobs: usize,
    left_at: Instant,
}

/// A session that a job is in.
#[derive(Debug)]
pub(crate) struct InSession {
    open: Arc<Mutex<HashMap<String, Open>>>,
    name: String,
}

impl SessionBook {
    /// The holding of a session that is open; `None` if it is not.
    fn holding(&self, name: &str) -> Option<String> {
        lock(&self.open).get(name).map(|open| open.holding.clone())
    }

    /// Enters a session, opened if there is none of that name. `None` if its owner has `most` of them open.
    fn enter(&self, who: &str, name: &str, holding: String, most: usize) -> Option<InSession> {
        let mut open = lock(&self.open);
        if !open.contains_key(name) && open.values().filter(|open| open.who == who).count() >= most {
            return None;
        }
        let fresh = || Open { who: who.to_owned(), holding, jobs: 0, left_at: Instant::now() };
        open.entry(name.to_owned()).or_insert_with(fresh).jobs += 1;
        Some(InSession { open: Arc::clone(&self.open), name: name.to_owned() })
    }

    /// The open sessions, each with its owner.
    fn all(&self) -> Vec<(String, String)> {
        lock(&self.open).iter().map(|(name, open)| (name.clone(), open.who.clone())).collect()
    }

    fn take_idle(&self, idle_max: Duration) -> Vec<(String, String)> {
        let is_idle = |open: &Open| open.jobs == 0 && open.left_at.elapsed() >= idle_max;
        let idle = lock(&self.open).extract_if(|_, open| is_idle(open)).collect::<Vec<_>>();
        idle.into_iter().map(|(name, open)| (name, open.who)).collect()
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

/// The whole name of the session that a request names, if it names one. Two callers never meet in one.
pub(crate) fn session_name(caller: &Caller, session: Option<&str>) -> Result<Option<String>, Problem> {
    let Some(session) = session else { return Ok(None) };
    check_name(session, "/session")?;
    Ok(Some(format!("{}:{session}", caller.id)))
}

impl Service {
    /// Enters a session of a server that has no others. In a cluster the node that holds it does.
    pub(crate) fn enter_session(
        &self,
        caller: &Caller,
        name: Option<&str>,
    ) -> Result<Option<InSession>, Problem> {
        let Some(name) = name.filter(|_| !self.inner.options.cluster.is_shared()) else { return Ok(None) };
        let most = self.inner.options.sessions;
        let entered = self.inner.sessions.enter(&caller.id, name, String::new(), most);
        entered.map(Some).ok_or_else(|| too_many(most))
    }

    /// The node of the cluster that holds a session, this one if none did.
    pub(crate) async fn hold_session(&self, owner: &str, session: &str) -> Result<Held, Problem> {
        let most = self.inner.options.sessions;
        let held = self.inner.options.cluster.hold(owner, session, most).await.map_err(|error| {
            self.inner.log.trouble("cluster", &error.to_string());
            let detail = "the node that holds the session cannot be found";
            Problem::new(StatusCode::SERVICE_UNAVAILABLE, "session_unreachable", detail).after(2)
        })?;
        held.ok_or_else(|| too_many(most))
    }

    /// Enters the session of an order that came through the queue, if it has one. `accepted` is the session's holding when
    /// the order was accepted.
    pub(crate) async fn enter_held(
        &self,
        caller: &Caller,
        order: &WorkOrder,
        accepted: Option<&str>,
    ) -> Result<Option<InSession>, Problem> {
        let cluster = &self.inner.options.cluster;
        let Some(session) = order.session().filter(|_| cluster.is_shared()) else { return Ok(None) };
        let _alone = self.inner.sessions.entering.lock().await;
        let held = self.hold_session(&caller.id, session).await?;
        if held.node != cluster.node() || is_gone(&held, accepted, order) {
            return Err(gone());
        }
        // What is left of an earlier session of that name is none of this one's.
        if self.inner.sessions.holding(session).is_none_or(|holding| holding != held.holding) {
            self.end_cells(session).await;
        }
        // The cluster has counted it, over all nodes.
        Ok(self.inner.sessions.enter(&caller.id, session, held.holding, usize::MAX))
    }

    /// Ends the cells of a session that this node has; whether there were any.
    pub(crate) async fn end_cells(&self, session: &str) -> bool {
        lock(&self.inner.sessions.open).remove(session);
        let (given, code) = (self.engine().end_session(session), self.engine().end_code_session(session));
        let ended = tokio::join!(given, code);
        ended.0 || ended.1
    }

    /// Ends sessions that nobody uses, or that another node was asked to end, for ever.
    pub(crate) async fn end_idle_sessions(self) {
        let (idle_max, cluster) = (self.inner.options.session_idle_max, &self.inner.options.cluster);
        loop {
            tokio::time::sleep(ROUND.min(idle_max)).await;
            for (session, owner) in self.inner.sessions.take_idle(idle_max) {
                self.end_cells(&session).await;
                // An entry that is left behind is forgotten after a day.
                let _ = cluster.let_go(&owner, &session).await;
            }
            if cluster.is_shared() {
                self.end_lost_sessions(&**cluster).await;
            }
        }
    }

    /// Ends the cells of sessions that this node does not hold any more. NATS servers that do not answer say nothing
    /// about it.
    async fn end_lost_sessions(&self, cluster: &dyn Cluster) {
        for (session, owner) in self.inner.sessions.all() {
            let _alone = self.inner.sessions.entering.lock().await;
            if let Ok(holding) = cluster.holding(&owner, &session).await
                && holding != self.inner.sessions.holding(&session)
            {
                self.end_cells(&session).await;
            }
        }
    }
}

/// Whether what an order's code would find in its session is lost: the session's node is gone, or the session is another
/// one by now than when the order was accepted. What questions about files defined is defined again, by their code; given
/// code is not kept.
pub(crate) fn is_gone(held: &Held, accepted: Option<&str>, order: &WorkOrder) -> bool {
    let is_another = accepted.is_some_and(|accepted| accepted != held.holding);
    (held.was_lost || is_another) && matches!(order, WorkOrder::Exec(_))
}

pub(crate) fn gone() -> Problem {
    let detail = "the session has ended or its node is gone, and what the session's code defined with it";
    let hint = "send the request again to begin the session anew, with everything that it needs";
    Problem::new(StatusCode::CONFLICT, SESSION_GONE, detail).hint(hint)
}

fn too_many(most: usize) -> Problem {
    let detail = format!("{most} sessions of this key are open, which is its limit");
    Problem::new(StatusCode::TOO_MANY_REQUESTS, SESSIONS_LIMIT, detail)
        .hint("end one with `DELETE /v1/sessions/NAME`; idle ones end by themselves")
        .after(30)
}

fn lock(open: &Mutex<HashMap<String, Open>>) -> MutexGuard<'_, HashMap<String, Open>> {
    open.lock().unwrap_or_else(PoisonError::into_inner)
}
