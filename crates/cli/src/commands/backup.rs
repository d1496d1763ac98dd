//! `ordain backup` and `ordain restore`: copies of the store, and the way back to one.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use ordain_store::RestoreAt;

use crate::runtime;
use crate::workspace::{WorkspaceArgs, ended, note, with_store};

const EXAMPLES: &str = "\
Examples:
  ordain backup                         a copy below .ordain/backups
  ordain backup --to /mnt/other/shop    on another disk, where it belongs

The copy is signed and does not hold the ledger's key. A PostgreSQL database is copied with its own tools.";

/// Copy the store, while it is in use
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    workspace: WorkspaceArgs,
    /// The folder for copies [default: .ordain/backups]
    #[arg(long, value_name = "DIR")]
    to: Option<PathBuf>,
}

const RESTORE_EXAMPLES: &str = "\
Examples:
  ordain restore --at 01m7g3yejq                    the newest copy from before that run
  ordain restore --at 2026-11-15T17:00:00Z          the newest copy from before that time
  ordain restore --at 01m7g3yejq --from /mnt/other/shop

Stop the server first. What was there is kept beside the store; the ledger says that it goes on from a copy.";

/// Bring the store back to a copy
#[derive(Debug, clap::Args)]
#[command(after_help = RESTORE_EXAMPLES)]
pub(crate) struct RestoreArgs {
    #[command(flatten)]
    workspace: WorkspaceArgs,
    /// A run, or a time such as 2026-11-15T17:00:00Z: the copy is from before it
    #[arg(long, value_name = "RUN|TIME")]
    at: String,
    /// The folder with the copies [default: .ordain/backups]
    #[arg(long, value_name = "DIR")]
    from: Option<PathBuf>,
}

/// Carries out `ordain backup`.
pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    with_store(&args.workspace, async |store| {
        let folder = match &args.to {
            Some(folder) => folder.clone(),
            None => args.workspace.load()?.state().join("backups"),
        };
        let made = store.back_up(&folder).await?;
        writeln!(io::stdout(), "{}: {} ledger entries", made.folder.display(), made.entries)?;
        Ok(ExitCode::SUCCESS)
    })
}

/// Carries out `ordain restore`.
pub(crate) fn restore(args: &RestoreArgs) -> anyhow::Result<ExitCode> {
    let at = if args.at.contains('-') {
        RestoreAt::Time(args.at.clone())
    } else {
        RestoreAt::Run(args.at.clone())
    };
    ended(runtime::on_one_thread(Box::pin(async {
        let workspace = args.workspace.load()?;
        let folder = args.from.clone().unwrap_or_else(|| workspace.state().join("backups"));
        let (copy, aside) = ordain_store::restore(workspace.store_options(), &folder, at, note()).await?;
        let mut stdout = io::stdout().lock();
        writeln!(stdout, "restored the copy of {} with {} ledger entries", copy.at, copy.entries)?;
        writeln!(stdout, "what was there is {}", aside.display())?;
        Ok(ExitCode::SUCCESS)
    }))?)
}
