//! `ordain doctor`: what this machine offers, layer by layer, and how to get what is missing.

mod store;

use std::io::{self, Write};
use std::process::ExitCode;

use ordain_cell::profile::{self, DataDir, State, Status};
use ordain_cell::{Isolation, Level, probe};
use serde_json::json;

use crate::failure::{Outcome, UNAVAILABLE};
use crate::runtime;
use crate::workspace::WorkspaceArgs;

const EXAMPLES: &str = "\
Examples:
  ordain doctor           what holds, what is missing, how to get it
  ordain doctor --json    for a program
  ordain doctor --store   whether the workspace's data are sound, and kept apart

Exit code: 0 if cells can run at the minimum level (full), 3 if not.";

/// Show how well this machine can isolate code, and what is missing
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Print the findings as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    workspace: WorkspaceArgs,
    /// Look at the workspace's data instead: pages, ledger, rows, and where they are kept
    #[arg(long, conflicts_with = "json")]
    store: bool,
}

/// Carries out `ordain doctor`.
pub(crate) fn run(args: &Args) -> Outcome {
    if args.store {
        return store::run(&args.workspace);
    }
    let statuses = DataDir::from_env().and_then(|data_dir| profile::list(&data_dir))?;
    let Some(first) = statuses.first() else { return Ok(ExitCode::from(UNAVAILABLE)) };
    let isolation = runtime::on_one_thread(Box::pin(probe(&first.interpreter)))?;
    if args.json { print_json(&isolation, &statuses) } else { print_report(&isolation, &statuses) }?;
    Ok(if isolation.level == Level::Full { ExitCode::SUCCESS } else { ExitCode::from(UNAVAILABLE) })
}

fn print_json(isolation: &Isolation, statuses: &[Status]) -> io::Result<()> {
    let profiles: Vec<_> = statuses
        .iter()
        .map(|status| {
            json!({
                "profile": status.profile,
                "state": state(status),
                "python": status.interpreter.version_text(),
                "executable": status.interpreter.executable,
            })
        })
        .collect();
    let record = json!({
        "isolation": isolation.level,
        "minimum": Level::Full,
        "layers": isolation.layers,
        "profiles": profiles,
    });
    writeln!(io::stdout(), "{record:#}")
}

fn print_report(isolation: &Isolation, statuses: &[Status]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    for layer in &isolation.layers {
        let mark = if layer.holds { "ok" } else { "missing" };
        writeln!(out, "{mark:<11}{:<12}{}", layer.name, layer.found)?;
        if let Some(remedy) = layer.remedy {
            writeln!(out, "           hint: {remedy}")?;
        }
    }
    for status in statuses {
        let python = status.interpreter.version_text();
        writeln!(out, "{:<11}profile {:<5} Python {python}", state(status), status.profile)?;
    }
    writeln!(out, "isolation: {}", isolation.level)?;
    if isolation.level < Level::Full {
        writeln!(
            out,
            "nothing will run here: the minimum is `full`, and {} is missing",
            isolation.missing()
        )?;
    }
    Ok(())
}

fn state(status: &Status) -> &'static str {
    match status.state {
        State::Ready(_) => "ready",
        State::Missing => "not set up",
        State::Damaged(_) => "damaged",
    }
}
