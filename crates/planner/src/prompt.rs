//! Renders a brief into the messages that a model reads.
//!
//! The parts that stay the same from request to request come first and in a fixed order, so that a provider can reuse
//! what it has read before; nothing here reads a clock. What comes from rows, files, earlier answers and the request
//! is data: it is shortened, its control characters are made harmless, and it cannot open or close one of our tags.

mod helpers;
mod schema;
pub(crate) mod steps;
pub(crate) mod text;

use std::fmt::Write as _;

use ordain_types::{BoundParam, Call, Diff, Outline, format_bytes, format_duration};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::brief::{Brief, Stage, Task};
use crate::exchange::{Draft, Message, Speaker};
use crate::reader;
use schema::Detail;

/// A word in our examples that no program may hold: a reply that holds it has copied an example.
pub(crate) const PLACEHOLDER: &str = "EXAMPLE_ONLY";

/// What the schema may take before it leaves out sample values and notes.
const SCHEMA_CHARS: usize = 5_000;
/// Largest text of a brief, and of one for a small model.
const BRIEF_BYTES_MAX: usize = 160 * 1024;
const SMALL_BRIEF_BYTES_MAX: usize = 12 * 1024;
/// What a model is shown of a request; the code still gets all of it.
const REQUEST_CHARS_MAX: usize = 16 * 1024;
/// What is shown of one text of an outline; it has no longer ones.
const OUTLINE_TEXT_CHARS_MAX: usize = 2_000;
const TURNS_MAX: usize = 6;
const TURN_CHARS_MAX: usize = 400;
const EXAMPLES_MAX: usize = 2;
const EXAMPLE_BYTES_MAX: usize = 6 * 1024;
const FILES_MAX: usize = 40;
const FACTS_CHARS_MAX: usize = 6 * 1024;
const POLICY_CHARS_MAX: usize = 32 * 1024;
const INVARIANTS_MAX: usize = 100;
const PACKAGES_CHARS_MAX: usize = 1500;
const FACTS_MAX: usize = 20;
/// What is shown of a change.
const CHANGES_CHARS_MAX: usize = 8 * 1024;

/// The messages that open an exchange: the rules, then what is asked.
pub(crate) fn opening(brief: &Brief, is_small: bool) -> Vec<Message> {
    let max = if is_small { SMALL_BRIEF_BYTES_MAX } else { BRIEF_BYTES_MAX };
    within(max, |detail| {
        let system = if is_small { small_rules(brief, detail) } else { rules(brief, detail) };
        let mut opening = if is_small { facts(brief) } else { String::new() };
        if !is_small && matches!(brief.stage, Stage::Whole) {
            block(&mut opening, "examples", &examples(brief));
        }
        opening.push_str(&asked(brief, detail));
        steps::forms(&mut opening, brief);
        vec![say(Speaker::System, system), say(Speaker::Ordain, opening)]
    })
}

/// The messages that ask how a check would be judged.
pub(crate) fn outline(brief: &Brief) -> Vec<Message> {
    within(BRIEF_BYTES_MAX, |detail| {
        let mut system = String::from(include_str!("../prompts/outline.md"));
        block(&mut system, "schema", &schema::tables(brief, detail));
        vec![say(Speaker::System, system), say(Speaker::Ordain, asked(brief, detail))]
    })
}

/// The messages that ask what is wrong with a policy.
pub(crate) fn policy_reading(brief: &Brief) -> Vec<Message> {
    within(BRIEF_BYTES_MAX, |detail| {
        let mut system = String::from(include_str!("../prompts/policy.md"));
        block(&mut system, "statuses", &statuses(brief));
        block(&mut system, "api", &api(brief));
        schema_block(&mut system, brief, detail);
        let mut user = String::new();
        policy_blocks(&mut user, brief);
        vec![say(Speaker::System, system), say(Speaker::Ordain, user)]
    })
}

