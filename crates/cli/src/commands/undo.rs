//! `ordain undo`.

use crate::commands::decide;
use crate::failure::Outcome;

const EXAMPLES: &str = "\
Examples:
  ordain undo 06ewdk           the run's id, or the beginning of it

If a row has changed since, nothing is changed, and the rows are named.";

/// Take back what a committed run changed
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    decision: decide::RunArgs,
}

/// Carries out `ordain undo`.
pub(crate) fn run(args: &Args) -> Outcome {
    decide::run(&args.decision, decide::Decision::Undo)
}
