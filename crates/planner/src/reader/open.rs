//! What a request leaves open that is not read, and how to say it.

use super::explain::Unknown;
use super::index::{Index, Sort, What, split_name};
use super::lexicon::LEXICON;
use super::parse::Parser;
use super::token::{Kind, Token};

/// Values that a refusal names.
const NAMED_MAX: usize = 6;

/// The first word that leaves something open: a day that is taken for a state, or a text in quotes that nothing is called.
pub(super) fn open(parser: &Parser<'_>) -> Option<Unknown> {
    day(parser).or_else(|| quoted(parser.index, parser.tokens))
}

/// `if it is due`, `blocked lots`: a word for a column of days that does not say how its day compares.
fn day(parser: &Parser<'_>) -> Option<Unknown> {
    let (index, tokens) = (parser.index, parser.tokens);
    let is_state = |at: usize, end: usize| {
        let before = at.checked_sub(1).map(|before| tokens[before].lower.as_str());
        let is_said = |class: &str| before.is_some_and(|word| LEXICON.has(class, word));
        let is_noun = |(what, ..): &(What, usize, u32)| matches!(what, What::Table(_));
        let says_when = ["before", "after", "since", "until", "on_day", "between"];
        let is_compared =
            parser.days(end).is_some() || says_when.iter().any(|class| !parser.exact(class, end).is_empty());
        let is_noun = || index.at(tokens, end).iter().any(is_noun);
        !is_compared && (is_said("be") || is_said("not") || is_said("condition.if") || is_noun())
    };
    (0..tokens.len()).find_map(|at| {
        let days = index.at(tokens, at).into_iter().filter_map(|(what, length, _)| match what {
            What::Column(table, column) => Some((&index.tables[table].columns[column], at + length)),
            _ => None,
        });
        let mut days = days.filter(|(column, end)| column.sort == Sort::Day && is_state(at, *end));
        let (column, _) = days.next()?;
        let mut words = split_name(&column.name);
        if words.last().is_some_and(|last| matches!(last.as_str(), "on" | "at")) {
            words.pop();
            words.push("date".to_owned());
        }
        let name = words.join(" ");
        let reason = format!(
            "“{}” does not say how the day in {} compares: say “{name} before 2026-12-01”, “with {name}” or “without {name}”",
            tokens[at].text, column.name
        );
        Some(Unknown::because(&tokens[at], &reason))
    })
}

/// A text in quotes that is in no row.
fn quoted(index: &Index, tokens: &[Token]) -> Option<Unknown> {
    let token = tokens.iter().find(|token| token.kind == Kind::Quoted)?;
    let places = index.tables.iter().enumerate();
    let mut columns =
        places.flat_map(|(table, shape)| (0..shape.columns.len()).map(move |column| (table, column)));
    if columns.clone().any(|(table, column)| index.written(table, column, &token.text).is_some()) {
        return None;
    }
    // Of the column that is named before it, else of the names of rows.
    let named = tokens.iter().take_while(|before| before.at.1 <= token.at.0).enumerate();
    let named = named.filter_map(|(at, _)| {
        index.at(tokens, at).into_iter().find_map(|(what, ..)| match what {
            What::Column(table, column) => Some((table, column)),
            What::Table(table) => Some((table, index.tables[table].label?)),
            _ => None,
        })
    });
    let (table, column) = named
        .last()
        .or_else(|| columns.find(|(table, column)| index.tables[*table].label == Some(*column)))?;
    let known = index.listed(table, column, NAMED_MAX)?;
    let name = split_name(&index.tables[table].columns[column].name).join(" ");
    let reason = format!("“{}” is in no row; {name} of {} is {known}", token.text, index.tables[table].name);
    Some(Unknown::because(token, &reason))
}

impl Index {
    /// The values of a column whose values are all known, in words; some of them if they are many.
    fn listed(&self, table: usize, column: usize, most: usize) -> Option<String> {
        let shape = &self.tables[table].columns[column];
        (shape.is_listed && shape.sort == Sort::Text).then_some(())?;
        let path = super::form::Path { hops: Vec::new(), table, column };
        let mut texts: Vec<&str> = self.texts(&path).into_iter().map(String::as_str).collect();
        texts.sort_unstable();
        texts.dedup();
        let more = if texts.len() > most { ", …" } else { "" };
        texts.truncate(most);
        (!texts.is_empty()).then(|| format!("{}{more}", texts.join(", ")))
    }
}
