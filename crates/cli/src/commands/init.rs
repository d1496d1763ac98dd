//! `ordain init`: a new workspace.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use ordain_engine::{EXAMPLES as READY, init};
use serde_json::json;

use crate::failure;

const EXAMPLES: &str = "\
Examples:
  ordain init --example sunglasses shop    a shop with stock, sales and rules, ready to be asked
  ordain init my-workspace                 an empty workspace

Examples to start from: sunglasses, bike-parts, library, bank, clinic, data-quality, sales-files.";

/// Make a new workspace
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The folder to make; it must be new or empty
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Start from an example
    #[arg(long, value_name = "NAME")]
    example: Option<String>,
    /// Print what was made as JSON
    #[arg(long)]
    json: bool,
}

/// Carries out `ordain init`.
pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let files = match init(&args.folder, args.example.as_deref()) {
        Ok(files) => files,
        Err(error) => {
            failure::print(&error, error.hint().as_deref());
            return Ok(ExitCode::from(failure::USAGE));
        }
    };
    if args.json {
        writeln!(io::stdout(), "{:#}", json!({ "workspace": args.folder, "files": files }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut stdout = io::stdout().lock();
    for file in &files {
        writeln!(stdout, "{}", args.folder.join(file).display())?;
    }
    let example = READY.iter().find(|example| Some(example.name) == args.example.as_deref());
    let first = example.map_or("edit ordain.toml", |example| example.first);
    writeln!(io::stderr(), "next: cd {} && {first}", args.folder.display())?;
    Ok(ExitCode::SUCCESS)
}
