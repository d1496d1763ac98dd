//! `cargo xtask attacks`: runs hostile programs in cells and judges whether each was contained.
//!
//! The work is done by a program of the testkit, which links the cells; this one stays quick to build.

use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::step::{self, cargo};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  cargo xtask attacks\n  cargo xtask attacks --dir ../more --json")]
pub(crate) struct Args {
    /// The folder with the programs, instead of the repository's own catalogue
    #[arg(long)]
    dir: Option<PathBuf>,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
    /// The Python packages that programs can import: core, data or full
    #[arg(long, default_value = "data")]
    profile: String,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let mut command =
        cargo(["run", "--quiet", "--release", "--package", "ordain-testkit", "--bin", "attacks", "--"]);
    command.args(["--profile", &args.profile]);
    if let Some(dir) = &args.dir {
        // The command runs in the repository's root, wherever this one was called.
        let dir = std::path::absolute(dir).with_context(|| format!("failed to find `{}`", dir.display()))?;
        command.arg("--dir").arg(dir);
    }
    if args.json {
        command.arg("--json");
    }
    step::run(command)
}
