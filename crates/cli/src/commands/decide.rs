//! What a person decides on a run: approve, reject, undo. The three differ in one call.

use std::io::{self, Write};
use std::process::ExitCode;

use ordain_store::{RowConflict, StoreError};
use serde_json::json;

use crate::failure;
use crate::show::grid::Grid;
use crate::show::{cell, line, run as show_run};
use crate::workspace::{WorkspaceArgs, note, with_store};

#[derive(Debug, clap::Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    workspace: WorkspaceArgs,
    /// The run's id, or the beginning of it
    id: String,
    /// Print the run's record as JSON
    #[arg(long)]
    json: bool,
}

/// What is decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decision {
    Approve,
    Reject,
    Undo,
}

/// Carries out a decision.
pub(crate) fn run(args: &RunArgs, decision: Decision) -> anyhow::Result<ExitCode> {
    let workspace = args.workspace.clone();
    with_store(&workspace, async |store| {
        let decided = match decision {
            Decision::Approve => store.approve(&args.id, note()).await,
            Decision::Reject => store.reject(&args.id, note()).await,
            Decision::Undo => store.undo(&args.id, note()).await,
        };
        let run = match decided {
            Ok(run) => run,
            Err(StoreError::RowsConflict { conflicts }) => return Ok(conflicted(&conflicts, args.json)?),
            Err(error) => return Err(error.into()),
        };
        let mut stdout = io::stdout().lock();
        if args.json {
            writeln!(stdout, "{}", serde_json::to_string_pretty(&run).map_err(io::Error::from)?)?;
        } else if decision == Decision::Undo {
            writeln!(stdout, "run {} is {}. {}", run.run_id, run.state, line(&run.receipt.text))?;
        } else {
            show_run::write(&mut stdout, &run)?;
        }
        Ok(ExitCode::SUCCESS)
    })
}

/// Names the rows that changed meanwhile.
fn conflicted(conflicts: &[RowConflict], as_json: bool) -> io::Result<ExitCode> {
    let mut stdout = io::stdout().lock();
    if as_json {
        writeln!(stdout, "{:#}", json!({ "conflicts": conflicts }))?;
    } else {
        let mut grid = Grid::new(["table", "row", "expected", "found"]);
        let row = |row: Option<&ordain_types::Row>| match row {
            Some(row) => serde_json::to_value(row).map(|value| cell(&value)).unwrap_or_default(),
            None => "no row".to_owned(),
        };
        for conflict in conflicts.iter().take(20) {
            let key = serde_json::to_value(&conflict.key).map(|value| cell(&value)).unwrap_or_default();
            grid.row([
                line(&conflict.table),
                key,
                row(conflict.expected.as_ref()),
                row(conflict.found.as_ref()),
            ]);
        }
        grid.write(&mut stdout, "")?;
    }
    let count = conflicts.len();
    let message = format!("{count} rows have changed meanwhile; nothing was changed");
    failure::print_text(&message, Some("ask again, so that the plan sees the rows as they are now"));
    Ok(ExitCode::from(failure::FAILED))
}
