//! `ordain doctor`: what this machine offers, layer by layer, and how to get what is missing.

mod store;

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;

use ordain_cell::profile::{self, DataDir, PackageLock, ProfileError, State, Status};
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
    // Without a workspace, or in one that cannot be read, it is about the machine alone.
    let own = args.workspace.load().ok().map(|workspace| workspace.own_packages);
    let locked = own.map_or(Ok(None), |own| own.locked());
    let data_dir = DataDir::from_env()?.with_packages(locked.as_ref().ok().cloned().flatten());
    let statuses = profile::list(&data_dir)?;
    let Some(first) = statuses.first() else { return Ok(ExitCode::from(UNAVAILABLE)) };
    let isolation = runtime::on_one_thread(Box::pin(probe(&first.interpreter)))?;
    if args.json {
        print_json(&isolation, &statuses, &locked)
    } else {
        print_report(&isolation, &statuses, &locked)
    }?;
    Ok(if isolation.level == Level::Full { ExitCode::SUCCESS } else { ExitCode::from(UNAVAILABLE) })
}

/// The lock file of the workspace's own packages, or why it cannot be used.
type Locked = Result<Option<Arc<PackageLock>>, ProfileError>;

fn print_json(isolation: &Isolation, statuses: &[Status], locked: &Locked) -> io::Result<()> {
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
        "packages": match locked {
            Ok(lock) => json!(lock.as_ref().map(|lock| json!({ "asked": lock.asked(), "modules": lock.modules() }))),
            Err(error) => json!({ "problem": error.to_string() }),
        },
    });
    writeln!(io::stdout(), "{record:#}")
}

fn print_report(isolation: &Isolation, statuses: &[Status], locked: &Locked) -> io::Result<()> {
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
    match locked {
        Ok(None) => {}
        Ok(Some(lock)) => {
            writeln!(out, "{:<11}packages    {} with the profiles", "ok", lock.modules().join(", "))?;
        }
        Err(error) => {
            writeln!(out, "{:<11}packages    {error}", "missing")?;
            writeln!(out, "           hint: {}", error.hint().unwrap_or_default())?;
        }
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
