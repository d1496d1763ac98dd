//! `ordain check edit` and `ordain check remove`.

use std::io::{self, Write as _};
use std::process::ExitCode;
use std::sync::Arc;

use ordain_checks::file::FIELDS;
use ordain_checks::remove_check;
use ordain_types::nearest;
use ordain_workspace::Workspace;
use serde_json::{Map, Value, json};

use super::rule::{AgreementArgs, Wanted, asks, decide};
use crate::executor::ExecutorArgs;
use crate::failure::{Failure, Outcome};
use crate::runtime;
use crate::show::line;
use crate::workspace;

const EXAMPLES: &str = "\
Examples:
  ordain check edit CHK-007                                    accept how the rule is read today
  ordain check edit CHK-007 --rule \"price is at least 1\"
  ordain check edit CHK-007 --set severity=high --set 'params={\"column\": \"price\", \"min\": 1}' --yes

The check is tried first: the rule as it is understood, what it finds today, and values on both sides of its bounds.";

/// Change a check, or accept how its rule is read today
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The check's id
    check: String,
    /// The rule in other words
    #[arg(long, value_name = "WORDS")]
    rule: Option<String>,
    /// Another value of a field: JSON, or plain text; nothing behind `=` takes the field back
    #[arg(long, value_name = "FIELD=VALUE")]
    set: Vec<String>,
    #[command(flatten)]
    agreement: AgreementArgs,
}

/// Carries out `ordain check edit`.
pub(super) fn run(args: &Args, workspace: &Arc<Workspace>) -> Outcome {
    let mut fields = Map::new();
    for set in &args.set {
        let (name, value) = field(set)?;
        fields.insert(name, value);
    }
    if let Some(rule) = &args.rule {
        fields.insert("calculation_hint".to_owned(), json!(rule));
    }
    decide(Wanted::Change(args.check.clone(), fields), &args.agreement, workspace)
}

fn field(set: &str) -> Result<(String, Value), Failure> {
    let Some((name, value)) = set.split_once('=') else {
        let problem = format!("`{}` sets nothing", line(set));
        return Err(Failure::usage(problem, "write --set FIELD=VALUE"));
    };
    if name == "check_id" {
        let problem = "the id names a check for ever and is not changed";
        return Err(Failure::usage(problem, "remove the check and add another"));
    }
    if !FIELDS.contains(&name) {
        let near = nearest(name, FIELDS).map(|near| format!("did you mean `{near}`?"));
        let hint = near.unwrap_or_else(|| "`ordain check schema` prints the fields".to_owned());
        return Err(Failure::usage(format!("a check has no field `{}`", line(name)), &hint));
    }
    let value = match value {
        "" => Value::Null,
        text => serde_json::from_str(text).unwrap_or_else(|_| json!(text)),
    };
    Ok((name.to_owned(), value))
}

/// Remove a check from its file
#[derive(Debug, clap::Args)]
pub(crate) struct RemoveArgs {
    /// The check's id
    check: String,
    /// Remove it without a question
    #[arg(long, short = 'y')]
    yes: bool,
    #[command(flatten)]
    executor: ExecutorArgs,
}

/// Carries out `ordain check remove`.
pub(super) fn remove(args: &RemoveArgs, workspace: &Arc<Workspace>) -> Outcome {
    let change = remove_check(&workspace.root, &args.check)?;
    if !change.files.problems.is_empty() {
        return Err(Failure::in_check_files(&change.files.problems));
    }
    if !args.yes && !asks(&format!("Remove {} from {}?", line(&args.check), line(&change.file)))? {
        return Err(Failure::usage("nothing was removed", "say --yes to remove it"));
    }
    runtime::on_two_threads(Box::pin(async {
        let checks = super::open(Arc::clone(workspace), &args.executor).await?;
        checks.save(&change, Some(&args.check), workspace::note()).await?;
        writeln!(io::stderr(), "removed {} from {}", line(&args.check), line(&change.file))?;
        Ok(ExitCode::SUCCESS)
    }))?
}
