//! Why a request could not be carried out at all.

use ordain_cell::CellError;
use ordain_store::StoreError;

/// Why there is no record of a run. Nothing was changed in any of these cases, unless the store itself says that it
/// does not know.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// No cell could be had.
    #[error(transparent)]
    Cell(#[from] CellError),
    /// Other runs kept changing the same rows.
    #[error("the run met changes of other runs {tries} times and was given up")]
    Contended {
        /// How often it was tried.
        tries: u32,
    },
    /// The same request is being carried out at this moment.
    #[error("the same request is being carried out as run `{run}`")]
    Running {
        /// The run that does it.
        run: String,
    },
    /// The idempotency key was used for another request before.
    #[error("the idempotency key was used for something else by run `{run}`")]
    KeyReused {
        /// The run that used it.
        run: String,
    },
    /// The change of such a run cannot be made again by one program.
    #[error("run `{run}` is not one program about the tables, so it cannot be run again on newer rows")]
    NotRebased {
        /// The run.
        run: String,
    },
    /// The files that a run left could not be kept.
    #[error("failed to keep the artifacts of the run")]
    Artifacts(#[source] std::io::Error),
    /// A decision about a waiting run that does not fit it.
    #[error("{message}")]
    Decision {
        /// What does not fit.
        message: String,
        /// What would.
        hint: String,
    },
    /// The request is longer than a request may be.
    #[error("the request has {bytes} bytes; {bytes_max} is the limit")]
    RequestTooLong {
        /// Its length.
        bytes: usize,
        /// The limit.
        bytes_max: usize,
    },
}

impl EngineError {
    /// Whether the run met something that passes: a lock, a database that restarts, an executor that is gone. It was
    /// surely not committed, or that can be looked up, so the same run may be carried out again.
    pub const fn may_pass(&self) -> bool {
        match self {
            Self::Store(error) => matches!(
                error,
                StoreError::Conflict
                    | StoreError::Busy
                    | StoreError::LockLimit { .. }
                    | StoreError::Unreachable { .. }
                    | StoreError::File { .. }
                    | StoreError::CommitUnknown { .. }
            ),
            Self::Cell(error) => !matches!(
                error,
                CellError::File { .. } | CellError::SessionLost { .. } | CellError::NotOffered { .. }
            ),
            Self::Contended { .. } => true,
            _ => false,
        }
    }

    /// What the reader can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Store(error) => error.hint(),
            Self::Cell(error) => error.hint(),
            Self::Contended { .. } => Some("try again when fewer requests change the same rows".to_owned()),
            Self::Running { .. } => Some("wait for it, then look at it with `ordain runs show`".to_owned()),
            Self::KeyReused { .. } => Some("take a new key for a new request".to_owned()),
            Self::NotRebased { .. } => {
                Some("ask again, so that the plan sees the rows as they are now".to_owned())
            }
            Self::Artifacts(_) => Some("check the room and the rights of `.ordain/artifacts`".to_owned()),
            Self::Decision { hint, .. } => Some(hint.clone()),
            Self::RequestTooLong { .. } => {
                Some("say it in fewer words, or give the data as a table".to_owned())
            }
        }
    }
}
