//! Keeps idle cells ready for one profile, made ahead of demand.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::Notify;

use crate::cell::Cell;
use crate::error::CellError;
use crate::resident::Lender;
use crate::zygote::{Purpose, Zygote, ZygoteSpec, lock};

/// How often in a row a zygote or a cell may fail before the failure is returned.
const FAILURES_MAX: u32 = 3;

/// How long a taken cell is waited for before its successor is made.
const REFILL_DELAY: Duration = Duration::from_millis(2);

/// The idle cells of one profile, and the zygote they come from.
#[derive(Debug)]
pub(crate) struct Pool {
    spec: ZygoteSpec,
    zygote: tokio::sync::Mutex<Option<Arc<Zygote>>>,
    state: Mutex<State>,
    changed: Notify,
    idle_max: usize,
    work_bytes: u64,
    /// The helper that may have cells where this pool has no zygote yet.
    lender: Option<Lender>,
}

#[derive(Debug, Default)]
struct State {
    idle: VecDeque<Cell>,
    starting: usize,
    waiting: usize,
    failures: u32,
    failure: Option<CellError>,
    is_closed: bool,
    has_started_zygote: bool,
}

impl Pool {
    /// A pool that keeps up to `idle_max` cells with work folders of that size. Where it keeps none, a helper may give them.
    pub(crate) fn new(
        spec: ZygoteSpec,
        idle_max: usize,
        work_bytes: u64,
        lender: Option<Lender>,
    ) -> Arc<Self> {
        Arc::new(Self {
            spec,
            zygote: tokio::sync::Mutex::new(None),
            state: Mutex::default(),
            changed: Notify::new(),
            idle_max,
            work_bytes,
            lender,
        })
    }

    /// A cell that is ready: an idle one where there is one, otherwise the next that becomes ready. A job with a work
    /// folder of another size, and any job where no cells are made ahead, gets a cell made for it.
    pub(crate) async fn take(self: &Arc<Self>, work_bytes: u64) -> Result<Cell, CellError> {
        if work_bytes != self.work_bytes || self.idle_max == 0 {
            return self.fresh(work_bytes).await;
        }
        let waiting = Waiting::new(self);
        loop {
            let changed = self.changed.notified();
            if let Some(taken) = self.take_idle() {
                drop(waiting);
                self.refill_later();
                return taken;
            }
            self.refill();
            changed.await;
        }
    }

    /// A cell made on demand, past the idle ones.
    pub(crate) async fn fresh(self: &Arc<Self>, work_bytes: u64) -> Result<Cell, CellError> {
        if let Some(lender) = self.lender.as_ref().filter(|_| !lock(&self.state).has_started_zygote)
            && let Some(cell) = lender.cell(work_bytes).await
        {
            return Ok(cell);
        }
        Cell::start(&*self.zygote().await?, work_bytes, Purpose::Job).await
    }

    /// Starts the zygote of cells that will be taken soon, unless a helper gives them.
    pub(crate) fn expect(self: &Arc<Self>) {
        if self.lender.as_ref().is_some_and(Lender::is_there) {
            return;
        }
        let pool = Arc::clone(self);
        // A failure comes again where it is waited for.
        tokio::spawn(async move { drop(pool.zygote().await) });
    }

    /// Makes idle cells ahead of demand, and waits until there are that many.
    pub(crate) async fn fill(self: &Arc<Self>) -> Result<(), CellError> {
        loop {
            let changed = self.changed.notified();
            self.refill();
            {
                let mut state = lock(&self.state);
                if let Some(failure) = state.failure.take() {
                    return Err(failure);
                }
                if state.idle.len() >= self.idle_max {
                    return Ok(());
                }
            }
            changed.await;
        }
    }

    /// How many cells are idle.
    pub(crate) fn idle_count(&self) -> usize {
        lock(&self.state).idle.len()
    }

    /// Host process descriptors of the idle cells, for measurements.
    pub(crate) fn idle_processes(&self) -> Vec<std::os::fd::OwnedFd> {
        lock(&self.state).idle.iter().filter_map(|cell| cell.process().try_clone().ok()).collect()
    }

