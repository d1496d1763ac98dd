//! `ordain read`: what the reader understands of a request, and which word it does not.

use std::io::{self, Write};
use std::process::ExitCode;

use serde_json::Value;

use crate::engine;
use crate::failure::FAILED;
use crate::runtime;
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
    let executor = match engine::executor(&found, 0, None) {
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
    let readings = shown["readings"].as_array().map_or(0, Vec::len);
    Ok(if readings == 1 { ExitCode::SUCCESS } else { ExitCode::from(FAILED) })
}

fn print(out: &mut impl Write, shown: &Value) -> io::Result<()> {
    let text = |value: &Value| crate::show::line(value.as_str().unwrap_or_default());
    for token in shown["tokens"].as_array().into_iter().flatten() {
        let is: Vec<String> = token["is"].as_array().into_iter().flatten().map(&text).collect();
        writeln!(out, "{:<20} {}", text(&token["text"]), is.join(", "))?;
    }
    let readings = shown["readings"].as_array().map(Vec::as_slice).unwrap_or_default();
    if readings.is_empty() {
        let word = shown["not_understood"].as_str().unwrap_or("the request as a whole");
        writeln!(out, "\nnot understood: {}", crate::show::line(word))?;
    }
    for (at, reading) in readings.iter().enumerate() {
        writeln!(out, "\n{}. {}", at + 1, text(&reading["reading"]))?;
        if readings.len() == 1 {
            writeln!(out, "\n{}", reading["code"].as_str().unwrap_or("(no code)"))?;
            writeln!(out, "params: {}", reading["params"])?;
        }
    }
    Ok(())
}
