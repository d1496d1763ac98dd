//! `ordain init`: a new workspace, empty, from an example, or from somebody's own tables.

mod database;
pub(super) mod from;
pub(super) mod proposal;

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use ordain_workspace::{EXAMPLES as READY, init};
use serde_json::json;

use crate::failure::Outcome;

const EXAMPLES: &str = "\
Examples:
  ordain init shop --from orders.csv customers.xlsx    your own tables, after a look and a question
  ordain init shop --from exports 'more/*.csv' --yes   folders and patterns, without a question
  ordain init shop --from postgres://me@host/shop      a database, whose tables stay where they are
  ordain init --example sunglasses shop                a shop with stock, sales and rules, ready to be asked
  ordain init my-workspace                             an empty workspace

With --from every file is looked at in a cell. What is proposed is shown with the reason for it: keys, references, types,
units, identifiers, columns to search by. After a yes the rows are copied into the workspace; your files stay as they are.
Examples to start from: sunglasses, bike-parts, library, bank, clinic, data-quality, sales-files.";

/// Make a new workspace
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The folder to make: new or empty
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Start from your own tables: files (CSV, workbooks, JSON, Parquet, SQLite …), folders of files, patterns,
    /// or the address of a PostgreSQL database
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with = "example")]
    from: Vec<String>,
    /// Start from an example
    #[arg(long, value_name = "NAME")]
    example: Option<String>,
    /// Write what is proposed without a question
    #[arg(long, short = 'y', requires = "from")]
    yes: bool,
    /// Print what was made as JSON
    #[arg(long)]
    json: bool,
}

/// Carries out `ordain init`.
pub(crate) fn run(args: &Args) -> Outcome {
    if database::is_address(&args.from) {
        return database::run(args);
    }
    if !args.from.is_empty() {
        return from::run(args);
    }
    let files = init(&args.folder, args.example.as_deref())?;
    let example = READY.iter().find(|example| Some(example.name) == args.example.as_deref());
    if args.json {
        writeln!(io::stdout(), "{:#}", json!({ "workspace": args.folder, "files": files }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut stdout = io::stdout().lock();
    for file in files {
        writeln!(stdout, "{}", args.folder.join(file).display())?;
    }
    let first = example.map_or("edit ordain.toml", |example| example.first);
    writeln!(io::stderr(), "next: cd {} && {first}", args.folder.display())?;
    Ok(ExitCode::SUCCESS)
}
