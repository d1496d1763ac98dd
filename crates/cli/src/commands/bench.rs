//! `ordain bench`: measures, in one run, against a named peer.

mod ask;
mod cells;
mod checks;
mod cluster;
mod load;
mod sample;
mod serve;
mod shop;
mod store;
mod strategies;
mod ui;
mod verify;

use std::io::{self, Write as _};

use clap::Subcommand;

use crate::failure::Outcome;

const EXAMPLES: &str = "\
Examples:
  ordain bench cells              cells against python3 and bubblewrap, about a minute
  ordain bench cells --quick      fewer rounds
  ordain bench cells --json       for a program
  ordain bench checks             checks against plain pandas, about a minute
  ordain bench checks --peers peers/bin/python --large    and against Great Expectations, pandera and DuckDB
  ordain bench cluster --postgres postgres://… --cluster nats://…    up to three nodes, and one that is lost
  ordain bench ask                requests with kept plans and with new ones, some seconds
  ordain bench serve              the HTTP service at 1, 8 and 64 clients, about a minute
  ordain bench strategies         what a step costs, steps side by side, a long session
  ordain bench ui                 pages of the web UI with 100,000 runs stored, and in Chromium, some minutes
  ordain bench verify             verdicts against Python's ast, some seconds
  ordain bench store              a purchase on up to a million rows, about two minutes
  ordain bench store --postgres postgres://…    one writer and four, in line and side by side, half a minute";

/// Measure against named peers
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: Bench,
}

/// Says what is being measured now.
fn progress(what: &str) {
    let _ = writeln!(io::stderr(), "{what}");
}

/// What most of them take.
#[derive(Debug, clap::Args)]
pub(crate) struct UsualArgs {
    /// Fewer rounds
    #[arg(long)]
    quick: bool,
    /// Print the figures as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Bench {
    /// Requests from words to answers, with kept plans and with plans written anew
    #[command(after_help = EXAMPLES)]
    Ask(UsualArgs),
    /// Warm and fresh cells, with and without pandas, against plain python3 and bubblewrap
    #[command(after_help = EXAMPLES)]
    Cells(UsualArgs),
    /// The HTTP service on loopback, against the same calls in this process
    #[command(after_help = EXAMPLES)]
    Serve(UsualArgs),
    /// Checks on small and large tables, against plain Python, Great Expectations, pandera and DuckDB
    #[command(after_help = EXAMPLES)]
    Checks(checks::Args),
    /// Nodes of a cluster, against one server alone
    #[command(after_help = EXAMPLES)]
    Cluster(cluster::Args),
    /// A purchase on small and large tables, against TinyDB with JSON storage
    #[command(after_help = EXAMPLES)]
    Store(store::Args),
    /// What a step of a run costs besides its model and its code
    #[command(after_help = EXAMPLES)]
    Strategies(UsualArgs),
    /// Pages of the web UI with many runs stored, on the server and in Chromium
    #[command(after_help = EXAMPLES)]
    Ui(ui::Args),
    Verify(verify::Args),
}

/// Carries out `ordain bench …`.
pub(crate) fn run(args: Args) -> Outcome {
    match args.what {
        Bench::Ask(args) => ask::run(&args),
        Bench::Cells(args) => cells::run(&args),
        Bench::Serve(args) => serve::run(&args),
        Bench::Checks(args) => checks::run(&args),
        Bench::Cluster(args) => cluster::run(&args),
        Bench::Store(args) => store::run(&args),
        Bench::Strategies(args) => strategies::run(&args),
        Bench::Ui(args) => ui::run(&args),
        Bench::Verify(args) => verify::run(&args),
    }
}
