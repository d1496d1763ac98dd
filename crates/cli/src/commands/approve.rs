//! `ordain approve`.

use std::process::ExitCode;

use crate::commands::decide;

const EXAMPLES: &str = "\
Examples:
  ordain approve 06ewdk        the run's id, or the beginning of it

If a row that the diff touches has changed meanwhile, nothing is changed, and the rows are named.";

/// Commit the very diff that a held run showed
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    decision: decide::RunArgs,
}

/// Carries out `ordain approve`.
pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    decide::run(&args.decision, decide::Decision::Approve)
}
