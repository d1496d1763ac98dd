//! Why a command was not carried out. Printed the same way everywhere: the error with its causes, then a hint.

use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;

use ordain_cell::CellError;
use ordain_cell::profile::ProfileError;
use ordain_checks::{ChecksError, SelectionError};
use ordain_engine::EngineError;
use ordain_planner::PlannerError;
use ordain_server::cluster::ClusterError;
use ordain_server::grpc::ConnectError;
use ordain_server::http::ServeLockError;
use ordain_server::trace::TraceSettingsError;
use ordain_store::StoreError;
use ordain_tools::ToolError;
use ordain_workspace::{InitError, WorkspaceError};

use crate::show::line;

/// Refused or failed.
pub(crate) const FAILED: u8 = 1;
/// Wrong usage or configuration.
pub(crate) const USAGE: u8 = 2;
/// Could not be carried out.
pub(crate) const UNAVAILABLE: u8 = 3;
/// Waits for approval.
pub(crate) const WAITING: u8 = 4;
/// Interrupted by the user.
pub(crate) const INTERRUPTED: u8 = 130;

/// How a command ended.
pub(crate) type Outcome = Result<ExitCode, Failure>;

/// What is printed about a failure, and the exit code that says what kind it is.
#[derive(Debug)]
pub(crate) struct Failure {
    /// Each problem and what to do about it. None where the reader of our output has gone, as in `| head`, which is no
    /// failure of ours.
    problems: Vec<(String, Option<String>)>,
    code: u8,
}

impl Failure {
    /// A problem in words, and what to do about it.
    pub(crate) fn new(code: u8, problem: impl Into<String>, hint: Option<&str>) -> Self {
        Self { problems: vec![(problem.into(), hint.map(str::to_owned))], code }
    }

    /// A command that cannot be followed, and how to write it instead.
    pub(crate) fn usage(problem: impl Into<String>, hint: &str) -> Self {
        Self::new(USAGE, problem, Some(hint))
    }

    /// An error with its causes.
    pub(crate) fn of(code: u8, error: &dyn Error, hint: Option<&str>) -> Self {
        let mut text = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            let cause_text = cause.to_string();
            // Some errors already end with their cause.
            if !text.ends_with(&cause_text) {
                text.push_str(": ");
                text.push_str(&cause_text);
            }
            source = cause.source();
        }
        Self::new(code, text, hint)
    }

    /// Problems of the workspace's check files.
    pub(crate) fn in_check_files(problems: &[ordain_checks::file::Problem]) -> Self {
        let told = |problem: &ordain_checks::file::Problem| {
            let id = problem.check_id.as_ref().map(|id| format!(" (check `{id}`)")).unwrap_or_default();
            (format!("{problem}{id}"), problem.hint.clone())
        };
        Self { problems: problems.iter().map(told).collect(), code: USAGE }
    }

    /// The same with another name for something in its words.
    pub(crate) fn naming(mut self, from: &str, to: &str) -> Self {
        for (problem, _) in &mut self.problems {
            *problem = problem.replace(from, to);
        }
        self
    }

    /// The same, behind what it kept from being done.
    pub(crate) fn behind(mut self, what: &str) -> Self {
        for (problem, _) in &mut self.problems {
            *problem = format!("{what}: {problem}");
        }
        self
    }

    /// The same as a fault of the command line.
    pub(crate) fn of_usage(self) -> Self {
        if self.problems.is_empty() { self } else { Self { code: USAGE, ..self } }
    }

    fn output_closed() -> Self {
        Self { problems: Vec::new(), code: 0 }
    }

    /// Prints it to stderr and gives the exit code.
    pub(crate) fn report(&self) -> ExitCode {
        let mut stderr = io::stderr().lock();
        for (problem, hint) in &self.problems {
            // An error here means that stderr is closed, so it cannot be reported.
            let _ = writeln!(stderr, "error: {}", line(problem));
            if let Some(hint) = hint {
                let _ = writeln!(stderr, "hint: {}", line(hint));
            }
        }
        ExitCode::from(self.code)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self::output_closed();
        }
        Self::of(FAILED, &error, None)
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        let kind = |cause: &(dyn Error + 'static)| {
            let io = cause.downcast_ref::<io::Error>().map(io::Error::kind);
            io.or_else(|| {
                cause.downcast_ref::<serde_json::Error>().and_then(serde_json::Error::io_error_kind)
            })
        };
        if error.chain().any(|cause| kind(cause) == Some(io::ErrorKind::BrokenPipe)) {
            return Self::output_closed();
        }
        Self::new(FAILED, format!("{error:#}"), None)
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        io::Error::from(error).into()
    }
}

