//! What a run has seen or changed: the numbers and names that its answer may speak of.

use std::collections::{BTreeMap, HashSet};

use ordain_types::{Diff, Row};
use serde_json::Value;

use super::figures::{Figure, figures, name, phrases};

/// Values that are kept. Of a run that goes beyond, every number counts as seen and no name as foreign.
const VALUES_MAX: usize = 20_000;
/// Texts longer than this are prose and hold no names.
const NAME_BYTES_MAX: usize = 80;
/// The longest text whose numbers are looked at.
const TEXT_BYTES_MAX: usize = 1024;
/// Answers round to cents, tenths or whole numbers.
const ROUNDINGS: [f64; 3] = [100.0, 10.0, 1.0];

/// The values that a run read, or those of its change.
#[derive(Debug, Clone, Default)]
pub struct Evidence {
    /// Numbers, in cents, rounded as answers round them.
    numbers: HashSet<i64>,
    /// Names of things, as phrases are written, by the table that they were read from.
    names: BTreeMap<String, HashSet<String>>,
    /// Phrases of texts, kept only of changes: what an answer mentions may be a part of a value.
    phrases: HashSet<String>,
    /// How many rows there were.
    rows: u64,
    /// How many values were looked at.
    values: usize,
}

impl Evidence {
    /// Takes what a host call gave back: of the rows of a table their names too.
    pub fn take(&mut self, table: Option<&str>, value: &Value) {
        match value {
            _ if self.is_cut() => {}
            Value::Array(items) => {
                if items.first().is_some_and(|item| item.is_array() || item.is_object()) {
                    self.rows = self.rows.saturating_add(items.len() as u64);
                    self.sum(items);
                }
                for item in items {
                    self.take(table, item);
                }
            }
            Value::Object(members) => {
                // A page of rows names its columns; those are no names of things.
                let values = members.iter().filter(|(member, _)| *member != "columns");
                for (_, item) in values {
                    self.take(table, item);
                }
            }
            value => self.take_value(table, value),
        }
    }

    /// Takes what other code of the same run was given to see.
    pub fn extend(&mut self, other: Self) {
        self.numbers.extend(other.numbers);
        for (table, names) in other.names {
            self.names.entry(table).or_default().extend(names);
        }
        self.phrases.extend(other.phrases);
        self.rows = self.rows.saturating_add(other.rows);
        self.values = self.values.saturating_add(other.values);
    }

    /// What a change gives: values before and after, differences, sums and counts of rows.
    pub(super) fn of_diff(diff: &Diff) -> Self {
        let mut evidence = Self::default();
        let mut sums: BTreeMap<(&str, &str), f64> = BTreeMap::new();
        for (table, change) in &diff.tables {
            for count in [change.added.len(), change.changed.len(), change.removed.len()] {
                evidence.number(precise(count as u64));
            }
            for row in change.added.iter().chain(&change.removed) {
                evidence.take_row(row);
                for (column, value) in &row.fields {
                    *sums.entry((table, column)).or_default() += value.as_f64().unwrap_or_default();
                }
            }
            for row in &change.changed {
                evidence.take_row(&row.before);
                evidence.take_row(&row.after);
                for (column, after) in &row.after.fields {
                    let before = row.before.get(column).and_then(Value::as_f64);
                    if let (Some(after), Some(before)) = (after.as_f64(), before) {
                        evidence.number(after - before);
                        *sums.entry((table, column)).or_default() += after - before;
                    }
                }
            }
            if evidence.is_cut() {
                break;
            }
        }
        evidence.number(precise(diff.rows() as u64));
        for sum in sums.into_values() {
            evidence.number(sum);
        }
        evidence
    }

    /// Whether a figure is one of the values, a sum of them, or a count of rows.
    pub(super) fn gives(&self, figure: &Figure) -> bool {
        let is_count = |number: f64| number.fract() == 0.0 && number <= precise(self.rows);
        let is_known = |number: f64| self.numbers.contains(&cents(number));
        self.is_cut() || figure.readings().iter().any(|&number| is_count(number) || is_known(number))
    }

    /// Whether a phrase is a name that was read from one of these tables.
    pub(super) fn names<'a>(&self, mut tables: impl Iterator<Item = &'a String>, phrase: &str) -> bool {
        let is_named = |table: &String| self.names.get(table).is_some_and(|names| names.contains(phrase));
        !self.is_cut() && tables.any(is_named)
    }

    /// Whether a changed row holds a phrase.
    pub(super) fn mentions(&self, phrase: &str) -> bool {
        self.is_cut() || self.phrases.contains(phrase)
    }

    fn is_cut(&self) -> bool {
        self.values > VALUES_MAX
    }

    fn take_row(&mut self, row: &Row) {
        for (_, value) in &row.fields {
            if self.is_cut() {
                return;
            }
            self.take_value(None, value);
            if let Some(text) = value.as_str().filter(|text| text.len() <= TEXT_BYTES_MAX) {
                self.phrases.extend(phrases(text));
            }
        }
    }

    fn take_value(&mut self, table: Option<&str>, value: &Value) {
        self.values += 1;
        match value {
            Value::Number(number) => self.number(number.as_f64().unwrap_or_default()),
            Value::String(text) => {
                if let Some(table) = table.filter(|_| text.len() <= NAME_BYTES_MAX) {
                    self.names.entry(table.to_owned()).or_default().extend(name(text));
                }
                let end = text.floor_char_boundary(TEXT_BYTES_MAX);
                for figure in figures(&text[..end]) {
                    for &number in figure.readings() {
                        self.number(number);
                    }
                }
            }
            _ => {}
        }
    }

    /// The sum of every column of these rows: those of a query have names, those of a page are an id and values.
    fn sum(&mut self, rows: &[Value]) {
        let mut named: BTreeMap<&str, f64> = BTreeMap::new();
        let mut placed: BTreeMap<usize, f64> = BTreeMap::new();
        for row in rows.iter().take(VALUES_MAX) {
            let values = row.get(1).and_then(Value::as_array).or_else(|| row.as_array());
            for (place, value) in values.into_iter().flatten().enumerate() {
                *placed.entry(place).or_default() += value.as_f64().unwrap_or_default();
            }
            for (name, value) in row.as_object().into_iter().flatten() {
                *named.entry(name).or_default() += value.as_f64().unwrap_or_default();
            }
        }
        for sum in named.into_values().chain(placed.into_values()) {
            self.number(sum);
        }
    }

    fn number(&mut self, number: f64) {
        for places in ROUNDINGS {
            self.numbers.insert(cents((number.abs() * places).round() / places));
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "larger numbers saturate, and then count as equal")]
fn cents(number: f64) -> i64 {
    (number * 100.0).round() as i64
}

#[expect(clippy::cast_precision_loss, reason = "counts of rows are far below the limit")]
fn precise(count: u64) -> f64 {
    count as f64
}
