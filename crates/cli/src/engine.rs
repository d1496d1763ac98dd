//! An engine over a workspace, set up the same way for every command that carries out requests.

use std::io::{self, Write as _};
use std::process::ExitCode;
use std::sync::Arc;

use ordain_cell::profile::DataDir;
use ordain_cell::resident::Resident;
use ordain_cell::{CellError, Executor, LocalExecutor, LocalOptions};
use ordain_engine::{Engine, EngineError, EngineSettings};
use ordain_files::open_store;
use ordain_store::Store;
use ordain_tools::Toolbox;
use ordain_types::{Call, ErrorClass, RunRecord, RunState};
use ordain_workspace::Workspace;

use crate::failure::{FAILED, UNAVAILABLE, WAITING};
use crate::show::line;

/// Cells of this machine, as a workspace wants them if there is one, and otherwise as the command wants them. One that runs
/// one plan needs no idle cells, but may use those of a helper.
pub(crate) fn executor(
    workspace: Option<&Workspace>,
    resident: Option<Resident>,
    wanted: impl FnOnce(&mut LocalOptions),
) -> Result<Arc<LocalExecutor>, CellError> {
    let data_dir = workspace.map_or_else(DataDir::from_env, |workspace| workspace.own_packages.data_dir());
    let mut options = LocalOptions { idle_cells: 0, resident, ..LocalOptions::new(data_dir?) };
    if let Some(workspace) = workspace {
        options.limits = workspace.limits.clone();
        options.minimum = workspace.minimum_isolation;
    }
    wanted(&mut options);
    LocalExecutor::new(options).map(Arc::new)
}

/// Opens the workspace's store and puts an engine over it.
pub(crate) async fn open(
    workspace: &Workspace,
    executor: Arc<dyn Executor>,
    settings: EngineSettings,
) -> Result<Engine, EngineError> {
    Ok(Engine::new(open_store(workspace).await?, executor, settings))
}

/// Sends the calls that the end of a run let go, and tells what became of each: nobody else does so after this process.
pub(crate) async fn send_calls(
    store: &Store,
    tools: &Toolbox,
    record: &RunRecord,
) -> Result<(), ordain_store::StoreError> {
    let is_over = matches!(record.state, RunState::Committed | RunState::Undone | RunState::Answered);
    if !is_over || !record.calls.iter().any(Call::is_later) {
        return Ok(());
    }
    ordain_engine::deliver(store, tools).await?;
    for call in store.outbox(Some(&record.run_id), u64::MAX).await? {
        let told = call.error.as_ref().map(|error| format!(": {}", line(error))).unwrap_or_default();
        let _ =
            writeln!(io::stderr(), "call {} {} is {}{told}", call.key, line(&call.name), call.state.as_str());
    }
    Ok(())
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
