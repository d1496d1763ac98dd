//! `ordain check add`: a rule in words is read back, tried on today's data, and kept once somebody agrees.

use std::io::{self, IsTerminal as _, Write};
use std::process::ExitCode;
use std::sync::Arc;

use ordain_checks::file::CheckFiles;
use ordain_checks::report::words::sample_columns;
use ordain_checks::{Check, CheckResult, exit};
use ordain_engine::Workspace;
use ordain_engine::checks::{ADDED_TO, add_checks, read_checks};
use serde_json::{Value, json};

use crate::executor::ExecutorArgs;
use crate::failure::{Failure, Outcome, USAGE};
use crate::planner::PlannerArgs;
use crate::runtime;
use crate::show::line;
use crate::workspace;

/// Failing rows that are shown.
const EXAMPLES_MAX: usize = 5;
const EXAMPLES: &str = "\
Examples:
  ordain check add \"every order has a customer\" --table orders
  ordain check add \"price is between 0 and 100\" --table orders --severity high --yes

Shown before anything is kept: the rule as it was understood, how many rows break it today, and values on both sides of
its bounds. What you agree to is stored as `accepted_reading`: a rule that is later read otherwise is not run.";

/// Add a rule in words, after a look at how it is read and what it finds
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The rule
    rule: String,
    /// The table that it is about
    #[arg(long, value_name = "NAME")]
    table: String,
    /// What the check is called [default: CHK- and the next number]
    #[arg(long, value_name = "ID")]
    id: Option<String>,
    /// How much a failure weighs: info, low, medium, high or critical
    #[arg(long, default_value = "medium")]
    severity: String,
    /// Add it without a question
    #[arg(long, short = 'y')]
    yes: bool,
    /// Print what was read and found as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    planner: PlannerArgs,
    #[command(flatten)]
    executor: ExecutorArgs,
}

/// Carries out `ordain check add`.
pub(super) fn run(args: &Args, workspace: &Arc<Workspace>) -> Outcome {
    let files = read_checks(&workspace.root).unwrap_or_else(|_| CheckFiles::default());
    let id = args.id.clone().unwrap_or_else(|| free_id(&files));
    let check: Check = serde_json::from_value(json!({
        "check_id": id, "check_name": args.rule, "target_table": [args.table], "kind": "hint",
        "calculation_hint": args.rule, "severity": args.severity,
    }))
    .map_err(|error| {
        Failure::new(USAGE, format!("the severity `{}` is not known: {error}", line(&args.severity)), None)
    })?;
    if files.entries.iter().any(|entry| entry.check.check_id == check.check_id) {
        return Err(Failure::usage(
            format!("there is a check `{}` already", line(&check.check_id)),
            "choose another --id",
        ));
    }
    super::ensure_python()?;
    let tried = runtime::on_two_threads(Box::pin(try_out(args, workspace, &check)))?;
    let result = tried?;
    if !args.json {
        write_reading(&mut io::stdout().lock(), &result)?;
    }
    let is_agreed = !result.is_open() && (args.yes || !args.json && asks()?);
    if is_agreed {
        let accepted = Check { accepted_reading: result.understood.clone(), ..check };
        let written =
            add_checks(&workspace.root, &[accepted]).and_then(|change| change.write(&workspace.root));
        written?;
    }
    if args.json {
        writeln!(
            io::stdout(),
            "{:#}",
            json!({ "added": is_agreed, "result": result, "cases": cases(&result) })
        )?;
    }
    if result.is_open() {
        let problem = "the rule cannot be evaluated, so it was not added";
        return Err(Failure::new(exit::ERROR, problem, Some("say it in other words")));
    }
    if !is_agreed {
        return Err(Failure::usage("nothing was added", "say --yes if the rule is read as you mean it"));
    }
    writeln!(io::stderr(), "added {} to {ADDED_TO}", line(&result.check_id))?;
    Ok(ExitCode::SUCCESS)
}

async fn try_out(args: &Args, workspace: &Arc<Workspace>, check: &Check) -> Result<CheckResult, Failure> {
    let change = add_checks(&workspace.root, std::slice::from_ref(check))?;
    let planner = args.planner.choose(workspace).await?;
    let checks = super::open(Arc::clone(workspace), &args.executor).await?;
    let note = workspace::note();
    Ok(checks.try_out(&change, &check.check_id, planner, &note.who).await?)
}

/// An id of the form `CHK-007` that no check has.
fn free_id(files: &CheckFiles) -> String {
    let is_taken = |id: &str| files.entries.iter().any(|entry| entry.check.check_id == id);
    // Of one more number than there are checks, one is free.
    let mut ids = (1..=files.entries.len() + 1).rev().map(|number| format!("CHK-{number:03}"));
    ids.find(|id| !is_taken(id)).unwrap_or_default()
}

/// The rule as it was understood, what it finds today, and values on both sides of its bounds.
pub(super) fn write_reading(out: &mut impl Write, result: &CheckResult) -> io::Result<()> {
    writeln!(out, "    rule:    {}", line(&result.rule))?;
    if let Some(understood) = &result.understood {
        writeln!(out, "    read as: {}", line(understood))?;
    }
    if let Some(reason) = &result.reason {
        return writeln!(out, "    not evaluated: {}", line(reason));
    }
    writeln!(out, "    today:   {} {}", result.status.name(), line(&result.summary))?;
    let (keys, values) = sample_columns(result);
    for row in result.samples.iter().take(EXAMPLES_MAX) {
        let key = keys.iter().filter_map(|name| Some((name, row.key.get(*name)?)));
        let value = values.iter().filter_map(|name| Some((name, row.values.get(*name)?)));
        let shown: Vec<String> = key.chain(value).map(|(name, value)| format!("{name} {value}")).collect();
        writeln!(out, "             {}", line(&shown.join(", ")))?;
    }
    for case in cases(result) {
        writeln!(out, "    bounds:  {}", line(&case))?;
    }
    Ok(())
}

fn cases(result: &CheckResult) -> Vec<String> {
    let cases = result.plan.as_ref().and_then(|plan| plan.get("cases")?.as_array());
    cases.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Asks at a terminal; nobody can agree where there is none.
fn asks() -> io::Result<bool> {
    if !io::stdin().is_terminal() {
        return Ok(false);
    }
    write!(io::stderr(), "Is that the rule? [y/N] ")?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}
