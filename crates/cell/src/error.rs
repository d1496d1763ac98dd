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
    /// An executor elsewhere did not take the job. No code has run, or none that anybody heard of.
    #[error("the executor `{executor}` cannot be reached: {said}")]
    Unreachable {
        /// Where it should be.
        executor: String,
        /// What went wrong.
        said: String,
    },
    /// The place where the job ran, here or elsewhere, was lost after the code had been heard of. Whatever the host did
    /// for it has to be undone; then the job may run again.
    #[error("the executor `{executor}` was lost while the job ran: {said}")]
    Cut {
        /// Where it was.
        executor: String,
        /// What went wrong.
        said: String,
    },
    /// An executor elsewhere was lost, and a session with it.
    #[error("the session `{session}` was lost with its executor `{executor}`")]
    SessionLost {
        /// The session's name.
        session: String,
        /// Where the executor was.
        executor: String,
    },
    /// An executor elsewhere refused the job. No code has run.
    #[error("the executor `{executor}` refused the job: {said}")]
    Refused {
        /// Where it is.
        executor: String,
        /// Why.
        said: String,
        /// What it says that can be done about it.
        hint: Option<String>,
    },
    /// An executor elsewhere does not offer what the job needs, such as its profile. It stays so until its operator says
    /// otherwise. No code has run.
    #[error("the executor `{executor}` does not take the job: {said}")]
    NotOffered {
        /// Where it is.
        executor: String,
        /// What it does not offer.
        said: String,
        /// What its operator can do about it.
        hint: Option<String>,
    },
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
            Self::Start { .. } => "check that the interpreter exists: `ordain config python list`",
            Self::Jail { .. } => "run `ordain doctor` to see which layers this host offers",
            Self::Zygote { .. } => "repair the profile with `ordain config python setup --force`",
            Self::Lost => "the pool has already started anew: run it again",
            Self::Busy { .. } => "wait for running jobs to end, or raise the limit of waiting jobs",
            Self::Sessions { .. } => "end a session that is no longer needed",
            Self::File { .. } => {
                "check the path; each file needs a plain, unique name and a size below the limit"
            }
            Self::Isolation { .. } => "run `ordain doctor` for how to get the missing layers",
            Self::Profile(error) => return error.hint(),
            Self::Unreachable { .. } => {
                "check that `ordain executor` runs there and that the address is right"
            }
            Self::Cut { .. } => "nothing was kept: run it again",
            Self::SessionLost { .. } => "open a new session; its variables have to be made again",
            Self::Refused { hint, .. } | Self::NotOffered { hint, .. } => return hint.clone(),
            Self::Host { .. } => return None,
        };
        Some(hint.to_owned())
    }

    /// Whether the same job may run again once everything that its host did has been undone. It is so when the place
    /// where it ran was lost, and not when the job itself or the configuration was at fault.
    pub fn may_run_again(&self) -> bool {
        matches!(self, Self::Lost | Self::Unreachable { .. } | Self::Cut { .. })
    }

    /// An error of the host's own machinery.
    pub(crate) fn host(action: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Host { action, source }
    }
}
