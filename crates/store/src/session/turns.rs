//! The line of writers: the first to come is the first to write, and none may keep the others waiting for long.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::{Mutex, Notify, OwnedMutexGuard};
use tokio::time::Instant;

use super::Elsewhere;
use crate::error::StoreError;

/// How often the database is asked whether another process waits.
const LOOK_AGAIN: Duration = Duration::from_millis(250);

/// The line of one process. Processes follow one another by the database.
#[derive(Debug)]
pub(super) struct Turns {
    /// A fair lock: waiting writers get it in the order in which they came.
    line: Arc<Mutex<()>>,
    waiting: AtomicUsize,
    /// Notified when another writer begins to wait.
    arrived: Notify,
    hold: Duration,
}

impl Turns {
    pub(super) fn new(hold: Duration) -> Self {
        Self { line: Arc::default(), waiting: AtomicUsize::default(), arrived: Notify::new(), hold }
    }

    /// Watches a writer that needs no turn.
    pub(super) fn watched_from_now(turns: &Arc<Self>) -> Watched {
        Watched { turns: Arc::clone(turns), began: Instant::now(), has_turn: false }
    }

    pub(super) async fn take(turns: &Arc<Self>) -> Turn {
        let guard = if let Ok(guard) = Arc::clone(&turns.line).try_lock_owned() {
            guard
        } else {
            let _waiting = Waiting::begin(turns);
            Arc::clone(&turns.line).lock_owned().await
        };
        Turn { _guard: guard, turns: Arc::clone(turns), began: Instant::now() }
    }
}

/// Counts as waiting for as long as it lives, also when the wait is given up.
struct Waiting<'a>(&'a Turns);

impl<'a> Waiting<'a> {
    fn begin(turns: &'a Turns) -> Self {
        turns.waiting.fetch_add(1, Ordering::SeqCst);
        turns.arrived.notify_waiters();
        Self(turns)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::SeqCst);
    }
}

/// The right to write, until it is dropped.
#[derive(Debug)]
pub(super) struct Turn {
    _guard: OwnedMutexGuard<()>,
    turns: Arc<Turns>,
    began: Instant,
}

impl Turn {
    pub(super) fn watched(&self) -> Watched {
        Watched { turns: Arc::clone(&self.turns), began: self.began, has_turn: true }
    }
}

/// Watches how long a turn takes, from outside.
#[derive(Debug)]
pub(super) struct Watched {
    turns: Arc<Turns>,
    began: Instant,
    /// Whether those who wait for a turn wait for this one.
    has_turn: bool,
}

impl Watched {
    /// Resolves when the turn has taken longer than it may and another writer waits.
    pub(super) async fn overdue(self, elsewhere: &Elsewhere) -> StoreError {
        let hold = self.turns.hold;
        tokio::time::sleep_until(self.began + hold).await;
        loop {
            let arrived = self.turns.arrived.notified();
            tokio::pin!(arrived);
            arrived.as_mut().enable();
            let is_awaited = self.has_turn && self.turns.waiting.load(Ordering::SeqCst) > 0;
            if is_awaited || elsewhere.somebody_waits().await {
                return StoreError::LockLimit {
                    hold_ms: u64::try_from(hold.as_millis()).unwrap_or(u64::MAX),
                };
            }
            let _ = tokio::time::timeout(LOOK_AGAIN, arrived).await;
        }
    }
}
