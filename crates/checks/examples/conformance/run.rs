//! Runs cases: mapped as an import maps them, compiled, verified, run in a cell, graded.

use std::collections::BTreeMap;

use anyhow::Result;
use futures_util::{StreamExt, stream};
use ordain_cell::profile::{DataDir, Profile};
use ordain_cell::{Discard, Executor, FailingRows, Job, LocalExecutor, LocalOptions, NoHost};
use ordain_checks::import::{NotMapped, map_expectation};
use ordain_checks::{Check, CheckStatus, Counts, grade, kinds};
use ordain_types::Cause;
use ordain_verify::{Contract, Policy, verify};
use serde_json::{Value, json};

use super::cases::{Case, Prepared};
use super::compare;
use super::report::Outcome;

/// Cases that run at once.
const AT_ONCE: usize = 4;
/// Failing rows that are compared.
const ROWS_MAX: u64 = 10_000;

/// What a check gave.
pub(crate) enum Gave {
    /// It was evaluated.
    Graded { status: CheckStatus, result: Value },
    /// It was refused before it ran, or ended in an error.
    Error(String),
    /// No kind means what the case means.
    Unmapped(String),
}

/// What came of each case, in the order of the cases.
pub(crate) async fn all(prepared: &Prepared) -> Result<Vec<Outcome>> {
    let options = LocalOptions { mounts: prepared.mounts.clone(), ..LocalOptions::new(DataDir::from_env()?) };
    let executor = LocalExecutor::new(options)?;
    let outcomes = stream::iter(&prepared.cases).map(|case| one(&executor, case)).buffered(AT_ONCE);
    Ok(outcomes.collect().await)
}

async fn one(executor: &LocalExecutor, case: &Case) -> Outcome {
    if !case.is_for_pandas {
        return Outcome::NotForPandas;
    }
    let gave = match check_of(case) {
        Ok(check) => evaluate(executor, case, &check).await,
        Err(NotMapped::Invalid(reason)) => Gave::Error(reason),
        Err(NotMapped::Unsupported(reason)) => Gave::Unmapped(reason),
    };
    compare::judge(case, &gave)
}

fn check_of(case: &Case) -> Result<Check, NotMapped> {
    let kwargs =
        case.kwargs.as_ref().filter(|_| case.given.is_object()).ok_or_else(|| {
            NotMapped::Unsupported("its arguments are given by place, not by name".to_owned())
        })?;
    let expected = map_expectation(&case.expectation, kwargs)?;
    let record = json!({
        "check_id": "C", "check_name": case.title, "target_table": ["t"], "kind": expected.kind, "params": expected.params,
        "filter": expected.filter, "fail_if": expected.fail_if,
    });
    serde_json::from_value(record).map_err(|error| NotMapped::Invalid(error.to_string()))
}

async fn evaluate(executor: &LocalExecutor, case: &Case, check: &Check) -> Gave {
    let schema = case.schema();
    let compiled = match kinds::compile(check, &schema) {
        Ok(compiled) => compiled,
        Err(error) => return Gave::Error(error.to_string()),
    };
    let verdict = verify(&compiled.code, &Policy::for_contract(Contract::Check), &schema);
    let Some(code) = verdict.verified() else {
        let finding = verdict.findings.first().map(|finding| finding.message.clone()).unwrap_or_default();
        return Gave::Error(format!("rejected: {finding}"));
    };
    let mut job = Job::new(code.clone(), Profile::Data);
    job.frames = BTreeMap::from([("t".to_owned(), case.mount.clone())]);
    job.failing = Some(FailingRows { keys: Vec::new(), max_rows: ROWS_MAX, mask: Vec::new() });
    job.values.insert("inputs".to_owned(), json!({"now": "2026-01-01T00:00:00Z", "history": []}));
    job.collect = vec!["result".to_owned()];
    let execution = match executor.run(job, &mut NoHost, &mut Discard).await {
        Ok(execution) => execution,
        Err(error) => return Gave::Error(error.to_string()),
    };
    if execution.cause != Cause::Ok {
        let raised = execution.error.map(|raised| format!("{}: {}", raised.kind, raised.message));
        return Gave::Error(raised.unwrap_or_else(|| execution.cause.to_string()));
    }
    let Some(result) = execution.values.get("result") else {
        return Gave::Error(format!("no result: {:?}", execution.notes));
    };
    let number = |name: &str| result.get(name).and_then(Value::as_u64);
    let is_broken = result.get("status").and_then(Value::as_str) == Some("FAIL");
    let counts = Counts { is_broken, evaluated: number("evaluated"), failed: number("failed") };
    Gave::Graded { status: grade(check, &counts), result: result.clone() }
}
