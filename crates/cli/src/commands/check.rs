//! `ordain check`: standing rules about data, compiled once and run for ever.

mod accept;
mod add;
mod bar;
mod diff;
mod export;
mod history;
mod import;
mod list;
mod rule;
mod run;
mod schema;
mod show;
mod suggest;
mod validate;
mod watch;

use std::io;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Subcommand;
use ordain_cell::profile::Profile;
use ordain_checks::file::{CheckFiles, Problem};
use ordain_engine::Workspace;
use ordain_engine::checks::{Checks, ChecksError, read_checks};

use crate::commands::python;
use crate::engine;
use crate::executor::ExecutorArgs;
use crate::failure::{self, UNAVAILABLE, USAGE};
use crate::workspace::{self, WorkspaceArgs};

const EXAMPLES: &str = "\
Examples:
  ordain init --example data-quality d && cd d && ordain check run
  ordain check run --select tag:integrity --fail-on high      only some, and only what weighs
  ordain check run --frozen --format junit=report.xml         in a pipeline, without a model
  ordain check show CHK-002                                   the rule, its plan and its code
  ordain check diff                                           what would be recompiled, and why

A check is a record in `checks/*.json`: a built-in kind, or a rule in words. Its tables are the files in `data` and the
tables of the store. Code that a person or a model wrote runs in a cell of its own; built-in kinds share cells.
Code is kept with the other plans (`ordain plans`), and made anew when what it was compiled against changes.
Exit code: 0 nothing failed that counts, 1 a check failed, 2 usage or check files, 3 a check could not be evaluated
(in error, not understood, or its table is missing; --allow-skipped forgives the last two),
4 --frozen and something needs compiling, 130 interrupted.";

/// Standing rules about data, compiled once and run for ever
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    workspace: WorkspaceArgs,
}

#[derive(Debug, Subcommand)]
enum Command {
    Run(run::Args),
    Compile(run::CompileArgs),
    List(list::Args),
    Show(show::Args),
    Diff(diff::Args),
    History(history::Args),
    Validate(validate::Args),
    Watch(watch::Args),
    Suggest(suggest::Args),
    Schema(schema::Args),
    Import(import::Args),
    Export(export::Args),
    Accept(accept::Args),
    Add(rule::Args),
}

/// Carries out `ordain check …`.
pub(crate) fn run(args: Args) -> anyhow::Result<ExitCode> {
    match carry_out(args) {
        // The reader of our output has gone, as `head` does, which is no failure of ours.
        Err(error) if is_closed_pipe(&error) => Ok(ExitCode::SUCCESS),
        ran => ran,
    }
}

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

fn carry_out(args: Args) -> anyhow::Result<ExitCode> {
    // These two are of use before there is a workspace.
    match &args.command {
        Command::Schema(args) => return schema::run(args),
        Command::Import(args) if !args.needs_workspace() => return import::run(args, None),
        _ => {}
    }
    let workspace = match args.workspace.load() {
        Ok(workspace) => Arc::new(workspace),
        Err(error) => return Ok(workspace::of_workspace(&error)),
    };
    match args.command {
        Command::Run(args) => run::run(&args, &workspace),
        Command::Compile(args) => run::compile(&args, &workspace),
        Command::List(args) => list::run(&args, &workspace),
        Command::Show(args) => show::run(&args, &workspace),
        Command::Diff(args) => diff::run(&args, workspace),
        Command::History(args) => history::run(&args, &workspace),
        Command::Validate(args) => validate::run(&args, &workspace),
        Command::Watch(args) => watch::run(&args, &workspace),
        Command::Suggest(args) => suggest::run(&args, &workspace),
        Command::Schema(args) => schema::run(&args),
        Command::Import(args) => import::run(&args, Some(&workspace)),
        Command::Export(args) => export::run(&args, &workspace),
        Command::Accept(args) => accept::run(&args, &workspace),
        Command::Add(args) => rule::run(&args, &workspace),
    }
}

/// The workspace's check files, free of errors; or the exit code that says that they are not, which is then printed.
fn files(workspace: &Workspace) -> Result<CheckFiles, ExitCode> {
    let files = read_checks(&workspace.root).map_err(|error| of_checks(&error))?;
    if files.problems.is_empty() {
        return Ok(files);
    }
    for problem in &files.problems {
        print_problem(problem);
    }
    Err(ExitCode::from(USAGE))
}

fn print_problem(problem: &Problem) {
    let id = problem.check_id.as_ref().map(|id| format!(" (check `{id}`)")).unwrap_or_default();
    failure::print_text(&format!("{problem}{id}"), problem.hint.as_deref());
}

/// Opens the workspace's checks, with its store.
pub(crate) async fn open(workspace: Arc<Workspace>, executor: &ExecutorArgs) -> Result<Checks, ExitCode> {
    let executor = executor.open(&workspace, 0)?.executor();
    let engine = engine::open(&workspace, executor, workspace.settings()).await;
    Ok(Checks::new(workspace, engine.map_err(|error| engine::of_engine(&error))?))
}

/// Sees that pandas is there.
pub(crate) fn ensure_python() -> Result<(), ExitCode> {
    python::ensure(Profile::Data).map(drop).map_err(|error| python::report(&error))
}

/// Prints why checks could not be run, and gives the exit code that says what kind of failure it is.
pub(crate) fn of_checks(error: &ChecksError) -> ExitCode {
    match error {
        ChecksError::Files(problems) => {
            for problem in problems {
                print_problem(problem);
            }
            return ExitCode::from(USAGE);
        }
        ChecksError::Cell(error) => return failure::of_cell(error),
        ChecksError::Store(error) => return workspace::of_store(error),
        _ => failure::print(error, error.hint().as_deref()),
    }
    ExitCode::from(match error {
        ChecksError::NoFiles | ChecksError::Table { .. } | ChecksError::Edit { .. } => USAGE,
        _ => UNAVAILABLE,
    })
}
