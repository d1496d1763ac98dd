//! A hint as a sentence: which tables, columns and numbers it names and where, and what it says about them.

use ordain_types::ColumnType;

use crate::brief::{Brief, TableBrief};
use crate::rules::words::{self, singular};

/// Something that is named, and where in the text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Mention<'a> {
    pub(super) name: &'a str,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// A number, where it stands, and whether it is a percentage.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Number {
    pub(super) value: f64,
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) is_percent: bool,
}

/// A hint, read.
#[derive(Debug)]
pub(super) struct Sentence<'a> {
    /// As it is written.
    pub(super) text: &'a str,
    /// In lower case, of the same length.
    pub(super) lower: String,
    /// The table that is judged.
    pub(super) table: &'a TableBrief,
    /// The others, in the order in which they are named.
    pub(super) others: Vec<&'a TableBrief>,
    /// Columns of the judged table, in the order in which they are named.
    pub(super) columns: Vec<Mention<'a>>,
    /// Numbers, in order.
    pub(super) numbers: Vec<Number>,
    /// Whether it says what is to be flagged, rather than what must hold.
    pub(super) flags: bool,
    tables: Vec<Mention<'a>>,
}

const FLAGGING: [&str; 16] = [
    "flag",
    "find",
    "list",
    "report",
    "show",
    "detect",
    "identify",
    "alert",
    "catch",
    "look",
    "search",
    "highlight",
    "return",
    "get",
    "warn",
    "fail",
];
const DEMANDING: [&str; 9] =
    ["must", "should", "shall", "has to", "have to", "needs to", "need to", "always", "may not"];

impl<'a> Sentence<'a> {
    pub(super) fn read(text: &'a str, brief: &'a Brief) -> Option<Self> {
        let first = brief.tables.first()?;
        let lower: String =
            text.chars().map(|c| if c.is_ascii() { c.to_ascii_lowercase() } else { c }).collect();
        let tables = table_mentions(&lower, brief);
        // Somebody who says "Flag events rows …" judges events, whichever table the record names first.
        let table = judged(&lower, &tables, brief).unwrap_or(first);
        let mut others: Vec<&TableBrief> = Vec::new();
        for mention in &tables {
            let named = brief.table(mention.name);
            others.extend(named.filter(|it| it.table.name != table.table.name));
        }
        let columns = column_mentions(&lower, table);
        let flags = words::words(&lower).iter().take(3).any(|word| FLAGGING.contains(&word.lower.as_str()))
            && !DEMANDING.iter().any(|word| find(&lower, word, 0).is_some());
        let numbers = numbers(&lower, &columns);
        Some(Self { text, lower, table, others, columns, numbers, flags, tables })
    }

    /// Where the first of several phrases stands, as whole words.
    pub(super) fn first(&self, phrases: &[&str]) -> Option<(usize, usize)> {
        phrases
            .iter()
            .filter_map(|phrase| find(&self.lower, phrase, 0).map(|at| (at, at + phrase.len())))
            .min_by_key(|(start, end)| (*start, usize::MAX - end))
    }

    pub(super) fn has(&self, phrases: &[&str]) -> bool {
        self.first(phrases).is_some()
    }

    /// Whether a `not` stands before a place, in the same clause.
    pub(super) fn is_negated(&self, at: usize) -> bool {
        let clause = &self.lower[..at];
        let from = clause.rfind([';', ':', ',']).map_or(0, |at| at + 1);
        let clause = &clause[from..];
        [
            "not", "never", "no", "cannot", "without", "none", "neither", "n't", "isn't", "doesn't", "don't",
            "aren't",
        ]
        .iter()
        .any(|word| find(clause, word, 0).is_some())
    }

    /// Whether rows for which a condition holds, said at a place, are the failing ones.
    pub(super) fn is_failing(&self, at: usize) -> bool {
        self.flags != self.is_negated(at)
    }

    /// The names of the columns that are named.
    pub(super) fn column_names(&self) -> Vec<&'a str> {
        let mut names: Vec<&str> = Vec::new();
        for mention in &self.columns {
            if !names.contains(&mention.name) {
                names.push(mention.name);
            }
        }
        names
    }

    /// The one column that a rule is about: the last one named before a place, else the first one named.
    pub(super) fn column_before(&self, at: usize) -> Option<&'a str> {
        let before = self.columns.iter().rev().find(|mention| mention.end <= at);
        before.or(self.columns.first()).map(|mention| mention.name)
    }

    /// The only column that can be meant, where none is named: the only one that holds points in time.
    pub(super) fn only_time(&self) -> Option<&'a str> {
        let mut times = self.table.table.columns.iter().filter(|it| it.column_type == ColumnType::Timestamp);
        let first = times.next()?;
        times.next().is_none().then_some(first.name.as_str())
    }

    /// The other table that is named last after a place, else any other.
    pub(super) fn other_after(&self, at: usize) -> Option<&'a TableBrief> {
        let after = self.tables.iter().rev().filter(|mention| mention.start >= at);
        let mut named =
            after.filter_map(|mention| self.others.iter().find(|it| it.table.name == mention.name));
        named.next().or(self.others.last()).copied()
    }
}

