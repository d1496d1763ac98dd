//! Watches a statement of foreign SQL while it runs: its time, the memory and the temporary files that it takes.
//!
//! SQLite calls [`Watch::must_stop`] every few instructions. An instruction that can itself take long is one of our
//! own functions, and those look at the time too ([`check`]).

use std::cell::RefCell;
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::error::StoreError;

/// How many virtual-machine instructions pass between two looks at the clock: some tens of microseconds.
pub(super) const INSTRUCTIONS_BETWEEN_CHECKS: i32 = 1000;
/// How often the memory is looked at. Filling memory takes longer than that.
const MEMORY_EVERY: Duration = Duration::from_millis(5);
/// How often temporary files are looked at, which costs more: every open file is asked.
const FILES_EVERY: Duration = Duration::from_millis(200);
/// By how much the process may grow while one statement runs. Nothing else in it grows so fast.
const MEMORY_BYTES_MAX: u64 = 512 * 1024 * 1024;
/// What the temporary files of a statement may come to.
const FILES_BYTES_MAX: u64 = 512 * 1024 * 1024;
/// Pages of the kernel; larger ones only make the limit larger.
const PAGE_BYTES: u64 = 4096;

thread_local! {
    /// What the functions of the statement on this thread look at.
    static RUNNING: RefCell<Option<Deadline>> = const { RefCell::new(None) };
}

/// Why a statement was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stopped {
    Time,
    Memory,
    Files,
}

impl Stopped {
    pub(super) fn error(self, wall: Duration) -> StoreError {
        match self {
            Self::Time => {
                StoreError::Timeout { wall_ms: u64::try_from(wall.as_millis()).unwrap_or(u64::MAX) }
            }
            Self::Memory => StoreError::Limit { limit: "query_memory_bytes_max", value: MEMORY_BYTES_MAX },
            Self::Files => StoreError::Limit { limit: "query_temporary_bytes_max", value: FILES_BYTES_MAX },
        }
    }
}

/// When the statement must have ended, and whether anybody still waits for it.
#[derive(Debug, Clone)]
struct Deadline {
    at: Instant,
    abandoned: Arc<AtomicBool>,
    value_bytes_max: usize,
}

impl Deadline {
    fn has_passed(&self) -> bool {
        self.abandoned.load(Ordering::Relaxed) || Instant::now() > self.at
    }
}

/// Makes the functions of this thread look at a deadline, for as long as it lives.
#[derive(Debug)]
pub(super) struct Running;

impl Drop for Running {
    fn drop(&mut self) {
        RUNNING.set(None);
    }
}

/// Whether a function may go on, asked now and then while it works.
pub(super) fn check() -> Result<(), &'static str> {
    let late = RUNNING.with_borrow(|running| running.as_ref().is_some_and(Deadline::has_passed));
    if late { Err("interrupted") } else { Ok(()) }
}

/// The longest value that a function may make here.
pub(super) fn value_bytes_max() -> usize {
    const OTHERWISE: usize = 64 * 1024 * 1024;
    RUNNING.with_borrow(|running| running.as_ref().map_or(OTHERWISE, |deadline| deadline.value_bytes_max))
}

/// Watches one statement.
#[derive(Debug)]
pub(super) struct Watch {
    deadline: Deadline,
    memory_at_start: u64,
    /// Temporary files of other statements: they were there before.
    files_at_start: HashSet<(u64, u64)>,
    memory_seen: Instant,
    files_seen: Instant,
    stopped: Arc<Mutex<Option<Stopped>>>,
}

impl Watch {
    pub(super) fn new(wall: Duration, abandoned: Arc<AtomicBool>, value_bytes_max: usize) -> Self {
        let now = Instant::now();
        Self {
            deadline: Deadline { at: now + wall, abandoned, value_bytes_max },
            memory_at_start: 0,
            files_at_start: HashSet::new(),
            memory_seen: now,
            files_seen: now,
            stopped: Arc::default(),
        }
    }

    /// Makes the functions look at the deadline; why the statement was stopped is kept in the second.
    pub(super) fn begin(&self) -> (Running, Arc<Mutex<Option<Stopped>>>) {
        RUNNING.set(Some(self.deadline.clone()));
        (Running, Arc::clone(&self.stopped))
    }

    /// Asked by SQLite between instructions.
    pub(super) fn must_stop(&mut self) -> bool {
        let now = Instant::now();
        let stopped = if self.deadline.has_passed() {
            Some(Stopped::Time)
        } else if now - self.memory_seen > MEMORY_EVERY {
            self.memory_seen = now;
            self.look(now)
        } else {
            None
        };
        if stopped.is_some() {
            *self.stopped.lock().unwrap_or_else(PoisonError::into_inner) = stopped;
        }
        stopped.is_some()
    }

    fn look(&mut self, now: Instant) -> Option<Stopped> {
        let memory = resident_bytes();
        // Most statements end before anybody looks, so that the first look is the beginning.
        if self.memory_at_start == 0 {
            self.memory_at_start = memory;
            self.files_at_start = temporary_files().map(|(file, _)| file).collect();
        }
        if memory > self.memory_at_start.saturating_add(MEMORY_BYTES_MAX) {
            return Some(Stopped::Memory);
        }
        if now - self.files_seen > FILES_EVERY {
            self.files_seen = now;
            let own = temporary_files().filter(|(file, _)| !self.files_at_start.contains(file));
            if own.map(|(_, bytes)| bytes).sum::<u64>() > FILES_BYTES_MAX {
                return Some(Stopped::Files);
            }
        }
        None
    }
}

/// The memory that this process has in use.
fn resident_bytes() -> u64 {
    let text = fs_err::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = text.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok());
    pages.unwrap_or_default() * PAGE_BYTES
}

/// SQLite's temporary files that this process has open, by device and inode, with their sizes. They have no name in any
/// folder any more.
fn temporary_files() -> impl Iterator<Item = ((u64, u64), u64)> {
    use std::os::unix::fs::MetadataExt as _;

    let open = fs_err::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    open.filter_map(|entry| {
        let target = fs_err::read_link(entry.path()).ok()?;
        let is_temporary = target.file_name()?.to_str()?.starts_with("etilqs_");
        let metadata = is_temporary.then(|| fs_err::metadata(entry.path()).ok()).flatten()?;
        Some(((metadata.dev(), metadata.ino()), metadata.len()))
    })
}
