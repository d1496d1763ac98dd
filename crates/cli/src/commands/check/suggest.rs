//! `ordain check suggest`: proposes checks for a table, with what was seen.

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;

use ordain_checks::Check;
use ordain_checks::suggest::Suggestion;
use ordain_workspace::Workspace;

use super::add;
use crate::executor::ExecutorArgs;
use crate::failure::{Failure, Outcome};
use crate::runtime;
use crate::show::line;

const EXAMPLES: &str = "\
Examples:
  ordain check suggest orders                          look, propose, change nothing
  ordain check suggest orders --add all                add every proposal to checks/checks.json
  ordain check suggest orders --add orders.order_id.unique,orders.amount.range

The table is looked at in a cell. What holds today may be chance: read the evidence before you add a check.";

/// Propose checks for a table, from what its rows have in common
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The table
    table: String,
    /// Add proposals to `checks/checks.json`: `all`, or ids separated by commas
    #[arg(long, value_name = "IDS", value_delimiter = ',')]
    add: Vec<String>,
    /// Print the proposals as JSON
    #[arg(long)]
    json: bool,
}

/// Carries out `ordain check suggest`.
pub(super) fn run(args: &Args, workspace: &Arc<Workspace>) -> Outcome {
    super::ensure_python(workspace)?;
    let suggestions = runtime::on_two_threads(Box::pin(async {
        let checks = super::open(Arc::clone(workspace), &ExecutorArgs::default()).await?;
        Ok::<_, Failure>(checks.suggest(&args.table).await?)
    }))??;
    print(args, &suggestions)?;
    if args.add.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    let wanted = wanted(&args.add, &suggestions).map_err(|unknown| {
        let ids = "the ids are those that the command prints without --add";
        Failure::usage(format!("`{}` is not proposed", line(&unknown)), ids)
    })?;
    writeln!(io::stderr(), "{}", line(&add::told(&add::add(workspace, &wanted, true)?)))?;
    Ok(ExitCode::SUCCESS)
}

fn wanted(ids: &[String], suggestions: &[Suggestion]) -> Result<Vec<Check>, String> {
    if ids == ["all"] {
        return Ok(suggestions.iter().map(|it| it.check.clone()).collect());
    }
    let find =
        |id: &String| suggestions.iter().find(|it| it.check.check_id == *id).map(|it| it.check.clone());
    ids.iter().map(|id| find(id).ok_or_else(|| id.clone())).collect()
}

fn print(args: &Args, suggestions: &[Suggestion]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    if args.json {
        return writeln!(stdout, "{}", serde_json::to_string_pretty(suggestions)?);
    }
    if suggestions.is_empty() {
        return writeln!(io::stderr(), "nothing is proposed: the table has too few rows to show anything");
    }
    let width = suggestions.iter().map(|it| it.check.check_id.chars().count()).max().unwrap_or_default();
    for it in suggestions {
        let params = serde_json::Value::Object(it.check.params.clone()).to_string();
        writeln!(stdout, "{:<width$}  {}", line(&it.check.check_id), line(&it.evidence))?;
        writeln!(stdout, "{:<width$}  {} {}", "", it.check.kind, line(&params))?;
    }
    if args.add.is_empty() {
        writeln!(
            io::stderr(),
            "{} checks proposed; add them with --add all or --add ID,…",
            suggestions.len()
        )?;
    }
    Ok(())
}
