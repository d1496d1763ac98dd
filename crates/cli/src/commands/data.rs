//! `ordain tables describe`: what files hold, as declarations for `ordain.toml`.

use std::io::{self, Write};
use std::process::ExitCode;

use serde_json::json;

use super::init::{from, proposal};
use crate::failure::Outcome;

const EXAMPLES: &str = "\
Examples:
  ordain tables describe orders.csv        how its columns are read, with the reasons
  ordain tables describe exports --toml    the tables of a folder's files, as sections for ordain.toml

`ordain init --from` and `ordain import` write the same sections and load the rows.";

/// Look into files and propose how `ordain.toml` can declare their tables
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Files, folders of files, or patterns
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    /// Print the sections
    #[arg(long, conflicts_with = "json")]
    toml: bool,
    /// Print what was found as JSON
    #[arg(long)]
    json: bool,
}

/// Carries out `ordain tables describe`.
pub(crate) fn run(args: &Args) -> Outcome {
    let looked = from::Looked::at(&args.files)?;
    let mut out = io::stdout().lock();
    if args.json {
        writeln!(out, "{:#}", json!({ "tables": looked.tables, "problems": looked.problems }))?;
    } else if args.toml {
        out.write_all(proposal::sections(&looked.tables).as_bytes())?;
    } else {
        proposal::write_table(&mut out, &looked.tables)?;
    }
    for problem in &looked.problems {
        writeln!(io::stderr(), "warning: {problem}")?;
    }
    Ok(if looked.problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
