//! The `ordain` command.

mod cluster;
mod commands;
mod engine;
mod executor;
mod failure;
mod given;
mod planner;
mod resident;
mod runtime;
mod show;
mod switched_off;
mod trace;
mod typed;
mod verification;
mod workspace;

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
    Answer(commands::answer::Command),
    Approve(commands::approve::Args),
    Ask(commands::ask::Args),
    Backup(commands::backup::Args),
    Chat(commands::chat::Args),
    Check(commands::check::Args),
    Cluster(commands::cluster::Args),
    Code(commands::code::Args),
    Config(commands::config::Args),
    Data(commands::data::Args),
    Demo(commands::demo::Args),
    Doctor(commands::doctor::Args),
    Eval(commands::eval::Args),
    Exec(commands::exec::Args),
    Executor(commands::executor::Args),
    Import(commands::import::Args),
    Init(commands::init::Args),
    Keys(commands::keys::Args),
    Ledger(commands::ledger::Args),
    Mcp(commands::mcp::Args),
    Models(commands::models::Args),
    Outbox(commands::outbox::Args),
    Plans(commands::plans::Args),
    Policy(commands::policy::Args),
    Python(commands::python::Args),
    Read(commands::read::Args),
    Reject(commands::reject::Args),
    Repl(commands::repl::Args),
    Reseed(commands::reseed::Args),
    Resident(commands::resident::Args),
    Restore(commands::backup::RestoreArgs),
    Runs(commands::runs::Args),
    Schedule(commands::schedule::Args),
    Serve(commands::serve::Args),
    Stats(commands::stats::Args),
    Store(commands::store::Args),
    Tables(commands::tables::Args),
    Tools(commands::tools::Args),
    Trust(commands::trust::Args),
    Ui(commands::ui::Args),
    Undo(commands::undo::Args),
    Verify(commands::verify::Args),
}

/// Whatever the umask of the caller is: what this program makes, nobody else may write.
fn keep_others_from_writing() {
    use rustix::fs::Mode;
    use rustix::process::umask;
    let asked = umask(Mode::RWXG | Mode::RWXO);
    umask(asked | Mode::WGRP | Mode::WOTH);
}

fn main() -> ExitCode {
    keep_others_from_writing();
    let cli = Cli::parse();
    let is_code =
        matches!(cli.command, Command::Code(_) | Command::Exec(_) | Command::Executor(_) | Command::Repl(_));
    if is_code && !switched_off::is_code_enabled() {
        return switched_off::refused().report();
    }
    let result = match cli.command {
        Command::Answer(args) => commands::answer::run(&args),
        Command::Approve(args) => commands::approve::run(&args),
        Command::Ask(args) => commands::ask::run(&args),
        Command::Backup(args) => commands::backup::run(&args),
        Command::Chat(args) => commands::chat::run(&args),
        Command::Check(args) => commands::check::run(args),
        Command::Cluster(args) => commands::cluster::run(&args),
        Command::Code(args) => commands::code::run(&args),
        Command::Config(args) => commands::config::run(&args),
        Command::Data(args) => commands::data::run(&args),
        Command::Demo(args) => commands::demo::run(&args),
        Command::Doctor(args) => commands::doctor::run(&args),
        Command::Eval(args) => commands::eval::run(&args),
        Command::Exec(args) => commands::exec::run(args),
        Command::Executor(args) => commands::executor::run(args),
        Command::Import(args) => commands::import::run(&args),
        Command::Init(args) => commands::init::run(&args),
        Command::Keys(args) => commands::keys::run(args),
        Command::Ledger(args) => commands::ledger::run(args),
        Command::Mcp(args) => commands::mcp::run(&args),
        Command::Models(args) => commands::models::run(&args),
        Command::Outbox(args) => commands::outbox::run(&args),
        Command::Plans(args) => commands::plans::run(&args),
        Command::Policy(args) => commands::policy::run(&args),
        Command::Python(args) => commands::python::run(args),
        Command::Read(args) => commands::read::run(&args),
        Command::Reject(args) => commands::reject::run(&args),
        Command::Repl(args) => commands::repl::run(&args),
        Command::Reseed(args) => commands::reseed::run(&args),
        Command::Resident(args) => commands::resident::run(&args),
        Command::Restore(args) => commands::backup::restore(&args),
        Command::Runs(args) => commands::runs::run(args),
        Command::Schedule(args) => commands::schedule::run(&args),
        Command::Serve(args) => commands::serve::run(args),
        Command::Stats(args) => commands::stats::run(&args),
        Command::Store(args) => commands::store::run(&args),
        Command::Tables(args) => commands::tables::run(args),
        Command::Tools(args) => commands::tools::run(&args),
        Command::Trust(args) => commands::trust::run(&args),
        Command::Ui(args) => commands::ui::run(&args),
        Command::Undo(args) => commands::undo::run(&args),
        Command::Verify(args) => commands::verify::run(&args),
    };
    result.unwrap_or_else(|failure| failure.report())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn ordain_ui_and_every_other_command_can_be_described() {
        super::Cli::command().debug_assert();
    }
}
