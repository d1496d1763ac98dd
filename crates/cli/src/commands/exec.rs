//! `ordain exec`: runs given code in a cell.

mod interactive;
mod live;
mod record;
mod save;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::ValueEnum;
use ordain_cell::profile::Profile;
use ordain_cell::{Discard, Executor, InputFile, Job, LocalExecutor, LocalOptions, NoHost, Output};
use ordain_engine::{Engine, EngineError, EngineSettings, Exec, Judgement, Origin};
use ordain_types::{Cause, Limits, SourceFile, parse_bytes, parse_duration};
use ordain_verify::{Contract, VerifiedCode};
use ordain_workspace::{Workspace, WorkspaceError, limits_without_workspace};

use crate::commands::python;
use crate::engine;
use crate::failure::{FAILED, Failure, INTERRUPTED, Outcome};
use crate::given::{self, PROGRAM_HINT};
use crate::resident;
use crate::verification;
use crate::workspace::{self, WorkspaceArgs};

/// The largest program that is read at all; the verifier's own limit is lower.
const PROGRAM_BYTES_MAX: u64 = 16 << 20;

const EXAMPLES: &str = "\
Examples:
  echo 'print(1 + 1)' | ordain exec -
  ordain exec report.py --profile data --file sales.csv --out results
  ordain exec risky.py --timeout 5s --memory 256MiB --json
  ordain exec --session work first.py second.py    second.py sees first.py's variables
  ordain exec --session work                       type programs, one after the other

In the code, `files` maps each --file's name to its path, and what is written to the folder
`artifacts` is returned. In a workspace each program is a run with a ledger entry. Exit code: 0 ok, 1 refused or failed, 2 usage, 3 no sandbox, 130 interrupted.";

/// Run given code in a cell
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The program: a file, or `-` for standard input; several only with --session
    #[arg(value_name = "FILE.py|-")]
    programs: Vec<PathBuf>,
    /// A file that the code can read, by its name; may be given several times
    #[arg(long, value_name = "PATH")]
    file: Vec<PathBuf>,
    /// The folder to save artifacts in; made if it is missing
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// How long the code may run [default: the workspace's, else 30s]
    #[arg(long, value_parser = parse_duration)]
    timeout: Option<Duration>,
    /// How much CPU time it may use, in whole seconds [default: the workspace's]
    #[arg(long, value_parser = parse_duration)]
    cpu: Option<Duration>,
    /// How much memory it may use [default: the workspace's, else 512MiB]
    #[arg(long, value_parser = parse_bytes)]
    memory: Option<u64>,
    /// How much it may write to stdout and stderr together [default: the workspace's, else 10MiB]
    #[arg(long, value_parser = parse_bytes)]
    output: Option<u64>,
    /// The Python packages it finds: core, data or full
    #[arg(long, default_value = "core", value_parser = python::read_profile)]
    profile: Profile,
    /// What the verifier asks: `exec` refuses code that does not fit a cell, `open` only looks at syntax and size
    #[arg(long, value_enum, default_value_t = Policy::Exec)]
    policy: Policy,
    /// Keep variables between programs; without a program, read them from the terminal
    #[arg(long, value_name = "NAME")]
    session: Option<String>,
    #[command(flatten)]
    workspace: WorkspaceArgs,
    /// Print the outcome as JSON
    #[arg(long)]
    json: bool,
}

/// Where programs run.
struct ExecContext {
    executor: Arc<LocalExecutor>,
    /// Records what runs; there is none outside of a workspace.
    engine: Option<Engine>,
    limits: Limits,
}

/// Which contract given code is verified against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Policy {
    /// Imports of the profile, no calls that cannot work in a cell.
    Exec,
    /// Syntax and size only: the jail alone defends.
    Open,
}

/// Carries out `ordain exec …`.
#[expect(clippy::needless_pass_by_value, reason = "every command takes its arguments for itself")]
pub(crate) fn run(args: Args) -> Outcome {
    check_usage(&args)?;
    if let Some(out) = &args.out
        && let Err(error) = save::prepare(out)
    {
        let hint = "name a folder that you may write to";
        return Err(Failure::usage(format!("cannot save artifacts in `{}`: {error}", out.display()), hint));
    }
    let programs = args.programs.iter().map(|path| read_program(path)).collect::<Result<Vec<_>, _>>()?;
    python::ensure_at(&python::data_dir(&args.workspace)?, args.profile)?;
    // One thread: it waits for the cell itself, which is quicker than being woken by another.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let ended = runtime.block_on(run_all(&args, programs));
    // A thread that still waits for the terminal is not waited for.
    runtime.shutdown_background();
    ended
}

fn check_usage(args: &Args) -> Result<(), Failure> {
    let (problem, hint) = match (args.programs.len(), &args.session) {
        (0, None) => ("no program is given", PROGRAM_HINT),
        (2.., None) => ("several programs are given", "add --session NAME to run them one after the other"),
        (0, Some(_)) if args.json => ("--json needs a program", PROGRAM_HINT),
        (_, Some(name)) if name.is_empty() || name.len() > 100 || name.contains(char::is_control) => {
            ("that is not a session name", "give a plain name of at most 100 characters")
        }
        _ => return Ok(()),
    };
    Err(Failure::usage(problem, hint))
}

