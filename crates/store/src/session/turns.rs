//! The line of writers: it goes round by caller, and none may keep the others waiting for long.

use std::sync::Arc;
use std::time::Duration;

use ordain_types::{CallerName, Place, Places};
use tokio::sync::Notify;
use tokio::time::Instant;

use super::Elsewhere;
use crate::error::StoreError;

/// How often is looked again who waits.
const LOOK_AGAIN: Duration = Duration::from_millis(250);
/// How long a caller may keep another one waiting.
const BEFORE_ANOTHER: Duration = Duration::from_millis(750);

/// The line of one process. Processes follow one another by the database.
#[derive(Debug)]
pub(super) struct Turns {
    line: Arc<Places>,
    /// Notified when another writer begins to wait.
    arrived: Notify,
    hold: Duration,
}

impl Turns {
    pub(super) fn new(hold: Duration) -> Self {
        Self { line: Places::new(1), arrived: Notify::new(), hold }
    }

    /// Watches a writer that needs no turn.
    pub(super) fn watched_from_now(turns: &Arc<Self>) -> Watched {
        Watched { turns: Arc::clone(turns), began: Instant::now(), has_turn: false, caller: None }
    }

    pub(super) async fn take(turns: &Arc<Self>) -> Turn {
        let place = if let Some(place) = turns.line.try_take() {
            place
        } else {
            let wait = turns.line.take();
            turns.arrived.notify_waiters();
            wait.await
        };
        Turn {
            _place: place,
            turns: Arc::clone(turns),
            began: Instant::now(),
            caller: ordain_types::caller(),
        }
    }
}

/// The right to write, until it is dropped.
#[derive(Debug)]
pub(super) struct Turn {
    _place: Place,
    turns: Arc<Turns>,
    began: Instant,
    caller: Option<CallerName>,
}

impl Turn {
    pub(super) fn watched(&self) -> Watched {
        let caller = self.caller.clone();
        Watched { turns: Arc::clone(&self.turns), began: self.began, has_turn: true, caller }
    }
}

/// Watches how long a turn takes, from outside.
#[derive(Debug)]
pub(super) struct Watched {
    turns: Arc<Turns>,
    began: Instant,
    /// Whether those who wait for a turn wait for this one.
    has_turn: bool,
    /// Whose turn it is.
    caller: Option<CallerName>,
}

impl Watched {
    /// Resolves when the turn has taken longer than it may and another writer waits: sooner if that is another caller.
    pub(super) async fn overdue(self, elsewhere: &Elsewhere) -> StoreError {
        let (line, hold) = (&self.turns.line, self.turns.hold);
        tokio::time::sleep_until(self.began + hold.min(BEFORE_ANOTHER)).await;
        loop {
            let arrived = self.turns.arrived.notified();
            tokio::pin!(arrived);
            arrived.as_mut().enable();
            let elapsed = self.began.elapsed();
            let keeps_another =
                self.has_turn && self.caller.as_ref().is_some_and(|own| line.another_waits(own));
            let is_awaited = || self.has_turn && line.waiting() > 0;
            if keeps_another || elapsed >= hold && (is_awaited() || elsewhere.somebody_waits().await) {
                return StoreError::LockLimit {
                    hold_ms: u64::try_from(elapsed.min(hold).as_millis()).unwrap_or(u64::MAX),
                };
            }
            let _ = tokio::time::timeout(LOOK_AGAIN, arrived).await;
        }
    }
}
