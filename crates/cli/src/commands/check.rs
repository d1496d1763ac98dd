//! `ordain check`: standing rules about data, compiled once and run for ever.

mod accept;
mod add;
mod bar;
mod diff;
mod edit;
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

use std::sync::Arc;

use ordain_cell::profile::Profile;
use ordain_checks::file::CheckFiles;
use ordain_checks::{Checks, read_checks};
use ordain_engine::EngineSettings;
use ordain_workspace::Workspace;

use crate::commands::{explain, python};
use crate::engine;
use crate::executor::ExecutorArgs;
use crate::failure::{Failure, Outcome};
use crate::workspace::{Group, WorkspaceArgs};

pub(crate) use rule::asks;

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
(in error, not understood, or its table is missing or empty; --allow-skipped forgives all but errors),
4 --frozen and something needs compiling, 130 interrupted. Where several hold, the first of 2, 130, 3, 1, 4 counts.";

pub(crate) type Args = Group<WorkspaceArgs, Command>;

/// Standing rules about data, compiled once and run for ever
#[derive(Debug, clap::Subcommand)]
#[command(after_help = EXAMPLES)]
pub(crate) enum Command {
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
    Explain(explain::RuleArgs),
    Edit(edit::Args),
    Remove(edit::RemoveArgs),
}

/// Carries out `ordain check …`.
pub(crate) fn run(args: Args) -> Outcome {
    // These two are of use before there is a workspace.
    match &args.command {
        Command::Schema(args) => return schema::run(args),
        Command::Explain(explained) => return explain::rule(&args.shared, explained),
        Command::Import(args) if !args.needs_workspace() => return import::run(args, None),
        _ => {}
    }
    let workspace = Arc::new(args.shared.load()?);
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
        Command::Explain(explained) => explain::rule(&args.shared, &explained),
        Command::Import(args) => import::run(&args, Some(&workspace)),
        Command::Export(args) => export::run(&args, &workspace),
        Command::Accept(args) => accept::run(&args, &workspace),
        Command::Add(args) => rule::run(&args, &workspace),
        Command::Edit(args) => edit::run(&args, &workspace),
        Command::Remove(args) => edit::remove(&args, &workspace),
    }
}

/// The workspace's check files, free of errors.
fn files(workspace: &Workspace) -> Result<CheckFiles, Failure> {
    let files = read_checks(&workspace.root)?;
    if files.problems.is_empty() {
        return Ok(files);
    }
    Err(Failure::in_check_files(&files.problems))
}

/// Opens the workspace's checks, with its store.
pub(crate) async fn open(workspace: Arc<Workspace>, executor: &ExecutorArgs) -> Result<Checks, Failure> {
    let executor = executor.open(&workspace, 0)?.executor();
    let engine = engine::open(&workspace, executor, EngineSettings::of(&workspace)).await?;
    Ok(Checks::new(workspace, engine))
}

/// Sees that pandas is there.
pub(crate) fn ensure_python(workspace: &Workspace) -> Result<(), Failure> {
    python::ensure_for(workspace, Profile::Data)?;
    Ok(())
}
