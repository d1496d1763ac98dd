//! `ordain doctor --store`: whether the workspace's data are sound and kept apart.

use std::io::{self, Write};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::ExitCode;

use ordain_store::{Database, Store};
use ordain_workspace::Workspace;

use crate::failure::{FAILED, Failure, Outcome};
use crate::show::line;
use crate::workspace::{WorkspaceArgs, with_ledger};

/// Prints what is wrong, and fails if the data are not sound.
pub(super) fn run(args: &WorkspaceArgs) -> Outcome {
    with_ledger(args, async |store| {
        let workspace = args.load()?;
        let mut out = io::stdout().lock();
        let damaged = store.damaged_pages().await?;
        for told in &damaged {
            writeln!(out, "damaged    {}", line(told))?;
        }
        let report = store.verify_rows().await?;
        for finding in &report.findings {
            writeln!(out, "{:<11}{}", finding.code, line(&finding.message))?;
        }
        warnings(&mut out, &workspace, &store)?;
        let is_sound = damaged.is_empty() && report.is_whole();
        writeln!(out, "store: {}", if is_sound { "sound" } else { "not sound" })?;
        Ok(if is_sound { ExitCode::SUCCESS } else { ExitCode::from(FAILED) })
    })
}

fn warnings(out: &mut impl Write, workspace: &Workspace, store: &Store) -> Result<(), Failure> {
    match &workspace.database {
        Database::Postgres { .. } if workspace.plan_role.is_none() => {
            writeln!(
                out,
                "warning    plan SQL runs under the role of the connection; `ordain config store-role` makes one for it"
            )?;
        }
        Database::Postgres { .. } => writeln!(out, "ok         plan SQL runs under a role of its own")?,
        Database::Sqlite { .. } => backups(out, workspace, store)?,
    }
    let state = workspace.state();
    let checkpoint = workspace.checkpoint.as_deref().and_then(Path::parent).unwrap_or(&state).to_owned();
    if disk(&checkpoint) == disk(&state) {
        writeln!(
            out,
            "warning    the ledger's checkpoint and key are on the disk of the database; `[store] checkpoint = DIR` moves it"
        )?;
    }
    Ok(())
}

/// The disk that a folder is on, or will be on.
fn disk(folder: &Path) -> Option<u64> {
    folder.ancestors().find_map(|folder| folder.metadata().ok()).map(|metadata| metadata.dev())
}

fn backups(out: &mut impl Write, workspace: &Workspace, store: &Store) -> Result<(), Failure> {
    let folder = &workspace.backup.folder;
    match store.backups(folder)?.last() {
        Some(newest) => {
            writeln!(out, "ok         the newest copy in {} is of {}", folder.display(), newest.at)?;
        }
        None => {
            writeln!(
                out,
                "warning    there is no copy of the store in {}; `ordain tables backup` makes one, `[backup] every` many",
                folder.display()
            )?;
        }
    }
    if disk(folder) == disk(&workspace.state()) {
        writeln!(
            out,
            "warning    copies in {} are on the disk of the database; `[backup] to = DIR` moves them",
            folder.display()
        )?;
    }
    Ok(())
}
