//! `ordain runs answer`, and `ordain runs resume`: go on with a run that waits for a person.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use ordain_cell::profile::Profile;
use ordain_engine::{Ask, Decision, EngineError, EngineSettings};
use ordain_types::{Outline, RunRecord};
use ordain_workspace::Workspace;

use crate::commands::ask;
use crate::engine;
use crate::executor::ExecutorArgs;
use crate::failure::{Failure, INTERRUPTED, Outcome};
use crate::given;
use crate::planner::PlannerArgs;
use crate::runtime;
use crate::show::progress::Shown;
use crate::workspace::{self, WorkspaceArgs};

/// How a run that waits goes on.
#[derive(Debug, clap::Args)]
pub(crate) struct ResumeArgs {
    #[command(flatten)]
    planner: PlannerArgs,
    #[command(flatten)]
    executor: ExecutorArgs,
}

/// Carries out `ordain runs answer`.
pub(crate) fn run(
    id: &str,
    answer: &str,
    args: &ResumeArgs,
    workspace: &WorkspaceArgs,
    as_json: bool,
) -> Outcome {
    resume(id, Decision::Respond(answer.to_owned()), args, workspace, as_json)
}

/// Carries out `ordain runs resume`.
pub(crate) fn run_resume(
    id: &str,
    outline: Option<&Path>,
    args: &ResumeArgs,
    workspace: &WorkspaceArgs,
    as_json: bool,
) -> Outcome {
    let decision = outline.map(read_outline).transpose()?.map_or(Decision::Approve, Decision::Edit);
    resume(id, decision, args, workspace, as_json)
}

fn resume(
    id: &str,
    decision: Decision,
    args: &ResumeArgs,
    workspace: &WorkspaceArgs,
    as_json: bool,
) -> Outcome {
    let workspace = workspace.load()?;
    args.executor.ensure_python(Profile::Core, &workspace)?;
    runtime::on_one_thread(Box::pin(carry_out(id, decision, args, &workspace, as_json)))?
}

async fn carry_out(
    id: &str,
    decision: Decision,
    args: &ResumeArgs,
    workspace: &Workspace,
    as_json: bool,
) -> Outcome {
    let executor = args.executor.open(workspace, 0)?;
    let planner = args.planner.choose(workspace).await?;
    let going_on = async {
        let mut shown = Shown::new(planner.can_repair(), false);
        let engine = engine::open(workspace, executor.executor(), EngineSettings::of(workspace)).await?;
        let ask = Ask { planner, ..Ask::new("", &workspace::note().who, "cli") };
        let record = engine.resume_run(id, decision, ask, &mut shown).await;
        shown.finish();
        record
    };
    let ended: Option<Result<RunRecord, EngineError>> = tokio::select! {
        ended = going_on => Some(ended),
        _ = tokio::signal::ctrl_c() => None,
    };
    executor.close().await;
    match ended {
        Some(Ok(record)) => {
            ask::print(&record, as_json, false)?;
            Ok(engine::exit_code(&record))
        }
        Some(Err(error)) => Err(error.into()),
        None => {
            let _ = writeln!(io::stderr(), "interrupted: the run waits as before");
            Ok(ExitCode::from(INTERRUPTED))
        }
    }
}

/// The longest file with an outline.
const OUTLINE_BYTES_MAX: u64 = 1 << 20;

/// Reads an outline from a file.
pub(crate) fn read_outline(path: &Path) -> Result<Outline, Failure> {
    let shown = path.display();
    let wrong =
        |problem| Failure::usage(problem, "`ordain ask --show-plan` prints an outline that can be edited");
    let text = given::text(path, OUTLINE_BYTES_MAX).map_err(wrong)?;
    let value =
        serde_json::from_str(&text).map_err(|error| wrong(format!("`{shown}` is no JSON: {error}")))?;
    Outline::read(value).map_err(|problems| {
        wrong(format!("the outline `{shown}` cannot be carried out: {}", problems.join("; ")))
    })
}