fn judged<'a>(lower: &str, tables: &[Mention<'_>], brief: &'a Brief) -> Option<&'a TableBrief> {
    let said = tables.iter().find(|mention| {
        let after = lower[mention.end..].trim_start();
        ["rows", "records", "entries", "where", "whose", "with", "that", "without"]
            .iter()
            .any(|word| find(after, word, 0) == Some(0))
    })?;
    brief.table(said.name)
}

fn table_mentions<'a>(lower: &str, brief: &'a Brief) -> Vec<Mention<'a>> {
    let mut found: Vec<Mention<'a>> = Vec::new();
    for table in brief.tables.iter() {
        let name = table.table.name.as_str();
        let mut phrases = vec![name.to_lowercase(), name.to_lowercase().replace('_', " ")];
        phrases.push(singular(name));
        phrases.dedup();
        for phrase in phrases.iter().filter(|phrase| phrase.len() > 1) {
            let mut at = 0;
            while let Some(start) = find(lower, phrase, at) {
                at = start + phrase.len();
                if !found.iter().any(|other| overlap(other, start, at)) {
                    found.push(Mention { name, start, end: at });
                }
            }
        }
    }
    found.sort_by_key(|mention| mention.start);
    found
}

fn column_mentions<'a>(lower: &str, table: &'a TableBrief) -> Vec<Mention<'a>> {
    let mut names: Vec<&str> = table.table.columns.iter().map(|column| column.name.as_str()).collect();
    // `event_id` before `event`: a longer name is what was meant.
    names.sort_by_key(|name| std::cmp::Reverse(name.len()));
    let mut found: Vec<Mention<'a>> = Vec::new();
    for name in names {
        let plain = name.to_lowercase();
        let mut phrases = vec![plain.clone(), plain.replace('_', " "), format!("{plain}s"), singular(&plain)];
        if let Some(stem) = plain.strip_suffix('y') {
            phrases.push(format!("{stem}ies"));
        }
        phrases.dedup();
        for phrase in phrases.iter().filter(|phrase| phrase.len() > 1) {
            let mut at = 0;
            while let Some(start) = find(lower, phrase, at) {
                at = start + phrase.len();
                if !found.iter().any(|other| overlap(other, start, at)) {
                    found.push(Mention { name, start, end: at });
                }
            }
        }
    }
    found.sort_by_key(|mention| mention.start);
    found
}

fn overlap(other: &Mention<'_>, start: usize, end: usize) -> bool {
    start < other.end && other.start < end
}

fn numbers(lower: &str, columns: &[Mention<'_>]) -> Vec<Number> {
    let mut found = Vec::new();
    for word in words::words(lower) {
        if columns.iter().any(|column| overlap(column, word.start, word.end)) {
            continue;
        }
        let is_digit = word.text.starts_with(|c: char| c.is_ascii_digit());
        // Small words such as "a" and "one" are numbers only in other sentences.
        let value = if is_digit || ["zero", "ten", "hundred"].contains(&word.text) {
            if word.text == "zero" { Some(0.0) } else { words::number(word.text) }
        } else {
            None
        };
        let Some(mut value) = value else { continue };
        if lower[..word.start].ends_with('-') && !lower[..word.start].ends_with(|c: char| c.is_alphanumeric())
        {
            value = -value;
        }
        let rest = lower[word.end..].trim_start();
        let is_percent = rest.starts_with('%') || rest.starts_with("percent") || rest.starts_with("per cent");
        found.push(Number { value, start: word.start, end: word.end, is_percent });
    }
    found
}

/// Where a phrase stands as whole words, from a place on.
pub(super) fn find(text: &str, phrase: &str, from: usize) -> Option<usize> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut at = from;
    while let Some(found) = text.get(at..)?.find(phrase) {
        let (start, end) = (at + found, at + found + phrase.len());
        let begins = !phrase.starts_with(is_word) || !text[..start].ends_with(is_word);
        let ends = !phrase.ends_with(is_word) || !text[end..].starts_with(is_word);
        if begins && ends {
            return Some(start);
        }
        at = start + text[start..].chars().next().map_or(1, char::len_utf8);
    }
    None
}
