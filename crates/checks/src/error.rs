//! Why checks could not be run at all. What is wrong with one check or one table is a result, not an error.

use std::io;

use ordain_cell::CellError;
use ordain_engine::EngineError;
use ordain_store::StoreError;

use crate::file::Problem;

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum ChecksError {
    /// Check files that cannot be used. Nothing has run.
    #[error("{count} problems in the check files, the first: {first}", count = .0.len(), first = .0[0])]
    Files(Vec<Problem>),
    /// There are no check files.
    #[error("there is no check file in `checks`")]
    NoFiles,
    /// Another run is going on. Nothing has run.
    #[error("another run of checks is going on in this workspace")]
    Busy,
    /// The workspace's state could not be read or written.
    #[error("failed to {action}")]
    State {
        /// What was being done.
        action: String,
        /// What the system said.
        source: io::Error,
    },
    /// A table that was asked for cannot be looked at.
    #[error("{message}")]
    Table {
        /// Why.
        message: String,
        /// What would help.
        hint: Option<String>,
    },
    /// A check file cannot be changed in this way. Nothing is written.
    #[error("{message}")]
    Edit {
        /// Why.
        message: String,
        /// What would help.
        hint: String,
    },
    /// The engine, its store or its cells failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

impl From<StoreError> for ChecksError {
    fn from(error: StoreError) -> Self {
        Self::Engine(error.into())
    }
}

impl From<CellError> for ChecksError {
    fn from(error: CellError) -> Self {
        Self::Engine(error.into())
    }
}

impl ChecksError {
    /// What the reader can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Files(problems) => problems.first().and_then(|problem| problem.hint.clone()),
            Self::NoFiles => Some(
                "write `checks/checks.json`, or start from `ordain init --example data-quality`".to_owned(),
            ),
            Self::Busy => Some("wait for it to end".to_owned()),
            Self::State { .. } => None,
            Self::Table { hint, .. } => hint.clone(),
            Self::Edit { hint, .. } => Some(hint.clone()),
            Self::Engine(error) => error.hint(),
        }
    }

    /// An error of what is kept, from what was being done.
    pub fn state(action: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::State { action: action.into(), source }
    }
}
