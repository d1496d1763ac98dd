//! `ordain policy check`: what the owner of a policy should know about it.

use std::io::{self, Write};
use std::process::ExitCode;

use ordain_engine::{EngineError, PolicyFinding, Workspace};

use crate::engine;
use crate::failure::{self, FAILED};
use crate::planner::{PlannerArgs, of_planner};
use crate::runtime;
use crate::show::line;
use crate::workspace::{self, WorkspaceArgs};

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
    /// descriptions say already, statuses that nothing gives. Exit code 1 where something was found. Where there is a
    /// model, it is asked too, once; what it says is an opinion and does not count for the exit code.
    Check {
        #[command(flatten)]
        planner: PlannerArgs,
        #[command(flatten)]
        workspace: WorkspaceArgs,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// Carries out `ordain policy`.
pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let Command::Check { planner, workspace: named, json } = &args.command;
    let found = match named.load() {
        Ok(found) => found,
        Err(error) => return Ok(workspace::of_workspace(&error)),
    };
    runtime::on_one_thread(Box::pin(check(found, planner, *json)))?
}

async fn check(workspace: Workspace, planner: &PlannerArgs, json: bool) -> anyhow::Result<ExitCode> {
    let planner = match planner.choose(&workspace).await {
        Ok(planner) => planner,
        Err(error) => return Ok(of_planner(&error)),
    };
    let executor = match engine::executor(&workspace, 0, None) {
        Ok(executor) => executor,
        Err(error) => return Ok(failure::of_cell(&error)),
    };
    let looked = async {
        let engine = engine::open(&workspace, executor, workspace.settings()).await?;
        Ok::<_, EngineError>((engine.policy_findings().await?, engine.policy_opinions(&planner).await?))
    };
    let (findings, opinions) = match looked.await {
        Ok(looked) => looked,
        Err(error) => return Ok(engine::of_engine(&error)),
    };
    let opinions = opinions.unwrap_or_else(|error| {
        failure::print(&error, error.hint.as_deref());
        Vec::new()
    });
    print(&mut io::stdout().lock(), &findings, (&planner.name(), &opinions), json)?;
    Ok(if findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(FAILED) })
}

fn print(
    out: &mut impl Write,
    findings: &[PolicyFinding],
    (model, opinions): (&str, &[PolicyFinding]),
    json: bool,
) -> io::Result<()> {
    if json {
        let told = serde_json::json!({ "findings": findings, "opinions": opinions, "opinions_by": model });
        return writeln!(out, "{}", serde_json::to_string_pretty(&told)?);
    }
    list(out, findings)?;
    if findings.is_empty() {
        writeln!(out, "Nothing was found.")?;
    }
    if !opinions.is_empty() {
        writeln!(out, "{} says:", line(model))?;
        list(out, opinions)?;
    }
    Ok(())
}

fn list(out: &mut impl Write, findings: &[PolicyFinding]) -> io::Result<()> {
    for finding in findings {
        let place = finding.line.map_or_else(|| "ordain.toml".to_owned(), |line| format!("policy.md:{line}"));
        writeln!(out, "{place}: {} [{}]", line(&finding.message), finding.code)?;
        writeln!(out, "    hint: {}", line(&finding.hint))?;
    }
    Ok(())
}
