//! `ordain models eval`: how often requests come out right.

mod case;
mod end;
mod report;

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use ordain_cell::LocalExecutor;
use ordain_cell::profile::Profile;
use ordain_engine::{Ask, CodeTask, Engine, EngineError, EngineSettings, Planner};
use ordain_store::{ConversationTurn, Database, EntryNote};
use ordain_types::{ErrorClass, Judged as JudgedRound, PlanSource, Round, RunRecord, SourceFile, Strategy};
use ordain_workspace::Workspace;

use crate::commands::python;
use crate::engine;
use crate::failure::{FAILED, Failure, INTERRUPTED, Outcome};
use crate::planner::PlannerArgs;
use crate::runtime;
use crate::workspace::WorkspaceArgs;
use case::Case;
use report::{Judged, Report, SentBack};

const EXAMPLES: &str = "\
Examples:
  ordain models eval eval.jsonl                     every case once, with the planner that `ordain ask` would take
  ordain models eval eval.jsonl --model rules       with the reader
  ordain models eval eval.jsonl --runs 5            five times each: pass^5 is the share that is right every time
  ordain models eval eval.jsonl --min 95 --json     exit code 1 below 95 %
  ordain models eval eval.jsonl --strategy direct --strategy react   the same cases in both ways, to compare

A case is one line of JSON:
  {\"request\": \"Buy 2 moons\", \"expect\": {\"status\": \"success\",
   \"diff\": {\"inventory\": {\"SG006\": {\"quantity_in_stock\": [12, 10]}},
            \"transactions\": {\"added\": [{\"transaction_amount\": 240}]}}}}
`expect` has `status`, `answer_contains`, `answer_not_contains`, and one of `diff`, `end` and `unchanged`; `turns`
before it is an earlier conversation; `files` makes it a question about files, named from the file of cases. A `diff` names every row and column that changes; added rows are compared in the columns named.
`end` compares every row of every table: {\"returns\": {\"set\": {\"R1\": {\"status\": \"received\"}}, \"added\": [{…}],
\"removed\": [\"R2\"]}} says how they differ from the seeds, and \"*\" stands for any value.
Every case begins with the seed rows, in a store that is thrown away: the workspace itself is not touched.";

/// Run a file of requests and count how many come out right
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The cases, one JSON object a line
    #[arg(value_name = "FILE.jsonl")]
    file: PathBuf,
    #[command(flatten)]
    planner: PlannerArgs,
    /// How plans grow: `auto`, `direct`, `plan` or `react`; several are compared
    #[arg(long, value_name = "S", default_values = ["auto"])]
    strategy: Vec<Strategy>,
    /// How often each case is run
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
    runs: u32,
    /// Exit with 1 when less than this percent is right
    #[arg(long, value_name = "PERCENT")]
    min: Option<f64>,
    /// Write every plan anew
    #[arg(long)]
    no_cache: bool,
    #[command(flatten)]
    workspace: WorkspaceArgs,
    /// Print the figures and the failures as JSON
    #[arg(long)]
    json: bool,
}

/// Carries out `ordain models eval`.
pub(crate) fn run(args: &Args) -> Outcome {
    let cases = match read(&args.file).and_then(|text| case::parse(&text)) {
        Ok(cases) => cases,
        Err(problem) => {
            return Err(Failure::usage(
                format!("{}: {problem}", args.file.display()),
                "`ordain models eval --help` shows a case",
            ));
        }
    };
    let workspace = load(args)?;
    python::ensure_for(&workspace, Profile::Core)?;
    runtime::on_one_thread(Box::pin(carry_out(args, workspace, &cases)))?
}

/// The workspace that is named, else the one that the file of cases is in, else the current one.
fn load(args: &Args) -> Result<Workspace, ordain_workspace::WorkspaceError> {
    if args.workspace.is_named() {
        return args.workspace.load();
    }
    let beside = args.file.parent().filter(|folder| !folder.as_os_str().is_empty());
    match beside.map(Workspace::find) {
        Some(Ok(root)) => Workspace::load(&root),
        _ => args.workspace.load(),
    }
}

async fn carry_out(args: &Args, mut workspace: Workspace, cases: &[Case]) -> Outcome {
    let planner = args.planner.choose(&workspace).await?;
    let folder = tempfile::tempdir()?;
    workspace.approval = ordain_types::Approval::Auto;
    let executor = engine::executor(Some(&workspace), None, |cells| cells.idle_cells = 2)?;
    let judged = tokio::select! {
        judged = judge_each(args, &mut workspace, folder.path(), cases, &planner, &executor) => Some(judged),
        _ = tokio::signal::ctrl_c() => None,
    };
    executor.close().await;
    match judged {
        Some(Ok(reports)) => finish(args, &reports),
        Some(Err(error)) => Err(error.into()),
        None => Ok(ExitCode::from(INTERRUPTED)),
    }
}

/// Evaluates one strategy after the other, each with a store and a plan cache of its own.
async fn judge_each(
    args: &Args,
    workspace: &mut Workspace,
    folder: &Path,
    cases: &[Case],
    planner: &Planner,
    executor: &Arc<LocalExecutor>,
) -> Result<Vec<Report>, EngineError> {
    let mut reports = Vec::new();
    for &strategy in &args.strategy {
        let folder = folder.join(strategy.as_str());
        std::fs::create_dir_all(&folder).map_err(EngineError::Artifacts)?;
        workspace.database = Database::Sqlite { path: folder.join("store.db") };
        let judged = judge_all(args, workspace, &folder, cases, (planner, strategy), executor).await?;
        reports.push(Report::of(&planner.name(), strategy, args.runs, judged));
    }
    Ok(reports)
}

/// Runs every case on one throw-away store; its rows are the seed's again before each run, its plans are kept.
async fn judge_all(
    args: &Args,
    workspace: &Workspace,
    folder: &Path,
    cases: &[Case],
    planned: (&Planner, Strategy),
    executor: &Arc<LocalExecutor>,
) -> Result<Vec<Judged>, EngineError> {
    let mut options = workspace.store_options();
    options.state = folder.to_owned();
    let store = ordain_store::Store::open(options).await?;
    // What cases leave goes with the throw-away store.
    let settings =
        EngineSettings { artifacts: Some(folder.join("artifacts")), ..EngineSettings::of(workspace) };
    let engine = Engine::new(store, Arc::clone(executor) as Arc<dyn ordain_cell::Executor>, settings);
    let beside = args.file.parent().unwrap_or(Path::new(""));
    let mut judged = Vec::new();
    for run in 1..=args.runs {
        for case in cases {
            engine.store().reseed(&[], EntryNote::by("eval", "cli")).await?;
            let before = end::read(engine.store()).await?;
            let record = ask(&engine, beside, case, run, planned, !args.no_cache).await?;
            let after = end::read(engine.store()).await?;
            let wrong = case.judge(&record, &before, &after);
            let sent_back = sent_back(&engine, case, &record, &before).await?;
            judged.push(Judged { wrong, sent_back, ..of_record(case, run, &record) });
        }
    }
    Ok(judged)
}

/// What came of the first plan if it was sent back: it is carried out as it was, to see whether its rows are right.
async fn sent_back(
    engine: &Engine,
    case: &Case,
    record: &RunRecord,
    before: &end::Tables,
) -> Result<Option<SentBack>, EngineError> {
    let Some((code, class)) = first_refused(record).filter(|_| case.says_rows()) else { return Ok(None) };
    engine.store().reseed(&[], EntryNote::by("eval", "cli")).await?;
    let mut ask = Ask::new(&case.request, "eval", "cli");
    ask.plan = Some(SourceFile { code: code.to_owned(), name: "first.py".to_owned() });
    let params = record.plan.steps.iter().flat_map(|step| &step.params);
    ask.params = params.map(|param| (param.name.clone(), param.value.clone())).collect();
    let first = engine.ask(ask).await?;
    let after = end::read(engine.store()).await?;
    let is_right = first.error.is_none() && case.judge_rows(&first.diff, before, &after).is_empty();
    Ok(Some(SentBack { by_review: class == ErrorClass::Review, is_right }))
}

/// The code of the first plan, if a check of ours refused it after the verifier had accepted it, and which one.
fn first_refused(record: &RunRecord) -> Option<(&str, ErrorClass)> {
    let first = rounds(record).find_map(|round| match round {
        Round::Judged(judged) => Some(judged),
        _ => None,
    })?;
    let JudgedRound { accepted: true, code: Some(code), trouble: Some(trouble), .. } = first else {
        return None;
    };
    let is_ours = matches!(trouble.class, ErrorClass::Claim | ErrorClass::Contract | ErrorClass::Review);
    is_ours.then_some((code.as_str(), trouble.class))
}

/// The rounds of a run and of its steps.
fn rounds(record: &RunRecord) -> impl Iterator<Item = &Round> {
    record.verdict.history.iter().chain(record.plan.steps.iter().flat_map(|step| &step.rounds))
}

async fn ask(
    engine: &Engine,
    folder: &Path,
    case: &Case,
    run: u32,
    (planner, strategy): (&Planner, Strategy),
    cache: bool,
) -> Result<RunRecord, EngineError> {
    if let Some(files) = &case.files {
        let task = CodeTask {
            files: files.iter().map(|file| folder.join(file)).collect(),
            planner: planner.clone(),
            cache,
            ..CodeTask::new(&case.request, "eval", "cli")
        };
        return engine.code(task).await.map(|answer| answer.record);
    }
    let mut ask = Ask { planner: planner.clone(), cache, strategy, ..Ask::new(&case.request, "eval", "cli") };
    if !case.turns.is_empty() {
        let conversation = format!("eval-{}-{run}", case.line);
        for turn in &case.turns {
            let turn = ConversationTurn {
                seq: 0,
                at: String::new(),
                run_id: String::new(),
                request: turn.request.clone(),
                answer: turn.answer.clone(),
                status: turn.status.clone(),
            };
            engine.store().add_turn(&conversation, &turn).await?;
        }
        ask.conversation = Some(conversation);
    }
    engine.ask(ask).await
}

fn of_record(case: &Case, run: u32, record: &RunRecord) -> Judged {
    let source = match record.plan.source {
        PlanSource::Model => "model",
        PlanSource::Rules => "rules",
        PlanSource::Cache => "cache",
        PlanSource::File => "file",
    };
    Judged {
        line: case.line,
        request: case.request.clone(),
        run,
        wrong: Vec::new(),
        sent_back: None,
        rounds: rounds(record).filter(|round| matches!(round, Round::Judged(_))).count(),
        looks: rounds(record).filter(|round| matches!(round, Round::Looked { .. })).count(),
        lines: (!record.diff.is_empty())
            .then(|| record.plan.steps.iter().map(|step| step.code.lines().count()).sum()),
        status: record.status.clone(),
        answer: record.answer.text.clone(),
        plan: source.to_owned(),
        total_ms: record.timing_ms.total,
        plan_ms: record.timing_ms.plan,
        model_calls: record.usage.model_calls,
        input_tokens: record.usage.input_tokens,
        output_tokens: record.usage.output_tokens,
    }
}

fn finish(args: &Args, reports: &[Report]) -> Outcome {
    let mut stdout = io::stdout().lock();
    match reports {
        [report] if args.json => writeln!(stdout, "{}", serde_json::to_string_pretty(report)?)?,
        reports if args.json => writeln!(stdout, "{}", serde_json::to_string_pretty(reports)?)?,
        reports => {
            for report in reports {
                report.write(&mut stdout, &args.file.display().to_string(), args.runs)?;
            }
            report::compare(&mut stdout, reports)?;
        }
    }
    let is_low = args.min.is_some_and(|min| reports.iter().any(|report| report.share < min));
    Ok(if is_low { ExitCode::from(FAILED) } else { ExitCode::SUCCESS })
}

fn read(path: &Path) -> Result<String, String> {
    let mut text = String::new();
    // A pipe that is opened would be waited for, so the kind is looked at before.
    if !std::fs::metadata(path).map_err(|error| error.to_string())?.is_file() {
        return Err("it is not an ordinary file".to_owned());
    }
    let file = std::fs::File::open(path).map_err(|error| error.to_string())?;
    file.take(case::FILE_BYTES_MAX + 1).read_to_string(&mut text).map_err(|error| error.to_string())?;
    if text.len() as u64 > case::FILE_BYTES_MAX {
        return Err(format!("the file is larger than {} bytes", case::FILE_BYTES_MAX));
    }
    Ok(text)
}