/// What a second opinion is asked of.
#[derive(Debug, Clone, Copy)]
pub enum Reviewed<'r> {
    /// A program that may change something, and what it did when it was tried.
    Code(&'r Draft, Option<&'r Did>),
    /// An outline, before any of it is carried out.
    Outline(&'r Outline),
}

/// What a program did when it was tried.
#[derive(Debug, Clone, Default)]
pub struct Did {
    /// The rows that it changed.
    pub diff: Diff,
    /// What it called outside of the tables, or what is to be called after the commit.
    pub calls: Vec<Call>,
    /// The status that it gave.
    pub status: Option<String>,
    /// What it answered.
    pub answer: Option<String>,
}

impl Reviewed<'_> {
    /// The text that consent is given to.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Code(draft, _) => draft.text(),
            Self::Outline(outline) => serde_json::json!(outline).to_string(),
        }
    }
}

impl Did {
    /// All of it, as data.
    fn shown(&self) -> String {
        let mut text = changes(&self.diff);
        if !self.calls.is_empty() {
            let calls = text::cut(&text::value(&serde_json::json!(self.calls), 200), CHANGES_CHARS_MAX);
            block(&mut text, "calls untrusted=\"true\"", &calls);
        }
        let answered = serde_json::json!({ "status": self.status, "answer": self.answer });
        block(&mut text, "answered untrusted=\"true\"", &text::value(&answered, 2_000));
        text
    }
}

/// The messages that ask for a second opinion.
pub(crate) fn review(brief: &Brief, what: Reviewed<'_>) -> Vec<Message> {
    within(BRIEF_BYTES_MAX, |detail| {
        let mut system = String::new();
        match what {
            Reviewed::Code(..) => {
                system.push_str(include_str!("../prompts/review.md"));
                block(&mut system, "statuses", &statuses(brief));
                block(&mut system, "api", &api(brief));
            }
            Reviewed::Outline(_) => system.push_str(include_str!("../prompts/review_outline.md")),
        }
        policy_blocks(&mut system, brief);
        schema_block(&mut system, brief, detail);
        let mut user = asked(brief, detail);
        match what {
            Reviewed::Code(draft, did) => {
                if !draft.params.is_empty() {
                    let params: Vec<String> = draft.params.iter().map(param).collect();
                    block(&mut user, "params", &params.join("\n"));
                }
                block(&mut user, "program", &numbered(&draft.text()));
                if let Some(did) = did {
                    user.push_str(&did.shown());
                }
            }
            Reviewed::Outline(outline) => {
                let shown = text::value(&serde_json::json!(outline), OUTLINE_TEXT_CHARS_MAX);
                block(&mut user, "outline", &shown);
            }
        }
        vec![say(Speaker::System, system), say(Speaker::Ordain, user)]
    })
}

/// `quantity = 3, said "3 pairs"`
fn param(param: &BoundParam) -> String {
    let (name, said) = (text::line(&param.name, 80), text::line(&param.said, 200));
    format!("{name} = {}, said \"{said}\"", text::value(&param.value, 200))
}

/// The rows that a run changed, as data.
pub(crate) fn changes(diff: &Diff) -> String {
    let mut text = String::new();
    let changed = text::cut(&text::value(&serde_json::json!(diff), 200), CHANGES_CHARS_MAX);
    block(&mut text, "changes untrusted=\"true\"", &changed);
    text
}

/// Renders with less and less detail until the text is short enough.
fn within(max: usize, render: impl Fn(Detail) -> Vec<Message>) -> Vec<Message> {
    let size = |messages: &[Message]| messages.iter().map(|message| message.text.len()).sum::<usize>();
    let mut messages = Vec::new();
    for detail in Detail::LEVELS {
        messages = render(detail);
        if size(&messages) <= max {
            break;
        }
    }
    messages
}

