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

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

/// Groups of commands by what a person wants, in the order of the help.
const GROUPS: [(&str, &[&str]); 8] = [
    ("Start", &["demo", "init", "import", "doctor"]),
    ("Ask", &["ask", "chat", "code", "ui"]),
    ("Decide", &["approve", "reject", "undo"]),
    ("Check", &["check", "schedule"]),
    ("Look", &["runs", "tables", "ledger", "plans"]),
    ("Run code", &["exec", "verify"]),
    ("Serve", &["serve", "mcp", "executor"]),
    ("Set up", &["config", "keys", "models", "tools"]),
];

const EXAMPLES: &str = "\
Examples:
  ordain demo                                          a tour, in seconds
  ordain init shop --from orders.csv customers.xlsx    your own tables
  ordain ask -w shop \"total amount by customer\"
  ordain undo last -w shop

`ordain COMMAND --help` has examples of each.";

#[derive(Debug, Parser)]
#[command(
    name = "ordain",
    version,
    about = "Ask, change and check tables; every change is checked, shown and can be undone"
)]
struct Cli {
    /// The person for whom this is done, for the record [default: the system user]
    #[arg(long = "as", value_name = "NAME", global = true, value_parser = workspace::read_person)]
    person: Option<String>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Approve(commands::approve::Args),
    Ask(commands::ask::Args),
    Chat(commands::chat::Args),
    Check(commands::check::Args),
    Code(commands::code::Args),
    Config(commands::config::Args),
    Demo(commands::demo::Args),
    Doctor(commands::doctor::Args),
    Exec(commands::exec::Args),
    Executor(commands::executor::Args),
    Import(commands::import::Args),
    Init(commands::init::Args),
    Keys(commands::keys::Args),
    Ledger(commands::ledger::Args),
    Mcp(commands::mcp::Args),
    Models(commands::models::Args),
    Plans(commands::plans::Args),
    Reject(commands::reject::Args),
    Runs(commands::runs::Args),
    Schedule(commands::schedule::Args),
    Serve(commands::serve::Command),
    Tables(commands::tables::Args),
    Tools(commands::tools::Args),
    Ui(commands::ui::Args),
    Undo(commands::undo::Args),
    Verify(commands::verify::Args),
}

/// The command line, with its help in groups.
fn described() -> clap::Command {
    let command = Cli::command();
    let groups = GROUPS.map(|(title, names)| {
        let about = |name: &str| command.find_subcommand(name)?.get_about().map(ToString::to_string);
        let lines = names.iter().map(|name| format!("  {name:<9} {}\n", about(name).unwrap_or_default()));
        format!("{title}:\n{}", lines.collect::<String>())
    });
    let help = format!("{{about}}\n\n{{usage-heading}} {{usage}}\n\n{}\n{EXAMPLES}", groups.concat());
    command.help_template(help)
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
    let cli = Cli::from_arg_matches(&described().get_matches()).unwrap_or_else(|error| error.exit());
    workspace::act_as(cli.person);
    let is_code = matches!(cli.command, Command::Code(_) | Command::Exec(_) | Command::Executor(_));
    if is_code && !switched_off::is_code_enabled() {
        return switched_off::refused().report();
    }
    let result = match cli.command {
        Command::Approve(args) => commands::approve::run(&args),
        Command::Ask(args) => commands::ask::run(&args),
        Command::Chat(args) => commands::chat::run(&args),
        Command::Check(args) => commands::check::run(args),
        Command::Code(args) => commands::code::run(&args),
        Command::Config(args) => commands::config::run(&args),
        Command::Demo(args) => commands::demo::run(&args),
        Command::Doctor(args) => commands::doctor::run(&args),
        Command::Exec(args) => commands::exec::run(args),
        Command::Executor(args) => commands::executor::run(args),
        Command::Import(args) => commands::import::run(&args),
        Command::Init(args) => commands::init::run(&args),
        Command::Keys(args) => commands::keys::run(args),
        Command::Ledger(args) => commands::ledger::run(args),
        Command::Mcp(args) => commands::mcp::run(&args),
        Command::Models(args) => commands::models::run(&args),
        Command::Plans(args) => commands::plans::run(&args),
        Command::Reject(args) => commands::reject::run(&args),
        Command::Runs(args) => commands::runs::run(args),
        Command::Schedule(args) => commands::schedule::run(&args),
        Command::Serve(args) => commands::serve::run(&args),
        Command::Tables(args) => commands::tables::run(args),
        Command::Tools(args) => commands::tools::run(&args),
        Command::Ui(args) => commands::ui::run(&args),
        Command::Undo(args) => commands::undo::run(&args),
        Command::Verify(args) => commands::verify::run(&args),
    };
    result.unwrap_or_else(|failure| failure.report())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_is_one_screen_and_names_every_command_in_one_group() {
        let mut command = described();
        command.clone().debug_assert();
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        let help = command.render_help().to_string();
        assert!(help.lines().count() <= 50 && help.contains("  undo      Take back"), "{help}");
        grouped.sort_unstable();
        let all = command.get_subcommands().map(clap::Command::get_name);
        let all: Vec<&str> = all.filter(|name| *name != "help").collect();
        assert_eq!(grouped, all);
    }
}