/// A program and the name that tracebacks show.
struct Program {
    name: String,
    code: Vec<u8>,
}

fn read_program(path: &Path) -> Result<Program, Failure> {
    let read = given::program(path, PROGRAM_BYTES_MAX);
    let (code, name) = read.map_err(|problem| Failure::usage(problem, PROGRAM_HINT))?;
    Ok(Program { name, code })
}

async fn run_all(args: &Args, programs: Vec<Program>) -> Outcome {
    let context = open(args).await?;
    let work = async {
        if programs.is_empty() {
            return interactive::run(args, &context).await;
        }
        for program in programs {
            if !run_one(args, &context, program).await? {
                return Ok(ExitCode::from(FAILED));
            }
        }
        Ok(ExitCode::SUCCESS)
    };
    let ended = tokio::select! {
        ended = work => ended,
        _ = tokio::signal::ctrl_c() => {
            let _ = writeln!(io::stderr(), "interrupted: the cell was ended");
            Ok(ExitCode::from(INTERRUPTED))
        }
    };
    context.executor.close().await;
    ended
}

/// Cells for the programs, and an engine over the workspace that the command is about, if it is about one.
async fn open(args: &Args) -> Result<ExecContext, Failure> {
    let workspace = args.workspace.is_there().then(|| args.workspace.load()).transpose()?;
    let limits = limits(args, workspace.as_ref())?;
    let wanted = |cells: &mut LocalOptions| cells.limits = limits.clone();
    let executor = engine::executor(workspace.as_ref(), resident::find(), wanted)?;
    let engine = match &workspace {
        Some(workspace) => {
            let cells = Arc::<LocalExecutor>::clone(&executor);
            Some(engine::open(workspace, cells, EngineSettings::of(workspace)).await?)
        }
        None => None,
    };
    Ok(ExecContext { executor, engine, limits })
}

/// Flags come before what the workspace says; where there is none, before the environment.
fn limits(args: &Args, workspace: Option<&Workspace>) -> Result<Limits, WorkspaceError> {
    let usual = workspace.map_or_else(limits_without_workspace, |workspace| Ok(workspace.limits.clone()))?;
    Ok(Limits {
        wall: args.timeout.unwrap_or(usual.wall),
        cpu: args.cpu.or(usual.cpu),
        memory_bytes: args.memory.unwrap_or(usual.memory_bytes),
        output_bytes: args.output.unwrap_or(usual.output_bytes),
        ..usual
    })
}

/// Runs one program and shows what came of it. Whether it was ok.
async fn run_one(args: &Args, context: &ExecContext, program: Program) -> Result<bool, EngineError> {
    let contract = match args.policy {
        Policy::Exec => Contract::Exec,
        Policy::Open => Contract::Open,
    };
    let verdict = verification::judge(&program.code, contract, args.profile);
    let mut live = live::Live::default();
    let output: &mut dyn Output = if args.json { &mut Discard } else { &mut live };
    let ran = match (&context.engine, std::str::from_utf8(&program.code)) {
        (Some(engine), Ok(code)) => {
            let exec = exec(args, context, SourceFile { code: code.to_owned(), name: program.name.clone() });
            engine.exec(exec, output).await.map(|answer| answer.execution)
        }
        _ => match verdict.verified().cloned() {
            Some(code) => {
                let run =
                    context.executor.run(job(args, context, code, &program.name), &mut NoHost, output).await;
                run.map(|execution| Some(Arc::new(execution))).map_err(EngineError::from)
            }
            None => Ok(None),
        },
    };
    live.finish().await;
    let Some(execution) = ran? else {
        record::print_rejected(args, &program.name, &verdict);
        return Ok(false);
    };
    let saved = save::save_all(args.out.as_deref(), &execution);
    if args.json {
        record::print_json(&execution, &saved);
    } else {
        record::print_summary(&execution, &saved, args.out.is_some());
    }
    Ok(execution.cause == Cause::Ok && saved.iter().all(Result::is_ok))
}

/// The program as work for an engine.
fn exec(args: &Args, context: &ExecContext, given: SourceFile) -> Exec {
    Exec {
        given,
        judgement: match args.policy {
            Policy::Exec => Judgement::Exec,
            Policy::Open => Judgement::Open,
        },
        profile: args.profile,
        limits: context.limits.clone(),
        files: args.file.iter().map(|path| input_file(path)).collect(),
        session: args.session.clone(),
        origin: Origin::new(&workspace::note().who, "cli"),
    }
}

/// The same for a bare executor.
fn job(args: &Args, context: &ExecContext, code: VerifiedCode, name: &str) -> Job {
    let mut job = Job::new(code, args.profile);
    name.clone_into(&mut job.name);
    job.limits = context.limits.clone();
    job.session.clone_from(&args.session);
    job.files = args.file.iter().map(|path| input_file(path)).collect();
    job
}

fn input_file(path: &Path) -> InputFile {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    InputFile { name, path: path.to_owned() }
}