fn rules(brief: &Brief, detail: Detail) -> String {
    let contract = match brief.task {
        Task::Ask => include_str!("../prompts/contract_ask.md"),
        Task::Check => include_str!("../prompts/contract_check.md"),
        Task::Code => include_str!("../prompts/contract_code.md"),
    };
    let mut text = String::new();
    block(&mut text, "role", include_str!("../prompts/role.md"));
    let statuses = if brief.task == Task::Ask { statuses(brief) } else { status_names(brief) };
    block(&mut text, "contract", &contract.replace("{{statuses}}", statuses.trim_end()));
    block(&mut text, "api", &api(brief));
    block(&mut text, "limits", &limits(brief));
    policy_blocks(&mut text, brief);
    if !brief.tables.is_empty() {
        schema_block(&mut text, brief, detail);
    }
    text
}

/// What the code may call. Stubs of what can change data come first.
fn api(brief: &Brief) -> String {
    let database = text::line(&brief.database, 20);
    let database = if database.is_empty() { database } else { format!(" in the SQL of {database}") };
    let tables = &include_str!("../prompts/api_tables.md").replace("{{database}}", &database);
    let sql = include_str!("../prompts/api_sql.md");
    match brief.task {
        Task::Ask => {
            helpers::api(&brief.helpers, &brief.catalog, tables, include_str!("../prompts/api_writes.md"))
        }
        Task::Check => format!("{tables}{sql}{}", helpers::stubs(&brief.helpers, &brief.catalog)),
        Task::Code => {
            format!(
                "{}{sql}{}",
                include_str!("../prompts/api_files.md"),
                helpers::stubs(&brief.helpers, &brief.catalog)
            )
        }
    }
}

/// The tables in as much detail as fits; the request's own tables follow with it where that is not all.
fn schema_block(text: &mut String, brief: &Brief, detail: Detail) {
    block(text, "schema", &schema::tables(brief, fitting(brief, detail)));
}

/// The detail in which the schema keeps to its share.
fn fitting(brief: &Brief, most: Detail) -> Detail {
    let levels = Detail::LEVELS.into_iter().filter(|level| !level.is_fuller_than(most));
    // The columns of very many tables are worth more than their share.
    let mut levels = levels.take_while(|level| !Detail::NAMES.is_fuller_than(*level));
    let fitting = levels.find(|level| schema::tables(brief, *level).len() <= SCHEMA_CHARS);
    fitting.unwrap_or(if Detail::NAMES.is_fuller_than(most) { most } else { Detail::NAMES })
}

fn small_rules(brief: &Brief, detail: Detail) -> String {
    let prompt = match brief.task {
        Task::Ask => include_str!("../prompts/small_ask.md"),
        Task::Check => include_str!("../prompts/small_check.md"),
        Task::Code => include_str!("../prompts/small_code.md"),
    };
    let mut text = prompt.replace("{{statuses}}", &status_names(brief));
    let stubs = helpers::api(&brief.helpers, &brief.catalog, "", "");
    if !stubs.is_empty() {
        block(&mut text, "api", &stubs);
    }
    if !brief.policy.trim().is_empty() {
        block(&mut text, "policy", &policy(&brief.policy));
    }
    if !brief.tables.is_empty() {
        block(&mut text, "schema", &schema::tables(brief, detail));
    }
    text
}

fn policy_blocks(text: &mut String, brief: &Brief) {
    if !brief.policy.trim().is_empty() {
        let version = Sha256::digest(brief.policy.as_bytes());
        let name = format!(
            "policy version=\"{:02x}{:02x}{:02x}{:02x}\"",
            version[0], version[1], version[2], version[3]
        );
        block(text, &name, &policy(&brief.policy));
    }
    if !brief.invariants.is_empty() {
        let mut list =
            String::from("Each query must return no row at the end, or the engine undoes everything:\n");
        for invariant in brief.invariants.iter().take(INVARIANTS_MAX) {
            let (name, sql) = (text::line(&invariant.name, 120), text::line(&invariant.sql, 1000));
            let _ = writeln!(list, "- {name}: {sql}");
        }
        block(text, "invariants", &list);
    }
}

