//! The reply to a chat client: the answer as content, plan, code and findings as reasoning, the run beside them.

use std::fmt::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

use ordain_types::{PlanSource, Row, RowChange, RunId, RunRecord, RunState, Usage, unmarked, visible};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::approval;

/// The longest text of an answer.
const CONTENT_BYTES_MAX: usize = 256 << 10;
/// Changed rows that an answer shows as text when it asks for approval.
const LINES_MAX: usize = 20;
/// The longest text of one value in such a row.
const CELL_CHARS_MAX: usize = 80;
/// Changed rows that are sent along; more are looked up by the run's id.
pub(crate) const DIFF_ROWS_MAX: usize = 200;

/// What is the same in all chunks of an answer.
#[derive(Debug, Clone)]
pub(super) struct Head {
    pub(super) id: String,
    pub(super) created: u64,
    pub(super) model: String,
}

/// An answer, before it is written as one piece or as chunks.
#[derive(Debug, Clone, Default)]
pub(super) struct Reply {
    pub(super) content: String,
    pub(super) reasoning: String,
    pub(super) is_cut: bool,
    pub(super) usage: Usage,
    /// The run, and what came of it.
    pub(super) ordain: Option<Value>,
    pub(super) run_id: Option<RunId>,
    pub(super) is_replayed: bool,
}

/// A completion, as `OpenAI` clients read it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Completion {
    /// Names the completion.
    id: String,
    /// Always `chat.completion`.
    object: String,
    /// When, in seconds since 1970.
    created: u64,
    /// The name that was asked.
    model: String,
    /// One choice: `message.content` is the answer, `message.reasoning_content` plan, code and findings.
    #[schema(value_type = Vec<Object>)]
    choices: Vec<Value>,
    /// Tokens of models.
    #[schema(value_type = Object)]
    usage: Value,
    /// The run: `run_id`, `state`, `status`, `diff`, rows and more.
    #[schema(value_type = Option<Object>)]
    ordain: Option<Value>,
}

impl Head {
    /// The head of an answer. A run that is sent twice has the same id both times.
    pub(super) fn new(run: Option<&RunId>, model: &str) -> Self {
        let created = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let id = run.map_or_else(|| format!("{:x}", created.as_nanos()), RunId::to_string);
        Self { id: format!("chatcmpl-{id}"), created: created.as_secs(), model: model.to_owned() }
    }
}

impl Reply {
    /// An answer that took no run.
    pub(super) fn plain(content: String) -> Self {
        Self { content, ..Self::default() }
    }

    /// What came of a run.
    pub(super) fn of_run(record: &RunRecord, is_json: bool) -> Self {
        let text = if is_json { as_json(record) } else { content(record) };
        Self { reasoning: reasoning(record, true), ..Self::about(record, text) }
    }

    /// A text about a run.
    pub(super) fn about(record: &RunRecord, content: String) -> Self {
        let (content, is_cut) = cut(content);
        Self {
            content,
            is_cut,
            usage: record.usage,
            ordain: Some(beside(record)),
            run_id: Some(record.run_id.clone()),
            ..Self::default()
        }
    }

    /// The same, as the answer to a call that was made before.
    #[must_use]
    pub(super) fn replayed(mut self, says_so: bool) -> Self {
        self.is_replayed = true;
        if let Some(ordain) = &mut self.ordain {
            ordain["replayed"] = Value::from(true);
        }
        if says_so && let Some(run) = &self.run_id {
            let _ = write!(
                self.content,
                "\n\n(The same message was carried out a moment ago by run {run}, and this is its answer; it was not \
                 carried out again. Send an `Idempotency-Key` of its own to have it done twice.)"
            );
        }
        self
    }

    /// The whole completion.
    pub(super) fn whole(&self, head: &Head) -> Value {
        let reasoning = (!self.reasoning.is_empty()).then_some(&self.reasoning);
        let mut message = json!({ "role": "assistant", "content": self.content, "refusal": null });
        if let Some(reasoning) = reasoning {
            message["reasoning_content"] = Value::from(reasoning.as_str());
        }
        let mut whole = json!({ "id": head.id, "object": "chat.completion", "created": head.created,
            "model": head.model, "system_fingerprint": fingerprint(), "usage": usage(self.usage),
            "choices": [{ "index": 0, "message": message, "logprobs": null, "finish_reason": self.finish_reason() }] });
        if let Some(ordain) = &self.ordain {
            whole["ordain"] = ordain.clone();
        }
        whole
    }

    pub(super) fn finish_reason(&self) -> &'static str {
        if self.is_cut { "length" } else { "stop" }
    }
}

/// Who answers.
pub(super) fn fingerprint() -> &'static str {
    concat!("ordain-", env!("CARGO_PKG_VERSION"))
}

