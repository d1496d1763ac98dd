//! What the pages count and remember of many runs, so that a page does not read them all again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ordain_store::{Store, StoreError};
use ordain_types::{Diff, RunId, RunState};

/// How long a count is shown.
const AGE_MAX: Duration = Duration::from_secs(20);
/// Committed runs that say what is usual.
const USUAL_RUNS: u64 = 200;

/// Runs of each day by state.
type Days = Vec<Vec<(RunState, u64)>>;

/// How many runs each day had. Counting them all takes a moment, so what was counted is shown for a while.
#[derive(Debug, Default)]
pub(crate) struct RunCounts {
    kept: Mutex<Option<(Instant, Arc<Days>)>>,
}

impl RunCounts {
    /// Runs between each of these ids and the next, by state.
    pub(crate) async fn get(&self, store: &Store, bounds: &[RunId]) -> Result<Arc<Days>, StoreError> {
        if let Some((at, counts)) = &*lock(&self.kept)
            && at.elapsed() < AGE_MAX
        {
            return Ok(Arc::clone(counts));
        }
        let counts = Arc::new(store.run_counts(bounds).await?);
        *lock(&self.kept) = Some((Instant::now(), Arc::clone(&counts)));
        Ok(counts)
    }
}

/// What the last committed runs did to tables, by run: a run's diff is read once.
#[derive(Debug, Default)]
pub(crate) struct UsualChanges {
    kept: Mutex<BTreeMap<RunId, BTreeSet<String>>>,
}

impl UsualChanges {
    /// What they did, without the values.
    pub(crate) async fn get(&self, store: &Store) -> Result<BTreeSet<String>, StoreError> {
        let newest: BTreeSet<RunId> =
            store.run_ids(RunState::Committed, USUAL_RUNS).await?.into_iter().collect();
        let unread: Vec<RunId> = {
            let kept = lock(&self.kept);
            newest.iter().filter(|run| !kept.contains_key(run)).cloned().collect()
        };
        for run in unread {
            // A record that was altered says nothing about what is usual.
            let changes = store.run(run.as_str()).await.map(|record| changes(&record.diff));
            lock(&self.kept).insert(run, changes.unwrap_or_default());
        }
        let mut kept = lock(&self.kept);
        kept.retain(|run, _| newest.contains(run));
        Ok(kept.values().flatten().cloned().collect())
    }
}

/// What a diff does, without the values: `rows added to users`, `price of inventory changed`.
pub(super) fn changes(diff: &Diff) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (table, diff) in &diff.tables {
        found.extend((!diff.added.is_empty()).then(|| format!("rows added to {table}")));
        found.extend((!diff.removed.is_empty()).then(|| format!("rows removed from {table}")));
        for change in &diff.changed {
            let changed =
                change.after.names().filter(|name| change.before.get(name) != change.after.get(name));
            found.extend(changed.map(|name| format!("{name} of {table} changed")));
        }
    }
    found
}

fn lock<T>(kept: &Mutex<T>) -> MutexGuard<'_, T> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}
