//! An engine over a workspace, set up the same way for every command that carries out requests.

use std::process::ExitCode;
use std::sync::Arc;

use ordain_cell::profile::DataDir;
use ordain_cell::{CellError, Executor, LocalExecutor, LocalOptions};
use ordain_engine::{Engine, EngineError, EngineSettings, Workspace};
use ordain_types::{ErrorClass, RunRecord, RunState};

use crate::failure::{self, FAILED, UNAVAILABLE, WAITING};
use crate::workspace;

/// An executor for a workspace. A command that runs one plan needs no idle cells.
pub(crate) fn executor(workspace: &Workspace, idle_cells: usize) -> Result<Arc<LocalExecutor>, CellError> {
    let mut options = LocalOptions::new(DataDir::from_env()?);
    options.limits = workspace.limits.clone();
    options.idle_cells = idle_cells;
    options.minimum = workspace.minimum_isolation;
    LocalExecutor::new(options).map(Arc::new)
}

/// Opens the workspace's store and puts an engine over it.
pub(crate) async fn open(
    workspace: &Workspace,
    executor: Arc<dyn Executor>,
    settings: EngineSettings,
) -> Result<Engine, EngineError> {
    Ok(Engine::new(workspace.open_store().await?, executor, settings))
}

/// Prints why a request could not be carried out, and gives the exit code that says so.
pub(crate) fn of_engine(error: &EngineError) -> ExitCode {
    match error {
        EngineError::Store(error) => workspace::of_store(error),
        EngineError::Cell(error) => failure::of_cell(error),
        EngineError::Checks(error) => crate::commands::check::of_checks(error),
        error => {
            failure::print(error, error.hint().as_deref());
            ExitCode::from(UNAVAILABLE)
        }
    }
}

/// The exit code of a run. A dry run that would have been committed has answered; a request that was declined has not
/// been carried out.
pub(crate) fn exit_code(record: &RunRecord) -> ExitCode {
    match (&record.error, record.state) {
        (_, RunState::Held | RunState::Waiting) => ExitCode::from(WAITING),
        (None, RunState::Declined) => ExitCode::from(FAILED),
        (None, _) => ExitCode::SUCCESS,
        (Some(error), _) if error.class == ErrorClass::Planner => ExitCode::from(UNAVAILABLE),
        _ => ExitCode::from(FAILED),
    }
}