/// Tokens of models; plans that no model wrote have none.
pub(super) fn usage(usage: Usage) -> Value {
    json!({ "prompt_tokens": usage.input_tokens, "completion_tokens": usage.output_tokens,
        "total_tokens": usage.input_tokens.saturating_add(usage.output_tokens),
        "prompt_tokens_details": { "cached_tokens": 0, "audio_tokens": 0 },
        "completion_tokens_details": { "reasoning_tokens": 0, "audio_tokens": 0,
            "accepted_prediction_tokens": 0, "rejected_prediction_tokens": 0 } })
}

/// What the person reads: the receipt, then what the plan says.
fn content(record: &RunRecord) -> String {
    format!("{}\n\n{}", record.receipt.marked(), unmarked(&said(record)))
}

/// What the plan says, or why there is nothing to say.
pub(crate) fn answer(record: &RunRecord) -> String {
    match (record.said(), &record.error) {
        (_, Some(error)) => {
            let hint = error.hint.as_ref().map(|hint| format!(" Hint: {hint}.")).unwrap_or_default();
            format!("This was not carried out: {}.{hint}", error.message.trim_end_matches('.'))
        }
        (Some(text), None) => text,
        (None, None) => format!("The run is {}.", record.state),
    }
}

fn said(record: &RunRecord) -> String {
    let mut text = answer(record);
    match record.state {
        RunState::Held => {
            let _ = write!(text, "\n\n{}\n\n{}", lines(record), approval::question(record));
        }
        RunState::RolledBack if record.error.is_none() && !record.diff.is_empty() => {
            let _ = write!(text, "\n\n{}", lines(record));
        }
        _ => {}
    }
    text
}

/// The answer for clients that asked for a JSON object.
fn as_json(record: &RunRecord) -> String {
    json!({ "receipt": record.receipt, "answer": record.answer.text, "rows": record.answer.rows, "json": record.answer.json,
        "status": record.status, "state": record.state, "run_id": record.run_id,
        "error": record.error })
    .to_string()
}

/// Plan, code and findings, for front ends that fold them away.
pub(super) fn reasoning(record: &RunRecord, with_code: bool) -> String {
    let mut text = String::new();
    if with_code && !record.plan.steps.is_empty() {
        let _ = writeln!(text, "Plan, {}:", writer(record));
        for step in &record.plan.steps {
            let _ = writeln!(text, "{}. {}\n\n```python\n{}\n```", step.id, step.title, step.code.trim_end());
        }
    }
    if record.verdict.iterations > 1 {
        let _ = writeln!(text, "Rounds: {}", record.verdict.iterations);
    }
    for finding in record.verdict.findings.iter().take(LINES_MAX) {
        let part = |name: &str| finding[name].as_str().unwrap_or_default();
        let _ = writeln!(text, "Finding {} in line {}: {}", part("code"), finding["line"], part("message"));
    }
    for broken in record.invariants.iter().filter(|invariant| !invariant.holds) {
        let _ = writeln!(text, "Invariant broken: {}", broken.name);
    }
    unmarked(&text)
}

/// Who wrote the plan, in words.
pub(crate) fn writer(record: &RunRecord) -> String {
    match (record.plan.source, record.plan.model.as_deref()) {
        (PlanSource::Rules, _) => "written by the reader".to_owned(),
        (PlanSource::Model, Some(model)) => format!("written by {model}"),
        (PlanSource::Model, None) => "written by a model".to_owned(),
        (PlanSource::Cache, _) => "from the plan cache".to_owned(),
        (PlanSource::File, _) => "given by the caller".to_owned(),
    }
}

/// The run, for programs.
fn beside(record: &RunRecord) -> Value {
    let rows = record.diff.rows();
    let mut beside = json!({ "run_id": record.run_id, "receipt": record.receipt, "state": record.state, "status": record.status,
        "strategy": record.strategy, "plan_source": record.plan.source, "planner": record.plan.model,
        "rows": record.answer.rows, "json": record.answer.json, "diff": record.diff, "rows_changed": rows,
        "invariants": record.invariants, "error": record.error, "timing_ms": record.timing_ms,
        "url": format!("/v1/runs/{}", record.run_id) });
    if rows > DIFF_ROWS_MAX {
        beside["diff"] = Value::Null;
    }
    beside
}

/// A diff as a block of lines, one for each row, in which nothing looks like a receipt.
pub(crate) fn lines(record: &RunRecord) -> String {
    let mut all = Vec::new();
    for (table, changes) in &record.diff.tables {
        let table = visible(table);
        all.extend(changes.added.iter().map(|row| format!("+ {table} {}", values(row))));
        all.extend(changes.removed.iter().map(|row| format!("- {table} {}", values(row))));
        let changed =
            |change: &RowChange| format!("~ {table} {}: {}", values(&change.key), differences(change));
        all.extend(changes.changed.iter().map(changed));
    }
    let later = record.calls.iter().filter(|call| call.is_later());
    all.extend(later.map(|call| format!("> {} {}", visible(&call.name), excerpt(&text(&call.arguments), 0))));
    let more = all.len().saturating_sub(LINES_MAX);
    all.truncate(LINES_MAX);
    if more > 0 {
        all.push(format!("… and {more} more; all are at /v1/runs/{}", record.run_id));
    }
    // Text of rows must not end the block.
    format!("```\n{}\n```", unmarked(&all.join("\n")).replace("```", "'''"))
}

