//! `ordain bench`: measures, in one run, against a named peer.

mod ask;
mod cells;
mod checks;
mod cluster;
mod compare;
mod load;
mod sample;
mod serve;
mod setup;
mod shop;
mod store;
mod strategies;
mod ui;
mod verify;

use std::io::{self, Write as _};
use std::path::PathBuf;

use clap::{Parser, Subcommand};

const EXAMPLES: &str = "\
Examples:
  cargo xtask bench cells              cells against python3 and bubblewrap, about a minute
  cargo xtask bench cells --quick      fewer rounds
  cargo xtask bench cells --json       for a program
  cargo xtask bench checks             checks against plain pandas, about a minute
  cargo xtask bench checks --peers peers/bin/python --large    and against Great Expectations, pandera and DuckDB
  cargo xtask bench cluster --postgres postgres://… --cluster nats://…    up to three nodes, and one that is lost
  cargo xtask bench ask                requests with kept plans and with new ones, some seconds
  cargo xtask bench serve              the HTTP service at 1, 8 and 64 clients, about a minute
  cargo xtask bench strategies         what a step costs, steps side by side, a long session
  cargo xtask bench ui                 pages of the web UI with 100,000 runs stored, and in Chromium, some minutes
  cargo xtask bench verify             verdicts against Python's ast, some seconds
  cargo xtask bench store              a purchase on up to a million rows, about two minutes
  cargo xtask bench store --postgres postgres://…    one writer and four, in line and side by side, half a minute
  cargo xtask bench ask --bin OLD/ordain-bench --bin NEW/ordain-bench    two builds in turns, nine pairs";

/// Measure against named peers
#[derive(Debug, Parser)]
#[command(name = "cargo xtask bench", after_help = EXAMPLES)]
struct Cli {
    /// Compare two builds of this program, each with the `ordain` beside it: named twice, the old one first
    #[arg(long, global = true, value_name = "PROGRAM")]
    bin: Vec<PathBuf>,
    /// How often both measure, in turns
    #[arg(long, global = true, value_name = "N", default_value_t = 9, requires = "bin")]
    pairs: usize,
    #[command(subcommand)]
    what: Bench,
}

/// Says what is being measured now.
fn progress(what: &str) {
    let _ = writeln!(io::stderr(), "{what}");
}

/// What most of them take.
#[derive(Debug, clap::Args)]
struct UsualArgs {
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

fn main() -> anyhow::Result<()> {
    let Cli { bin, pairs, what } = Cli::parse();
    if let Some((old, new)) = compare::pair(&bin)? {
        return compare::run(old, new, pairs);
    }
    match what {
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
