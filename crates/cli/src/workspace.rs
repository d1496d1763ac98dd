//! Finds and opens the workspace that a command is about, the same way everywhere.

use std::path::PathBuf;
use std::process::ExitCode;

use ordain_engine::{Workspace, WorkspaceError};
use ordain_store::{EntryNote, Store, StoreError};

use crate::failure;
use crate::runtime;

/// Which workspace a command is about.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct WorkspaceArgs {
    /// The workspace's folder [default: `ORDAIN_WORKSPACE`, else the current folder or the nearest one above it]
    #[arg(long, short = 'w', value_name = "DIR", global = true)]
    workspace: Option<PathBuf>,
}

/// Why a command on a workspace was not carried out.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

impl WorkspaceArgs {
    /// Reads the workspace.
    pub(crate) fn load(&self) -> Result<Workspace, WorkspaceError> {
        let named =
            self.workspace.clone().or_else(|| std::env::var_os("ORDAIN_WORKSPACE").map(PathBuf::from));
        match named {
            Some(folder) => Workspace::load(&folder),
            None => Workspace::load(&Workspace::find(&PathBuf::from("."))?),
        }
    }

    /// Reads the workspace; where none is named and none is found, the one of the user's own, which is made on first
    /// use. A question about files needs no workspace, but its run is recorded all the same.
    pub(crate) fn load_or_own(&self) -> Result<Workspace, WorkspaceError> {
        if self.is_there() {
            return self.load();
        }
        let own = own_workspace()?;
        Workspace::load(&own)
    }

    /// Whether there is a workspace: a named one, or one around the current folder.
    pub(crate) fn is_there(&self) -> bool {
        self.is_named() || Workspace::find(&PathBuf::from(".")).is_ok()
    }

    /// Whether somebody said which workspace is meant.
    pub(crate) fn is_named(&self) -> bool {
        self.workspace.is_some() || std::env::var_os("ORDAIN_WORKSPACE").is_some()
    }

    /// Reads the workspace and opens its store to look at the ledger, whatever state that is in.
    pub(crate) async fn open_ledger(&self) -> Result<Store, Failure> {
        Ok(self.load()?.open_ledger().await?)
    }

    /// Reads the workspace and opens its store.
    pub(crate) async fn open(&self) -> Result<Store, Failure> {
        Ok(self.load()?.open_store().await?)
    }
}

/// The user's own workspace, below the data folder. Two commands may make it at once: one of them does.
fn own_workspace() -> Result<PathBuf, WorkspaceError> {
    const TEXT: &str =
        "# Runs of `ordain code` outside of any workspace are recorded here.\n[workspace]\nname = \"code\"\n";
    let failed = |problem: String| WorkspaceError {
        file: "ordain.toml".to_owned(),
        line: None,
        message: format!("the workspace for questions about files could not be made: {problem}"),
        hint: Some(
            "set ORDAIN_DATA_DIR to a folder that you may write to, or name a workspace with -w".to_owned(),
        ),
    };
    let data_dir = ordain_cell::profile::DataDir::from_env().map_err(|error| failed(error.to_string()))?;
    let folder = data_dir.root().join("code");
    std::fs::create_dir_all(&folder).map_err(|error| failed(error.to_string()))?;
    let made = std::fs::File::create_new(folder.join("ordain.toml"))
        .and_then(|mut file| std::io::Write::write_all(&mut file, TEXT.as_bytes()));
    match made {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => Err(failed(error.to_string())),
        _ => Ok(folder),
    }
}

/// Runs a command on a workspace's store; a failure is printed and becomes the exit code that says what kind it is.
pub(crate) fn with_store<F>(
    args: &WorkspaceArgs,
    command: impl FnOnce(Store) -> F,
) -> anyhow::Result<ExitCode>
where
    F: Future<Output = Result<ExitCode, Failure>>,
{
    ended(runtime::on_one_thread(Box::pin(async { command(args.open().await?).await }))?)
}

/// The same for a command about the ledger.
pub(crate) fn with_ledger<F>(
    args: &WorkspaceArgs,
    command: impl FnOnce(Store) -> F,
) -> anyhow::Result<ExitCode>
where
    F: Future<Output = Result<ExitCode, Failure>>,
{
    ended(runtime::on_one_thread(Box::pin(async { command(args.open_ledger().await?).await }))?)
}

/// Prints a failure and gives the exit code that says what kind it is.
pub(crate) fn ended(outcome: Result<ExitCode, Failure>) -> anyhow::Result<ExitCode> {
    match outcome {
        Ok(code) => Ok(code),
        Err(Failure::Workspace(error)) => Ok(of_workspace(&error)),
        Err(Failure::Store(error)) => Ok(of_store(&error)),
        // The reader of our output has gone, which is no failure of ours.
        Err(Failure::Io(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(ExitCode::SUCCESS),
        Err(Failure::Io(error)) => Err(error.into()),
    }
}

/// Prints why a workspace was not read.
pub(crate) fn of_workspace(error: &WorkspaceError) -> ExitCode {
    failure::print(error, error.hint.as_deref());
    ExitCode::from(failure::USAGE)
}

/// Prints why the store did not do something, and gives the exit code that says what kind of failure it is.
pub(crate) fn of_store(error: &StoreError) -> ExitCode {
    let listed = || {
        matches!(error, StoreError::UnknownTable { .. }).then(|| {
            "`ordain tables` lists the tables; `--types` those that checks make of data files".to_owned()
        })
    };
    failure::print(error, error.hint().or_else(listed).as_deref());
    ExitCode::from(match error {
        StoreError::Declaration { .. }
        | StoreError::Seed(_)
        | StoreError::UnknownTable { .. }
        | StoreError::UnknownColumn { .. }
        | StoreError::UnknownRun { .. }
        | StoreError::AmbiguousRun { .. }
        | StoreError::UnknownPlan { .. }
        | StoreError::BadCall { .. } => failure::USAGE,
        StoreError::Busy
        | StoreError::Unreachable { .. }
        | StoreError::DiskFull
        | StoreError::Database { .. }
        | StoreError::CommitUnknown { .. } => failure::UNAVAILABLE,
        _ => failure::FAILED,
    })
}

/// Who acts, for the ledger: the account's name, through the command line.
pub(crate) fn note() -> EntryNote {
    let named = ["USER", "LOGNAME"]
        .into_iter()
        .find_map(|name| std::env::var(name).ok().filter(|who| !who.is_empty()));
    EntryNote::by(&named.unwrap_or_else(|| "unknown".to_owned()), "cli")
}
