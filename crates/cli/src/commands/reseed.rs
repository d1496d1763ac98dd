//! `ordain tables reseed`: the seed rows again.

use std::io::{self, Write};
use std::process::ExitCode;

use ordain_store::Database;
use serde_json::json;

use crate::commands::check;
use crate::failure::{Failure, Outcome};
use crate::workspace::{WorkspaceArgs, note, with_store};

const EXAMPLES: &str = "\
Examples:
  ordain tables reseed inventory                      one table, after a question
  ordain tables reseed inventory transactions --yes   two, without one
  ordain tables reseed                                every table that has a seed

What the tables hold now is removed. The store is copied first, to .ordain/backups: `ordain tables restore` brings it back.
An append-only table is only emptied if it is named.";

/// Load the seed rows again, in place of what the tables hold
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    workspace: WorkspaceArgs,
    /// Tables to reload; all that have a seed when none is named
    tables: Vec<String>,
    /// Do not ask
    #[arg(long, short = 'y')]
    yes: bool,
    /// Do not copy the store first; PostgreSQL is copied with its own tools
    #[arg(long)]
    no_backup: bool,
    /// Print what was done as JSON
    #[arg(long)]
    json: bool,
}

/// Carries out `ordain tables reseed`.
pub(crate) fn run(args: &Args) -> Outcome {
    with_store(&args.workspace, async |store| {
        let workspace = args.workspace.load()?;
        let schema = store.schema();
        let is_kept = |table: &&ordain_types::Table| table.append_only && args.tables.is_empty();
        if let Some(table) = schema.tables.iter().find(is_kept) {
            let problem =
                format!("table `{}` is append-only, so its rows are only removed if it is named", table.name);
            return Err(Failure::usage(&problem, "name every table that is to be loaded again"));
        }
        let is_sqlite = matches!(workspace.store_options().database, Database::Sqlite { .. });
        if !is_sqlite && !args.no_backup {
            let problem = "Ordain makes no copy of a PostgreSQL database";
            return Err(Failure::usage(problem, "copy it with its own tools, then say --no-backup"));
        }
        if !args.yes && !check::asks(&question(&args.tables))? {
            return Err(Failure::usage(
                "nothing was reloaded",
                "say --yes if every row of these tables is to go",
            ));
        }
        if !args.no_backup {
            let copy = store.back_up(&workspace.state().join("backups")).await?;
            writeln!(io::stderr(), "the store was copied to {}", copy.folder.display())?;
        }
        let done = store.reseed(&args.tables, note()).await?;
        let mut stdout = io::stdout().lock();
        if args.json {
            writeln!(stdout, "{:#}", json!(done))?;
        } else {
            for table in &done {
                writeln!(stdout, "{}: {} rows removed, {} loaded", table.table, table.removed, table.added)?;
            }
        }
        Ok(ExitCode::SUCCESS)
    })
}

fn question(tables: &[String]) -> String {
    let which = if tables.is_empty() { "every table that has a seed".to_owned() } else { tables.join(", ") };
    format!("Remove every row of {which}, with what runs changed, and load the seed rows?")
}
