//! `ordain check export`: checks as other tools' files.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use ordain_checks::export::{Target, export};
use ordain_checks::{Check, Selection};
use ordain_engine::Workspace;
use ordain_engine::checks::write_file;

use crate::failure::{self, USAGE};
use crate::show::line;

const EXAMPLES: &str = "\
Examples:
  ordain check export --to gx > suite.json
  ordain check export --to dbt --select table:orders --output models/schema.yml
  ordain check export --to yaml                       our own records, as YAML

Checks that the other tool cannot express are named on standard error with the reason.";

/// Write checks as another tool's file
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// As what: gx, dbt, soda, json or yaml
    #[arg(long, value_name = "TARGET")]
    to: Target,
    /// Which checks: `id:…`, `tag:…`, `owner:…`, `table:…`, separated by commas
    #[arg(long, value_name = "TERMS")]
    select: Vec<String>,
    /// The file to write, instead of standard output
    #[arg(long, short = 'o', value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print the text, the number of checks and those left out as one JSON record
    #[arg(long)]
    json: bool,
}

/// Carries out `ordain check export`.
pub(super) fn run(args: &Args, workspace: &Workspace) -> anyhow::Result<ExitCode> {
    let mut selection = Selection::default();
    for terms in &args.select {
        if let Err(error) = selection.add(terms) {
            failure::print(&error, Some(&error.hint));
            return Ok(ExitCode::from(USAGE));
        }
    }
    let files = match super::files(workspace) {
        Ok(files) => files,
        Err(code) => return Ok(code),
    };
    let is_wanted = |check: &Check| args.select.is_empty() || selection.holds(check);
    let checks: Vec<Check> =
        files.entries.into_iter().map(|entry| entry.check).filter(|check| is_wanted(check)).collect();
    let exported = export(args.to, &checks);
    let text = if args.json { serde_json::to_string_pretty(&exported)? + "\n" } else { exported.text };
    match &args.output {
        Some(file) => write_file(file, text.as_bytes())?,
        None => io::stdout().lock().write_all(text.as_bytes())?,
    }
    let mut stderr = io::stderr().lock();
    for left in &exported.unmapped {
        writeln!(stderr, "left out {} ({}): {}", line(&left.what), line(&left.place), line(&left.reason))?;
    }
    if !args.json {
        writeln!(stderr, "{} checks written, {} left out", exported.exported, exported.unmapped.len())?;
    }
    Ok(ExitCode::SUCCESS)
}
