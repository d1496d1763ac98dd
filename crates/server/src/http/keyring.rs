//! The workspace's keys, kept in memory for a few seconds at a time.
//!
//! Asking the store for every request would cost more than the request; asking it never would let revoked keys live
//! on. So the keys are read again when they are older than [`AGE_MAX`], and at once on a reload.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use ordain_store::{CallerKey, Store, StoreError};
use tokio::sync::Mutex as AsyncMutex;

/// How long a revoked key may still be taken, at most.
const AGE_MAX: Duration = Duration::from_secs(3);
/// How often the use of a key is written down.
const USE_EVERY: Duration = Duration::from_mins(1);

/// The keys.
#[derive(Debug)]
pub(crate) struct KeyRing {
    store: Store,
    kept: Mutex<Option<Kept>>,
    /// One reader at a time; the others wait for what it finds.
    reading: AsyncMutex<()>,
    used: Mutex<HashMap<String, Instant>>,
}

#[derive(Debug)]
struct Kept {
    at: Instant,
    keys: Arc<HashMap<String, CallerKey>>,
}

impl KeyRing {
    pub(crate) fn new(store: Store) -> Self {
        Self { store, kept: Mutex::default(), reading: AsyncMutex::default(), used: Mutex::default() }
    }

    /// The key of that id.
    pub(crate) async fn find(&self, id: &str) -> Result<Option<CallerKey>, StoreError> {
        if let Some(keys) = self.fresh() {
            return Ok(keys.get(id).cloned());
        }
        let _reading = self.reading.lock().await;
        if self.fresh().is_none() {
            self.reload().await?;
        }
        Ok(self.fresh().and_then(|keys| keys.get(id).cloned()))
    }

    /// Reads the keys again.
    pub(crate) async fn reload(&self) -> Result<(), StoreError> {
        let keys = self.store.keys().await?;
        let keys = keys.into_iter().map(|key| (key.key_id.clone(), key)).collect();
        let kept = Kept { at: Instant::now(), keys: Arc::new(keys) };
        *self.kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(kept);
        Ok(())
    }

    /// Writes down, now and then, that a key is in use.
    pub(crate) fn was_used(&self, id: &str) {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        if used.get(id).is_some_and(|at| at.elapsed() < USE_EVERY) {
            return;
        }
        used.insert(id.to_owned(), Instant::now());
        let (store, id) = (self.store.clone(), id.to_owned());
        // Nobody waits for it, and a request does not fail for want of it.
        tokio::spawn(async move {
            let _ = store.key_used(&id).await;
        });
    }

    fn fresh(&self) -> Option<Arc<HashMap<String, CallerKey>>> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.as_ref().filter(|kept| kept.at.elapsed() < AGE_MAX).map(|kept| Arc::clone(&kept.keys))
    }
}
