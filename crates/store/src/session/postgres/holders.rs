//! Sessions that others wait for.
//!
//! A run gives way to others by itself after a while ([`crate::StoreLimits::lock_hold`]). A process that stands still (it was
//! stopped, or its machine is out of memory) cannot, and its session would keep its locks for as long as it stands. So the
//! one that waits has the server end such a session: its transaction is rolled back and its locks are free. When the process
//! goes on, its next statement fails.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use super::{PostgresPool, PostgresSession, lost};
use crate::error::StoreError;
use crate::options::StoreLimits;
use crate::session::Rows;
use crate::sql::{Dialect, Sql};

/// How often one that waits looks again.
const LOOK_AGAIN: Duration = Duration::from_secs(1);
/// The part of the patience after which one that waits looks for the first time: before it has to give way itself to those
/// that wait behind it, and late enough for a holder that is alive to have given way.
const FIRST_LOOK: u32 = 5;

/// How long a holder may be silent that should have given way: longer than it may hold a lock, shorter than the wait may be.
pub(super) fn patience(limits: &StoreLimits) -> Duration {
    (limits.lock_wait * 2 / 3).max(limits.lock_hold * 2)
}

impl PostgresPool {
    /// Waits for a statement of a connection. Those that it waits for are ended if they have stood still for too long.
    pub(super) async fn patiently<T>(
        self: &Arc<Self>,
        process: i32,
        statement: impl Future<Output = T>,
    ) -> T {
        let mut statement = pin!(statement);
        let mut wait = self.patience / FIRST_LOOK;
        loop {
            if let Ok(done) = tokio::time::timeout(wait, &mut statement).await {
                return done;
            }
            self.end_silent_holders(process).await;
            wait = LOOK_AGAIN;
        }
    }

    /// Ends Ordain's sessions that a connection waits for, where the server in turn has waited for their process for too long.
    /// The session that holds the lock may be several waits away: each one in between waits for the next.
    async fn end_silent_holders(self: &Arc<Self>, process: i32) {
        let patience = self.patience.as_millis();
        let sql = format!(
            "WITH RECURSIVE holders (pid) AS (
                 SELECT unnest(pg_blocking_pids({process}))
                 UNION SELECT unnest(pg_blocking_pids(pid)) FROM holders)
             SELECT pg_terminate_backend(pid)::text FROM holders JOIN pg_catalog.pg_stat_activity USING (pid)
             WHERE application_name = 'ordain' AND wait_event_type = 'Client'
               AND state_change < clock_timestamp() - interval '{patience} milliseconds'"
        );
        // What could not be ended now is looked at again, or the wait comes to its limit.
        let _ = self.run_aside(Sql::new(Dialect::Postgres, &sql)).await;
    }

    /// Whether anybody waits for a lock of this connection. What cannot be asked is not known.
    pub(in crate::session) async fn somebody_waits(self: &Arc<Self>, process: i32) -> bool {
        let sql = format!(
            "SELECT pid::text FROM pg_catalog.pg_stat_activity
             WHERE wait_event_type = 'Lock' AND {process} = ANY (pg_blocking_pids(pid)) LIMIT 1"
        );
        self.run_aside(Sql::new(Dialect::Postgres, &sql)).await.is_ok_and(|rows| !rows.is_empty())
    }

    /// Runs a statement on the connection that is always available. That is a task of its own: a caller that stops waiting in
    /// between, or that is not polled for a while, does not keep the connection from others.
    pub(in crate::session) async fn run_aside(self: &Arc<Self>, sql: Sql) -> Result<Rows, StoreError> {
        let pool = Arc::clone(self);
        let asked = tokio::spawn(async move {
            let mut aside = pool.aside.lock().await;
            let kept = match aside.take().filter(|kept| !kept.client.is_closed()) {
                Some(kept) => kept,
                None => pool.connect().await?,
            };
            let mut session = PostgresSession::over(&pool, kept, None);
            let asked = tokio::time::timeout(pool.lock_wait, session.run_at_once(vec![sql])).await;
            let rows = asked.map_err(|_| lost())??;
            *aside = session.kept.take();
            Ok(rows.into_iter().next().unwrap_or_default())
        });
        asked.await.unwrap_or_else(|_| Err(lost()))
    }
}
