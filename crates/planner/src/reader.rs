//! The reader: plans without a model. Every word understood, or it asks.
//!
//! A request becomes tokens, tokens mention what the catalog knows, and a grammar finds every complete reading as a
//! typed form: each word must stand in it. Exactly one reading is acted on; of several it asks which; of none it says
//! which word was not understood. Code is written from the form, short, with the request's values as `params`.

mod answer;
mod chart;
mod computed;
mod explain;
pub mod files;
mod known;
mod missed;
mod orders;

use std::collections::{BTreeMap, BTreeSet, HashSet};

use ordain_reader::{Catalog, Dialect, Meaning, Reader, Reading, stems};
use serde_json::{Value, json};

use crate::brief::{Brief, Task};
use crate::exchange::{Draft, Reply};

use known::Readers;

pub use explain::{Classified, Explained, Next, ReadAs, Unknown, explain, explain_as};
pub use known::{catalog, column, is_condition, metric_query};
pub use missed::{Missed, missed};

/// Choices that are offered.
const CHOICES_MAX: usize = 6;

/// The version of the reader. It is part of the fingerprint of every plan that it wrote: a better reader writes it anew.
pub const RULES_VERSION: u32 = 18;

/// Writes a plan for a brief.
pub fn plan(brief: &Brief) -> Reply {
    match brief.task {
        Task::Ask => ask(brief),
        // Rules about data have a grammar of their own, which whoever runs them has at hand.
        Task::Check => Reply::Refusal("only a model writes the code of a check here".to_owned()),
        Task::Code => files::plan(brief),
    }
}

/// Writes a plan for a request to a store: a question, or an order.
fn ask(brief: &Brief) -> Reply {
    orders::reply(brief).unwrap_or_else(|| asked(brief))
}

/// Hands what a request was read as to those who carry it out.
fn asked(brief: &Brief) -> Reply {
    let readers = known::readers(brief);
    let reader = &readers.questions;
    if let Some(talk) = reader.talk(&brief.request) {
        return match talk.as_str() {
            "thanks" => say("You are welcome."),
            _ => say(&format!("Hello! {}", possible(reader))),
        };
    }
    match reader.request(&brief.request) {
        Reading::Certain(meaning) => certain_reply(reader, brief, &meaning),
        Reading::Choose(all) => chosen(reader, &all),
        Reading::Silent { .. } => Reply::Refusal(declined(reader, &stopped(&readers, &brief.request))),
    }
}

/// Asks which of several meanings is meant.
fn chosen(reader: &Reader, all: &[Meaning]) -> Reply {
    let words = all.iter().take(CHOICES_MAX).filter_map(|meaning| reader.words_of(meaning));
    let choices: Vec<String> = words.enumerate().map(|(at, words)| format!("{}. {words}", at + 1)).collect();
    Reply::Question(format!(
        "I can read that in several ways. Which one do you mean? {}. Say the number.",
        choices.join("; ")
    ))
}

/// Where a request is not understood any more: as an order or as a question, whichever was understood further.
fn stopped(readers: &Readers, request: &str) -> Unknown {
    let question = Unknown::at(readers.questions.request(request));
    let order = Unknown::at(readers.changes.change(request));
    if order.at.0 > question.at.0 { order } else { question }
}

/// Whose SQL a brief's store is asked in.
fn dialect(brief: &Brief) -> Dialect {
    if brief.database.to_lowercase().contains("postgres") { Dialect::Postgres } else { Dialect::Sqlite }
}

/// The plan of one meaning.
fn certain_reply(reader: &Reader, brief: &Brief, meaning: &Meaning) -> Reply {
    let words = reader.words_of(meaning).unwrap_or_else(|| brief.request.clone());
    let from = answer::From::Store(dialect(brief));
    let written = match meaning {
        Meaning::Computed(what) => {
            Some(answer::Written { code: computed::program(what, None, &words), params: Vec::new() })
        }
        meaning => answer::write(reader, meaning, &brief.request, &words, from),
    };
    let Some(written) = written else {
        return Reply::Refusal(format!("I understand that ({words}), but this database cannot compute it."));
    };
    Reply::Plan(Draft {
        code: written.code,
        title: words.clone(),
        reading: Some(words),
        params: written.params,
        declared: Some(json!({ "action": "read" })),
        ..Draft::default()
    })
}

