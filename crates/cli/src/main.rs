//! The `ordain` command.

mod commands;
mod failure;
mod verification;

use std::{
    io::{self, Write},
    process::ExitCode,
};

use clap::{Parser, Subcommand};

#[derive(Debug, Parser)]
#[command(name = "ordain", version, about = "Code is the plan: verified, jailed, transactional Python")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Bench(commands::bench::Args),
    Demo(commands::demo::Args),
    Doctor(commands::doctor::Args),
    Exec(commands::exec::Args),
    Python(commands::python::Args),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let result = match cli.command {
        Command::Bench(args) => commands::bench::run(args),
        Command::Demo(args) => commands::demo::run(&args),
        Command::Doctor(args) => commands::doctor::run(&args),
        Command::Exec(args) => commands::exec::run(args),
        Command::Python(args) => commands::python::run(args),
    };
    result.unwrap_or_else(|error| {
        let _ = writeln!(io::stderr(), "error: {error:#}");
        ExitCode::FAILURE
    })
}
