//! `ordain tools outbox`: calls that wait to be sent, and those that a person must look at.

use std::io::{self, Write};
use std::process::ExitCode;

use ordain_store::{Outgoing, Store};
use ordain_types::RunId;
use serde_json::json;

use crate::failure::{Failure, Outcome};
use crate::show::grid::Grid;
use crate::show::{cut, line};
use crate::workspace::{self, RecordArgs, note};

/// Calls that are listed at once.
const LISTED_MAX: u64 = 500;

const EXAMPLES: &str = "\
Examples:
  ordain tools outbox list                what is not sent yet, and why
  ordain tools outbox list --run ID       every call of one run, with what it gave
  ordain tools outbox send                send what may be sent now
  ordain tools outbox retry RUN:1         have a dead call tried again
  ordain tools outbox drop RUN:1          give a call up; those behind it go on

A call is sent after the commit of its run, under the key RUN:N, until the tool answers. `unknown` means that no answer
came; it is tried again under the same key. `dead` waits for a person, and so do the calls behind it.";

/// List, send, retry or drop calls of tools that are sent after the commit
#[derive(Debug, clap::Subcommand)]
#[command(after_help = EXAMPLES)]
pub(crate) enum Command {
    /// Calls that are not done, oldest first
    List {
        /// Every call of this run, done or not
        #[arg(long, value_name = "ID")]
        run: Option<String>,
    },
    /// Send what may be sent now
    Send,
    /// Have a call tried again
    Retry {
        /// The call's key, such as `06ewdk…:1`
        key: String,
    },
    /// Give a call up
    Drop {
        /// The call's key, such as `06ewdk…:1`
        key: String,
    },
}

/// Carries out `ordain tools outbox`.
pub(crate) fn run(args: &RecordArgs, command: &Command) -> Outcome {
    let tools = args.workspace.load()?.tools;
    workspace::with_store(&args.workspace, |store| async move {
        match command {
            Command::List { run } => list(args, &store, run.as_deref()).await?,
            Command::Send => {
                let tried = ordain_engine::deliver(&store, &tools).await?;
                if !args.json {
                    writeln!(io::stderr(), "{tried} tries")?;
                }
                list(args, &store, None).await?;
            }
            Command::Retry { key } => show(args, &[store.retry_call(key, note()).await?])?,
            Command::Drop { key } => show(args, &[store.drop_call(key, note()).await?])?,
        }
        Ok(ExitCode::SUCCESS)
    })
}

async fn list(args: &RecordArgs, store: &Store, run: Option<&str>) -> Result<(), Failure> {
    let run: Option<RunId> = match run {
        Some(run) => Some(store.run(run).await?.run_id),
        None => None,
    };
    let calls = store.outbox(run.as_ref(), LISTED_MAX).await?;
    if calls.is_empty() && !args.json {
        writeln!(io::stderr(), "nothing waits to be sent")?;
        return Ok(());
    }
    Ok(show(args, &calls)?)
}

fn show(args: &RecordArgs, calls: &[Outgoing]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if args.json {
        return writeln!(out, "{:#}", json!(calls));
    }
    let mut grid = Grid::new(["call", "tool", "state", "tries", "result or error"]);
    for call in calls {
        let result = call.result.as_ref().map(ToString::to_string);
        let told = call.error.clone().or(result).unwrap_or_default();
        let told = cut(&line(&told), 80);
        grid.row([
            call.key.clone(),
            line(&call.name),
            call.state.as_str().to_owned(),
            call.attempts.to_string(),
            told,
        ]);
    }
    grid.write(&mut out, "")
}
