//! What runner and executor say to each other: one JSON text a line, over the socket that is the executor's stdin.

use std::path::PathBuf;

use ordain_cell::profile::Profile;
use serde::{Deserialize, Serialize};

use super::program::ProgramLimits;

/// Set for a process that is to be the executor.
pub(super) const ROLE_VARIABLE: &str = "ORDAIN_ATTACKS_EXECUTOR";

/// File names in a run's folder.
pub(super) const RECORD_FILE: &str = "record.json";
pub(super) const DIFF_FILE: &str = "diff.json";
pub(super) const STDOUT_FILE: &str = "stdout";
pub(super) const STDERR_FILE: &str = "stderr";
pub(super) const ARTIFACTS_FOLDER: &str = "artifacts";

/// What the runner asks.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
pub(super) enum Request {
    /// To start. The first request.
    Start { profile: Profile, limits: ProgramLimits },
    /// To run a program.
    Run(RunRequest),
    /// Which processes are idle cells, once there are as many as there should be.
    Idle { id: u64 },
    /// To end everything and exit.
    Close,
}

/// A program to run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct RunRequest {
    pub(super) id: u64,
    pub(super) name: String,
    pub(super) code: String,
    pub(super) limits: ProgramLimits,
    /// The input file.
    pub(super) input: PathBuf,
    /// The folder of the store, for a program that uses tables.
    pub(super) store: PathBuf,
    /// An existing empty folder for what comes of it.
    pub(super) folder: PathBuf,
}

/// What the executor answers.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub(super) enum Answer {
    /// It is ready for programs.
    Ready,
    /// It cannot start.
    CannotStart { reason: String },
    /// A program has ended.
    Ended { id: u64 },
    /// What came of it is in its folder, but for what these problems say.
    Saved { id: u64, problems: Vec<String> },
    /// A program could not be run at all.
    NotRun { id: u64, reason: String },
    /// The processes that are idle cells.
    Idle { id: u64, processes: Vec<u32> },
}

impl Answer {
    /// The request that it answers; 0 for the start.
    pub(super) fn id(&self) -> u64 {
        match self {
            Self::Ready | Self::CannotStart { .. } => 0,
            Self::Ended { id } | Self::Saved { id, .. } | Self::NotRun { id, .. } | Self::Idle { id, .. } => {
                *id
            }
        }
    }
}
