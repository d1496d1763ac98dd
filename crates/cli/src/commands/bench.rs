//! `ordain bench`: measures, in one run, against a named peer.

mod ask;
mod cells;
mod sample;
mod store;
mod verify;

use std::process::ExitCode;

use clap::Subcommand;

const EXAMPLES: &str = "\
Examples:
  ordain bench cells              cells against python3 and bubblewrap, about a minute
  ordain bench cells --quick      fewer rounds
  ordain bench cells --json       for a program
  ordain bench ask                requests with kept plans and with new ones, some seconds
  ordain bench verify             verdicts against Python's ast, some seconds
  ordain bench store              a purchase on up to a million rows, about two minutes";

/// Measure against named peers
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: Bench,
}

#[derive(Debug, Subcommand)]
enum Bench {
    /// Requests from words to answers, with kept plans and with plans written anew
    #[command(after_help = EXAMPLES)]
    Ask(ask::Args),
    /// Warm and fresh cells, with and without pandas, against plain python3 and bubblewrap
    #[command(after_help = EXAMPLES)]
    Cells(cells::Args),
    /// A purchase on small and large tables, against TinyDB with JSON storage
    #[command(after_help = EXAMPLES)]
    Store(store::Args),
    Verify(verify::Args),
}

/// Carries out `ordain bench …`.
pub(crate) fn run(args: Args) -> anyhow::Result<ExitCode> {
    match args.what {
        Bench::Ask(args) => ask::run(&args),
        Bench::Cells(args) => cells::run(&args),
        Bench::Store(args) => store::run(&args),
        Bench::Verify(args) => verify::run(&args),
    }
}
