//! What a run has seen and changed: the numbers and names that its answer may speak of.

use std::collections::BTreeSet;

use ordain_types::Diff;
use serde_json::Value;

use super::contains_words;

/// Values that are kept of what a run reads; what lies beyond is taken as seen.
const VALUES_MAX: usize = 20_000;
/// Names longer than this are prose.
const NAME_BYTES_MAX: usize = 80;

/// The values that a run read.
#[derive(Debug, Clone, Default)]
pub(crate) struct Evidence {
    /// Bits of the numbers, so that they can be in a set.
    numbers: BTreeSet<u64>,
    /// Short texts: names of things.
    names: BTreeSet<String>,
    /// How many rows were read.
    rows: u64,
    /// Whether more was read than is kept.
    is_cut: bool,
}

impl Evidence {
    /// Takes what a host call gave back.
    pub(crate) fn take(&mut self, value: &Value) {
        if self.numbers.len() + self.names.len() > VALUES_MAX {
            self.is_cut = true;
            return;
        }
        match value {
            Value::Number(number) => {
                self.numbers.insert(bits(number.as_f64().unwrap_or_default()));
            }
            Value::String(text) if text.len() <= NAME_BYTES_MAX => {
                self.names.insert(text.clone());
            }
            Value::String(text) => {
                let said = super::numbers(text);
                self.numbers.extend(said.into_iter().map(bits));
            }
            Value::Array(items) => {
                self.rows = self.rows.saturating_add(1);
                for item in items {
                    self.take(item);
                }
            }
            Value::Object(members) => {
                // A page of rows names its columns; those are no names of things.
                for (_, item) in members.iter().filter(|(member, _)| *member != "columns") {
                    self.take(item);
                }
            }
            Value::Null | Value::Bool(_) => {}
        }
    }

    /// Whether the number was read, or counts rows that were read.
    pub(crate) fn has_read(&self, number: f64) -> bool {
        self.is_cut
            || self.numbers.contains(&bits(number))
            || (number >= 0.0 && number.fract() == 0.0 && number <= precise(self.rows))
            || self.names.iter().any(|name| super::numbers(name).contains(&number))
    }

    /// Whether the change gives the number: a value before or after, a difference, a sum, or a count of rows.
    pub(crate) fn supports(diff: &Diff, number: f64) -> bool {
        let mut given = Vec::new();
        let mut sums: std::collections::BTreeMap<(&str, &str), (f64, f64)> =
            std::collections::BTreeMap::new();
        for (table, change) in &diff.tables {
            given.extend(
                [change.added.len(), change.changed.len(), change.removed.len()]
                    .map(|rows| precise(rows as u64)),
            );
            for row in change.added.iter().chain(&change.removed) {
                for (column, value) in &row.fields {
                    gather(value, &mut given);
                    if let Some(value) = value.as_f64() {
                        sums.entry((table, column)).or_default().0 += value;
                    }
                }
            }
            for row in &change.changed {
                for (column, after) in &row.after.fields {
                    gather(after, &mut given);
                    if let (Some(after), Some(before)) =
                        (after.as_f64(), row.before.get(column).and_then(Value::as_f64))
                    {
                        given.extend([before, after - before, before - after]);
                        sums.entry((table, column)).or_default().1 += after - before;
                    }
                }
            }
        }
        given.push(precise(diff.rows() as u64));
        given.extend(sums.values().flat_map(|&(added, moved)| [added, moved]));
        given.iter().any(|value| same(value.abs(), number))
    }

    /// The names that were read and that a text mentions, longest first.
    pub(crate) fn names_in(&self, text: &str) -> Vec<String> {
        let mut found: Vec<String> = self
            .names
            .iter()
            .filter(|name| {
                name.len() > 2 && name.chars().any(char::is_alphabetic) && contains_words(text, name)
            })
            .cloned()
            .collect();
        found.sort_by_key(|name| std::cmp::Reverse(name.len()));
        found
    }
}

/// Whether a changed row holds a name.
pub(super) fn diff_mentions(diff: &Diff, name: &str) -> bool {
    let holds = |value: &Value| value.as_str().is_some_and(|text| contains_words(text, name));
    diff.tables.values().any(|change| {
        let rows = change.added.iter().chain(&change.removed);
        let rows = rows.chain(change.changed.iter().flat_map(|row| [&row.before, &row.after]));
        rows.flat_map(|row| &row.fields).any(|(_, value)| holds(value))
    })
}

fn gather(value: &Value, into: &mut Vec<f64>) {
    match value {
        Value::Number(number) => into.extend(number.as_f64()),
        Value::String(text) => into.extend(super::numbers(text)),
        _ => {}
    }
}

fn same(left: f64, right: f64) -> bool {
    (left - right).abs() < 0.005 + right.abs() * 1e-9
}

fn bits(number: f64) -> u64 {
    // Cents are what answers round to.
    ((number * 100.0).round() / 100.0 + 0.0).to_bits()
}

#[expect(clippy::cast_precision_loss, reason = "counts of rows are far below the limit")]
fn precise(count: u64) -> f64 {
    count as f64
}
