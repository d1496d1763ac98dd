//! `ordain backup` and `ordain restore`: copies of the store, and the way back to one.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use ordain_server::put_file;
use ordain_store::{Backup, RestoreAt, Store};
use ordain_workspace::{BackupPlace, BackupSettings, Workspace};

use crate::failure::{Failure, Outcome};
use crate::runtime;
use crate::workspace::{WorkspaceArgs, note, with_store};

const EXAMPLES: &str = "\
Examples:
  ordain backup                         a copy below .ordain/backups
  ordain backup --to /mnt/other/shop    on another disk, where it belongs
  ordain backup --to https://HOST/shop  below .ordain/backups, and sent there by PUT

The copy is signed and does not hold the ledger's key. A PostgreSQL database is copied with its own tools.
An address is given the token of the environment variable ORDAIN_BACKUP_TOKEN.
`ordain serve` makes copies by itself:
  [backup]
  to = \"/mnt/other/shop\"     a folder, or an address https://HOST/PATH
  every = \"24h\"
  keep = 7                   older copies are removed";

/// Copy the store, while it is in use
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    workspace: WorkspaceArgs,
    /// The folder for copies, or an address that takes them by PUT [default: backup.to, else .ordain/backups]
    #[arg(long, value_name = "DIR|URL", value_parser = place)]
    to: Option<BackupPlace>,
}

/// How soon a copy is tried again that could not be made.
const RETRY: Duration = Duration::from_mins(5);

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
    /// The folder with the copies, or `file:///DIR` [default: backup.to, else .ordain/backups]
    #[arg(long, value_name = "DIR|URL", value_parser = folder)]
    from: Option<PathBuf>,
}

/// Carries out `ordain backup`.
pub(crate) fn run(args: &Args) -> Outcome {
    with_store(&args.workspace, async |store| {
        let workspace = args.workspace.load()?;
        let mut settings = workspace.backup.clone();
        match args.to.clone() {
            Some(BackupPlace::Folder(folder)) => {
                settings = BackupSettings { folder, address: None, keep: None, ..settings };
            }
            Some(BackupPlace::Address(address)) => settings.address = Some(address),
            None => {}
        }
        let (made, removed) = copy(&store, &settings, token(&workspace).as_deref()).await?;
        let mut stdout = io::stdout().lock();
        writeln!(stdout, "{}: {} ledger entries", made.folder.display(), made.entries)?;
        if let Some(address) = &settings.address {
            writeln!(stdout, "sent to {address}")?;
        }
        for removed in removed {
            writeln!(stdout, "removed {}", removed.folder.display())?;
        }
        Ok(ExitCode::SUCCESS)
    })
}

/// The token that is sent with a copy to an address, from the environment.
pub(crate) fn token(workspace: &Workspace) -> Option<String> {
    workspace.environment.get("ORDAIN_BACKUP_TOKEN")
}

/// Makes a copy, sends it where it is to go, and removes the oldest ones; those are given back too.
async fn copy(
    store: &Store,
    settings: &BackupSettings,
    token: Option<&str>,
) -> Result<(Backup, Vec<Backup>), Failure> {
    let made = store.back_up(&settings.folder).await?;
    let sent = match &settings.address {
        Some(address) => send(address, &made, token).await,
        None => Ok(()),
    };
    // Of copies that are sent away one stays here, so that a place that takes none does not fill this disk.
    let removed = match settings.keep.or(settings.address.as_ref().map(|_| 1)) {
        Some(keep) => store.remove_backups(&settings.folder, keep)?,
        None => Vec::new(),
    };
    sent?;
    Ok((made, removed))
}

/// Sends a copy to a folder of its own below an address.
async fn send(address: &str, copy: &Backup, token: Option<&str>) -> io::Result<()> {
    let folder = copy.folder.file_name().unwrap_or_default().to_string_lossy();
    let address = format!("{}/{folder}", address.trim_end_matches('/'));
    for file in copy.files() {
        put_file(&address, &file, token).await?;
    }
    Ok(())
}

/// Makes copies of a store that is served, as often as its workspace says. The time is counted from the newest copy, so
/// that a restart delays none.
pub(crate) async fn regularly(store: Store, settings: BackupSettings, token: Option<String>) {
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
        if let Err(failure) = copy(&store, &settings, token.as_deref()).await {
            failure.behind("no copy of the store was made").report();
            wait = every.min(RETRY);
        }
    }
}

fn place(text: &str) -> Result<BackupPlace, String> {
    BackupPlace::read(text).map_err(|(message, hint)| format!("{message}; {hint}"))
}

fn folder(text: &str) -> Result<PathBuf, String> {
    match place(text)? {
        BackupPlace::Folder(folder) => Ok(folder),
        BackupPlace::Address(_) => Err("copies are restored from a folder: fetch the copy first".to_owned()),
    }
}

/// Carries out `ordain restore`.
pub(crate) fn restore(args: &RestoreArgs) -> Outcome {
    let at = if args.at.contains('-') {
        RestoreAt::Time(args.at.clone())
    } else {
        RestoreAt::Run(args.at.clone())
    };
    runtime::on_one_thread(Box::pin(async {
        let workspace = args.workspace.load()?;
        let folder = args.from.clone().unwrap_or_else(|| workspace.backup.folder.clone());
        let (copy, aside) = ordain_store::restore(workspace.store_options(), &folder, at, note()).await?;
        let mut stdout = io::stdout().lock();
        writeln!(stdout, "restored the copy of {} with {} ledger entries", copy.at, copy.entries)?;
        writeln!(stdout, "what was there is {}", aside.display())?;
        Ok(ExitCode::SUCCESS)
    }))?
}
