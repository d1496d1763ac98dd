//! `ordain read`: what the reader understands of a request, and which word it does not.

use std::io::{self, Write};
use std::process::ExitCode;

use ordain_planner::reader::Explained;

use crate::engine;
use crate::failure::FAILED;
use crate::runtime;
use crate::show::line;
use crate::workspace::{self, WorkspaceArgs};

/// Show what the reader understands of a request, without carrying it out
///
/// Exit code 0: one reading, 1: none or several.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  ordain read \"round frames under $100\"        the words, what they mention, the reading and its code
  ordain read \"Buy 2 purple moons\" --json      the same as JSON")]
pub(crate) struct Args {
    /// The request
    request: String,
    #[command(flatten)]
    workspace: WorkspaceArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Carries out `ordain read`.
pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let found = match args.workspace.load() {
        Ok(found) => found,
        Err(error) => return Ok(workspace::of_workspace(&error)),
    };
    let executor = match engine::executor(&found, 0) {
        Ok(executor) => executor,
        Err(error) => return Ok(crate::failure::of_cell(&error)),
    };
    let read = runtime::on_two_threads(Box::pin(async {
        let opened = engine::open(&found, executor, found.settings()).await?;
        opened.read(&args.request).await
    }))?;
    let shown = match read {
        Ok(shown) => shown,
        Err(error) => return Ok(engine::of_engine(&error)),
    };
    let mut out = io::stdout().lock();
    if args.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&shown)?)?;
    } else {
        print(&mut out, &shown)?;
    }
    Ok(if shown.readings.len() == 1 { ExitCode::SUCCESS } else { ExitCode::from(FAILED) })
}

fn print(out: &mut impl Write, shown: &Explained) -> io::Result<()> {
    for token in &shown.tokens {
        let means = if token.mentions.is_empty() { token.kind.to_owned() } else { token.mentions.join(", ") };
        writeln!(out, "{:<20} {}", line(&token.text), line(&means))?;
    }
    if let Some(unknown) = &shown.not_understood {
        writeln!(out, "\nnot understood: {}", line(&unknown.text))?;
    }
    for (at, reading) in shown.readings.iter().enumerate() {
        writeln!(out, "\n{}. {}", at + 1, line(&reading.reading))?;
        if let [only] = shown.readings.as_slice() {
            writeln!(out, "\n{}", only.code.as_deref().unwrap_or("(no code)"))?;
            let params: Vec<String> =
                only.params.iter().map(|param| format!("{} = {}", param.name, param.value)).collect();
            writeln!(out, "params: {}", line(&params.join(", ")))?;
        }
    }
    Ok(())
}
