//! What an execution means for its run: what it gave, and whether the plan kept its promises.

use std::borrow::Cow;

use ordain_cell::Execution;
use ordain_store::{Store, StoreError, Violation};
use ordain_types::{
    Answer, Artifact, Cause, CodeError, Diff, ErrorClass, InvariantResult, RunError, RunOutcome, RunState,
    Trouble, format_bytes,
};
use ordain_verify::Effects;
use serde_json::Value;

use crate::json_bytes::json_bytes;
use crate::rounds::Tried;
use crate::story::Attempt;
use crate::terms::Duty;

/// Variables that a plan gives back.
pub(crate) const COLLECTED: [&str; 7] =
    ["answer_text", "STATUS", "answer_rows", "answer_columns", "answer_json", "ACTION", "SHOULD_MUTATE"];

/// Notes about tables that an answer carries.
const SEED_NOTES_MAX: usize = 4;

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
/// What helps a plan that answers nothing.
const ON_EVERY_PATH: &str = "set answer_text to one or two sentences on every path";
const OR_PRINTED: &str = "set answer_text to one or two sentences, or print the result";
/// The longest answer that is taken from what a program printed.
const PRINTED_BYTES_MAX: usize = 2_000;

/// The largest answer, its text, rows and JSON together. Records are kept for ever and read in lists.
const ANSWER_BYTES_MAX: u64 = 4 << 20;
/// How much is kept of what a program printed, of each stream.
const OUTPUT_BYTES_MAX: usize = 2 << 20;
/// How much is kept of the message of an error.
const MESSAGE_BYTES_MAX: usize = 64 << 10;

/// What was printed, left, answered and raised, each within what a record may hold.
pub(crate) fn attempt(execution: &Execution, duty: Duty) -> Attempt {
    let answer = answer(execution);
    let answer_bytes = json_bytes(&answer);
    let is_kept = answer_bytes <= ANSWER_BYTES_MAX;
    let mut attempt = Attempt {
        outcome: RunOutcome {
            stdout: kept(String::from_utf8_lossy(&execution.stdout), OUTPUT_BYTES_MAX),
            stderr: kept(String::from_utf8_lossy(&execution.stderr), OUTPUT_BYTES_MAX),
            error: code_error(execution),
            artifacts: artifacts(execution),
            partial: false,
        },
        status: execution.values.get("STATUS").and_then(Value::as_str).map(str::to_owned),
        answer: if is_kept { answer } else { Answer::default() },
        answer_bytes,
        ..Attempt::default()
    };
    if matches!(duty, Duty::Statement | Duty::Result) && execution.cause == Cause::Ok {
        fill_in(&mut attempt);
    }
    attempt
}

/// The beginning of a text, and how much of it is left out.
fn kept(text: Cow<'_, str>, bytes_max: usize) -> String {
    if text.len() <= bytes_max {
        return text.into_owned();
    }
    let (start, rest) = text.split_at(text.floor_char_boundary(bytes_max));
    format!("{start}\n[{} more are not kept]", format_bytes(rest.len() as u64))
}

fn artifacts(execution: &Execution) -> Vec<Artifact> {
    let kept = execution.artifacts.iter().map(|artifact| Artifact {
        name: artifact.name.clone(),
        bytes: artifact.bytes,
        media_type: artifact.media_type.to_owned(),
        sha256: artifact.sha256.clone(),
        warnings: artifact.warnings.iter().map(|&warning| warning.to_owned()).collect(),
    });
    kept.collect()
}

pub(crate) fn code_error(execution: &Execution) -> Option<CodeError> {
    if execution.cause == Cause::Ok {
        return None;
    }
    let raised = execution.error.as_ref();
    Some(CodeError {
        cause: execution.cause,
        kind: raised.map(|raised| raised.kind.clone()),
        message: raised
            .map(|raised| kept(Cow::Borrowed(&raised.message), MESSAGE_BYTES_MAX))
            .or_else(|| execution.detail.clone()),
        line: raised.and_then(|raised| raised.line),
    })
}

/// What the plan told the person.
fn answer(execution: &Execution) -> Answer {
    let given = |name: &str| execution.values.get(name).filter(|value| !value.is_null()).cloned();
    Answer {
        text: given("answer_text").and_then(|text| text.as_str().map(str::to_owned)),
        rows: given("answer_rows"),
        columns: given("answer_columns")
            .and_then(|names| serde_json::from_value(names).ok())
            .unwrap_or_default(),
        json: given("answer_json"),
        notes: Vec::new(),
    }
}

