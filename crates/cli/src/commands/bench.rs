//! `ordain bench`: how fast the parts are, on this machine, against a peer.

use std::process::ExitCode;

use clap::Subcommand;

use super::bench_verify;

/// Measure how fast the parts are on this machine, against a peer.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: BenchCommand,
}

#[derive(Debug, Subcommand)]
enum BenchCommand {
    Verify(bench_verify::Args),
}

pub(crate) fn run(args: Args) -> anyhow::Result<ExitCode> {
    match args.what {
        BenchCommand::Verify(args) => bench_verify::run(args),
    }
}
