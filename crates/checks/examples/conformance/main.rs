//! Runs outside cases against the built-in kinds and prints how many agree: `cargo xtask conformance`. Each case becomes a
//! check, is compiled, verified and run by real pandas in a real cell, and what comes out is held against what it says.
//!
//! The cases are data of another project and stay outside this repository; their folder is given. A case agrees if its
//! verdict, its failing rows (by row number and value) and its observed figure agree, as far as the case gives them.
//! A case that expects an exception agrees if the check is refused or ends in an error, and never if it is graded.

mod cases;
mod compare;
mod known;
mod report;
mod run;

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;

use crate::report::Report;

/// Runs every case of a folder through a real cell and holds what comes out against what the case says
#[derive(Debug, Parser)]
#[command(name = "conformance")]
struct Cli {
    /// The folder with the files of cases
    #[arg(long)]
    cases: PathBuf,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
    /// Fail if fewer cases agree
    #[arg(long, default_value_t = 0)]
    at_least: usize,
}

#[tokio::main]
async fn main() -> Result<ExitCode> {
    let cli = Cli::parse();
    let prepared = cases::prepare(&cli.cases).await?;
    let report = Report::new(&prepared, run::all(&prepared).await?);
    if cli.json {
        serde_json::to_writer_pretty(io::stdout(), &report)?;
        writeln!(io::stdout())?;
    } else {
        writeln!(io::stdout(), "{report}")?;
    }
    if report.total.differing() > 0 {
        writeln!(io::stderr(), "error: {} cases differ, and not on purpose", report.total.differing())?;
        return Ok(ExitCode::FAILURE);
    }
    if report.total.agreed < cli.at_least {
        writeln!(io::stderr(), "error: {} cases agree, fewer than {}", report.total.agreed, cli.at_least)?;
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}
