//! What a person decides on a run: approve, reject, undo. The three differ in one call.

use std::io::{self, Write};
use std::process::ExitCode;

use ordain_store::{RowConflict, StoreError};
use serde_json::json;

use crate::engine;
use crate::failure;
use crate::show::grid::Grid;
use crate::show::{cell, line, run as show_run};
use crate::workspace::{WorkspaceArgs, note, of_workspace, with_store};

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
    let tools = match workspace.load() {
        Ok(workspace) => workspace.tools,
        Err(error) => return Ok(of_workspace(&error)),
    };
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
            writeln!(stdout, "run {}: {}", run.run_id, line(&run.receipt.text))?;
        } else {
            show_run::write(&mut stdout, &run)?;
        }
        drop(stdout);
        engine::send_calls(&store, &tools, &run).await?;
        Ok(ExitCode::SUCCESS)
    })
}

/// Names the rows that changed meanwhile.
fn conflicted(conflicts: &[RowConflict], as_json: bool) -> io::Result<ExitCode> {
    let mut stdout = io::stdout().lock();
    if as_json {
        writeln!(stdout, "{:#}", json!({ "conflicts": conflicts }))?;
    } else {
        let mut grid = Grid::new(["table", "row", "column", "expected", "found"]);
        for conflict in conflicts.iter().take(20) {
            let key = serde_json::to_value(&conflict.key).map(|value| cell(&value)).unwrap_or_default();
            for (column, expected, found) in differences(conflict) {
                grid.row([line(&conflict.table), key.clone(), column, expected, found]);
            }
        }
        grid.write(&mut stdout, "")?;
    }
    let count = conflicts.len();
    let have = if count == 1 { "row has" } else { "rows have" };
    let message = format!("{count} {have} changed meanwhile; nothing was changed");
    failure::print_text(&message, Some("ask again, so that the plan sees the rows as they are now"));
    Ok(ExitCode::from(failure::FAILED))
}

/// The columns whose values are not as expected: their name, what was expected and what is there.
fn differences(conflict: &RowConflict) -> Vec<(String, String, String)> {
    let (Some(expected), Some(found)) = (&conflict.expected, &conflict.found) else {
        let there =
            |row: &Option<ordain_types::Row>| if row.is_some() { "a row" } else { "no row" }.to_owned();
        return vec![(String::new(), there(&conflict.expected), there(&conflict.found))];
    };
    let shown = |row: &ordain_types::Row, column: &str| row.get(column).map_or_else(|| "–".to_owned(), cell);
    let columns = expected.fields.iter().map(|(column, _)| column.as_str());
    let differing = columns.filter(|column| expected.get(column) != found.get(column));
    differing.map(|column| (line(column), shown(expected, column), shown(found, column))).collect()
}
