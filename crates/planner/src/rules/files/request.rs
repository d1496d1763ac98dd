//! Reads a request about tables: which table, which columns in which role, and what is to be told.

mod measures;
mod mentions;
mod several;
mod tasks;

use super::catalog::{Catalog, Column, ColumnKind, Source};
use super::lexicon::{PRICES, QUANTITIES, REVENUES, Token, name_parts, says};
use super::question::{Join, Question};
use super::{filters, table_code, vocabulary};
use crate::exchange::Reply;

pub(super) use mentions::{Mention, mentions};

/// A request in front of one table.
pub(super) struct Reading<'a> {
    pub(super) request: &'a str,
    pub(super) words: &'a [Token],
    /// The table, with the columns of the joined one after its own.
    pub(super) columns: Vec<Column>,
    pub(super) mentions: Vec<Mention>,
    /// Words that have had their meaning.
    pub(super) used: Vec<bool>,
    pub(super) table_words: Vec<String>,
}

/// The plan for a question about tables, a question back, or nothing if it is none.
pub(super) fn plan(catalog: &Catalog, request: &str, words: &[Token]) -> Option<Reply> {
    if catalog.sources.is_empty() {
        return None;
    }
    let chosen = match choose(catalog, words) {
        Ok(chosen) => chosen,
        Err(question) => return Some(Reply::Question(question)),
    };
    let (source, join) = with_join(catalog, chosen, words);
    let mut columns = source.columns.clone();
    if let Some(join) = &join {
        columns.extend(
            join.source.columns.iter().filter(|column| source.column(&column.name).is_none()).cloned(),
        );
    }
    let mut reading = Reading {
        request,
        words,
        mentions: mentions(&columns, words),
        columns,
        used: vec![false; words.len()],
        table_words: table_words(&source),
    };
    let filters = filters::read(&mut reading);
    let understood = match tasks::read(&mut reading, &filters) {
        Ok(understood) => understood?,
        Err(question) => return Some(Reply::Question(question)),
    };
    if let Some(word) = vocabulary::unknown(&reading) {
        return Some(super::needs_model(&format!(
            "the reader does not know what “{}” means for {}",
            &request[word.start..word.end],
            source.label()
        )));
    }
    let question = Question {
        source,
        join,
        task: understood.task,
        filters,
        groups: understood.groups,
        top: understood.top,
        plot: understood.plot,
        export: understood.export,
    };
    Some(table_code::write(&question, request))
}

/// The table that the words fit best.
fn choose(catalog: &Catalog, words: &[Token]) -> Result<usize, String> {
    let scores: Vec<u32> = catalog.sources.iter().map(|source| score(source, words)).collect();
    let best = scores.iter().copied().max().unwrap_or_default();
    let fitting: Vec<usize> = (0..scores.len()).filter(|&at| scores[at] == best).collect();
    match fitting.as_slice() {
        [one] => Ok(*one),
        // The same columns in several sheets or files: the largest is the table, the others look it up.
        several => {
            let rows = |at: &usize| catalog.sources[*at].rows;
            let largest = several.iter().copied().max_by_key(|at| rows(at)).unwrap_or_default();
            let is_alone = several.iter().filter(|at| rows(at) * 4 >= rows(&largest)).count() == 1;
            if best > 0 && is_alone {
                return Ok(largest);
            }
            let labels: Vec<String> = several.iter().take(8).map(|&at| catalog.sources[at].label()).collect();
            Err(format!("Which table do you mean: {}?", labels.join(", or ")))
        }
    }
}

fn score(source: &Source, words: &[Token]) -> u32 {
    let mut score = 0;
    let mut seen = vec![false; words.len()];
    for mention in mentions(&source.columns, words) {
        if !seen[mention.start] {
            score += 2 * mention.strength;
            seen[mention.start..mention.end].fill(true);
        }
    }
    let values = source.columns.iter().flat_map(|column| &column.values);
    score += u32::try_from(values.filter(|value| filters::says_value(words, value)).take(5).count())
        .unwrap_or(0)
        * 2;
    let names = table_words(source);
    score += u32::try_from(words.iter().filter(|word| names.contains(&word.stem)).count()).unwrap_or(0) * 3;
    // A file that is called by its name is meant.
    let is_named = source.files.iter().any(|file| words.iter().any(|word| word.lower == file.to_lowercase()));
    if is_named { score + 20 } else { score }
}

