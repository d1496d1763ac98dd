//! Sessions: a cell kept alive across the jobs of one conversation, never shared with another.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};

use ordain_types::Limits;
use tokio::sync::OwnedMutexGuard;

use crate::artifact::Artifact;
use crate::cell::Cell;
use crate::error::CellError;
use crate::zygote::lock;

/// A session's cell between two jobs, with what the supervisor has to remember about it.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) cell: Cell,
    /// What holds for the cell, because no limit of a process can be raised again.
    limits: Limits,
    /// Name and hash of the artifacts that were given back already.
    given: HashSet<(String, String)>,
}

impl Session {
    /// A session whose first job had these limits.
    pub(crate) fn new(cell: Cell, limits: &Limits) -> Self {
        let limits = Limits { work_bytes: Some(limits.work_bytes()), ..limits.clone() };
        Self { cell, limits, given: HashSet::new() }
    }

    /// The limits that will hold for a job: each that belongs to the process is the lowest so far.
    pub(crate) fn lower(&mut self, limits: &Limits) -> Limits {
        let held = &mut self.limits;
        held.memory_bytes = held.memory_bytes.min(limits.memory_bytes);
        held.processes = held.processes.min(limits.processes);
        held.cpu = held.cpu.into_iter().chain(limits.cpu).min();
        Limits {
            memory_bytes: held.memory_bytes,
            processes: held.processes,
            cpu: held.cpu,
            work_bytes: held.work_bytes,
            ..limits.clone()
        }
    }

    /// Forgets which artifacts were given back, because the next job starts without any.
    pub(crate) fn forget(&mut self) {
        self.given.clear();
    }

    /// Leaves out the artifacts that an earlier job gave back and no job has changed since.
    pub(crate) fn keep_new(&mut self, artifacts: &mut Vec<Artifact>) {
        artifacts.retain(|artifact| self.given.insert((artifact.name.clone(), artifact.sha256.clone())));
    }
}

/// The place of a session; jobs of one session run one after the other.
type SessionSlot = Arc<tokio::sync::Mutex<Option<Session>>>;

/// The open sessions of an executor.
#[derive(Debug)]
pub(crate) struct Sessions {
    open: Mutex<HashMap<String, SessionSlot>>,
    open_max: usize,
}

/// A session that one job is in. When the job leaves it without a [`Session`], it is no longer open.
#[derive(Debug)]
pub(crate) struct Entered<'a> {
    sessions: &'a Sessions,
    name: &'a str,
    pub(crate) place: OwnedMutexGuard<Option<Session>>,
}

impl Sessions {
    pub(crate) fn new(open_max: usize) -> Self {
        Self { open: Mutex::default(), open_max }
    }

    /// Enters the session of that name, opened if there is none, when no other job is in it.
    pub(crate) async fn enter<'a>(&'a self, name: &'a str) -> Result<Entered<'a>, CellError> {
        loop {
            let place = self.place(name)?.lock_owned().await;
            // It may have ended, or been ended, while this job waited.
            if self.is_open(name, OwnedMutexGuard::mutex(&place)) {
                return Ok(Entered { sessions: self, name, place });
            }
        }
    }

    /// Ends a session and its cell, after the job that is in it.
    pub(crate) async fn end(&self, name: &str) -> bool {
        let Some(place) = lock(&self.open).remove(name) else { return false };
        if let Some(mut session) = place.lock().await.take() {
            session.cell.end().await;
        }
        true
    }

    /// Ends all of them.
    pub(crate) async fn close(&self) {
        let names: Vec<String> = lock(&self.open).keys().cloned().collect();
        for name in names {
            self.end(&name).await;
        }
    }

    fn place(&self, name: &str) -> Result<SessionSlot, CellError> {
        let mut open = lock(&self.open);
        if let Some(place) = open.get(name) {
            return Ok(Arc::clone(place));
        }
        if open.len() >= self.open_max {
            return Err(CellError::Sessions { open: open.len() });
        }
        let place = SessionSlot::default();
        open.insert(name.to_owned(), Arc::clone(&place));
        Ok(place)
    }

    fn is_open(&self, name: &str, place: &SessionSlot) -> bool {
        lock(&self.open).get(name).is_some_and(|open| Arc::ptr_eq(open, place))
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        let mut open = lock(&self.sessions.open);
        let is_own =
            open.get(self.name).is_some_and(|place| Arc::ptr_eq(place, OwnedMutexGuard::mutex(&self.place)));
        if self.place.is_none() && is_own {
            open.remove(self.name);
        }
    }
}
