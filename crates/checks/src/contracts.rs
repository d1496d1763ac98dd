//! The files that other tools read, in the shapes they know: text in, text out.
//!
//! Writing them to `.ordain/contracts/` is the caller's, atomically and after each run. What is imported from them is
//! what was written: `checks_last.csv` holds every check whole.

use std::collections::BTreeMap;

use csv::{ReaderBuilder, Terminator, WriterBuilder};
use ordain_types::Schema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::check::{Check, Threshold};
use crate::report::harmless;
use crate::result::{CheckStatus, RunReport};

/// Runs kept in `checks_rollup.csv`, newest last, by number of lines.
pub const ROLLUP_LINES_MAX: usize = 10_000;

/// What was compiled for a check, as `workflows.json` tells it.
#[derive(Debug, Clone)]
pub struct Workflow<'a> {
    /// The check.
    pub check: &'a Check,
    /// The structured plan.
    pub plan: Value,
    /// The code that ran.
    pub code: &'a str,
    /// What the code printed.
    pub stdout: &'a str,
    /// Whether the code came to its end.
    pub has_ended: bool,
    /// The grade of the last run.
    pub status: CheckStatus,
    /// One sentence about it.
    pub summary: &'a str,
    /// When plan and code were made, in ISO 8601.
    pub compiled_at: &'a str,
    /// The hash of the check that they were made for.
    pub checks_hash: &'a str,
    /// The columns that they were made against, by table.
    pub schema_cols: BTreeMap<String, Vec<String>>,
}

/// A question to a planner and its reply, as a line of `plan_prompt_log.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanPrompt {
    /// When, in ISO 8601.
    pub timestamp: String,
    /// The check that a plan was asked for.
    pub check_id: String,
    /// What people call it.
    pub check_name: String,
    /// Who planned: a model's name, or `rules`.
    pub model: String,
    /// What was asked.
    pub prompt: String,
    /// What was replied.
    pub response: String,
    /// What the planner was shown: tables with their columns, summaries.
    pub inputs: Value,
}

/// `schema_cols.json`: the columns of each table, in order.
pub fn schema_cols(schema: &Schema) -> String {
    let tables: Map<String, Value> = schema
        .tables
        .iter()
        .map(|table| {
            let names: Vec<_> = table.columns.iter().map(|column| column.name.as_str()).collect();
            (table.name.clone(), json!(names))
        })
        .collect();
    pretty(&Value::Object(tables))
}