/// The words by which the table itself is called.
fn table_words(source: &Source) -> Vec<String> {
    let stems = source.files.iter().take(3).map(|file| file.split('.').next().unwrap_or_default());
    let names = source.table.iter().map(String::as_str).chain(stems);
    names.flat_map(name_parts).filter(|word| word.len() > 2).collect()
}

/// The table, and the one that is joined to it. The longer one comes first: its rows are what is counted and added up.
fn with_join(catalog: &Catalog, chosen: usize, words: &[Token]) -> (Source, Option<Join>) {
    let source = catalog.sources[chosen].clone();
    match join(catalog, chosen, words) {
        Some(join) if join.source.rows > source.rows => (join.source, Some(Join { source, keys: join.keys })),
        join => (source, join),
    }
}

/// Whether a table has what the words want to compute with, and not by another word for it alone.
fn can_measure(source: &Source, words: &[Token]) -> bool {
    let is_number = |column: &Column| column.kind == ColumnKind::Number && !is_id(column);
    let has = |names: &[&str]| {
        source
            .columns
            .iter()
            .any(|column| is_number(column) && column.parts.iter().any(|part| names.contains(&part.as_str())))
    };
    says(words, &REVENUES) && (has(&REVENUES) || has(&["amount"]) || has(&QUANTITIES) && has(&PRICES))
}

/// Another table that has a column which is asked for and the first one has not, and that shares a key with it.
fn join(catalog: &Catalog, chosen: usize, words: &[Token]) -> Option<Join> {
    let source = &catalog.sources[chosen];
    let own = mentions(&source.columns, words);
    let is_covered = |mention: &Mention| {
        own.iter().any(|own| {
            own.start <= mention.start && own.end >= mention.end && own.strength >= mention.strength
        })
    };
    let is_asked = says(words, &["join", "merge", "combine", "match"]);
    let mut best: Option<(u32, Join)> = None;
    for (_, other) in catalog.sources.iter().enumerate().filter(|(at, _)| *at != chosen) {
        let keys = shared_keys(source, other);
        if keys.is_empty() {
            continue;
        }
        let missing = mentions(&other.columns, words);
        let missing = missing.iter().filter(|mention| mention.strength > 1 && !is_covered(mention));
        let new_columns = other.columns.iter().filter(|column| source.column(&column.name).is_none());
        let values =
            new_columns.flat_map(|column| &column.values).filter(|value| filters::says_value(words, value));
        let gain = missing.map(|mention| mention.strength).sum::<u32>()
            + u32::try_from(values.count()).unwrap_or(0)
            + u32::from(is_asked)
            + u32::from(can_measure(other, words) && !can_measure(source, words));
        if gain > 0 && best.as_ref().is_none_or(|(known, _)| gain > *known) {
            best = Some((gain, Join { source: other.clone(), keys }));
        }
    }
    best.map(|(_, join)| join)
}

fn shared_keys(left: &Source, right: &Source) -> Vec<String> {
    let is_key = |column: &&Column| {
        right.column(&column.name).is_some_and(|other| other.kind == column.kind)
            && matches!(column.kind, ColumnKind::Text | ColumnKind::Number | ColumnKind::Date)
            && (column.kind != ColumnKind::Number || is_id(column))
    };
    left.columns.iter().filter(is_key).take(3).map(|column| column.name.clone()).collect()
}

/// Whether a column names things rather than measures them.
pub(super) fn is_id(column: &Column) -> bool {
    column.parts.last().is_some_and(|part| {
        matches!(part.as_str(), "id" | "key" | "code" | "number" | "no" | "nr" | "sku" | "zip" | "postcode")
    })
}
