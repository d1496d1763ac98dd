//! `ordain ask`: carries out a request on the workspace's data.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use ordain_cell::profile::Profile;
use ordain_engine::{Ask, Engine, EngineError, EngineSettings, Mode, Origin, Planner};
use ordain_store::{RunFilter, SeenBy};
use ordain_types::{Outline, RunId, RunRecord, RunState, SourceFile, StepState, Strategy, parse_duration};
use ordain_workspace::Workspace;

use crate::commands::answer::read_outline;
use crate::commands::explain;
use crate::engine;
use crate::executor::ExecutorArgs;
use crate::failure::{Failure, INTERRUPTED, Outcome};
use crate::given;
use crate::planner::PlannerArgs;
use crate::runtime;
use crate::show::diff::Extent;
use crate::show::progress::Shown;
use crate::show::run as show_run;
use crate::workspace::{self, WorkspaceArgs};

const EXAMPLES: &str = "\
Examples:
  ordain ask 'do you have round sunglasses under $100?'
  ordain ask \"buy 3 classic and 1 aviator\" --dry-run   show the diff, change nothing
  ordain ask 2                                         the second of what your last request may mean
  ordain ask \"buy 3 classic\" --plan buy.py             run buy.py as the plan for the request
  ordain ask \"buy 3 classic\" --plan buy.py --hold      keep the diff for `ordain approve`
  ordain ask \"buy 3 classic\" --plan - --json < buy.py  plan from standard input, record as JSON
  ordain ask \"write the evening report\" --show-plan    print the outline, and wait for a decision on it
  ordain ask \"round frames under 100\" --explain        how it is read, word by word; nothing is run

The plan sees `user_request`, `db`, one `<table>_tbl` for each table, `Query`, `where` and `frame`,
and sets `answer_text` and `STATUS`. It runs in a cell, inside one transaction.
Exit code: 0 answered, 1 declined, refused or failed, 2 usage, 3 could not be carried out, 4 waits for a person.";

/// Carry out a request on the workspace's data
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct Args {
    /// What is asked, in words
    request: String,
    /// Show what the reader understands of it and which word it does not, and carry out nothing
    #[arg(long, conflicts_with_all = ["plan", "outline", "show_plan", "dry_run", "hold", "continues"])]
    explain: bool,
    /// The plan to run for it: a Python file, or `-` for standard input
    #[arg(long, value_name = "FILE.py|-")]
    plan: Option<PathBuf>,
    /// Write a new plan even if the cache has one, and do not keep it
    #[arg(long)]
    no_cache: bool,
    #[command(flatten)]
    planner: PlannerArgs,
    /// How the plan grows: `auto`, `direct`, `plan` (an outline first) or `react` (step by step)
    #[arg(long, default_value = "auto")]
    strategy: Strategy,
    /// Stop when there is an outline, and print it as a file that can be edited
    #[arg(long, conflicts_with = "plan")]
    show_plan: bool,
    /// The outline to carry out, as `--show-plan` prints it
    #[arg(long, value_name = "FILE.json", conflicts_with_all = ["plan", "show_plan"])]
    outline: Option<PathBuf>,
    /// The run to go on from: what it gave, results of its calls included, is in `inputs["earlier"]`
    #[arg(long, value_name = "ID")]
    continues: Option<String>,
    /// Show what would change, and change nothing
    #[arg(long, conflicts_with = "hold")]
    dry_run: bool,
    /// Keep the change for approval
    #[arg(long)]
    hold: bool,
    /// How long the plan may run
    #[arg(long, value_parser = parse_duration)]
    timeout: Option<Duration>,
    /// Repeating a request with the same key gives the first outcome again
    #[arg(long, value_name = "KEY")]
    idempotency_key: Option<String>,
    #[command(flatten)]
    workspace: WorkspaceArgs,
    #[command(flatten)]
    executor: ExecutorArgs,
    /// With the run's id, its plan and how long each part took
    #[arg(long, short = 'v')]
    verbose: bool,
    /// Print the run's record as JSON
    #[arg(long)]
    json: bool,
}

/// Carries out `ordain ask …`.
pub(crate) fn run(args: &Args) -> Outcome {
    if args.explain {
        return explain::request(&args.workspace, &args.request, args.json);
    }
    let workspace = args.workspace.load()?;
    let plan = args.plan.as_deref().map(given::plan).transpose();
    let plan = plan.map_err(|problem| Failure::usage(problem, given::PROGRAM_HINT))?;
    args.executor.ensure_python(Profile::Core, &workspace)?;
    runtime::on_one_thread(Box::pin(carry_out(args, &workspace, plan)))?
}

