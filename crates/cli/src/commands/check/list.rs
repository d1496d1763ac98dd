//! `ordain check list`.

use std::io::{self, Write};
use std::process::ExitCode;

use ordain_workspace::Workspace;
use serde_json::json;

use crate::failure::Outcome;
use crate::show::grid::Grid;
use crate::show::line;

/// List checks
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Which checks: `id:…`, `tag:…`, `owner:…`, `table:…`, `severity:…`, separated by commas
    #[arg(long, value_name = "TERMS")]
    select: Vec<String>,
    /// Print the records as JSON
    #[arg(long)]
    json: bool,
}

/// Carries out `ordain check list`.
pub(super) fn run(args: &Args, workspace: &Workspace) -> Outcome {
    let files = super::files(workspace)?;
    let mut selection = ordain_checks::Selection::default();
    for terms in &args.select {
        selection.add(terms)?;
    }
    let entries: Vec<_> = files.entries.iter().filter(|entry| entry.check.is_in(&selection)).collect();
    let mut stdout = io::stdout().lock();
    if args.json {
        let records: Vec<_> = entries
            .iter()
            .map(|entry| {
                let mut record = json!(entry.check);
                record["file"] = json!(entry.file);
                record["line"] = json!(entry.line);
                record
            })
            .collect();
        writeln!(stdout, "{}", serde_json::to_string_pretty(&records)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut grid = Grid::new(["id", "severity", "kind", "tables", "name"]);
    for entry in &entries {
        let check = &entry.check;
        let name = if check.enabled {
            line(&check.check_name)
        } else {
            format!("{} (off)", line(&check.check_name))
        };
        grid.row([
            line(&check.check_id),
            check.severity.name().to_owned(),
            line(check.kind.name()),
            line(&check.target_table.join(", ")),
            name,
        ]);
    }
    grid.write(&mut stdout, "")?;
    Ok(ExitCode::SUCCESS)
}
