//! Standing rules about data: what a check is, how it becomes code, how it runs and is graded, and reports; and what runs by
//! the clock.
//!
//! A [`Check`] is a record that data teams write. Its code is compiled from a built-in kind, read from words, or written by a
//! model. A run goes: `file` reads the records, `tables` makes every table a file that cells share, `compile` takes each
//! check's code from the plan cache or has it made, `cells` runs one check, `results` grades what came of it, `run` brings
//! them together, and `state` keeps what the next run needs. What a run gave is a [`RunReport`], from which every output
//! format is made.
//!
//! The crate stands above the engine: [`Checks::run`] opens a run there, and closes it with what its programs came to. It
//! knows no transport and no page.
//!
//! Invariant: a result says what this run saw. What could not be evaluated is an ERROR, what was not evaluated is
//! SKIPPED; an older PASS never stands in for either. With `--if-changed` a grade stands while rule and data are the same,
//! and says from which run it is.

mod by_sql;
pub mod catalogue;
mod cells;
pub mod change;
mod changes;
mod check;
mod compile;
mod compiled;
pub mod contracts;
mod convert;
mod disk;
mod edit;
mod error;
pub mod exit;
pub mod export;
mod failures;
pub mod file;
mod given;
mod grade;
mod history;
pub mod import;
pub mod kinds;
mod mark;
mod no_values;
mod notify;
pub mod order;
mod parts;
mod progress;
mod read;
mod readings;
mod record;
pub mod report;
mod result;
mod results;
mod rule;
mod run;
mod schedules;
mod schema;
mod select;
mod shared;
mod sources;
mod state;
pub mod suggest;
mod tables;
mod task;
mod transform;
mod values;
mod write;
pub mod yaml;

pub use cells::CheckFindings;
pub use changes::Change;
pub use check::{Check, Samples, Severity, Threshold};
pub use compile::{KeptCode, needs_frames};
pub use compiled::{COMPILED, Written};
pub use edit::{ADDED_TO, FileChange, Proposal, add_checks, remove_check};
pub use error::ChecksError;
pub use grade::{Counts, grade};
pub use history::History;
pub use mark::{Mark, Tone};
pub use ordain_types::{Selection, SelectionError};
pub use progress::CheckProgress;
pub use read::{read_checks, write_file};
pub use result::{CheckResult, CheckStatus, CodeFrom, FailedRow, Location, RunReport, SkipReason};
pub use schedules::{Due, Schedules};
pub use schema::checks_schema;
pub use sources::is_data_file;
pub use state::{LastRun, Past, State};
pub use tables::{TableFacts, TableState};
pub use task::{CheckOptions, CheckRun, CheckTask};

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use ordain_engine::Engine;
use ordain_store::Store;
use ordain_workspace::Workspace;

use crate::shared::TakenIn;

/// The checks of one workspace.
#[derive(Debug, Clone)]
pub struct Checks {
    workspace: Arc<Workspace>,
    engine: Engine,
    history: history::SharedHistory,
    /// The results of checks on other nodes that this one has taken in.
    taken_in: TakenIn,
}

impl Checks {
    /// The checks of a workspace, run by its engine.
    pub fn new(workspace: Arc<Workspace>, engine: Engine) -> Self {
        Self { workspace, engine, history: Arc::default(), taken_in: TakenIn::default() }
    }

    /// The store, which keeps the ledger and the code.
    pub fn store(&self) -> &Store {
        self.engine.store()
    }

    /// The workspace.
    pub fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// The files in `data` that are tables. One with the first rows of a table of the store is none beside that.
    pub(crate) fn data_files(&self) -> Result<Vec<sources::DataFile>, ChecksError> {
        let mut files = sources::data_files(&self.workspace.root, &self.workspace.catalog)?;
        let seeds = || self.workspace.tables.iter().filter_map(|table| table.seed.as_ref());
        files.retain(|file| !seeds().any(|seed| *seed == file.path));
        Ok(files)
    }

    /// The tables of files, each with its file; a workbook is named once.
    pub fn data_tables(&self) -> Result<Vec<(String, String)>, ChecksError> {
        let files = self.data_files()?;
        Ok(files.into_iter().map(|file| (file.stem, file.shown)).collect())
    }

    /// The tables that there are by their files and in the store.
    pub fn table_names(&self) -> Result<BTreeSet<String>, ChecksError> {
        let schema = self.store().schema();
        let stored = schema.tables.iter().map(|table| table.name.clone());
        Ok(self.data_tables()?.into_iter().map(|(name, _)| name).chain(stored).collect())
    }

    /// What is kept between runs besides the code.
    pub fn state(&self) -> Result<State, ChecksError> {
        State::open(&self.state_folder())
    }

    fn state_folder(&self) -> PathBuf {
        self.workspace.state().join("checks")
    }

    fn artifacts_folder(&self) -> PathBuf {
        self.state_folder().join(state::ARTIFACTS)
    }

    fn contracts_folder(&self) -> PathBuf {
        self.workspace.state().join("contracts")
    }

    fn cache_folder(&self) -> PathBuf {
        self.workspace.state().join("cache").join("tables")
    }
}
