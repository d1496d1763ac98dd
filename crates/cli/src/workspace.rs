//! Finds and opens the workspace that a command is about, the same way everywhere.

use std::path::PathBuf;
use std::sync::OnceLock;

use ordain_files::open_store;
use ordain_store::{EntryNote, Store};
use ordain_workspace::{Workspace, WorkspaceError};

use crate::failure::{Failure, Outcome};
use crate::runtime;

/// Which workspace a command is about.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct WorkspaceArgs {
    /// The workspace's folder [default: `ORDAIN_WORKSPACE`, else the current folder or the nearest one above it]
    #[arg(long, short = 'w', value_name = "DIR", global = true)]
    workspace: Option<PathBuf>,
}

/// What commands share that list, show and change what a workspace keeps.
#[derive(Debug, clap::Args)]
pub(crate) struct RecordArgs {
    #[command(flatten)]
    pub(crate) workspace: WorkspaceArgs,
    /// Print JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

// Its command's description is that of `C`: a doc comment here would take its place.
#[derive(Debug, clap::Args)]
pub(crate) struct Group<S: clap::Args, C: clap::Subcommand> {
    #[command(flatten)]
    pub(crate) shared: S,
    #[command(subcommand)]
    pub(crate) command: C,
}

/// How much of a list is shown.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct PageArgs {
    /// How many
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) limit: u64,
}

impl WorkspaceArgs {
    /// Reads the workspace.
    pub(crate) fn load(&self) -> Result<Workspace, WorkspaceError> {
        match self.named() {
            Some(folder) => Workspace::load(&folder),
            None => Workspace::load(&Workspace::find(&PathBuf::from("."))?),
        }
    }

    fn named(&self) -> Option<PathBuf> {
        self.workspace.clone().or_else(|| std::env::var_os("ORDAIN_WORKSPACE").map(PathBuf::from))
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
        self.named().is_some() || Workspace::find(&PathBuf::from(".")).is_ok()
    }

    /// Whether somebody said which workspace is meant.
    pub(crate) fn is_named(&self) -> bool {
        self.named().is_some()
    }

    /// Reads the workspace and opens its store to look at the ledger, whatever state that is in.
    pub(crate) async fn open_ledger(&self) -> Result<Store, Failure> {
        Ok(self.load()?.open_ledger().await?)
    }

    /// Reads the workspace and opens its store.
    pub(crate) async fn open(&self) -> Result<Store, Failure> {
        Ok(open_store(&self.load()?).await?)
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

/// Runs a command on a workspace's store.
pub(crate) fn with_store<F>(args: &WorkspaceArgs, command: impl FnOnce(Store) -> F) -> Outcome
where
    F: Future<Output = Outcome>,
{
    runtime::on_one_thread(Box::pin(async { command(args.open().await?).await }))?
}

/// The same for a command about the ledger.
pub(crate) fn with_ledger<F>(args: &WorkspaceArgs, command: impl FnOnce(Store) -> F) -> Outcome
where
    F: Future<Output = Outcome>,
{
    runtime::on_one_thread(Box::pin(async { command(args.open_ledger().await?).await }))?
}

/// The person that `--as` names.
static PERSON: OnceLock<String> = OnceLock::new();

/// Has what this process does recorded as done for somebody.
pub(crate) fn act_as(person: Option<String>) {
    if let Some(person) = person {
        // It is named once, on the command line.
        let _ = PERSON.set(person);
    }
}

/// The name of a person, as it can stand in a list.
pub(crate) fn read_person(name: &str) -> Result<String, String> {
    let is_plain = !name.trim().is_empty() && name.chars().count() <= 100 && !name.contains(char::is_control);
    if is_plain {
        Ok(name.to_owned())
    } else {
        Err("a name is plain text of at most 100 characters".to_owned())
    }
}

/// Who acts, for the ledger: the person that is named, else the account, through the command line.
pub(crate) fn note() -> EntryNote {
    let account = || {
        let variable = |name| std::env::var(name).ok().filter(|who: &String| !who.is_empty());
        ["USER", "LOGNAME"].into_iter().find_map(variable).unwrap_or_else(|| "unknown".to_owned())
    };
    EntryNote::by(&PERSON.get().cloned().unwrap_or_else(account), "cli")
}