/// The owner's rules, each with an id that a plan may cite.
fn policy(policy: &str) -> String {
    let mut text = String::new();
    let mut number = 0;
    for line in text::cut(&text::harmless(policy), POLICY_CHARS_MAX).lines() {
        let trimmed = line.trim();
        match rule(trimmed) {
            Some(rule) => {
                number += 1;
                let _ = writeln!(text, "P{number}: {rule}");
            }
            None if trimmed.is_empty() => {}
            None => {
                let _ = writeln!(text, "{trimmed}");
            }
        }
    }
    text
}

/// What a line says, if it is a rule of a list.
fn rule(line: &str) -> Option<&str> {
    let marker = line.trim_start_matches(|c: char| c.is_ascii_digit());
    if marker.len() < line.len() {
        return marker.strip_prefix(". ").or_else(|| marker.strip_prefix(") "));
    }
    line.strip_prefix("- ").or_else(|| line.strip_prefix("* "))
}

/// The lines that the rules of a policy stand on, in the order of their numbers.
pub(crate) fn rule_lines(policy: &str) -> Vec<usize> {
    let lines = policy.lines().enumerate();
    lines.filter(|(_, line)| rule(line.trim()).is_some()).map(|(at, _)| at + 1).collect()
}

/// The statuses, each with when it is given.
fn statuses(brief: &Brief) -> String {
    let mut text = String::new();
    for (name, when) in &brief.statuses {
        let (name, when) = (text::line(name, 60), text::line(when, 200));
        let _ =
            if when.is_empty() { writeln!(text, "  - {name}") } else { writeln!(text, "  - {name}: {when}") };
    }
    text
}

fn status_names(brief: &Brief) -> String {
    let names: Vec<String> = brief.statuses.iter().map(|(name, _)| text::line(name, 60)).collect();
    names.join(", ")
}

/// Plans of this workspace for requests like this one; else small ones of ours.
fn examples(brief: &Brief) -> String {
    let mut text = String::new();
    let short = brief.examples.iter().filter(|example| example.code.len() <= EXAMPLE_BYTES_MAX);
    for example in short.take(EXAMPLES_MAX) {
        let request = text::line(&example.request, TURN_CHARS_MAX);
        let _ = writeln!(
            text,
            "Request: \"{request}\"\n<execute_python>\n{}\n</execute_python>\n",
            text::harmless(example.code.trim_end())
        );
    }
    if !text.is_empty() {
        return format!(
            "Programs that were verified and run in this workspace for requests like this one. Keep their form; take the values of this request.\n\n{text}"
        );
    }
    let made_up = "Programs for what does not exist here, and EXAMPLE_ONLY is no value: learn the form, take nothing else.";
    match brief.task {
        Task::Check => include_str!("../prompts/examples_check.md").to_owned(),
        Task::Code => include_str!("../prompts/examples_code.md").to_owned(),
        Task::Ask => {
            let change = if brief.catalog.actions.is_empty() {
                include_str!("../prompts/example_change.md")
            } else {
                include_str!("../prompts/example_action.md")
            };
            let read = include_str!("../prompts/example_read.md");
            format!("{made_up}\n\n{}", if is_question(&brief.request) { read } else { change })
        }
    }
}

/// Whether the request is written as a question. It only decides which example is shown.
fn is_question(request: &str) -> bool {
    let first = request.split_whitespace().next().unwrap_or_default().to_lowercase();
    let asks = [
        "what", "which", "who", "when", "where", "why", "how", "is", "are", "do", "does", "did", "list",
        "show",
    ];
    request.trim_end().ends_with('?') || asks.contains(&first.as_str())
}

