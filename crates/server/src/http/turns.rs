//! Turns of one conversation come one after the other: a later one sees what an earlier one said.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

/// The conversations in which a turn goes on here, by name.
#[derive(Debug, Default)]
pub(crate) struct Turns(Mutex<HashMap<String, Weak<AsyncMutex<()>>>>);

impl Turns {
    /// Waits until no earlier turn of a conversation goes on. Those that wait come in their order.
    pub(crate) async fn take(&self, conversation: Option<&str>) -> Option<OwnedMutexGuard<()>> {
        Some(self.of(conversation?).lock_owned().await)
    }

    fn of(&self, conversation: &str) -> Arc<AsyncMutex<()>> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(turn) = all.get(conversation).and_then(Weak::upgrade) {
            return turn;
        }
        all.retain(|_, turn| turn.strong_count() > 0);
        let turn = Arc::default();
        all.insert(conversation.to_owned(), Arc::downgrade(&turn));
        turn
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn a_turn_waits_for_the_earlier_ones_of_its_own_conversation_only() {
        let turns = Turns::default();
        let first = turns.take(Some("a")).await;
        let mut second = Box::pin(turns.take(Some("a")));
        assert!(second.as_mut().now_or_never().is_none());
        assert!(turns.take(Some("b")).now_or_never().is_some());
        assert!(turns.take(None).now_or_never().is_some());
        drop(first);
        assert!(second.await.is_some());
        drop(turns.take(Some("c")).await);
        assert_eq!(turns.0.lock().unwrap().len(), 1, "conversations that rest are forgotten");
    }
}
