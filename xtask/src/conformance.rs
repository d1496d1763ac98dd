//! `cargo xtask conformance`: holds the built-in kinds against outside cases of data checks.
//!
//! The cases belong to another project and stay outside this repository, so their folder is given. The work is done by an
//! example program of the checks, which links the cells; this one stays quick to build.

use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::step::{self, cargo, say};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  cargo xtask conformance --cases ../cases/gx\n  cargo xtask conformance --cases ../cases/gx --json --at-least 450"
)]
pub(crate) struct Args {
    /// The folder with the files of cases; without it nothing is run
    #[arg(long, value_name = "DIR")]
    cases: Option<PathBuf>,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
    /// Fail if fewer cases agree
    #[arg(long, value_name = "N")]
    at_least: Option<usize>,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let Some(cases) = &args.cases else {
        say("skipped: the cases are not part of this repository; give their folder with --cases DIR");
        return Ok(());
    };
    // The command runs in the repository's root, wherever this one was called.
    let cases =
        std::path::absolute(cases).with_context(|| format!("failed to find `{}`", cases.display()))?;
    let mut command =
        cargo(["run", "--quiet", "--package", "ordain-checks", "--example", "conformance", "--"]);
    command.arg("--cases").arg(cases);
    if args.json {
        command.arg("--json");
    }
    if let Some(least) = args.at_least {
        command.args(["--at-least", &least.to_string()]);
    }
    step::run(command)
}