fn limits(brief: &Brief) -> String {
    let mut packages = brief.packages.clone();
    packages.sort();
    packages.dedup();
    let packages = if packages.is_empty() {
        String::new()
    } else {
        format!("; besides it {}", text::cut(&packages.join(", "), PACKAGES_CHARS_MAX))
    };
    format!(
        "imports: the standard library, but nothing for network, processes or threads{packages}\ntime: {}; memory: {}; printed output: {}\n",
        format_duration(brief.limits.wall),
        format_bytes(brief.limits.memory_bytes),
        format_bytes(brief.limits.output_bytes),
    )
}

/// The part that changes with every request.
fn asked(brief: &Brief, detail: Detail) -> String {
    let mut text = String::new();
    if fitting(brief, detail).is_short() {
        let relevant = schema::relevant(brief);
        if !relevant.is_empty() {
            block(&mut text, "schema_of_the_request", &relevant);
        }
    }
    if !brief.turns.is_empty() {
        block(&mut text, "memory", &memory(brief));
    }
    let mut data = String::new();
    if detail.has_excerpts {
        data.push_str(&schema::excerpts(brief));
    }
    data.push_str(&files(brief));
    if !data.is_empty() {
        block(&mut text, "data untrusted=\"true\"", &data);
    }
    if !brief.today.is_empty() {
        block(
            &mut text,
            "today",
            &format!(
                "{} (UTC, as `now()` gives it; where the policy names its own day, that one counts)",
                brief.today
            ),
        );
    }
    block(&mut text, "request", &text::data(&brief.request, REQUEST_CHARS_MAX));
    steps::blocks(&mut text, brief);
    text
}

/// What rules read out of the request: a small model need not find it out by itself.
fn facts(brief: &Brief) -> String {
    let slots = reader::values(brief);
    let mut list = String::new();
    for (kind, said) in slots.iter().take(FACTS_MAX) {
        let _ = writeln!(list, "- {}: {}", text::line(kind, 100), text::line(said, 100));
    }
    let mut text = String::new();
    if !list.is_empty() {
        block(&mut text, "facts", &format!("Values that stand in the request:\n{list}"));
    }
    text
}

fn memory(brief: &Brief) -> String {
    let first = brief.turns.len().saturating_sub(TURNS_MAX);
    let mut text = String::from("Earlier turns, oldest first; rows may have changed since:\n");
    for turn in &brief.turns[first..] {
        let _ = writeln!(text, "- asked: {}", text::line(&turn.request, TURN_CHARS_MAX));
        let status = turn.status.as_deref().unwrap_or("none");
        let _ = writeln!(
            text,
            "  answered ({}): {}",
            text::line(status, 60),
            text::line(&turn.answer, TURN_CHARS_MAX)
        );
    }
    text
}

fn files(brief: &Brief) -> String {
    let mut text = String::new();
    for file in brief.files.iter().take(FILES_MAX) {
        let name = text::value(&Value::from(file.name.as_str()), 200);
        let facts = text::cut(&text::value(&file.facts, 200), FACTS_CHARS_MAX);
        let kind = text::line(&file.kind, 40);
        let _ = writeln!(text, "file {name}: {kind}, {}\n  {facts}", format_bytes(file.bytes));
    }
    if brief.files.len() > FILES_MAX {
        let _ = writeln!(text, "and {} more files", brief.files.len() - FILES_MAX);
    }
    text
}

fn numbered(code: &str) -> String {
    let lines = code.lines().enumerate().map(|(index, line)| format!("{:3} {line}\n", index + 1));
    text::harmless(&lines.collect::<String>())
}

/// Adds a block in tags; an attribute belongs to the opening one only.
fn block(text: &mut String, name: &str, body: &str) {
    let tag = name.split(' ').next().unwrap_or(name);
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    let _ = writeln!(text, "<{name}>\n{}\n</{tag}>", body.trim_end());
}

fn say(speaker: Speaker, text: String) -> Message {
    Message { speaker, text }
}
