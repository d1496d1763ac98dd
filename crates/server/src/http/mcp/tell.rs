//! The result of a run for a client: its record for programs, and the receipt with the answer for models and people.

use std::fmt::Write as _;

use ordain_checks::{CheckResult, CheckStatus, RunReport};
use ordain_types::{CodeError, RunKind, RunRecord, RunState, unmarked};
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::Value;

use super::super::answer;
use super::super::live::LiveRun;
use super::super::openai::reply;
use super::super::problem::Problem;
use super::resources;

/// What a text shows of what code printed.
const PRINTED_CHARS_MAX: usize = 16_000;
/// How many checks are listed one by one.
const CHECKS_MAX: usize = 50;

/// The result of a run that has ended.
pub(super) fn record(record: &RunRecord, report: Option<&RunReport>, pages: Option<&str>) -> CallToolResult {
    let mut structured = serde_json::to_value(record.told()).unwrap_or_default();
    if record.diff.rows() > reply::DIFF_ROWS_MAX {
        structured["diff"] = serde_json::json!({});
        structured["diff_rows"] = Value::from(record.diff.rows());
    }
    if let Some(report) = report {
        structured["report"] = serde_json::to_value(report).unwrap_or_default();
    }
    let mut content = vec![ContentBlock::text(text(record, report, pages))];
    content.extend(resources::links(record).map(ContentBlock::resource_link));
    let is_error = record.error.is_some() || record.state == RunState::Failed;
    result(content, structured, is_error)
}

/// The result for a run that goes on.
pub(super) fn going_on(run: &LiveRun) -> CallToolResult {
    let record = answer::running(run);
    let text = format!("Run {} goes on. Look again with `run`.", run.about.run_id);
    result(vec![ContentBlock::text(text)], record, false)
}

/// The result of a call that began no run, or whose run could not be carried out.
pub(super) fn problem(problem: &Problem) -> CallToolResult {
    let mut text = problem.detail.clone();
    for part in &problem.errors {
        let _ = write!(text, "\n{}: {}", part.pointer, part.message);
    }
    if let Some(hint) = &problem.hint {
        let _ = write!(text, "\nhint: {hint}");
    }
    result(vec![ContentBlock::text(unmarked(&text))], serde_json::to_value(problem).unwrap_or_default(), true)
}

/// What was looked up; the text is the same for clients that read no structure.
pub(super) fn listed(found: Value) -> CallToolResult {
    result(vec![ContentBlock::text(unmarked(&found.to_string()))], found, false)
}

fn result(content: Vec<ContentBlock>, structured: Value, is_error: bool) -> CallToolResult {
    let mut result = CallToolResult::success(content);
    result.structured_content = Some(structured);
    result.is_error = Some(is_error);
    result
}

/// The receipt, which is the engine's, then what plan, code and checks said.
fn text(record: &RunRecord, report: Option<&RunReport>, pages: Option<&str>) -> String {
    let is_silent = record.answer.text.is_none() && record.error.is_none() && record.kind == RunKind::Exec;
    let mut said = if is_silent { String::new() } else { reply::answer(record) };
    for (name, printed) in [("stdout", &record.outcome.stdout), ("stderr", &record.outcome.stderr)] {
        if !printed.trim().is_empty() {
            let _ = write!(said, "\n\n{name}:\n{}", first(printed.trim_end()));
        }
    }
    if let Some(CodeError { cause, kind, message, line }) = &record.outcome.error {
        let [kind, message] = [kind, message].map(|part| part.as_deref().unwrap_or_default());
        let line = line.map(|line| format!(" in line {line}")).unwrap_or_default();
        let _ = write!(said, "\n\n{cause}{line}: {kind} {message}");
    }
    let results = report.into_iter().flat_map(|report| &report.results);
    let is_worth_telling = |result: &&CheckResult| result.status != CheckStatus::Pass;
    for result in results.filter(is_worth_telling).take(CHECKS_MAX) {
        let _ = write!(said, "\n{} {}: {}", result.status.name(), result.check_id, result.summary);
    }
    if record.state == RunState::Held {
        let _ = write!(said, "\n\n{}", reply::lines(record));
    }
    let (said, _) = reply::cut(unmarked(said.trim_start()));
    let mut text = format!("{}\n\n{said}\n\nrun {}", record.receipt.marked(), record.run_id);
    if record.state == RunState::Held {
        if let Some(rule) = &record.held_by {
            let _ = write!(text, "\nheld by {rule}");
        }
        let _ = write!(text, "\n{}", place(record, pages));
    }
    text
}

/// Where a person decides.
fn place(record: &RunRecord, pages: Option<&str>) -> String {
    let run = &record.run_id;
    match pages {
        Some(pages) => format!("A person approves or rejects it at {pages}/{run}"),
        None => format!(
            "A person approves it with `ordain approve {run}`, or rejects it with `ordain reject {run}`."
        ),
    }
}

fn first(text: &str) -> String {
    let shown: String = text.chars().take(PRINTED_CHARS_MAX).collect();
    if shown.len() < text.len() { format!("{shown}\n… and more; the record has it all") } else { shown }
}