/// A program about files that only prints has answered with what it printed.
fn fill_in(attempt: &mut Attempt) {
    let answer = &mut attempt.answer;
    if answer.text.as_deref().is_none_or(|text| text.trim().is_empty()) {
        let printed = attempt.outcome.stdout.trim();
        let end = printed.floor_char_boundary(PRINTED_BYTES_MAX);
        answer.text = (!printed.is_empty()).then(|| printed[..end].to_owned());
        if answer.text.is_none() && !attempt.outcome.artifacts.is_empty() {
            let names: Vec<&str> =
                attempt.outcome.artifacts.iter().map(|artifact| artifact.name.as_str()).collect();
            answer.text = Some(format!("The result is in {}.", names.join(", ")));
        }
    }
    if attempt.status.is_none() {
        attempt.status = Some(SUCCESS.to_owned());
    }
}

/// The promise that the code broke, if it did. What it changed is not committed then.
pub(crate) fn broken_promise(
    duty: Duty,
    execution: &Execution,
    attempt: &Attempt,
    diff: &Diff,
    statuses: &[String],
) -> Option<Trouble> {
    if execution.cause != Cause::Ok {
        return Some(failed(execution, attempt));
    }
    if attempt.answer_bytes > ANSWER_BYTES_MAX {
        let (given, most) = (format_bytes(attempt.answer_bytes), format_bytes(ANSWER_BYTES_MAX));
        let message = format!("the answer has {given}; at most {most} are kept");
        let hint = "answer with fewer rows, or write them into a file in `artifacts`";
        return Some(broken("answer-too-large", message, hint));
    }
    if duty == Duty::Nothing {
        return None;
    }
    match known_status(attempt, statuses) {
        Err(trouble) => Some(trouble),
        Ok(_) if duty != Duty::Statement && attempt.is_silent() => {
            Some(missing_answer(if duty == Duty::Answer { ON_EVERY_PATH } else { OR_PRINTED }))
        }
        Ok(status) => broken_declaration(execution, attempt, diff, status),
    }
}

/// What a plan declares to do must be what it did.
fn broken_declaration(
    execution: &Execution,
    attempt: &Attempt,
    diff: &Diff,
    status: &str,
) -> Option<Trouble> {
    let action = execution.values.get("ACTION").and_then(Value::as_str);
    let may_mutate = execution.values.get("SHOULD_MUTATE").and_then(Value::as_bool);
    let later = attempt.calls.iter().filter(|call| call.is_later()).count();
    let did = if later == 0 {
        format!("changed {} rows", diff.rows())
    } else {
        format!("changed {} rows and called {later} tools", diff.rows())
    };
    let is_changed = !diff.is_empty() || later > 0;
    if is_changed {
        if action == Some("read") || may_mutate == Some(false) {
            let message = format!("the plan declares that it only reads, and it {did}");
            let hint = "declare ACTION = \"mutate\", or leave the rows alone";
            return Some(broken("declared-read-but-writes", message, hint));
        }
        if NOTHING_DONE.contains(&status) {
            return Some(changes_without_success(status, &did));
        }
    }
    if !is_changed && status == SUCCESS && (action == Some("mutate") || may_mutate == Some(true)) {
        let message = "the plan promises a change, and it made none".to_owned();
        let hint = "carry the change out, or say with STATUS why it was not";
        return Some(broken("promised-change-missing", message, hint));
    }
    None
}

/// A promise that code did not keep.
pub(crate) fn broken(code: &str, message: String, hint: &str) -> Trouble {
    Trouble::new(ErrorClass::Contract, code, message, hint)
}

/// What is wrong with the answer of the last of several steps, given what all of them changed.
pub(crate) fn broken_answer(attempt: &Attempt, diff: &Diff, statuses: &[String]) -> Option<Trouble> {
    match known_status(attempt, statuses) {
        Err(trouble) => Some(trouble),
        Ok(_) if attempt.is_silent() => Some(missing_answer(ON_EVERY_PATH)),
        Ok(status) if !diff.is_empty() && NOTHING_DONE.contains(&status) => {
            Some(changes_without_success(status, &format!("changed {} rows", diff.rows())))
        }
        Ok(_) => None,
    }
}

/// The status that the code set, if it is one of the workspace's.
fn known_status<'a>(attempt: &'a Attempt, statuses: &[String]) -> Result<&'a str, Trouble> {
    let Some(status) = attempt.status.as_deref() else {
        let hint = "set STATUS to one of the statuses on every path";
        return Err(broken("missing-status", "the plan set no STATUS".to_owned(), hint));
    };
    if statuses.iter().any(|known| known == status) {
        return Ok(status);
    }
    let message = format!("the plan set STATUS to `{}`", status.chars().take(60).collect::<String>());
    let hint = format!("the statuses are {}", statuses.join(", "));
    Err(broken("unknown-status", message, &hint))
}

fn missing_answer(hint: &str) -> Trouble {
    broken("missing-answer", "the plan set no answer_text".to_owned(), hint)
}

