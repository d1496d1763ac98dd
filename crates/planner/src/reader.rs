//! The reader: plans without a model. Every word understood, or it asks.
//!
//! A request becomes tokens, tokens mention what the catalog knows, and a grammar finds every complete reading as a
//! typed form: each word must stand in it. Exactly one reading is acted on; of several it asks which; of none it says
//! which word was not understood. Code is written from the form, short, with the request's values as `params`.

mod amounts;
mod answer;
mod called;
mod certain;
mod chart;
mod code;
mod compute;
mod condition;
mod count;
mod declared;
mod deeds;
mod explain;
mod figures;
pub mod files;
mod form;
mod formula;
mod guard;
mod index;
mod joined;
mod known;
mod lexicon;
mod mentions;
mod metric;
mod missed;
mod orders;
mod parse;
mod phrase;
mod question;
mod ratio;
pub(crate) mod said_as;
mod shape;
mod stock;
mod token;
mod trace;
mod twofold;
mod value_words;
mod words;

use std::collections::{BTreeMap, BTreeSet, HashSet};

use serde_json::{Value, json};

use crate::brief::{Brief, Task};
use crate::exchange::{Draft, Reply};
use ordain_reader::{Dialect, Meaning, Reader, Reading};

use index::Index;
use known::Readers;
use lexicon::LEXICON;
use token::{Kind, Token};
use trace::Trace;

pub use explain::{Classified, Explained, Next, ReadAs, Unknown, explain, explain_as};
pub use known::{catalog, column, is_condition, metric_query};
pub use missed::{Missed, missed};

/// Choices that are offered.
const CHOICES_MAX: usize = 6;
/// Clauses of more tokens are not read, nor requests that are longer than two.
const TOKENS_MAX: usize = 60;

/// The version of the reader. It is part of the fingerprint of every plan that it wrote: a better reader writes it anew.
pub const RULES_VERSION: u32 = 17;

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
        Reading::Choose(all) => {
            let words = all.iter().take(CHOICES_MAX).filter_map(|meaning| reader.words_of(meaning));
            let choices: Vec<String> =
                words.enumerate().map(|(at, words)| format!("{}. {words}", at + 1)).collect();
            Reply::Question(format!(
                "I can read that in several ways. Which one do you mean? {}. Say the number.",
                choices.join("; ")
            ))
        }
        Reading::Silent { .. } => Reply::Refusal(declined(reader, &stopped(&readers, &brief.request))),
    }
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
    let Some(written) = answer::write(reader, meaning, &brief.request, &words, from) else {
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
    compute::plan(request, &token::tokens(request)).is_some()
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
    let said: HashSet<String> = token::tokens(request).into_iter().map(|token| token.stem).collect();
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (column, values) in columns {
        for value in values.iter().filter_map(Value::as_str) {
            let words = index::split_text(value);
            if !words.is_empty() && words.iter().all(|word| said.contains(&lexicon::singular(word))) {
                found.entry(value.to_owned()).or_default().insert(column.to_owned());
            }
        }
    }
    found
}

/// The names among these whose words a request all has.
pub fn named<'a>(request: &str, names: impl IntoIterator<Item = &'a str>) -> BTreeSet<&'a str> {
    let said: HashSet<String> = token::tokens(request).into_iter().map(|token| token.stem).collect();
    let is_said = |name: &&str| {
        let words = index::split_name(name);
        !words.is_empty() && words.iter().all(|word| said.contains(&lexicon::singular(word)))
    };
    names.into_iter().filter(is_said).collect()
}

/// The first word that nothing knows; else one that leaves open what is asked, or the word after the last one that was
/// understood.
fn unknown(index: &Index, tokens: &[Token], trace: &Trace) -> Option<Unknown> {
    let words = tokens.iter().enumerate().filter(|(_, token)| token.kind == Kind::Word);
    let is_nothing = |at: usize| index.at(tokens, at).is_empty() && !is_within(index, tokens, at);
    let is_strange = |at: usize, token: &Token| {
        is_nothing(at)
            && !LEXICON.knows(token.word())
            && !index.begins(token)
            && !index.degrees.contains_key(&token.lower)
    };
    // `price`, where no column is called so and none is meant by it.
    let has_price = (0..index.tables.len()).any(|table| index.role(table, "price").is_some());
    let is_gone = |at: usize, token: &Token| {
        let is_role = has_price && LEXICON.has("cost", &token.lower);
        let is_said = LEXICON.has("show", &token.lower);
        is_nothing(at) && LEXICON.is_column_noun(&token.lower) && !is_role && !is_said
    };
    let strange = words.clone().find(|(at, token)| is_strange(*at, token));
    let strange = strange.or_else(|| words.clone().find(|(at, token)| is_gone(*at, token)));
    if let (None, Some(open)) = (strange, trace.open()) {
        return Some(open);
    }
    let stopped = words.clone().find(|(at, _)| *at >= trace.furthest());
    let stopped = stopped.or_else(|| words.clone().next_back());
    let (_, token) = strange.or(stopped)?;
    let nearest =
        strange.filter(|_| token.text.chars().count() > 3).and_then(|_| index.nearest(&token.lower));
    Some(Unknown {
        text: token.text.clone(),
        at: token.at,
        is_known: strange.is_none(),
        nearest,
        reason: None,
    })
}

/// Whether a token is a later word of a name.
fn is_within(index: &Index, tokens: &[Token], at: usize) -> bool {
    let first = at.saturating_sub(4);
    (first..at).any(|from| index.at(tokens, from).iter().any(|(_, length, _)| from + length > at))
}

/// A plan that says one sentence.
fn say(text: &str) -> Reply {
    let code = format!("answer_text = {}\nSTATUS = \"success\"\n", answer::quote(text));
    Reply::Plan(Draft { code, title: "says something".to_owned(), ..Draft::default() })
}
