//! `ordain code`: answers a question about files with code.

pub(crate) mod figure;
pub(crate) mod setup;
pub(crate) mod shown;

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use ordain_engine::{CodeAnswer, CodeTask, EngineError, Planner};

use crate::commands::{explain, python, repl};
use crate::engine;
use crate::failure::{Failure, INTERRUPTED, Outcome};
use crate::given;
use crate::planner::PlannerArgs;
use crate::runtime;
use crate::show::progress::Shown;
use crate::workspace::{self, WorkspaceArgs};

use setup::{FileArgs, Setup};

const EXAMPLES: &str = "\
Examples:
  ordain code \"total revenue by region\" --file sales.csv
  ordain code \"bar chart of units by month\" --file sales.xlsx --out results
  ordain code \"which manager has the highest revenue?\" --file orders.csv --file managers.csv
  ordain code \"word frequency\" --file notes.txt --explain    how it is read; nothing is run
  ordain code --repl --file sales.csv                        Python and questions in one session
  ordain code \"quarterly report\" --plan report.py --module helpers.py --file sales.csv
  ordain code \"now by product\" --session monday --file sales.csv

Files are looked into and read in a cell only. Without a model the reader writes the code: it knows
counts, totals, groups, ranks, conditions, joins, trends, charts and the like, and says so when it does not.
The code sees `files`, `artifacts` and `user_request`; it sets `answer_text` and `STATUS`, or prints.
Outside of a workspace runs are recorded in the user's own one (see `ordain runs list -w DIR`).
Exit code: 0 answered, 1 declined, refused or failed, 2 usage, 3 could not be carried out, 130 interrupted.";

/// Answer a question about files with verified, jailed code
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct Args {
    /// What is asked, in words
    #[arg(required_unless_present = "repl")]
    request: Option<String>,
    #[command(flatten)]
    given: FileArgs,
    /// Type Python and questions into one session; every input is a run
    #[arg(long, conflicts_with_all = ["request", "plan", "session", "out", "json"])]
    repl: bool,
    /// Show what the reader understands of it and which word it does not, and run nothing
    #[arg(long, conflicts_with_all = ["repl", "plan", "session", "out"])]
    explain: bool,
    /// The code to run for it: a Python file, or `-` for standard input
    #[arg(long, value_name = "FILE.py|-")]
    plan: Option<PathBuf>,
    /// A further module that the code imports by its name; may be given several times
    #[arg(long, value_name = "FILE.py")]
    module: Vec<PathBuf>,
    /// The folder to save artifacts in; made if it is missing
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    planner: PlannerArgs,
    /// Share Python variables with the earlier questions of a session
    #[arg(long, value_name = "NAME")]
    session: Option<String>,
    /// Write new code even if the cache has some, and do not keep it
    #[arg(long)]
    no_cache: bool,
    /// Keep what was computed before a failure, marked as partial
    #[arg(long)]
    partial: bool,
    /// Print the code too
    #[arg(long)]
    show_code: bool,
    #[command(flatten)]
    workspace: WorkspaceArgs,
    /// Print the run's record as JSON
    #[arg(long)]
    json: bool,
}

/// Carries out `ordain code …`.
pub(crate) fn run(args: &Args) -> Outcome {
    let request = args.request.as_deref().unwrap_or_default();
    if args.explain {
        return explain::question(&args.workspace, &args.given, request, args.json);
    }
    if args.repl {
        return repl::run(&args.given, &args.planner, &args.workspace);
    }
    let workspace = args.workspace.load_or_own()?;
    let task = task(args, request).map_err(|problem| Failure::usage(problem, "see `ordain code --help`"))?;
    if let Some(out) = &args.out
        && let Err(error) = std::fs::create_dir_all(out)
    {
        let problem = format!("cannot save artifacts in `{}`: {error}", out.display());
        return Err(Failure::usage(problem, "name a folder that you may write to"));
    }
    let setup = Setup::new(&args.given, workspace)?;
    python::ensure_for(&setup.workspace, setup.profile(args.session.is_some()))?;
    runtime::on_one_thread(Box::pin(carry_out(args, setup, task)))?
}

fn task(args: &Args, request: &str) -> Result<CodeTask, String> {
    if let Some(name) = &args.session
        && (name.is_empty() || name.len() > 100 || name.contains(char::is_control))
    {
        return Err("a session's name is plain text of at most 100 characters".to_owned());
    }
    let modules = args.module.iter().map(|path| given::plan(path)).collect::<Result<Vec<_>, _>>()?;
    Ok(CodeTask {
        plan: args.plan.as_deref().map(given::plan).transpose()?,
        modules,
        cache: !args.no_cache,
        session: args.session.clone(),
        allow_partial: args.partial,
        ..CodeTask::new(request, &workspace::note().who, "cli")
    })
}

async fn carry_out(args: &Args, setup: Setup, mut task: CodeTask) -> Outcome {
    let executor = setup.executor()?;
    task.planner = match &task.plan {
        Some(_) => Planner::Rules,
        None => args.planner.choose(&setup.workspace).await?,
    };
    setup.give(&mut task);
    let solved = tokio::select! {
        solved = solve(&setup, task, Arc::clone(&executor)) => Some(solved),
        _ = tokio::signal::ctrl_c() => None,
    };
    executor.close().await;
    match solved {
        Some(Ok(answer)) => {
            let saved = shown::save(&answer, args.out.as_deref());
            if args.json {
                shown::write_json(&answer)?;
            } else {
                shown::write(&answer, &saved, args.show_code, &setup)?;
            }
            Ok(shown::exit_code(&answer, &saved))
        }
        Some(Err(error)) => Err(error.into()),
        None => {
            let _ = writeln!(io::stderr(), "interrupted: the run was given up");
            Ok(ExitCode::from(INTERRUPTED))
        }
    }
}

async fn solve(
    setup: &Setup,
    task: CodeTask,
    executor: Arc<ordain_cell::LocalExecutor>,
) -> Result<CodeAnswer, EngineError> {
    let mut shown = Shown::new(task.planner.can_repair(), false);
    let engine = engine::open(&setup.workspace, executor, setup.settings()).await?;
    let solved = engine.code_with(task, &mut shown).await;
    shown.finish();
    solved
}
