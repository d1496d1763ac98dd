//! `ordain check diff`: what would be recompiled and why, or how two runs differ.

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;

use ordain_checks::report::differences;
use ordain_checks::{CheckStatus, State};
use ordain_workspace::Workspace;

use crate::executor::ExecutorArgs;
use crate::failure::{Failure, Outcome, USAGE};
use crate::runtime;
use crate::show::line;

/// Tell what changed since checks were compiled, or how two runs differ
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Two runs: ids, beginnings of ids, or `latest`
    #[arg(num_args = 2, value_names = ["RUN", "RUN"])]
    runs: Vec<String>,
    /// Print it as JSON
    #[arg(long)]
    json: bool,
}

/// Carries out `ordain check diff`.
pub(super) fn run(args: &Args, workspace: Arc<Workspace>) -> Outcome {
    if let [before, after] = args.runs.as_slice() {
        return between(args, &workspace, before, after);
    }
    let files = super::files(&workspace)?;
    super::ensure_python(&workspace)?;
    runtime::on_two_threads(Box::pin(async {
        let checks = super::open(workspace, &ExecutorArgs::default()).await?;
        let changes = checks.changes(&files, 2).await?;
        let mut stdout = io::stdout().lock();
        if args.json {
            writeln!(stdout, "{}", serde_json::to_string_pretty(&changes)?)?;
            return Ok(ExitCode::SUCCESS);
        }
        let mut is_same = true;
        for change in changes.iter().filter(|change| !change.why.is_empty() || !change.notes.is_empty()) {
            is_same = false;
            let id = line(&change.check_id);
            if !change.why.is_empty() {
                writeln!(
                    stdout,
                    "{id}: plan {}, code {}, {}: {}",
                    change.plan,
                    change.code,
                    change.run,
                    line(&change.why)
                )?;
            }
            for note in &change.notes {
                writeln!(stdout, "{id}: noted: {}", line(note))?;
            }
        }
        if is_same {
            writeln!(stdout, "nothing changed: every check runs its kept code")?;
        }
        Ok(ExitCode::SUCCESS)
    }))?
}

fn between(args: &Args, workspace: &Workspace, before: &str, after: &str) -> Outcome {
    let state = State::open(&workspace.state().join("checks"))?;
    let mut reports = Vec::new();
    for run in [before, after] {
        let Some(report) = state.report(run) else {
            return Err(Failure::new(
                USAGE,
                format!("no report is kept of a run `{}`", line(run)),
                Some("see `ordain check history CHECK` for ids; the newest 50 runs are kept"),
            ));
        };
        reports.push(report);
    }
    let (before, after) = (&reports[0], &reports[1]);
    let mut stdout = io::stdout().lock();
    let differences = differences(before, after);
    if args.json {
        writeln!(stdout, "{}", serde_json::to_string_pretty(&differences)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    for it in &differences {
        let status = |status: Option<CheckStatus>| status.map_or("–", CheckStatus::name);
        let count = |count: Option<u64>| count.map_or_else(|| "–".to_owned(), |count| count.to_string());
        writeln!(
            stdout,
            "{}: {} → {}, failing rows {} → {}",
            line(&it.check_id),
            status(it.before),
            status(it.after),
            count(it.failed_before),
            count(it.failed_after)
        )?;
    }
    if differences.is_empty() {
        writeln!(stdout, "both runs gave the same")?;
    }
    Ok(ExitCode::SUCCESS)
}
