//! `ordain policy check`: what the owner of a policy should know about it.

use std::io::{self, Write};
use std::process::ExitCode;

use ordain_engine::PolicyFinding;

use crate::engine;
use crate::failure::{FAILED, Outcome};
use crate::runtime;
use crate::show::line;
use crate::workspace::WorkspaceArgs;

/// Look the workspace's policy through
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Find rules that no plan can follow, and what is told twice
    ///
    /// Rules for a conversation or for tools that are not here, names that mean nothing, repeated rules, what the
    /// descriptions say already, statuses that nothing gives. Exit code 1 where something was found.
    Check {
        #[command(flatten)]
        workspace: WorkspaceArgs,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// Carries out `ordain policy`.
pub(crate) fn run(args: &Args) -> Outcome {
    let Command::Check { workspace: named, json } = &args.command;
    let found = named.load()?;
    let executor = engine::executor(&found, 0, None)?;
    let ended = runtime::on_one_thread(Box::pin(async {
        let settings = found.settings();
        engine::open(&found, executor, settings).await?.policy_findings().await
    }))?;
    let findings = ended?;
    print(&mut io::stdout().lock(), &findings, *json)?;
    Ok(if findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(FAILED) })
}

fn print(out: &mut impl Write, findings: &[PolicyFinding], json: bool) -> io::Result<()> {
    if json {
        return writeln!(out, "{}", serde_json::to_string_pretty(findings)?);
    }
    for finding in findings {
        let place = finding.line.map_or_else(|| "ordain.toml".to_owned(), |line| format!("policy.md:{line}"));
        writeln!(out, "{place}: {} [{}]", line(&finding.message), finding.code)?;
        writeln!(out, "    hint: {}", line(&finding.hint))?;
    }
    if findings.is_empty() {
        writeln!(out, "Nothing was found.")?;
    }
    Ok(())
}