impl From<WorkspaceError> for Failure {
    fn from(error: WorkspaceError) -> Self {
        Self::of(USAGE, &error, error.hint.as_deref())
    }
}

impl From<InitError> for Failure {
    fn from(error: InitError) -> Self {
        Self::of(USAGE, &error, error.hint().as_deref())
    }
}

impl From<ServeLockError> for Failure {
    fn from(error: ServeLockError) -> Self {
        Self::of(UNAVAILABLE, &error, error.hint().as_deref())
    }
}

impl From<ClusterError> for Failure {
    fn from(error: ClusterError) -> Self {
        let code = if matches!(error, ClusterError::Address { .. }) { USAGE } else { UNAVAILABLE };
        Self::of(code, &error, error.hint().as_deref())
    }
}

impl From<ProfileError> for Failure {
    fn from(error: ProfileError) -> Self {
        Self::of(UNAVAILABLE, &error, error.hint().as_deref())
    }
}

impl From<CellError> for Failure {
    fn from(error: CellError) -> Self {
        let code = if matches!(error, CellError::File { .. }) { USAGE } else { UNAVAILABLE };
        Self::of(code, &error, error.hint().as_deref())
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let code = match error {
            StoreError::Declaration { .. }
            | StoreError::Seed(_)
            | StoreError::UnknownTable { .. }
            | StoreError::UnknownColumn { .. }
            | StoreError::UnknownRun { .. }
            | StoreError::AmbiguousRun { .. }
            | StoreError::UnknownPlan { .. }
            | StoreError::BadCall { .. } => USAGE,
            StoreError::Busy
            | StoreError::Unreachable { .. }
            | StoreError::File { .. }
            | StoreError::DiskFull
            | StoreError::Database { .. }
            | StoreError::CommitUnknown { .. } => UNAVAILABLE,
            _ => FAILED,
        };
        let listed = || {
            matches!(error, StoreError::UnknownTable { .. }).then(|| {
                "`ordain tables` lists the tables; `--types` those that checks make of data files".to_owned()
            })
        };
        Self::of(code, &error, error.hint().or_else(listed).as_deref())
    }
}

impl From<ChecksError> for Failure {
    fn from(error: ChecksError) -> Self {
        let code = match error {
            ChecksError::Engine(error) => return error.into(),
            ChecksError::Files(problems) => return Self::in_check_files(&problems),
            ChecksError::NoFiles | ChecksError::Table { .. } | ChecksError::Edit { .. } => USAGE,
            _ => UNAVAILABLE,
        };
        Self::of(code, &error, error.hint().as_deref())
    }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Store(error) => error.into(),
            EngineError::Cell(error) => error.into(),
            error => Self::of(UNAVAILABLE, &error, error.hint().as_deref()),
        }
    }
}

impl From<PlannerError> for Failure {
    fn from(error: PlannerError) -> Self {
        // These are faults of the settings, the others of the world.
        let code = match error.code {
            "model-unknown"
            | "model-unknown-provider"
            | "model-no-key"
            | "model-bad-base-url"
            | "model-replay-mismatch" => USAGE,
            _ => UNAVAILABLE,
        };
        Self::of(code, &error, error.hint.as_deref())
    }
}

impl From<ToolError> for Failure {
    fn from(error: ToolError) -> Self {
        let code = if matches!(error, ToolError::Unreachable { .. }) { UNAVAILABLE } else { FAILED };
        Self::of(code, &error, error.hint())
    }
}

impl From<SelectionError> for Failure {
    fn from(error: SelectionError) -> Self {
        Self::of(USAGE, &error, Some(&error.hint))
    }
}

impl From<ConnectError> for Failure {
    fn from(error: ConnectError) -> Self {
        Self::of(USAGE, &error, error.hint().as_deref())
    }
}

impl From<TraceSettingsError> for Failure {
    fn from(error: TraceSettingsError) -> Self {
        Self::of(USAGE, &error, error.hint().as_deref())
    }
}
