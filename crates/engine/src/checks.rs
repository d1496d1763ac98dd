//! Checks of a workspace: read, compiled once, run in parallel cells, graded and remembered.
//!
//! `tables` makes every table a mapped file that cells share, `compile` keeps or renews each check's code by the change
//! matrix, `execute` runs one check in one cell, `run` brings them together and `state` keeps what the next run needs.
//!
//! Invariant: a result says what this run saw. What could not be evaluated is an ERROR, what was not evaluated is
//! SKIPPED; an older PASS never stands in for either. With `--if-changed` a grade stands while rule and data are the same, and
//! says from which run it is.

mod changes;
mod compile;
mod convert;
mod error;
mod execute;
mod going;
mod planning;
mod read;
mod record;
mod run;
mod sources;
mod state;
mod suggest;
mod tables;

pub use changes::Change;
pub use compile::{Standing, needs_frames};
pub use error::ChecksError;
pub use read::{read_checks, write_file};
pub use run::{CheckOptions, CheckProgress, CheckRun, Silent};
pub use state::{KeptCheck, Past, State};
pub use tables::{TableFacts, TableState};

use std::path::PathBuf;
use std::sync::Arc;

use ordain_cell::LocalOptions;
use ordain_cell::profile::DataDir;
use ordain_store::Store;

use crate::workspace::Workspace;

/// The checks of one workspace.
#[derive(Clone)]
pub struct Checks {
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) store: Store,
    pub(crate) data_dir: DataDir,
}

impl std::fmt::Debug for Checks {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Checks").field("root", &self.workspace.root).finish_non_exhaustive()
    }
}

impl Checks {
    /// The checks of a workspace whose store is open.
    pub fn new(workspace: Arc<Workspace>, store: Store, data_dir: DataDir) -> Self {
        Self { workspace, store, data_dir }
    }

    /// The store, which keeps the ledger.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The workspace.
    pub fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// What is kept between runs.
    pub fn state(&self) -> Result<State, ChecksError> {
        State::open(&self.state_folder())
    }

    pub(crate) fn state_folder(&self) -> PathBuf {
        self.workspace.state().join("checks")
    }

    pub(crate) fn cache_folder(&self) -> PathBuf {
        self.workspace.state().join("cache").join("tables")
    }

    /// How cells for this workspace are made; `idle` are kept ready.
    pub(crate) fn local_options(&self, running: usize, idle: usize) -> LocalOptions {
        let mut options = LocalOptions::new(self.data_dir.clone());
        options.limits = self.workspace.limits.clone();
        options.running_max = running.max(1);
        options.waiting_max = 1 << 20;
        options.idle_cells = idle;
        options
    }
}
