//! `ordain check export`: checks as other tools' files.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use ordain_checks::catalogue::Kind;
use ordain_checks::export::{Exported, Target, export};
use ordain_checks::file::CheckFiles;
use ordain_checks::{Check, CheckOptions, CheckResult, CheckTask, Selection, write_file};
use ordain_engine::Quiet;
use ordain_workspace::Workspace;
use serde_json::Value;

use crate::executor::ExecutorArgs;
use crate::failure::{Failure, Outcome};
use crate::planner::PlannerArgs;
use crate::runtime;
use crate::show::line;
use crate::workspace;

const EXAMPLES: &str = "\
Examples:
  ordain check export --to gx > suite.json
  ordain check export --to dbt --select table:orders --output models/schema.yml

Checks that the other tool cannot express are named on standard error with the reason.";

/// Write checks as another tool's file
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// As what: gx, dbt or json
    #[arg(long, value_name = "TARGET")]
    to: Target,
    /// Which checks: `id:…`, `tag:…`, `owner:…`, `table:…`, separated by commas
    #[arg(long, value_name = "TERMS")]
    select: Vec<String>,
    /// The file to write, instead of standard output
    #[arg(long, short = 'o', value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    planner: PlannerArgs,
    /// Print the text, the number of checks and those left out as one JSON record
    #[arg(long)]
    json: bool,
}

/// Compiles the checks and writes them as the kinds that rules in words were read as.
fn compiled(
    args: &Args,
    selection: Selection,
    files: &CheckFiles,
    workspace: &Arc<Workspace>,
) -> Result<Exported, Failure> {
    super::ensure_python(workspace)?;
    runtime::on_two_threads(Box::pin(async {
        let planner = args.planner.choose(workspace).await?;
        let checks = super::open(Arc::clone(workspace), &ExecutorArgs::default()).await?;
        let options = CheckOptions { selection, planner, is_trial: true, ..CheckOptions::default() };
        let note = workspace::note();
        let task = CheckTask { options, ..checks.task(files.clone(), &note.who, &note.through) };
        let ran = checks.run(task, &mut Quiet).await?;
        let results = ran.1.map(|run| run.report.results).unwrap_or_default();
        let pair = |result: &'_ CheckResult| {
            let entry = files.entries.iter().find(|entry| entry.check.check_id == result.check_id);
            entry.map(|entry| &entry.check)
        };
        let pairs: Vec<(&Check, &CheckResult)> =
            results.iter().filter_map(|result| Some((pair(result)?, result))).collect();
        let read = pairs.into_iter().map(|(check, result)| as_read(check, result));
        Ok(export(args.to, &read.collect::<Vec<_>>()))
    }))?
}

/// A check as the kind that its words were read as, where they were read as one.
fn as_read(check: &Check, result: &CheckResult) -> Check {
    let part = |name: &str| result.plan.as_ref().and_then(|plan| plan.get(name));
    match (
        part("kind").and_then(Value::as_str).and_then(Kind::named),
        part("params").and_then(Value::as_object),
    ) {
        (Some(kind), Some(params)) if check.kind == Kind::Hint => {
            Check { kind, params: params.clone(), calculation_hint: None, ..check.clone() }
        }
        _ => check.clone(),
    }
}

/// Carries out `ordain check export`.
pub(super) fn run(args: &Args, workspace: &Arc<Workspace>) -> Outcome {
    let mut selection = Selection::default();
    for terms in &args.select {
        selection.add(terms)?;
    }
    let files = super::files(workspace)?;
    let checks = files.entries.iter().map(|entry| &entry.check).filter(|check| check.is_in(&selection));
    let checks: Vec<Check> = checks.cloned().collect();
    let has_words = checks.iter().any(|check| check.kind == Kind::Hint);
    let exported = match args.to {
        Target::Gx | Target::Dbt if has_words => compiled(args, selection, &files, workspace)?,
        target => export(target, &checks),
    };
    let text = if args.json { serde_json::to_string_pretty(&exported)? + "\n" } else { exported.text };
    match &args.output {
        Some(file) => write_file(file, text.as_bytes())?,
        None => io::stdout().lock().write_all(text.as_bytes())?,
    }
    let mut stderr = io::stderr().lock();
    for left in &exported.unmapped {
        writeln!(stderr, "left out {} ({}): {}", line(&left.what), line(&left.place), line(&left.reason))?;
    }
    if !args.json {
        writeln!(stderr, "{} checks written, {} left out", exported.exported, exported.unmapped.len())?;
    }
    Ok(ExitCode::SUCCESS)
}