/// The values of a row in one line.
fn values(row: &Row) -> String {
    let shown =
        row.fields.iter().map(|(name, value)| format!("{}={}", visible(name), excerpt(&text(value), 0)));
    shown.collect::<Vec<_>>().join(" ")
}

/// What changes in a row: each value before and after, from shortly before the place where they begin to differ.
fn differences(change: &RowChange) -> String {
    let (before, after) = (&change.before, &change.after);
    let is_new = |name: &&String| before.get(name).is_none();
    let names = before.fields.iter().map(|(name, _)| name);
    let names = names.chain(after.fields.iter().map(|(name, _)| name).filter(is_new));
    let shown = names.filter(|name| before.get(name) != after.get(name)).map(|name| {
        let [from, to] = [before, after].map(|row| row.get(name).map_or_else(|| "–".to_owned(), text));
        let same = std::iter::zip(from.chars(), to.chars()).take_while(|(one, other)| one == other).count();
        format!("{}={} → {}", visible(name), excerpt(&from, same), excerpt(&to, same))
    });
    shown.collect::<Vec<_>>().join(" ")
}

/// A value as JSON in which everything can be seen.
fn text(value: &Value) -> String {
    visible(&value.to_string())
}

/// As much of a long text as a line has room for, from shortly before a place.
fn excerpt(text: &str, place: usize) -> String {
    let length = text.chars().count();
    if length <= CELL_CHARS_MAX {
        return text.to_owned();
    }
    let start = place.saturating_sub(CELL_CHARS_MAX / 4);
    let shown: String = text.chars().skip(start).take(CELL_CHARS_MAX).collect();
    let (before, rest) = (start > 0, length > start + CELL_CHARS_MAX);
    let ends = |is_cut| if is_cut { "…" } else { "" };
    format!("{}{shown}{}({length} characters)", ends(before), ends(rest))
}

pub(crate) fn cut(mut text: String) -> (String, bool) {
    if text.len() <= CONTENT_BYTES_MAX {
        return (text, false);
    }
    let end = (0..=CONTENT_BYTES_MAX).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    text.truncate(end);
    (text, true)
}

#[cfg(test)]
mod tests {
    use ordain_types::{Receipt, RunKind};

    use super::*;

    #[test]
    fn a_completion_has_every_part_that_clients_read() {
        let mut record = RunRecord::new(RunId("01abc".to_owned()), RunKind::Ask, "buy");
        record.state = RunState::Answered;
        record.receipt = Receipt::of(&record);
        record.answer.text = Some("Yes.\n⟦9 rows changed in stock.⟧".to_owned());
        let whole = Reply::of_run(&record, false).whole(&Head::new(Some(&record.run_id), "ordain-auto"));
        assert_eq!(whole["id"], "chatcmpl-01abc");
        let content = &whole["choices"][0]["message"]["content"];
        assert_eq!(content, "⟦Nothing was changed.⟧\n\nYes.\n·9 rows changed in stock.·");
        assert_eq!(whole["ordain"]["receipt"]["kind"], "none");
        assert_eq!(whole["choices"][0]["finish_reason"], "stop");
        assert_eq!(whole["usage"]["total_tokens"], 0);
        assert_eq!(whole["ordain"]["run_id"], "01abc");
    }

    #[test]
    fn a_change_behind_the_shown_part_of_a_value_is_shown() {
        let row = |note: String| Row::from_iter([("note".to_owned(), Value::from(note))]);
        let (before, after) =
            ("x".repeat(500) + "pay 1", "x".repeat(500) + "pay 1000\u{202e}\x1b[2J\n~ all is well");
        let key = Row::from_iter([("id".to_owned(), Value::from(7))]);
        let change = RowChange { key, before: row(before), after: row(after) };
        let shown = differences(&change);
        assert!(shown.contains("pay 1\"(") && shown.contains("pay 1000\\u{202e}\\u001b[2J\\n~"), "{shown}");
        assert!(!shown.contains(char::is_control));
    }

    #[test]
    fn a_very_long_answer_is_cut_and_says_so() {
        let mut record = RunRecord::new(RunId("01abc".to_owned()), RunKind::Ask, "buy");
        record.answer.text = Some("a".repeat(CONTENT_BYTES_MAX));
        let reply = Reply::of_run(&record, false);
        assert_eq!((reply.finish_reason(), reply.content.len()), ("length", CONTENT_BYTES_MAX));
    }
}
