//! Runs a folder of hostile programs through an executor and prints which were contained: `cargo xtask attacks`.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};
use clap::Parser;
use ordain_cell::profile::Profile;
use ordain_testkit::attacks::{self, Options};

/// Runs every program of a folder in a fresh cell, with only the jail to defend, and judges each by its header
#[derive(Debug, Parser)]
#[command(name = "attacks")]
struct Cli {
    /// The folder with the programs
    #[arg(long, default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/../cell/tests/attacks"))]
    dir: PathBuf,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
    /// The Python packages that programs can import: core, data or full
    #[arg(long, default_value = "data")]
    profile: Profile,
}

fn main() -> Result<ExitCode> {
    if attacks::serve_if_asked()? {
        return Ok(ExitCode::SUCCESS);
    }
    let cli = Cli::parse();
    let folder = cli.dir.canonicalize().with_context(|| format!("failed to find `{}`", cli.dir.display()))?;
    let executor = Command::new(std::env::current_exe()?);
    let options = Options { folder, profile: cli.profile, executor };
    let report = attacks::run(options, |judged| {
        if !cli.json {
            // A closed stdout is no reason to leave a round half done.
            let _ = writeln!(io::stdout(), "{judged}");
        }
    })?;
    if cli.json {
        serde_json::to_writer_pretty(io::stdout(), &report)?;
        writeln!(io::stdout())?;
    } else {
        writeln!(io::stdout(), "{report}")?;
    }
    Ok(if report.is_contained() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
