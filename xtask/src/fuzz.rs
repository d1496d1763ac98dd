//! `cargo xtask fuzz NAME`: tries one of the readers of hostile input for a while.

use std::time::SystemTime;

use anyhow::{Result, bail};

use crate::step::{self, cargo};

/// The targets, and the crate in whose tests each is.
const TARGETS: [(&str, &str); 6] = [
    ("wire_frames", "ordain-cell"),
    ("upload_names", "ordain-cell"),
    ("sql_judge", "ordain-store"),
    ("model_replies", "ordain-planner"),
    ("requests", "ordain-planner"),
    ("workspace_file", "ordain-workspace"),
];

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  cargo xtask fuzz upload_names\n  cargo xtask fuzz wire_frames --seconds 600 --seed 7"
)]
pub(crate) struct Args {
    /// The target: `wire_frames`, `upload_names`, `sql_judge`, `model_replies`, `requests` or `workspace_file`
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
    target(name, package, args.seconds, args.seed)
}

/// Tries every target for a while, from another number each day.
pub(crate) fn all(seconds: u64) -> Result<()> {
    let today = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?.as_secs() / 86_400;
    TARGETS.iter().try_for_each(|(name, package)| target(name, package, seconds, today))
}

fn target(name: &str, package: &str, seconds: u64, seed: u64) -> Result<()> {
    let filter = format!("fuzz_{name}");
    let mut command = cargo(["test", "--release", "--package", package, &filter, "--", "--nocapture"]);
    command.env("ORDAIN_FUZZ_SECONDS", seconds.to_string());
    command.env("ORDAIN_FUZZ_SEED", seed.to_string());
    step::run(command)
}
