//! `cargo xtask fuzz NAME`: tries one of the readers of hostile input for a while.

use anyhow::{Result, bail};

use crate::step::{self, cargo};

/// The targets, and the crate in whose tests each is.
const TARGETS: [(&str, &str); 2] = [("wire_frames", "ordain-cell"), ("upload_names", "ordain-cell")];

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  cargo xtask fuzz upload_names\n  cargo xtask fuzz wire_frames --seconds 600 --seed 7"
)]
pub(crate) struct Args {
    /// The target: `wire_frames` or `upload_names`
    name: String,
    /// For how long
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// The number that inputs are made from
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let Some((name, package)) = TARGETS.iter().find(|(name, _)| *name == args.name) else {
        let known: Vec<&str> = TARGETS.iter().map(|(name, _)| *name).collect();
        bail!("there is no target `{}`; there are {}", args.name, known.join(", "));
    };
    let filter = format!("fuzz_{name}");
    let mut command = cargo(["test", "--release", "--package", package, &filter, "--", "--nocapture"]);
    command.env("ORDAIN_FUZZ_SECONDS", args.seconds.to_string());
    command.env("ORDAIN_FUZZ_SEED", args.seed.to_string());
    step::run(command)
}
