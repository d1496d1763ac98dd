//! `cargo xtask bench`: measures, with the measuring program and the product built alike.

use std::ffi::OsString;
use std::process::Command;

use anyhow::Result;

use crate::step::{self, cargo};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// What to measure, and how; `--help` tells
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    step::run(cargo(["build", "--release", "--package", "ordain-cli", "--package", "ordain-bench"]))?;
    let folder = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| step::root().join("target"), Into::into);
    // Paths among the arguments are meant from where the caller stands, so the program is started there.
    let mut command = Command::new(folder.join("release/ordain-bench"));
    command.args(&args.arguments);
    step::run(command)
}
