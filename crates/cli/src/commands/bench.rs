//! `ordain bench`: measures, in one run, against a named peer.

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
        Bench::Cells(args) => cells::run(&args),
        Bench::Store(args) => store::run(&args),
        Bench::Verify(args) => verify::run(&args),
    }
}
