//! `cargo xtask simulate`: stores under schedules of work and faults that numbers decide.

use anyhow::Result;

use crate::step::{self, cargo};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  cargo xtask simulate --seeds 1000\n  cargo xtask simulate --from 17 --seeds 1 --database sqlite"
)]
pub(crate) struct Args {
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

pub(crate) fn run(args: &Args) -> Result<()> {
    let mut command = cargo(["run", "--quiet", "--package", "ordain-testkit", "--bin", "simulate", "--"]);
    command.args(["--seeds", &args.seeds.to_string(), "--from", &args.from.to_string()]);
    if let Some(database) = &args.database {
        command.args(["--database", database]);
    }
    step::run(command)
}
