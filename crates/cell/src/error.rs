//! Why a job could not be carried out at all.

use std::io;

/// Why a job got no [`crate::Execution`]. Nothing of the code's doing reaches the caller in any of these cases; a
/// job that ran and failed is not an error but an execution with its cause.
#[derive(Debug, thiserror::Error)]
pub enum CellError {
    /// The interpreter could not be started. No code has run.
    #[error("failed to start the interpreter `{interpreter}`")]
    Start {
        /// The interpreter's path.
        interpreter: String,
        /// What the system said.
        source: io::Error,
    },
    /// The kernel refused a step into the jail. No code has run.
    #[error("failed to {step}: {source}")]
    Jail {
        /// The step that was refused.
        step: &'static str,
        /// What the kernel said.
        source: io::Error,
    },
    /// The zygote ended while it was being prepared. No code has run.
    #[error("the zygote ended before it could serve: {said}")]
    Zygote {
        /// The last thing it said.
        said: String,
    },
    /// The zygote or the cell was lost before the job reached it. No code has run.
    #[error("the cell was lost before the job reached it")]
    Lost,
    /// Too many jobs are waiting. The job was not taken.
    #[error("{waiting} jobs are waiting, which is the limit")]
    Busy {
        /// How many are waiting.
        waiting: usize,
    },
    /// Too many sessions are open. The job was not taken.
    #[error("{open} sessions are open, which is the limit")]
    Sessions {
        /// How many are open.
        open: usize,
    },
    /// An input file cannot be given to a cell. No code has run.
    #[error("input file `{name}` {problem}")]
    File {
        /// The name under which the code would see it.
        name: String,
        /// What is wrong.
        problem: String,
    },
    /// Isolation is below what the configuration asks for. No code has run.
    #[error("isolation is `{level}`, below the minimum `{minimum}`: {missing}")]
    Isolation {
        /// What there is.
        level: &'static str,
        /// What is asked for.
        minimum: &'static str,
        /// The layers that are missing.
        missing: String,
    },
    /// The Python profile could not be used.
    #[error(transparent)]
    Profile(#[from] crate::profile::ProfileError),
    /// The host's own machinery failed, such as running out of descriptors.
    #[error("failed to {action}")]
    Host {
        /// What was being done.
        action: &'static str,
        /// What the system said.
        source: io::Error,
    },
}

impl CellError {
    /// What the reader can do about it.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Start { .. } => "check that the interpreter exists: `ordain python list`",
            Self::Jail { .. } => "run `ordain doctor` to see which layers this host offers",
            Self::Zygote { .. } => "repair the profile with `ordain python setup --force`",
            Self::Lost => "the pool has already started anew: run it again",
            Self::Busy { .. } => "wait for running jobs to end, or raise the limit of waiting jobs",
            Self::Sessions { .. } => "end a session that is no longer needed",
            Self::File { .. } => {
                "check the path; each file needs a plain, unique name and a size below the limit"
            }
            Self::Isolation { .. } => "run `ordain doctor` for how to get the missing layers",
            Self::Profile(error) => return error.hint(),
            Self::Host { .. } => return None,
        };
        Some(hint.to_owned())
    }

    /// An error of the host's own machinery.
    pub(crate) fn host(action: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Host { action, source }
    }
}
