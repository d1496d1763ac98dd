//! What an execution means for its run: the record's fields, and whether the plan kept its promises.

use ordain_cell::Execution;
use ordain_types::{Answer, Artifact, Cause, Diff, RunError, RunOutcome};
use serde_json::{Value, json};

/// Variables that a plan gives back.
pub(crate) const COLLECTED: [&str; 6] =
    ["answer_text", "STATUS", "answer_rows", "answer_json", "ACTION", "SHOULD_MUTATE"];

/// The one status under which a change may be committed, besides those that a workspace declares.
const SUCCESS: &str = "success";
/// Statuses of every workspace that say that nothing was done.
const NOTHING_DONE: [&str; 6] = [
    "no_match",
    "not_permitted",
    "not_available",
    "insufficient_stock",
    "invalid_request",
    "unsupported_intent",
];

/// Keeps what was printed, left and raised.
pub(crate) fn record(execution: &Execution) -> RunOutcome {
    RunOutcome {
        stdout: String::from_utf8_lossy(&execution.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&execution.stderr).into_owned(),
        error: error_of(execution),
        artifacts: execution
            .artifacts
            .iter()
            .map(|artifact| Artifact {
                name: artifact.name.clone(),
                bytes: artifact.bytes,
                media_type: artifact.media_type.to_owned(),
                sha256: artifact.sha256.clone(),
                warnings: artifact.warnings.iter().map(|&warning| warning.to_owned()).collect(),
            })
            .collect(),
        partial: false,
    }
}

fn error_of(execution: &Execution) -> Option<Value> {
    if execution.cause == Cause::Ok {
        return None;
    }
    let raised = execution.error.as_ref();
    Some(json!({
        "cause": execution.cause,
        "type": raised.map(|raised| &raised.kind),
        "message": raised.map(|raised| &raised.message).or(execution.detail.as_ref()),
        "line": raised.and_then(|raised| raised.line),
    }))
}

/// What the plan told the person.
pub(crate) fn answer(execution: &Execution) -> Answer {
    let given = |name: &str| execution.values.get(name).filter(|value| !value.is_null()).cloned();
    Answer {
        text: given("answer_text").and_then(|text| text.as_str().map(str::to_owned)),
        rows: given("answer_rows"),
        json: given("answer_json"),
        notes: Vec::new(),
    }
}

/// What the plan says of its own success.
pub(crate) fn status(execution: &Execution) -> Option<String> {
    execution.values.get("STATUS").and_then(Value::as_str).map(str::to_owned)
}

/// The promise that a plan broke, if it did. What it changed is not committed then.
pub(crate) fn broken_promise(execution: &Execution, diff: &Diff, statuses: &[String]) -> Option<RunError> {
    if execution.cause != Cause::Ok {
        return Some(run_error(execution.cause.as_str(), problem(execution), None));
    }
    let Some(status) = status(execution) else {
        let hint = "set STATUS to one of the statuses on every path";
        return Some(run_error("missing-status", "the plan set no STATUS".to_owned(), Some(hint)));
    };
    if !statuses.contains(&status) {
        let message = format!("the plan set STATUS to `{}`", status.chars().take(60).collect::<String>());
        let hint = format!("the statuses are {}", statuses.join(", "));
        return Some(run_error("unknown-status", message, Some(&hint)));
    }
    if answer(execution).text.is_none_or(|text| text.trim().is_empty()) {
        let hint = "set answer_text to one or two sentences on every path";
        return Some(run_error("missing-answer", "the plan set no answer_text".to_owned(), Some(hint)));
    }
    broken_declaration(execution, diff, &status)
}

/// What a plan declares to do must be what it did.
fn broken_declaration(execution: &Execution, diff: &Diff, status: &str) -> Option<RunError> {
    let action = execution.values.get("ACTION").and_then(Value::as_str);
    let may_mutate = execution.values.get("SHOULD_MUTATE").and_then(Value::as_bool);
    if !diff.is_empty() {
        if action == Some("read") || may_mutate == Some(false) {
            let message =
                format!("the plan declares that it only reads, and it changed {} rows", diff.rows());
            let hint = "declare ACTION = \"mutate\", or leave the rows alone";
            return Some(run_error("declared-read-but-writes", message, Some(hint)));
        }
        if NOTHING_DONE.contains(&status) {
            let message = format!("the plan says `{status}`, and it changed {} rows", diff.rows());
            let hint = "change rows only when the whole request can be carried out";
            return Some(run_error("changes-without-success", message, Some(hint)));
        }
    }
    if diff.is_empty() && status == SUCCESS && (action == Some("mutate") || may_mutate == Some(true)) {
        let message = "the plan promises a change, and it made none".to_owned();
        let hint = "carry the change out, or say with STATUS why it was not";
        return Some(run_error("promised-change-missing", message, Some(hint)));
    }
    None
}

/// What went wrong with an execution, in words; nothing if nothing did.
pub(crate) fn problem(execution: &Execution) -> String {
    error_of(execution).map(|error| describe(&error)).unwrap_or_default()
}

/// An error of a run, for its record.
pub(crate) fn run_error(code: &str, message: String, hint: Option<&str>) -> RunError {
    RunError { code: code.to_owned(), message, hint: hint.map(str::to_owned) }
}

fn describe(error: &Value) -> String {
    let text = |name: &str| error[name].as_str().unwrap_or_default();
    match (text("type"), error["line"].as_u64()) {
        ("", _) => text("message").to_owned(),
        (kind, Some(line)) => format!("line {line}: {kind}: {}", text("message")),
        (kind, None) => format!("{kind}: {}", text("message")),
    }
}
