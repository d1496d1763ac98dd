//! `ordain code --repl`: Python and questions, one after the other, in one session over files.

mod blocks;

use ordain_types::SourceFile;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;

use ordain_cell::LocalExecutor;
use ordain_cell::profile::Profile;
use ordain_engine::{CodeTask, Engine, Planner};

use crate::commands::code::setup::{FileArgs, Setup};
use crate::commands::code::shown;
use crate::commands::python;
use crate::engine;
use crate::failure::{FAILED, Failure, Outcome};
use crate::planner::PlannerArgs;
use crate::runtime;
use crate::show::progress::Shown;
use crate::workspace::{self, WorkspaceArgs};

use blocks::{Block, Blocks};

/// Carries out `ordain code --repl`.
///
/// What is typed is Python, which is verified and runs in one cell whose variables stay; the value of a last expression is
/// printed. A line that begins with `?` is a question about the files. `/files` lists them, `/quit` or Ctrl-D ends.
pub(crate) fn run(given: &FileArgs, planner: &PlannerArgs, workspace: &WorkspaceArgs) -> Outcome {
    let setup = Setup::new(given, workspace.load_or_own()?)?;
    python::ensure_for(&setup.workspace, Profile::Full)?;
    let executor = setup.executor()?;
    runtime::on_two_threads(Box::pin(async {
        let planner = planner.choose(&setup.workspace).await?;
        let typed = session(&setup, planner, Arc::clone(&executor)).await;
        executor.close().await;
        typed
    }))?
}

async fn session(setup: &Setup, planner: Planner, executor: Arc<LocalExecutor>) -> Outcome {
    let engine = engine::open(&setup.workspace, executor, setup.settings()).await?;
    let name = format!("repl-{}", engine.store().new_run_id()?);
    let mut blocks = Blocks::open(&setup.workspace.state().join("repl_history"))?;
    if blocks.is_terminal() {
        writeln!(io::stderr(), "Python in a cell; `? question` asks about the files; /quit ends")?;
    }
    let mut has_failed = false;
    loop {
        let mut task = CodeTask {
            session: Some(name.clone()),
            planner: planner.clone(),
            ..CodeTask::new("", &workspace::note().who, "repl")
        };
        setup.give(&mut task);
        match tokio::task::block_in_place(|| blocks.next())? {
            Block::End => break,
            Block::Nothing => continue,
            Block::Files => {
                for file in &task.files {
                    writeln!(io::stdout(), "{}", file.display())?;
                }
                continue;
            }
            Block::Question(question) => task.request = question,
            Block::Python(code) => {
                task.request = code.chars().take(500).collect();
                task.plan =
                    Some(SourceFile { code: ordain_verify::echoing(&code), name: "input.py".to_owned() });
            }
        }
        has_failed |= !turn(&engine, task).await?;
    }
    blocks.close();
    engine.end_code_session(&name).await;
    let is_failure = has_failed && !blocks.is_terminal();
    Ok(ExitCode::from(if is_failure { FAILED } else { 0 }))
}

/// One input; whether it did what was wanted.
async fn turn(engine: &Engine, task: CodeTask) -> io::Result<bool> {
    let is_python = task.plan.is_some();
    let mut progress = Shown::new(!is_python && task.planner.can_repair(), false);
    let solved = engine.code_with(task, &mut progress).await;
    progress.finish();
    let answer = match solved {
        Ok(answer) => answer,
        // One input could not be carried out; the session goes on.
        Err(error) => {
            Failure::from(error).report();
            return Ok(false);
        }
    };
    shown::write_turn(&answer, is_python)?;
    Ok(answer.record.error.is_none())
}
