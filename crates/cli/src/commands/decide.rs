//! What a person decides on a run: approve, reject, undo. The three differ in one call.

use std::io::{self, Write};
use std::process::ExitCode;

use ordain_cell::profile::Profile;
use ordain_engine::EngineSettings;
use ordain_store::{RowConflict, RunFilter, SeenBy, Store, StoreError};
use ordain_types::{RunRecord, RunState};
use serde_json::json;

use crate::engine;
use crate::executor::ExecutorArgs;
use crate::failure::{FAILED, Failure, Outcome};
use crate::runtime;
use crate::show::{line, run as show_run};
use crate::workspace::{WorkspaceArgs, note, with_store};

/// Runs that are looked at in one go for the last change.
const PAGE: u64 = 20;

#[derive(Debug, clap::Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    workspace: WorkspaceArgs,
    /// The run's id, or the beginning of it; `undo` also takes `last`
    id: String,
    /// Print the run's record as JSON
    #[arg(long)]
    json: bool,
}

/// What is decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decision<'a> {
    Approve { except: &'a [String] },
    Reject,
    Undo { rest: bool },
}

/// Carries out a decision.
pub(crate) fn run(args: &RunArgs, decision: Decision<'_>) -> Outcome {
    let tools = args.workspace.load()?.tools;
    with_store(&args.workspace, async |store| {
        let id = match decision {
            Decision::Undo { .. } if args.id == "last" => last_change(&store).await?,
            _ => args.id.clone(),
        };
        if matches!(decision, Decision::Undo { .. }) {
            ordain_engine::settle_unknown(&store, &tools, &id).await?;
        }
        let decided = match decision {
            Decision::Approve { except } => store.approve_except(&id, except, note()).await,
            Decision::Reject => store.reject(&id, note()).await,
            Decision::Undo { rest: false } => store.undo(&id, note()).await,
            Decision::Undo { rest: true } => store.undo_rest(&id, note()).await,
        };
        let run = match decided {
            Ok(run) => run,
            Err(StoreError::RowsConflict { conflicts }) => {
                return Err(conflicted(&conflicts, decision, args.json)?);
            }
            Err(error) => return Err(error.into()),
        };
        let mut stdout = io::stdout().lock();
        if matches!(decision, Decision::Undo { .. }) && !args.json {
            writeln!(stdout, "run {}: {}", run.run_id, line(&run.receipt.text))?;
        } else {
            show(&run, args.json)?;
        }
        drop(stdout);
        engine::send_calls(&store, &tools, &run).await?;
        Ok(ExitCode::SUCCESS)
    })
}

/// The newest run of this person that changed rows, and whose change stands.
async fn last_change(store: &Store) -> Result<String, Failure> {
    let mut before = None;
    loop {
        let filter = RunFilter {
            states: vec![RunState::Committed],
            seen_by: Some(SeenBy { who: note().who, sees_held: false }),
            before: before.take(),
            ..RunFilter::newest(PAGE)
        };
        let runs = store.find_runs(filter).await?;
        if let Some(run) = runs.iter().find(|run| !run.diff.is_empty()) {
            return Ok(run.run_id.to_string());
        }
        let Some(oldest) = runs.last() else {
            let hint = "`ordain runs list --state committed` lists the runs that changed something";
            return Err(Failure::new(FAILED, "no change of yours stands that could be undone", Some(hint)));
        };
        before = Some(oldest.run_id.clone());
    }
}

/// Approves a run whose rows may have moved on.
pub(crate) fn rebase(args: &RunArgs, executor: &ExecutorArgs) -> Outcome {
    let workspace = args.workspace.load()?;
    executor.ensure_python(Profile::Core, &workspace)?;
    runtime::on_one_thread(Box::pin(async {
        let cells = executor.open(&workspace, 0)?;
        let approved = async {
            let engine = engine::open(&workspace, cells.executor(), EngineSettings::of(&workspace)).await?;
            let run = engine.approve_rebased(&args.id, note()).await?;
            engine::send_calls(engine.store(), &workspace.tools, &run).await?;
            Ok::<_, Failure>(run)
        }
        .await;
        cells.close().await;
        let run = approved?;
        show(&run, args.json)?;
        Ok(engine::exit_code(&run))
    }))?
}

fn show(run: &RunRecord, as_json: bool) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    if as_json {
        return writeln!(stdout, "{}", serde_json::to_string_pretty(&run.told()).map_err(io::Error::from)?);
    }
    show_run::write(&mut stdout, run)
}

/// Names the cells that changed meanwhile.
fn conflicted(conflicts: &[RowConflict], decision: Decision<'_>, as_json: bool) -> io::Result<Failure> {
    let mut stdout = io::stdout().lock();
    if as_json {
        writeln!(stdout, "{:#}", json!({ "conflicts": conflicts }))?;
    } else {
        let cells: Vec<_> = conflicts.iter().flat_map(RowConflict::cells).collect();
        show_run::differences(&cells, ["expected", "found"]).write(&mut stdout, "")?;
    }
    let count = conflicts.len();
    let have = if count == 1 { "row has" } else { "rows have" };
    let message = format!("{count} {have} changed meanwhile; nothing was changed");
    let hint = match decision {
        Decision::Undo { .. } => "undo the later run that changed them first, or ask for the opposite change",
        Decision::Approve { .. } | Decision::Reject => {
            "`ordain approve --rebase` runs the same code on the rows as they are now"
        }
    };
    Ok(Failure::new(FAILED, message, Some(hint)))
}
