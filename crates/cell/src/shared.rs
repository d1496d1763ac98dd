//! Cells in which jobs of Ordain's own making follow one another, so that none of them pays for a new process.

use std::sync::Mutex;

use ordain_types::Limits;

use crate::cell::Cell;
use crate::job::Job;
use crate::profile::Profile;
use crate::zygote::lock;

/// Cells that are kept between two jobs.
const KEPT_MAX: usize = 8;
/// Jobs of one cell: they share the CPU time that its process has.
const JOBS_MAX: u32 = 256;

/// A cell that such jobs run in, and what holds for it.
#[derive(Debug)]
pub(crate) struct SharedCell {
    pub(crate) cell: Cell,
    profile: Profile,
    limits: Limits,
    jobs: u32,
}

impl SharedCell {
    pub(crate) fn new(cell: Cell, job: &Job) -> Self {
        Self { cell, profile: job.profile, limits: job.limits.clone(), jobs: 0 }
    }

    /// Whether a job would have the same packages and limits in a cell of its own.
    fn suits(&self, job: &Job) -> bool {
        let of_process =
            |limits: &Limits| (limits.memory_bytes, limits.processes, limits.cpu, limits.work_bytes());
        self.profile == job.profile && of_process(&self.limits) == of_process(&job.limits)
    }
}

/// The shared cells that no job is in.
#[derive(Debug, Default)]
pub(crate) struct SharedCells {
    kept: Mutex<Vec<SharedCell>>,
}

impl SharedCells {
    /// A cell for a job, if one waits. The one that was used last is taken: its memory is warm.
    pub(crate) fn take(&self, job: &Job) -> Option<SharedCell> {
        let mut kept = lock(&self.kept);
        let place = kept.iter().rposition(|shared| shared.suits(job))?;
        let shared = kept.remove(place);
        drop(kept);
        if !shared.cell.is_alive() {
            return None;
        }
        shared.cell.resume();
        Some(shared)
    }

    /// Keeps a cell whose job came out well. Until the next one it stands still.
    pub(crate) fn keep(&self, mut shared: SharedCell) {
        shared.jobs += 1;
        let mut kept = lock(&self.kept);
        if shared.jobs < JOBS_MAX && kept.len() < KEPT_MAX {
            shared.cell.pause();
            kept.push(shared);
        }
    }

    /// Takes all of them away.
    pub(crate) fn close(&self) -> Vec<SharedCell> {
        std::mem::take(&mut lock(&self.kept))
    }
}
