//! Words that requests were declined for, and the line in `ordain.toml` that would teach each.

use std::collections::BTreeMap;

use serde::Serialize;

use ordain_reader::Reading;

use super::explain::Unknown;
use super::known::{self, Readers};
use super::stopped;
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
    let readers = known::readers(brief);
    let mut found: BTreeMap<String, Missed> = BTreeMap::new();
    for request in requests {
        let is_silent = matches!(readers.questions.request(request), Reading::Silent { .. })
            && matches!(readers.changes.change(request), Reading::Silent { .. });
        let unknown = stopped(&readers, request);
        if !is_silent || unknown.is_known || unknown.text.is_empty() {
            continue;
        }
        let word = unknown.text.to_lowercase();
        let entry = found.entry(word.clone()).or_insert_with(|| Missed {
            teach: teach(&readers, request, &unknown),
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
fn teach(readers: &Readers, request: &str, unknown: &Unknown) -> String {
    let word = unknown.text.to_lowercase();
    if let Some(nearest) = &unknown.nearest {
        return format!("nothing: it is probably a misspelled “{nearest}”");
    }
    let words = readers.changes.words_in(request);
    let at = words.iter().position(|word| word.at == unknown.at).unwrap_or_default();
    // The table that a word names, by its noun or by something in it.
    let table_at = |at: usize| {
        words.get(at)?.mentions.iter().find_map(|mention| {
            let place = mention.rsplit(' ').next()?;
            (!mention.starts_with("action ")).then(|| place.split('.').next().unwrap_or(place).to_owned())
        })
    };
    let catalog = readers.changes.catalog();
    match (catalog.verbs.as_slice(), table_at(at + 1)) {
        ([only], _) if at == 0 => format!("words = [\"{word}\", …] in [[actions]] {}", only.name),
        ([_, ..], _) if at == 0 => format!("words = [\"{word}\", …] in the [[actions]] that it means"),
        (_, Some(table)) => {
            format!("[[phrasings]] words = [\"{word}\"], table = \"{table}\", means = \"…\"")
        }
        _ => {
            let only = match catalog.tables.as_slice() {
                [only] => Some(only.name.to_string()),
                _ => None,
            };
            let table = (0..words.len()).find_map(table_at).or(only).unwrap_or_else(|| "…".to_owned());
            format!("synonyms = [\"{word}\", …] in [tables.{table}], or of one of its columns")
        }
    }
}
