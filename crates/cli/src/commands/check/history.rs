//! `ordain check history`.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::process::ExitCode;

use ordain_checks::{CheckStatus, Past, State};
use ordain_workspace::Workspace;

use crate::failure::{Failure, Outcome};
use crate::show::grid::Grid;
use crate::show::line;

/// Results that a line of marks shows.
const MARKS: usize = 30;

/// Show what checks gave in earlier runs
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// One check; all of them if it is left out
    check: Option<String>,
    /// How many results, the newest ones
    #[arg(long, default_value_t = 20)]
    limit: usize,
    /// Print them as JSON
    #[arg(long)]
    json: bool,
}

/// Carries out `ordain check history`.
pub(super) fn run(args: &Args, workspace: &Workspace) -> Outcome {
    let history = State::open(&workspace.state().join("checks")).and_then(|state| state.history());
    let history = history?;
    let is_wanted = |past: &&Past| args.check.as_ref().is_none_or(|check| past.result.check_id == *check);
    let wanted: Vec<&Past> = history.iter().filter(is_wanted).collect();
    if let Some(check) = args.check.as_ref().filter(|_| wanted.is_empty()) {
        let problem = format!("no run of a check `{check}` is kept");
        return Err(Failure::usage(&problem, "`ordain check list` shows the checks"));
    }
    let mut stdout = io::stdout().lock();
    if args.json {
        let newest = &wanted[wanted.len().saturating_sub(args.limit)..];
        writeln!(stdout, "{}", serde_json::to_string_pretty(newest)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    if args.check.is_some() {
        let mut grid = Grid::new(["run", "at", "status", "failed", "evaluated"]);
        for past in &wanted[wanted.len().saturating_sub(args.limit)..] {
            let number = |count: Option<u64>| count.map_or_else(|| "–".to_owned(), |count| count.to_string());
            grid.row([
                past.result.run_id.clone(),
                line(&past.result.started_at),
                past.result
                    .skipped
                    .map_or(past.result.status.name(), ordain_checks::SkipReason::name)
                    .to_owned(),
                number(past.result.failed),
                number(past.evaluated),
            ]);
        }
        grid.write(&mut stdout, "")?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut by_check: BTreeMap<&str, Vec<&Past>> = BTreeMap::new();
    for past in wanted {
        by_check.entry(&past.result.check_id).or_default().push(past);
    }
    let mut grid = Grid::new(["check", "runs", "last", "oldest to newest"]);
    for (check, results) in by_check {
        let newest = &results[results.len().saturating_sub(MARKS)..];
        let marks: String = newest.iter().map(|past| past.result.mark().letter).collect();
        let last = newest.last().map_or("", |past| past.result.status.name());
        let flaky = if is_flaky(newest) { " (flaky)" } else { "" };
        grid.row([line(check), results.len().to_string(), last.to_owned(), format!("{marks}{flaky}")]);
    }
    grid.write(&mut stdout, "")?;
    Ok(ExitCode::SUCCESS)
}

/// Whether the grade went back and forth more than three times.
fn is_flaky(results: &[&Past]) -> bool {
    let graded: Vec<CheckStatus> = results
        .iter()
        .map(|past| past.result.status)
        .filter(|status| matches!(status, CheckStatus::Pass | CheckStatus::Fail))
        .collect();
    graded.windows(2).filter(|pair| pair[0] != pair[1]).count() > 3
}