async fn carry_out(args: &Args, workspace: &Workspace, plan: Option<SourceFile>) -> Outcome {
    let outline = args.outline.as_deref().map(read_outline).transpose()?;
    let executor = args.executor.open(workspace, 0)?;
    let planner = if plan.is_some() { Ok(Planner::Rules) } else { args.planner.choose(workspace).await };
    let planner = planner?;
    let mut settings = EngineSettings::of(workspace);
    if let Some(timeout) = args.timeout {
        settings.limits.wall = timeout;
    }
    let engine = match engine::open(workspace, executor.executor(), settings).await {
        Ok(engine) => engine,
        Err(error) => {
            executor.close().await;
            return Err(error.into());
        }
    };
    let run_id = engine.store().new_run_id()?;
    let asked = tokio::select! {
        asked = ask(args, workspace, (plan, outline), planner, (&engine, run_id.clone())) => Some(asked),
        _ = tokio::signal::ctrl_c() => None,
    };
    executor.close().await;
    match asked {
        Some(Ok(record)) => {
            print(&record, args.json, args.verbose)?;
            Ok(engine::exit_code(&record))
        }
        Some(Err(error)) => Err(error.into()),
        None => {
            interrupted(&engine, &run_id).await;
            Ok(ExitCode::from(INTERRUPTED))
        }
    }
}

/// Says what became of a run that was interrupted. One of several steps can go on.
async fn interrupted(engine: &Engine, run_id: &RunId) {
    let kept = engine.store().cut_short(run_id).await.ok().flatten();
    let told = match kept {
        Some(record) => {
            let done = record.plan.steps.iter().filter(|step| step.state == StepState::Done).count();
            let steps = record.plan.steps.len();
            format!(
                "nothing was changed; {done} of {steps} steps are done, and `ordain runs resume {run_id}` goes on"
            )
        }
        None => "the run was rolled back".to_owned(),
    };
    let _ = writeln!(io::stderr(), "interrupted: {told}");
}

async fn ask(
    args: &Args,
    workspace: &Workspace,
    (plan, outline): (Option<SourceFile>, Option<Outline>),
    planner: Planner,
    (engine, run_id): (&Engine, RunId),
) -> Result<RunRecord, EngineError> {
    let mode = match (args.dry_run, args.hold) {
        (true, _) => Mode::DryRun,
        (false, true) => Mode::Hold,
        (false, false) => Mode::Commit,
    };
    let asked = match &args.continues {
        Some(run) => Some(run.clone()),
        None => asked_back(&args.request, engine).await?,
    };
    let continues = match &asked {
        Some(run) => Some(Box::new(engine.continued(run).await?)),
        None => None,
    };
    let (idempotency_key, run_id) = (args.idempotency_key.clone(), Some(run_id));
    let request = Ask {
        plan,
        planner,
        continues,
        mode,
        strategy: if args.show_plan { Strategy::Plan } else { args.strategy },
        show_plan: args.show_plan,
        outline,
        cache: !args.no_cache,
        origin: Origin { idempotency_key, run_id, ..Origin::new(&workspace::note().who, "cli") },
        ..Ask::new(&args.request, "", "")
    };
    let mut shown = Shown::new(request.planner.can_repair(), false);
    let asked = engine.ask_with(request, &mut shown).await;
    shown.finish();
    let record = asked?;
    engine::send_calls(engine.store(), &workspace.tools, &record).await?;
    Ok(record)
}

/// The run that a number answers: the newest one of this person, if it asked back.
async fn asked_back(request: &str, engine: &Engine) -> Result<Option<String>, EngineError> {
    if request.trim().parse::<u32>().is_err() {
        return Ok(None);
    }
    let seen_by = Some(SeenBy { who: workspace::note().who, sees_held: false });
    let newest = engine.store().find_runs(RunFilter { seen_by, ..RunFilter::newest(1) }).await?;
    let asked = newest.into_iter().find(|run| run.state == RunState::Declined);
    Ok(asked.map(|run| run.run_id.to_string()))
}

pub(crate) fn print(record: &RunRecord, as_json: bool, is_verbose: bool) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    if as_json {
        return writeln!(
            stdout,
            "{}",
            serde_json::to_string_pretty(&record.told()).map_err(io::Error::from)?
        );
    }
    if is_verbose {
        show_run::details(&mut stdout, record, Extent::Short { run: record.run_id.as_str() })?;
    } else {
        show_run::write(&mut stdout, record)?;
    }
    if record.state == RunState::Held {
        let id = &record.run_id;
        writeln!(
            io::stderr(),
            "hint: `ordain approve {id}` commits this diff, `ordain reject {id}` drops it"
        )?;
    }
    if record.state == RunState::Waiting {
        let id = &record.run_id;
        let hint = match &record.plan.outline {
            Some(outline) if record.plan.steps.iter().all(|step| step.state == StepState::Waiting) => {
                writeln!(stdout, "{}", serde_json::to_string_pretty(outline).map_err(io::Error::from)?)?;
                format!("`ordain runs resume {id}` carries this out, `--outline FILE` an edited one")
            }
            _ => format!("`ordain runs answer {id} \"…\"` answers, and the run goes on"),
        };
        writeln!(io::stderr(), "hint: {hint}; `ordain reject {id}` drops it")?;
    }
    Ok(())
}
