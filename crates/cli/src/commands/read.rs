//! `ordain read`: what the reader understands of a request, and which word it does not.

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;

use ordain_engine::{CodeTask, Engine};
use ordain_planner::reader::Explained;
use ordain_standing::Checks;
use serde::Serialize;

use crate::commands::code::setup::{FileArgs, Setup};
use crate::commands::python;
use crate::engine;
use crate::failure::{FAILED, Outcome};
use crate::runtime;
use crate::show::grid::Grid;
use crate::show::line;
use crate::workspace::{self, WorkspaceArgs};

/// Show what the reader understands of a request, without carrying it out
///
/// Exit code 0: one reading, 1: none or several.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  ordain read 'round frames under $100'        the words, what they mention, the reading and its code
  ordain read \"total units by region\" --file sales.csv
  ordain read \"price must be above 0\" --check --table inventory
  ordain read --missed                         the words that requests were declined for, and what would teach them
  ordain read \"Buy 2 purple moons\" --json      the same as JSON")]
pub(crate) struct Args {
    /// The request, the question about files, or the rule
    #[arg(required_unless_present = "missed")]
    request: Option<String>,
    #[command(flatten)]
    given: FileArgs,
    /// Read it as a rule about the workspace's data
    #[arg(long, conflicts_with = "file")]
    check: bool,
    /// The table that the rule is about, where it does not say so
    #[arg(long, requires = "check")]
    table: Option<String>,
    /// Rank the words that requests were declined for
    #[arg(long, conflicts_with_all = ["request", "check", "file"])]
    missed: bool,
    #[command(flatten)]
    workspace: WorkspaceArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Carries out `ordain read`.
pub(crate) fn run(args: &Args) -> Outcome {
    let found = args.workspace.load()?;
    let setup = Setup::new(&args.given, found)?;
    if !args.given.file.is_empty() {
        python::ensure_for(&setup.workspace, setup.profile(false))?;
    }
    let executor = setup.executor()?;
    runtime::on_two_threads(Box::pin(async {
        let opened = engine::open(&setup.workspace, executor, setup.settings()).await?;
        if args.missed { show_missed(args, &opened).await } else { show_read(args, setup, opened).await }
    }))?
}

async fn show_read(args: &Args, setup: Setup, opened: Engine) -> Outcome {
    let request = args.request.as_deref().unwrap_or_default();
    let shown = if args.check {
        let checks = Checks::new(Arc::new(setup.workspace), opened);
        checks.read_rule(request, args.table.as_deref()).await?
    } else if args.given.file.is_empty() {
        opened.read(request).await?
    } else {
        let mut task = CodeTask::new(request, &workspace::note().who, "cli");
        setup.give(&mut task);
        opened.read_files(&task).await?
    };
    // A closed pipe is no failure of reading.
    if args.json { print_json(&shown) } else { print(&mut io::stdout().lock(), &shown) }?;
    Ok(if shown.readings.len() == 1 { ExitCode::SUCCESS } else { ExitCode::from(FAILED) })
}

async fn show_missed(args: &Args, opened: &Engine) -> Outcome {
    let missed = opened.missed().await?;
    if args.json {
        print_json(&missed)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut grid = Grid::new(["word", "times", "a request", "what would teach it"]);
    for it in &missed {
        grid.row([line(&it.word), it.times.to_string(), line(&it.request), line(&it.teach)]);
    }
    let mut out = io::stdout().lock();
    if missed.is_empty() {
        writeln!(out, "No request was declined for a word that is still unknown.")?;
    } else {
        grid.write(&mut out, "")?;
    }
    Ok(ExitCode::SUCCESS)
}

fn print_json(value: &impl Serialize) -> io::Result<()> {
    let text = serde_json::to_string_pretty(value)?;
    writeln!(io::stdout().lock(), "{text}")
}

fn print(out: &mut impl Write, shown: &Explained) -> io::Result<()> {
    for token in &shown.tokens {
        let means = if token.mentions.is_empty() { token.kind.to_owned() } else { token.mentions.join(", ") };
        writeln!(out, "{:<20} {}", line(&token.text), line(&means))?;
    }
    if let Some(unknown) = &shown.not_understood {
        writeln!(out, "\nnot understood: {}", line(&unknown.text))?;
    }
    for (at, reading) in shown.readings.iter().enumerate() {
        writeln!(out, "\n{}. {}", at + 1, line(&reading.reading))?;
        if let [only] = shown.readings.as_slice() {
            writeln!(out, "\n{}", only.code.as_deref().unwrap_or("(no code)"))?;
            let params: Vec<String> =
                only.params.iter().map(|param| format!("{} = {}", param.name, param.value)).collect();
            writeln!(out, "params: {}", line(&params.join(", ")))?;
        }
    }
    Ok(())
}