fn changes_without_success(status: &str, did: &str) -> Trouble {
    let message = format!("the plan says `{status}`, and it {did}");
    broken("changes-without-success", message, "change rows only when the whole request can be carried out")
}

/// Code that raised an error or passed a limit.
pub(crate) fn failed(execution: &Execution, attempt: &Attempt) -> Trouble {
    let is_raised = execution.cause == Cause::Error;
    Trouble {
        class: if is_raised { ErrorClass::Runtime } else { ErrorClass::Limit },
        code: execution.cause.as_str().to_owned(),
        message: attempt.outcome.error.as_ref().map(describe).unwrap_or_default(),
        line: execution.error.as_ref().and_then(|raised| raised.line),
        hint: limit_hint(execution.cause).map(str::to_owned),
    }
}

fn limit_hint(cause: Cause) -> Option<&'static str> {
    match cause {
        Cause::MemoryLimit => Some("read the data in pieces or only the columns that are needed"),
        Cause::Timeout | Cause::CpuLimit => Some("do less work: fewer rows, fewer columns, vectorised"),
        Cause::OutputLimit => Some("print less; write files to artifacts"),
        Cause::ArtifactLimit => Some("write fewer or smaller files"),
        _ => None,
    }
}

/// An error of a run, for its record.
pub(crate) fn run_error(class: ErrorClass, code: &str, message: String, hint: Option<&str>) -> RunError {
    RunError { class, code: code.to_owned(), message, hint: hint.map(str::to_owned) }
}

pub(crate) fn describe(error: &CodeError) -> String {
    let message = error.message.as_deref().unwrap_or_default();
    match (&error.kind, error.line) {
        (None, _) => message.to_owned(),
        (Some(kind), Some(line)) => format!("line {line}: {kind}: {message}"),
        (Some(kind), None) => format!("{kind}: {message}"),
    }
}

/// An error of code that Ordain wrote: what was wrong in the data, and no line of what nobody who asked has written.
pub(crate) fn in_data(error: RunError) -> RunError {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let rest = error.message.strip_prefix("line ").and_then(|rest| rest.split_once(": "));
    let message = match rest.filter(|(line, _)| is_number(line)) {
        // It raises these itself, with words for people.
        Some((_, rest)) => {
            let own = ["ValueError: ", "OverflowError: "].into_iter().find_map(|own| rest.strip_prefix(own));
            own.unwrap_or(rest).to_owned()
        }
        None => error.message,
    };
    RunError { message, ..error }
}

/// What the plan said was so is not: its changes break a rule, and nothing of them is kept.
pub(crate) fn violated<D>(violations: &[Violation], mut attempt: Attempt) -> Tried<D> {
    let messages = violations.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
    attempt.status = Some("not_permitted".to_owned());
    let text = Some(format!("Nothing was changed, because {messages}."));
    attempt.answer = Answer { text, ..Answer::default() };
    let is_invariant = violations.first().is_some_and(|violation| violation.rule == "invariant");
    let code = if is_invariant { "invariant-broken" } else { "rule-broken" };
    let hint = "nothing was changed; the run's record has the rows";
    let trouble = Trouble::new(ErrorClass::Invariant, code, messages, hint);
    Tried::Trouble { trouble, state: RunState::RolledBack, attempt: Some(Box::new(attempt)) }
}

/// A limit of the store that ended a run.
pub(crate) fn store_limit<D>(error: &StoreError, cause: Cause, attempt: Option<Box<Attempt>>) -> Tried<D> {
    let trouble = Trouble {
        class: ErrorClass::Limit,
        code: cause.as_str().to_owned(),
        message: error.to_string(),
        line: None,
        hint: error.hint(),
    };
    Tried::Trouble { trouble, state: RunState::Failed, attempt }
}

/// The invariants among broken rules.
pub(crate) fn broken_rules(violations: &[Violation]) -> Vec<InvariantResult> {
    violations
        .iter()
        .filter(|violation| violation.rule == "invariant")
        .map(|violation| InvariantResult {
            name: violation.name.clone(),
            holds: false,
            rows: violation.rows.clone(),
        })
        .collect()
}

/// What was decided of the columns that code names when their tables were made from files.
pub(crate) fn seed_notes(store: &Store, effects: &Effects) -> Vec<String> {
    let noted = effects.reads.iter().flat_map(|(table, read)| {
        let is_named =
            |note: &String| note.split_once(": ").is_some_and(|(column, _)| read.named.contains(column));
        let notes = store.seed_notes(table).into_iter().filter(is_named);
        notes.map(move |note| format!("{table}: {note}")).collect::<Vec<_>>()
    });
    noted.take(SEED_NOTES_MAX).collect()
}
