//! The `ordain` command.

mod commands;

use std::io::Write as _;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Debug, Parser)]
#[command(name = "ordain", version, about = "Code is the plan: verified, jailed, transactional Python")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Verify(commands::verify::Args),
    Bench(commands::bench::Args),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let result = match cli.command {
        Command::Verify(args) => commands::verify::run(args),
        Command::Bench(args) => commands::bench::run(args),
    };
    result.unwrap_or_else(|error| {
        // Nobody can be told if stderr is closed.
        let _ = writeln!(std::io::stderr(), "error: {error:#}");
        ExitCode::from(2)
    })
}
