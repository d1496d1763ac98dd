//! How many runs each day had. Counting them all takes a moment, so what was counted is shown for a while.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use ordain_store::{RunCount, Store, StoreError};

/// How long a count is shown.
const AGE_MAX: Duration = Duration::from_secs(20);

/// The counts, once they were asked for.
#[derive(Debug, Default)]
pub(crate) struct RunCounts {
    kept: Mutex<Option<(Instant, Arc<Vec<RunCount>>)>>,
}

impl RunCounts {
    /// Runs of the last days by day and state.
    pub(crate) async fn get(&self, store: &Store, days: u64) -> Result<Arc<Vec<RunCount>>, StoreError> {
        if let Some((at, counts)) = &*self.lock()
            && at.elapsed() < AGE_MAX
        {
            return Ok(Arc::clone(counts));
        }
        let counts = Arc::new(store.run_counts(&super::overview::since(days)).await?);
        *self.lock() = Some((Instant::now(), Arc::clone(&counts)));
        Ok(counts)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<(Instant, Arc<Vec<RunCount>>)>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
