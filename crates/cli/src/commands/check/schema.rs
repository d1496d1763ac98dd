//! `ordain check schema`: JSON Schemas for editors and for readers of reports.

use std::io::{self, Write};
use std::process::ExitCode;

use ordain_checks::checks_schema;
use ordain_checks::report::run_report_schema;

use crate::failure::Outcome;

const EXAMPLES: &str = "\
Examples:
  ordain check schema > checks.schema.json            then name it in your editor's settings
  ordain check schema --report                        of what `check run --format json` prints";

/// Print the JSON Schema of check files
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The schema of the JSON report instead
    #[arg(long)]
    report: bool,
}

/// Carries out `ordain check schema`.
pub(super) fn run(args: &Args) -> Outcome {
    let schema = if args.report { run_report_schema() } else { checks_schema() };
    let text = serde_json::to_string_pretty(&schema)? + "\n";
    match io::stdout().lock().write_all(text.as_bytes()) {
        // The reader of our output has gone, which is no failure of ours.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(ExitCode::SUCCESS),
        written => written.map(|()| ExitCode::SUCCESS).map_err(Into::into),
    }
}
