//! `ordain reseed`: the seed rows again.

use std::io::{self, Write};
use std::process::ExitCode;

use serde_json::json;

use crate::workspace::{WorkspaceArgs, note, with_store};

const EXAMPLES: &str = "\
Examples:
  ordain reseed               every table that has a seed
  ordain reseed inventory     one table

What the tables hold now is lost; the ledger keeps what led to it.";

/// Load the seed rows again, in place of what the tables hold
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    workspace: WorkspaceArgs,
    /// Tables to reload; all that have a seed when none is named
    tables: Vec<String>,
    /// Print what was done as JSON
    #[arg(long)]
    json: bool,
}

/// Carries out `ordain reseed`.
pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let workspace = args.workspace.clone();
    with_store(&workspace, async |store| {
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
