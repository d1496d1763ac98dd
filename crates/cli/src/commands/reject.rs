//! `ordain reject`.

use crate::commands::decide;
use crate::failure::Outcome;

const EXAMPLES: &str = "\
Examples:
  ordain reject 06ewdk         the run's id, or the beginning of it";

/// Say no to a held run
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    decision: decide::RunArgs,
}

/// Carries out `ordain reject`.
pub(crate) fn run(args: &Args) -> Outcome {
    decide::run(&args.decision, decide::Decision::Reject)
}
