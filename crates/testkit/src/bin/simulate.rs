//! Runs schedules of work and faults on stores, and compares rows and ledger after each step: `cargo xtask simulate`.

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;
use ordain_testkit::simulate::{self, Base};

/// Carries out the schedules of numbers, on SQLite and on PostgreSQL
#[derive(Debug, Parser)]
#[command(name = "simulate")]
struct Cli {
    /// How many schedules, on each database
    #[arg(long, default_value_t = 50)]
    seeds: u64,
    /// The number of the first one
    #[arg(long, default_value_t = 1)]
    from: u64,
    /// Only on one of them: sqlite or postgres
    #[arg(long)]
    database: Option<String>,
}

fn main() -> Result<ExitCode> {
    // Before there is any thread, because another program takes this one's place.
    simulate::under_faults()?;
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(carry_out(Cli::parse()))
}

async fn carry_out(cli: Cli) -> Result<ExitCode> {
    let mut differences = 0;
    for base in [Base::Sqlite, Base::Postgres] {
        if cli.database.as_ref().is_some_and(|only| !base.to_string().to_lowercase().starts_with(only)) {
            continue;
        }
        for seed in cli.from..cli.from.saturating_add(cli.seeds) {
            if let Some(difference) = simulate::run(seed, base).await? {
                differences += 1;
                writeln!(io::stdout(), "{difference}")?;
            }
        }
    }
    writeln!(io::stdout(), "{} schedules on each database, {differences} differences", cli.seeds)?;
    Ok(if differences == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