/// What can be asked here, and ordered.
fn possible(reader: &Reader) -> String {
    let catalog = reader.catalog();
    let tables: Vec<String> = catalog.tables.iter().take(8).map(|table| table.noun().1).collect();
    let verbs: Vec<&str> =
        catalog.verbs.iter().filter_map(|verb| verb.words.first()).map(String::as_str).take(8).collect();
    let orders = if verbs.is_empty() {
        String::new()
    } else {
        format!(", and give orders that begin with {}", verbs.join(", "))
    };
    let Some(first) = tables.first() else { return "There are no tables here to ask about.".to_owned() };
    format!("You can ask about {}{orders}. For example: “how many {first}”.", tables.join(", "))
}

/// One thing: which word, why, and what would be read instead.
fn declined(reader: &Reader, unknown: &Unknown) -> String {
    let what = if unknown.text.is_empty() {
        "I do not understand how that ends".to_owned()
    } else {
        unknown.sentence()
    };
    format!(
        "{what}, so nothing was done. {} A model understands more: see `ordain models`.",
        possible(reader)
    )
}

/// A request as two of them are told apart: every sign, capital and blank counts, but for the capital of the first word.
pub fn spoken(request: &str) -> String {
    let request = request.trim();
    let mut letters = request.chars();
    match (letters.next(), letters.next()) {
        (Some(first), Some(second)) if !second.is_uppercase() => {
            format!("{}{}", first.to_lowercase(), &request[first.len_utf8()..])
        }
        _ => request.to_owned(),
    }
}

/// Whether every word of a request is part of a calculation that needs no data.
pub fn is_calculation(request: &str) -> bool {
    let reading = Reader::of_requests(Catalog::default()).request(request);
    matches!(reading, Reading::Certain(meaning) if matches!(*meaning, Meaning::Computed(_)))
}

/// The values that stand in a request: what each is (`number`, `table.column`), and its words.
pub fn values(brief: &Brief) -> Vec<(String, String)> {
    let words = known::readers(brief).questions.words_in(&brief.request);
    let mut found = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let word = &words[at];
        let last = &words[(at + word.length - 1).min(words.len() - 1)];
        let kind = match word.kind {
            "value" => word.mentions.iter().find_map(|mention| mention.strip_prefix("value of ")),
            kind @ ("number" | "day") => Some(kind),
            _ => None,
        };
        let said = brief.request.get(word.at.0..last.at.1).unwrap_or_default();
        found.extend(kind.map(|kind| (kind.to_owned(), said.to_owned())));
        at += word.length;
    }
    found
}

/// The values of columns whose words all stand in a request, each with the columns that hold it: what a plan rests on
/// besides the names of the columns.
pub fn mentioned<'a>(
    request: &str,
    columns: impl IntoIterator<Item = (&'a str, &'a [Value])>,
) -> BTreeMap<String, BTreeSet<String>> {
    let said: HashSet<String> = stems(request).into_iter().collect();
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (column, values) in columns {
        for value in values.iter().filter_map(Value::as_str) {
            let words = stems(value);
            if !words.is_empty() && words.iter().all(|word| said.contains(word)) {
                found.entry(value.to_owned()).or_default().insert(column.to_owned());
            }
        }
    }
    found
}

/// The names among these whose words a request all has.
pub fn named<'a>(request: &str, names: impl IntoIterator<Item = &'a str>) -> BTreeSet<&'a str> {
    let said: HashSet<String> = stems(request).into_iter().collect();
    let is_said = |name: &&str| {
        let words = stems(name);
        !words.is_empty() && words.iter().all(|word| said.contains(word))
    };
    names.into_iter().filter(is_said).collect()
}

/// A plan that says one sentence.
fn say(text: &str) -> Reply {
    let code = format!("answer_text = {}\nSTATUS = \"success\"\n", answer::quote(text));
    Reply::Plan(Draft { code, title: "says something".to_owned(), ..Draft::default() })
}
