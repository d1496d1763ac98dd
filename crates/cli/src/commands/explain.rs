//! What the reader understands of a request, a question about files or a rule, and which word it does not.

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;

use ordain_checks::Checks;
use ordain_engine::{CodeTask, Engine};
use ordain_planner::reader::Explained;
use serde::Serialize;

use crate::commands::code::setup::{FileArgs, Setup};
use crate::commands::python;
use crate::engine;
use crate::failure::{FAILED, Failure, Outcome};
use crate::runtime;
use crate::show::grid::Grid;
use crate::show::line;
use crate::workspace::{self, WorkspaceArgs};

/// Explain how a rule in words is read, and save nothing
#[derive(Debug, clap::Args)]
pub(crate) struct RuleArgs {
    /// The rule
    rule: String,
    /// The table that it is about, where it does not say so
    #[arg(long, value_name = "NAME")]
    table: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Explains a request about the workspace's tables.
pub(crate) fn request(workspace: &WorkspaceArgs, request: &str, as_json: bool) -> Outcome {
    with_engine(workspace, &FileArgs::default(), async |_, engine| {
        print(&engine.read(request).await?, as_json)
    })
}

/// Explains a question about files.
pub(crate) fn question(workspace: &WorkspaceArgs, given: &FileArgs, request: &str, as_json: bool) -> Outcome {
    with_engine(workspace, given, async |setup, engine| {
        let mut task = CodeTask::new(request, &workspace::note().who, "cli");
        setup.give(&mut task);
        print(&engine.read_files(&task).await?, as_json)
    })
}

/// Explains a rule about data.
pub(crate) fn rule(workspace: &WorkspaceArgs, args: &RuleArgs) -> Outcome {
    with_engine(workspace, &FileArgs::default(), async |setup, engine| {
        let checks = Checks::new(Arc::new(setup.workspace), engine);
        print(&checks.read_rule(&args.rule, args.table.as_deref()).await?, args.json)
    })
}

/// Lists the words that requests were declined for, the most frequent first.
pub(crate) fn missed(workspace: &WorkspaceArgs, as_json: bool) -> Outcome {
    with_engine(workspace, &FileArgs::default(), async |_, engine| {
        let missed = engine.missed().await?;
        let mut out = io::stdout().lock();
        if as_json {
            print_json(&mut out, &missed)?;
        } else if missed.is_empty() {
            writeln!(out, "No request was declined for a word that is still unknown.")?;
        } else {
            let mut grid = Grid::new(["word", "times", "a request", "what would teach it"]);
            for it in &missed {
                grid.row([line(&it.word), it.times.to_string(), line(&it.request), line(&it.teach)]);
            }
            grid.write(&mut out, "")?;
        }
        Ok(ExitCode::SUCCESS)
    })
}

fn with_engine<F>(
    workspace: &WorkspaceArgs,
    given: &FileArgs,
    command: impl FnOnce(Setup, Engine) -> F,
) -> Outcome
where
    F: Future<Output = Outcome>,
{
    let setup = Setup::new(given, workspace.load()?)?;
    if !given.file.is_empty() {
        python::ensure_for(&setup.workspace, setup.profile(false))?;
    }
    let executor = setup.executor()?;
    runtime::on_two_threads(Box::pin(async {
        let engine = engine::open(&setup.workspace, executor, setup.settings()).await?;
        command(setup, engine).await
    }))?
}

/// Exit code 0: there is one reading; 1: none or several.
fn print(explained: &Explained, as_json: bool) -> Result<ExitCode, Failure> {
    let mut out = io::stdout().lock();
    // A closed pipe is no failure of reading.
    if as_json { print_json(&mut out, explained) } else { describe(&mut out, explained) }?;
    Ok(if explained.readings.len() == 1 { ExitCode::SUCCESS } else { ExitCode::from(FAILED) })
}

fn print_json(out: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    writeln!(out, "{}", serde_json::to_string_pretty(value)?)
}

fn describe(out: &mut impl Write, explained: &Explained) -> io::Result<()> {
    for token in &explained.tokens {
        let means = if token.mentions.is_empty() { token.kind.to_owned() } else { token.mentions.join(", ") };
        writeln!(out, "{:<20} {}", line(&token.text), line(&means))?;
    }
    if let Some(unknown) = &explained.not_understood {
        writeln!(out, "\nnot understood: {}", line(&unknown.text))?;
    }
    for (at, reading) in explained.readings.iter().enumerate() {
        writeln!(out, "\n{}. {}", at + 1, line(&reading.reading))?;
        if let [only] = explained.readings.as_slice() {
            writeln!(out, "\n{}", only.code.as_deref().unwrap_or("(no code)"))?;
            let params: Vec<String> =
                only.params.iter().map(|param| format!("{} = {}", param.name, param.value)).collect();
            writeln!(out, "params: {}", line(&params.join(", ")))?;
        }
    }
    Ok(())
}