/// `workflows.json`: for each `check_id::check_name` its plan and its execution.
pub fn workflows(workflows: &[Workflow<'_>]) -> String {
    let entries: Map<String, Value> = workflows
        .iter()
        .map(|workflow| {
            let key = format!("{}::{}", workflow.check.check_id, workflow.check.check_name);
            (
                key,
                json!([
                    step(workflow, "plan", &workflow.plan),
                    step(workflow, "execution", &execution(workflow))
                ]),
            )
        })
        .collect();
    pretty(&Value::Object(entries))
}

fn step(workflow: &Workflow<'_>, kind: &str, artifact: &Value) -> Value {
    json!({
        "type": kind,
        "artifact": artifact,
        "compiled_at": workflow.compiled_at,
        "compiled_against": {"checks_hash": workflow.checks_hash, "schema_cols": workflow.schema_cols},
    })
}

fn execution(workflow: &Workflow<'_>) -> Value {
    json!({
        "python_repls": [{
            "python_repl": workflow.code,
            "stdout": workflow.stdout,
            "exit_code": i32::from(!workflow.has_ended),
        }],
        "result": {"status": workflow.status.name(), "summary": workflow.summary},
    })
}

const LAST: [&str; 15] = [
    "check_id",
    "check_name",
    "description",
    "target_table",
    "kind",
    "calculation_hint",
    "params",
    "severity",
    "enabled",
    "owner",
    "tags",
    "filter",
    "warn_if",
    "fail_if",
    "record",
];

/// `checks_last.csv`: the checks as they were at the last run, normalised, one line each.
pub fn checks_last(checks: &[Check]) -> String {
    let mut writer = writer();
    // Writing to memory does not fail.
    let _ = writer.write_record(LAST);
    for check in checks {
        let params = if check.params.is_empty() { String::new() } else { json!(check.params).to_string() };
        let cells = [
            check.check_id.as_str(),
            &check.check_name,
            &check.description,
            &check.target_table.join(","),
            check.kind.name(),
            check.calculation_hint.as_deref().unwrap_or_default(),
            &params,
            check.severity.name(),
            if check.enabled { "true" } else { "false" },
            check.owner.as_deref().unwrap_or_default(),
            &check.tags.join(","),
            check.filter.as_deref().unwrap_or_default(),
            &threshold(check.warn_if),
            &threshold(check.fail_if),
            &json!(check).to_string(),
        ];
        let _ = writer.write_record(cells.map(harmless));
    }
    text_of(writer)
}

fn threshold(threshold: Option<Threshold>) -> String {
    threshold.map(|threshold| json!(threshold).to_string()).unwrap_or_default()
}

/// The records of a `checks_last.csv`, as maps.
pub(crate) fn read_checks_last(text: &str) -> Result<Vec<Map<String, Value>>, String> {
    let mut reader = ReaderBuilder::new().flexible(true).from_reader(text.as_bytes());
    let names = reader.headers().map_err(|error| error.to_string())?.clone();
    let mut records = Vec::new();
    for line in reader.records() {
        let line = line.map_err(|error| error.to_string())?;
        let cells = names.iter().zip(line.iter()).filter(|(_, cell)| !cell.is_empty());
        records.push(cells.map(|(name, cell)| (name.to_owned(), read_cell(name, cell))).collect());
    }
    Ok(records)
}

fn read_cell(name: &str, cell: &str) -> Value {
    // The apostrophe was put there for spreadsheets.
    let cell = cell.strip_prefix('\'').filter(|rest| harmless(rest) != *rest).unwrap_or(cell);
    match name {
        "enabled" => json!(cell.eq_ignore_ascii_case("true") || cell == "1"),
        "params" | "warn_if" | "fail_if" | "record" => {
            serde_json::from_str(cell).unwrap_or_else(|_| json!(cell))
        }
        _ => json!(cell),
    }
}

const ROLLUP: [&str; 12] = [
    "run_id",
    "started_at",
    "check_id",
    "check_name",
    "target_table",
    "severity",
    "status",
    "evaluated",
    "failed",
    "failed_pct",
    "summary",
    "duration_ms",
];

/// `checks_rollup.csv`: what was there, and a line for each check of this run. The oldest lines go when there are more
/// than [`ROLLUP_LINES_MAX`]; a file that is not one of ours is begun anew.
pub fn checks_rollup(earlier: &str, report: &RunReport) -> String {
    let mut reader = ReaderBuilder::new().has_headers(false).flexible(true).from_reader(earlier.as_bytes());
    let mut lines: Vec<Vec<String>> =
        reader.records().map_while(Result::ok).map(|line| line.iter().map(str::to_owned).collect()).collect();
    let is_ours = lines.first().is_some_and(|heading| heading == &ROLLUP);
    let mut lines = if is_ours { lines.split_off(1) } else { Vec::new() };
    lines.retain(|line| line.len() == ROLLUP.len() && line[0] != report.run_id);
    lines.extend(report.results.iter().map(|result| {
        let number = |number: Option<u64>| number.map(|number| number.to_string()).unwrap_or_default();
        vec![
            report.run_id.clone(),
            report.started_at.clone(),
            result.check_id.clone(),
            result.check_name.clone(),
            result.target_table.join(","),
            result.severity.name().to_owned(),
            result.status.name().to_owned(),
            number(result.evaluated),
            number(result.failed),
            result.failed_pct.map(|share| share.to_string()).unwrap_or_default(),
            result.summary.clone(),
            format!("{:.3}", result.duration_ms),
        ]
    }));
    let mut writer = writer();
    let _ = writer.write_record(ROLLUP);
    for line in &lines[lines.len().saturating_sub(ROLLUP_LINES_MAX)..] {
        let _ = writer.write_record(line.iter().map(|cell| harmless(cell)));
    }
    text_of(writer)
}

/// A line of `plan_prompt_log.jsonl`, with its line break. It is appended.
pub fn plan_prompt_line(prompt: &PlanPrompt) -> String {
    let mut line = serde_json::to_string(prompt).unwrap_or_default();
    line.push('\n');
    line
}

/// `ai_table_summaries.json`: a few words about each table.
pub fn ai_table_summaries(summaries: &BTreeMap<String, String>) -> String {
    pretty(&json!(summaries))
}

fn pretty(value: &Value) -> String {
    let mut text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.push('\n');
    text
}

fn writer() -> csv::Writer<Vec<u8>> {
    WriterBuilder::new().terminator(Terminator::Any(b'\n')).flexible(true).from_writer(Vec::new())
}

fn text_of(writer: csv::Writer<Vec<u8>>) -> String {
    String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
}
