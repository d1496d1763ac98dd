//! `ordain check add`: a rule in words is read back, tried on today's data, and saved once somebody agrees.

use std::io::{self, IsTerminal as _, Write};
use std::process::ExitCode;
use std::sync::Arc;

use ordain_checks::file::{CheckFiles, read_record};
use ordain_checks::report::words::sample_columns;
use ordain_checks::{Check, CheckResult, Checks, FileChange, SkipReason, exit, read_checks};
use ordain_workspace::Workspace;
use serde_json::{Map, Value, json};

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
  ordain check add \"every user_id must exist in users\" --table orders
  ordain check add \"price is between 0 and 100\" --table orders --severity high --yes

Shown before anything is saved: the rule as it was understood, how many rows break it today, and values on both sides of
its bounds. What you agree to is stored as `accepted_reading`: a rule that is later read otherwise is not run.";

/// Add a rule in words, after a look at how it is read and what it finds
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The rule
    rule: String,
    /// The table that it is about; where there are several, the judged one first, with commas
    #[arg(long, value_name = "NAME")]
    table: String,
    /// What the check is called [default: CHK- and the next number]
    #[arg(long, value_name = "ID")]
    id: Option<String>,
    /// How much a failure weighs: info, low, medium, high or critical
    #[arg(long, default_value = "medium")]
    severity: String,
    #[command(flatten)]
    agreement: AgreementArgs,
}

/// How a change is tried and agreed to.
#[derive(Debug, clap::Args)]
pub(super) struct AgreementArgs {
    /// Save it without a question
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
    if args.rule.trim().is_empty() {
        return Err(Failure::usage("the rule is empty", "state it in words: \"price must not be negative\""));
    }
    let files = read_checks(&workspace.root).unwrap_or_else(|_| CheckFiles::default());
    let id = args.id.clone().unwrap_or_else(|| files.free_id());
    let check = read_record(&json!({
        "check_id": id, "check_name": args.rule, "target_table": args.table, "kind": "hint",
        "calculation_hint": args.rule, "severity": args.severity,
    }))
    .map_err(|problem| Failure::new(USAGE, problem.message, problem.hint.as_deref()))?;
    if files.entries.iter().any(|entry| entry.check.check_id == check.check_id) {
        return Err(Failure::usage(
            format!("there is a check `{}` already", line(&check.check_id)),
            "choose another --id",
        ));
    }
    decide(Wanted::New(Box::new(check)), &args.agreement, workspace)
}

/// What is to be tried and saved.
pub(super) enum Wanted {
    /// A new check.
    New(Box<Check>),
    /// Other fields of a check.
    Change(String, Map<String, Value>),
}

/// Tries a change, shows what it does, and saves it once somebody agrees.
pub(super) fn decide(wanted: Wanted, args: &AgreementArgs, workspace: &Arc<Workspace>) -> Outcome {
    super::ensure_python(workspace)?;
    runtime::on_two_threads(Box::pin(async {
        let planner = args.planner.choose(workspace).await?;
        let checks = super::open(Arc::clone(workspace), &args.executor).await?;
        let note = workspace::note();
        let proposal = match wanted {
            Wanted::New(check) => checks.propose(*check, &planner, &note).await?,
            Wanted::Change(id, fields) => checks.propose_change(&id, fields, &planner, &note).await?,
        };
        let Some(result) = &proposal.result else {
            return Err(Failure::in_check_files(&proposal.change.files.problems));
        };
        args.settle(&checks, &proposal.change, result).await
    }))?
}

impl AgreementArgs {
    async fn settle(&self, checks: &Checks, change: &FileChange, result: &CheckResult) -> Outcome {
        if !self.json {
            write_reading(&mut io::stdout().lock(), result)?;
        }
        let is_new = change.before != change.after;
        // The rule is understood, though there is nothing to judge today.
        let is_idle = matches!(result.skipped, Some(SkipReason::Disabled | SkipReason::EmptyTable));
        let is_usable = !result.is_open() || is_idle;
        let is_agreed = is_new && is_usable && (self.yes || !self.json && asks("Is that the rule?")?);
        if is_agreed {
            checks.save(change, Some(&result.check_id), workspace::note()).await?;
        }
        if self.json {
            let told = json!({ "saved": is_agreed, "result": result, "cases": cases(result) });
            writeln!(io::stdout(), "{told:#}")?;
        }
        if !is_usable {
            let hint = match result.skipped {
                Some(SkipReason::MissingTable) => "`ordain tables --types` shows the tables that there are",
                Some(_) => "say it in other words",
                None => "put right what is told above, then add it again",
            };
            let problem = "the rule cannot be evaluated, so nothing was saved";
            return Err(Failure::new(exit::ERROR, problem, Some(hint)));
        }
        if is_new && !is_agreed {
            return Err(Failure::usage("nothing was saved", "say --yes if the rule is read as you mean it"));
        }
        let what = if is_new { "is saved in" } else { "is as it was in" };
        writeln!(io::stderr(), "{} {what} {}", line(&result.check_id), line(&change.file))?;
        Ok(ExitCode::SUCCESS)
    }
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
pub(crate) fn asks(question: &str) -> io::Result<bool> {
    if !io::stdin().is_terminal() {
        return Ok(false);
    }
    write!(io::stderr(), "{question} [y/N] ")?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}
