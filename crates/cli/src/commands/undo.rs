//! `ordain undo`.

use crate::commands::decide;
use crate::failure::Outcome;

const EXAMPLES: &str = "\
Examples:
  ordain undo last             the newest change of yours that stands
  ordain undo 06ewdk           the run's id, or the beginning of it
  ordain undo 06ewdk --rest    without what rows had in columns that came after the run

If a row has changed since, nothing is changed, and the rows are named.";

/// Take back what a committed run changed
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    decision: decide::RunArgs,
    /// Restore the rest where a column came after the run, whose values cannot be known
    #[arg(long)]
    rest: bool,
}

/// Carries out `ordain undo`.
pub(crate) fn run(args: &Args) -> Outcome {
    decide::run(&args.decision, decide::Decision::Undo { rest: args.rest })
}