    /// Ends every idle cell and the zygote.
    pub(crate) async fn close(&self) {
        {
            let mut state = lock(&self.state);
            state.is_closed = true;
            state.idle.clear();
        }
        self.changed.notify_waiters();
        let Some(zygote) = self.zygote.lock().await.take() else { return };
        // Cells that are still being made are lost with it, and hold it until they know.
        zygote.shut_down();
        loop {
            let changed = self.changed.notified();
            if lock(&self.state).starting == 0 {
                break;
            }
            changed.await;
        }
        // Ending waits for the process, which must not hold up other tasks.
        let _ = tokio::task::spawn_blocking(move || drop(zygote)).await;
    }

    /// The number of the zygote's outer process, if it runs.
    pub(crate) async fn zygote_process(&self) -> Option<u32> {
        self.zygote.lock().await.as_ref().map(|zygote| zygote.process_id())
    }

    fn take_idle(&self) -> Option<Result<Cell, CellError>> {
        let mut state = lock(&self.state);
        while let Some(cell) = state.idle.pop_back() {
            // A cell whose zygote was killed is of no use; the next one may be.
            if cell.is_alive() {
                return Some(Ok(cell));
            }
        }
        let failure = state.failure.take();
        failure.or(state.is_closed.then_some(CellError::Lost)).map(Err)
    }

    /// Makes up for a cell that was taken, but not at once: the job that took it comes first, and most are done
    /// sooner than a fork.
    fn refill_later(self: &Arc<Self>) {
        let pool = Arc::downgrade(self);
        tokio::spawn(async move {
            tokio::time::sleep(REFILL_DELAY).await;
            if let Some(pool) = pool.upgrade() {
                pool.refill();
            }
        });
    }

    /// Starts as many cells as are missing, in the background.
    fn refill(self: &Arc<Self>) {
        let mut state = lock(&self.state);
        while !state.is_closed
            && state.failure.is_none()
            && state.idle.len() + state.starting < self.idle_max + state.waiting
        {
            state.starting += 1;
            let pool = Arc::clone(self);
            tokio::spawn(async move { pool.add().await });
        }
    }

    async fn add(self: Arc<Self>) {
        let started = match self.zygote().await {
            Ok(zygote) => Cell::start(&zygote, self.work_bytes, Purpose::Idle).await,
            Err(error) => Err(error),
        };
        let mut state = lock(&self.state);
        state.starting -= 1;
        match started {
            Ok(cell) => {
                state.failures = 0;
                if !state.is_closed {
                    state.idle.push_back(cell);
                }
            }
            Err(error) => {
                state.failures += 1;
                if state.failures >= FAILURES_MAX {
                    state.failures = 0;
                    state.failure = Some(error);
                }
            }
        }
        drop(state);
        self.changed.notify_waiters();
    }

    /// The zygote; a new one is started if there is none or it was lost.
    async fn zygote(&self) -> Result<Arc<Zygote>, CellError> {
        let mut zygote = self.zygote.lock().await;
        match &*zygote {
            _ if lock(&self.state).is_closed => Err(CellError::Lost),
            Some(zygote) if !zygote.is_lost() => Ok(Arc::clone(zygote)),
            _ => {
                let started = Arc::new(Zygote::start(&self.spec).await?);
                lock(&self.state).has_started_zygote = true;
                *zygote = Some(Arc::clone(&started));
                Ok(started)
            }
        }
    }
}

impl Drop for Pool {
    /// The next command shall find the zygote that this one had to wait for.
    fn drop(&mut self) {
        if let Some(lender) = self.lender.as_ref().filter(|_| lock(&self.state).has_started_zygote) {
            lender.start();
        }
    }
}

/// Counts a job that waits for a cell, for as long as it does.
struct Waiting<'a>(&'a Pool);

impl<'a> Waiting<'a> {
    fn new(pool: &'a Pool) -> Self {
        lock(&pool.state).waiting += 1;
        Self(pool)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        lock(&self.0.state).waiting -= 1;
    }
}
