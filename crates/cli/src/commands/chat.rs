//! `ordain chat`: a conversation about the workspace's data, turn by turn.
//!
//! A turn is a request like any other: one plan, one transaction, one entry of the ledger. What makes it a
//! conversation is that the planner is shown the turns before it.

mod slash;

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;

use ordain_cell::LocalExecutor;
use ordain_cell::profile::Profile;
use ordain_engine::{Ask, Engine, EngineSettings, Mode, Planner};
use ordain_types::{RunRecord, RunState, unmarked};
use ordain_workspace::Workspace;

use crate::commands::python;
use crate::engine;
use crate::failure::{Failure, Outcome};
use crate::planner::PlannerArgs;
use crate::runtime;
use crate::show::diff::Extent;
use crate::show::progress::Shown;
use crate::show::{Colour, coloured, diff, line as one_line, lines as safe_lines};
use crate::typed::{Line, Typed};
use crate::workspace::{self, WorkspaceArgs};

use slash::Slash;

const EXAMPLES: &str = "\
Examples:
  ordain chat                          talk to the workspace in the current folder
  ordain chat --conversation monday    go on with a conversation by its name
  ordain chat --hold                   every change waits for /approve

In the conversation: /diff, /undo, /approve, /reject, /plan, /help, /quit.
Without a terminal each line of standard input is a turn.";

/// Talk to the workspace, with follow-ups that refer to earlier turns
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The conversation's name [default: a new one]
    #[arg(long, value_name = "NAME")]
    conversation: Option<String>,
    #[command(flatten)]
    planner: PlannerArgs,
    /// Keep every change for approval
    #[arg(long)]
    hold: bool,
    #[command(flatten)]
    workspace: WorkspaceArgs,
}

/// A conversation under way.
struct Chat {
    engine: Engine,
    planner: Planner,
    conversation: String,
    mode: Mode,
    /// The last run, whose plan `/plan` shows.
    last: Option<String>,
    /// The last run that changed something or waits to, which the other commands are about.
    changed: Option<String>,
}

/// Carries out `ordain chat`.
pub(crate) fn run(args: &Args) -> Outcome {
    let workspace = args.workspace.load()?;
    python::ensure_for(&workspace, Profile::Core)?;
    let executor = engine::executor(Some(&workspace), None, |cells| cells.idle_cells = 1)?;
    runtime::on_two_threads(Box::pin(async {
        let planner = args.planner.choose(&workspace).await?;
        let talked = talk(args, &workspace, planner, Arc::clone(&executor)).await;
        executor.close().await;
        talked.map(|()| ExitCode::SUCCESS)
    }))?
}

async fn talk(
    args: &Args,
    workspace: &Workspace,
    planner: Planner,
    executor: Arc<LocalExecutor>,
) -> Result<(), Failure> {
    let engine = engine::open(workspace, executor, EngineSettings::of(workspace)).await?;
    let conversation = match &args.conversation {
        Some(name) => name.clone(),
        None => format!("chat-{}", engine.store().new_run_id()?),
    };
    let mode = if args.hold { Mode::Hold } else { Mode::Commit };
    let mut chat = Chat { engine, planner, conversation, mode, last: None, changed: None };
    let mut lines = Typed::open(&workspace.state().join("chat_history"))?;
    if lines.is_terminal() {
        let by = if chat.planner.can_repair() { chat.planner.name() } else { "the reader".to_owned() };
        writeln!(
            io::stderr(),
            "{}: ask in words; /help for more. Plans are written by {by}. Conversation {}",
            one_line(&workspace.name),
            one_line(&chat.conversation)
        )?;
    }
    loop {
        let said = tokio::task::block_in_place(|| lines.next("> "))?;
        let text = match said {
            Line::End => break,
            Line::Text(text) if !text.trim().is_empty() => text.trim().to_owned(),
            Line::Text(_) | Line::TakenBack => continue,
        };
        if let Some(command) = text.strip_prefix('/') {
            match Slash::parse(command) {
                Ok(Slash::Quit) => break,
                Ok(command) => chat.carry_out(command).await?,
                Err(problem) => writeln!(io::stderr(), "{}", one_line(&problem))?,
            }
            continue;
        }
        if let Err(failure) = chat.turn(&text).await? {
            // One turn could not be carried out; the conversation goes on.
            failure.report();
        }
    }
    lines.close();
    Ok(())
}

impl Chat {
    /// Carries one request out. The outer error ends the conversation: there is nowhere to show anything.
    async fn turn(&mut self, text: &str) -> io::Result<Result<(), Failure>> {
        let ask = Ask {
            planner: self.planner.clone(),
            conversation: Some(self.conversation.clone()),
            mode: self.mode,
            ..Ask::new(text, &workspace::note().who, "chat")
        };
        let mut shown = Shown::new(self.planner.can_repair(), true);
        let asked = tokio::select! {
            asked = self.engine.ask_with(ask, &mut shown) => Some(asked),
            _ = tokio::signal::ctrl_c() => None,
        };
        shown.finish();
        let record = match asked {
            None => {
                writeln!(io::stderr(), "interrupted: nothing was changed")?;
                return Ok(Ok(()));
            }
            Some(Err(error)) => return Ok(Err(error.into())),
            Some(Ok(record)) => record,
        };
        show(&record)?;
        let tools = &self.engine.settings().tools;
        if let Err(error) = engine::send_calls(self.engine.store(), tools, &record).await {
            return Ok(Err(error.into()));
        }
        self.last = Some(record.run_id.to_string());
        if matches!(record.state, RunState::Committed | RunState::Held) {
            self.changed.clone_from(&self.last);
        }
        Ok(Ok(()))
    }
}

/// What the person reads of a turn: the answer, and in a line what it did.
fn show(record: &RunRecord) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match (&record.answer.text, &record.error) {
        (_, Some(error)) => {
            writeln!(
                out,
                "{} {}",
                coloured(Colour::Red, "That did not work:"),
                safe_lines(&unmarked(&error.message))
            )?;
            if let Some(hint) = &error.hint {
                writeln!(out, "hint: {}", safe_lines(hint))?;
            }
        }
        (Some(_), None) => {
            writeln!(out, "{}", safe_lines(&unmarked(&record.said().unwrap_or_default())))?;
        }
        (None, None) => writeln!(out, "({})", record.state)?,
    }
    let note = match record.state {
        RunState::Committed => " /diff shows them, /undo takes them back.",
        RunState::Held => {
            diff::write(&mut out, &record.diff, Extent::Short { run: record.run_id.as_str() })?;
            " /approve commits this, /reject drops it."
        }
        _ => "",
    };
    let receipt = one_line(&record.receipt.marked());
    writeln!(out, "{}", coloured(Colour::Dim, &format!("{receipt}{note}")))
}
