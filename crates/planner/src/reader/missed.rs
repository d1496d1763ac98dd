//! Words that requests were declined for, and the line in `ordain.toml` that would teach each.

use std::collections::BTreeMap;

use serde::Serialize;

use super::explain::Unknown;
use super::index::{Index, What};
use super::lexicon::LEXICON;
use super::token::{self, Token};
use super::{Reading, follow, indexed};
use crate::brief::Brief;

/// A word that the reader does not know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Missed {
    /// The word.
    pub word: String,
    /// How many of the requests were declined for it.
    pub times: usize,
    /// One of them.
    pub request: String,
    /// What would teach it; its owner knows what belongs where there are three dots.
    pub teach: String,
}

/// The words that keep requests from being understood today, the most frequent first. What was taught since is left out.
pub fn missed<'a>(brief: &Brief, requests: impl IntoIterator<Item = &'a str>) -> Vec<Missed> {
    let index = indexed(brief);
    let mut found: BTreeMap<String, Missed> = BTreeMap::new();
    for request in requests {
        let Reading::None(Some(unknown)) = follow::read(&index, request, &[]) else { continue };
        if unknown.is_known {
            continue;
        }
        let word = unknown.text.to_lowercase();
        let entry = found.entry(word.clone()).or_insert_with(|| Missed {
            teach: teach(&index, request, &unknown),
            request: request.to_owned(),
            times: 0,
            word,
        });
        entry.times += 1;
    }
    let mut all: Vec<Missed> = found.into_values().collect();
    all.sort_by(|one, other| other.times.cmp(&one.times).then_with(|| one.word.cmp(&other.word)));
    all
}

/// The line for a word, by the place where it is: a verb first, an adjective before a noun, else another word for rows.
fn teach(index: &Index, request: &str, unknown: &Unknown) -> String {
    let word = unknown.text.to_lowercase();
    if let Some(nearest) = &unknown.nearest {
        return format!("nothing: it is probably a misspelled “{nearest}”");
    }
    let tokens = token::tokens(request);
    let is_order = (0..tokens.len())
        .any(|at| index.at(&tokens, at).iter().any(|(what, ..)| matches!(what, What::Action(_))));
    let at = tokens.iter().position(|token| token.at == unknown.at).unwrap_or_default();
    if (is_order && at == 0) || LEXICON.has("never_taught", &word) {
        return "nothing: it may change what is asked, as “imagine” and “instead” do; say the request without it"
            .to_owned();
    }
    let table = (0..tokens.len()).find_map(|at| table_at(index, &tokens, at));
    let name = |table: Option<usize>| table.map_or("…", |table| index.tables[table].name.as_str());
    match () {
        () if at == 0 && !index.catalog.actions.is_empty() => match index.catalog.actions.as_slice() {
            [only] => format!("words = [\"{word}\", …] in [[actions]] {}", only.name),
            _ => format!("words = [\"{word}\", …] in the [[actions]] that it means"),
        },
        () if table_at(index, &tokens, at + 1).is_some() => {
            let table = name(table_at(index, &tokens, at + 1));
            format!("[[phrasings]] words = [\"{word}\"], table = \"{table}\", means = \"…\"")
        }
        () => match (table, index.tables.as_slice()) {
            (None, [only]) => {
                format!("synonyms = [\"{word}\", …] in [tables.{}], or of one of its columns", only.name)
            }
            (table, _) => {
                format!("synonyms = [\"{word}\", …] in [tables.{}], or of one of its columns", name(table))
            }
        },
    }
}

/// The table that a token names, by its noun or by something in it.
fn table_at(index: &Index, tokens: &[Token], at: usize) -> Option<usize> {
    index.at(tokens, at).into_iter().find_map(|(what, ..)| match what {
        What::Table(table) | What::Column(table, _) | What::Value(table, ..) => Some(table),
        _ => None,
    })
}
