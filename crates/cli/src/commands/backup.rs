//! `ordain tables backup` and `ordain tables restore`: copies of the store, and the way back to one.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use ordain_server::http::ServeLock;
use ordain_store::{Backup, RestoreAt, Store};
use ordain_workspace::{BackupSettings, read_folder};

use crate::failure::{Failure, Outcome};
use crate::runtime;
use crate::workspace::{WorkspaceArgs, note, with_store};

const EXAMPLES: &str = "\
Examples:
  ordain tables backup                       a copy below .ordain/backups
  ordain tables backup --to /mnt/other/shop  on another disk, where it belongs

The copy is signed and does not hold the ledger's key. A PostgreSQL database is copied with its own tools.
`ordain serve` makes copies by itself:
  [backup]
  to = \"/mnt/other/shop\"     a folder, perhaps of another machine or a bucket that is mounted there
  every = \"24h\"
  keep = 7                   older copies are removed";

/// Copy the store, while it is in use
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    workspace: WorkspaceArgs,
    /// The folder for copies, or `file:///DIR` [default: backup.to, else .ordain/backups]
    #[arg(long, value_name = "DIR", value_parser = folder)]
    to: Option<PathBuf>,
}

/// How soon a copy is tried again that could not be made.
const RETRY: Duration = Duration::from_mins(5);

const RESTORE_EXAMPLES: &str = "\
Examples:
  ordain tables restore --at 01m7g3yejq                    the newest copy from before that run
  ordain tables restore --at 2026-11-15T17:00:00Z          the newest copy from before that time
  ordain tables restore --at 01m7g3yejq --from /mnt/other/shop

Stop the server first: beside one that runs this is refused. What was there is kept beside the store; the ledger says that it goes on from a copy.";

/// Bring the store back to a copy
#[derive(Debug, clap::Args)]
#[command(after_help = RESTORE_EXAMPLES)]
pub(crate) struct RestoreArgs {
    #[command(flatten)]
    workspace: WorkspaceArgs,
    /// A run, or a time such as 2026-11-15T17:00:00Z: the copy is from before it
    #[arg(long, value_name = "RUN|TIME")]
    at: String,
    /// The folder with the copies, or `file:///DIR` [default: backup.to, else .ordain/backups]
    #[arg(long, value_name = "DIR", value_parser = folder)]
    from: Option<PathBuf>,
}

/// Carries out `ordain tables backup`.
pub(crate) fn run(args: &Args) -> Outcome {
    with_store(&args.workspace, async |store| {
        let mut settings = args.workspace.load()?.backup;
        if let Some(folder) = args.to.clone() {
            settings = BackupSettings { folder, keep: None, ..settings };
        }
        let (made, removed) = copy(&store, &settings).await?;
        let mut stdout = io::stdout().lock();
        writeln!(stdout, "{}: {} ledger entries", made.folder.display(), made.entries)?;
        for removed in removed {
            writeln!(stdout, "removed {}", removed.folder.display())?;
        }
        Ok(ExitCode::SUCCESS)
    })
}

/// Makes a copy, and removes the oldest ones; those are given back too.
async fn copy(store: &Store, settings: &BackupSettings) -> Result<(Backup, Vec<Backup>), Failure> {
    let made = store.back_up(&settings.folder).await?;
    let removed = match settings.keep {
        Some(keep) => store.remove_backups(&settings.folder, keep)?,
        None => Vec::new(),
    };
    Ok((made, removed))
}

/// Makes copies of a store that is served, as often as its workspace says. The time is counted from the newest copy, so
/// that a restart delays none.
pub(crate) async fn regularly(store: Store, settings: BackupSettings) {
    let Some(every) = settings.every else { return };
    let made = |folder: &Path| {
        let copies = store.backups(folder).unwrap_or_default();
        let newest = copies.last()?.folder.metadata().and_then(|folder| folder.modified());
        newest.ok()?.elapsed().ok()
    };
    let mut wait = made(&settings.folder).map_or(Duration::ZERO, |age| every.saturating_sub(age));
    loop {
        tokio::time::sleep(wait).await;
        wait = every;
        if let Err(failure) = copy(&store, &settings).await {
            failure.behind("no copy of the store was made").report();
            wait = every.min(RETRY);
        }
    }
}

fn folder(text: &str) -> Result<PathBuf, String> {
    read_folder(text).map_err(|(message, hint)| format!("{message}; {hint}"))
}

/// Carries out `ordain tables restore`.
pub(crate) fn restore(args: &RestoreArgs) -> Outcome {
    let at = if args.at.contains('-') {
        RestoreAt::Time(args.at.clone())
    } else {
        RestoreAt::Run(args.at.clone())
    };
    runtime::on_one_thread(Box::pin(async {
        let workspace = args.workspace.load()?;
        // A server goes on with the files that it has open.
        let _alone = ServeLock::take(&workspace.store_options().state)?;
        let folder = args.from.clone().unwrap_or_else(|| workspace.backup.folder.clone());
        let (copy, aside) = ordain_store::restore(workspace.store_options(), &folder, at, note()).await?;
        let mut stdout = io::stdout().lock();
        writeln!(stdout, "restored the copy of {} with {} ledger entries", copy.at, copy.entries)?;
        writeln!(stdout, "what was there is {}", aside.display())?;
        Ok(ExitCode::SUCCESS)
    }))?
}
