//! `ordain config policy`: what the owner of a policy should know about it.

use std::io::{self, Write};
use std::process::ExitCode;

use ordain_engine::EngineSettings;
use ordain_planner::PolicyFinding;
use ordain_workspace::Workspace;

use crate::engine;
use crate::failure::{FAILED, Failure, Outcome};
use crate::planner::PlannerArgs;
use crate::runtime;
use crate::show::line;
use crate::workspace::WorkspaceArgs;

/// Find rules of the policy that no plan can follow, and what is said twice
///
/// Rules for a conversation or for tools that are not here, names that mean nothing, repeated rules, what the
/// descriptions say already, statuses that nothing gives. Exit code 1 where something was found. Where there is a
/// model, it is asked too, once; what it says is an opinion and does not count for the exit code.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    planner: PlannerArgs,
    #[command(flatten)]
    workspace: WorkspaceArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Carries out `ordain config policy`.
pub(crate) fn run(args: &Args) -> Outcome {
    runtime::on_one_thread(Box::pin(check(args.workspace.load()?, &args.planner, args.json)))?
}

async fn check(workspace: Workspace, planner: &PlannerArgs, json: bool) -> Outcome {
    let planner = planner.choose(&workspace).await?;
    let executor = engine::executor(Some(&workspace), None, |_| ())?;
    let engine = engine::open(&workspace, executor, EngineSettings::of(&workspace)).await?;
    let findings = engine.policy_findings().await?;
    let opinions = engine.policy_opinions(&planner).await?.unwrap_or_else(|error| {
        Failure::from(error).report();
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
