//! A plain sentence that is true, in the place of one that is not.

use std::fmt::Write as _;

use ordain_types::{Diff, Row, RowChange, visible};
use serde_json::Value;

/// How many rows are listed one by one.
const TOLD: usize = 3;

/// What the diff says, in a sentence or two; of a run that changed nothing, that its answer is not shown.
pub(crate) fn plain_answer(diff: &Diff) -> String {
    if diff.is_empty() {
        return "The answer gave a number that no row gives, so it is not shown.".to_owned();
    }
    changes(diff)
}

fn changes(diff: &Diff) -> String {
    let mut parts = Vec::new();
    for (table, change) in &diff.tables {
        for row in change.changed.iter().take(TOLD) {
            parts.push(format!("{table} {}", changed(row)));
        }
        more(&mut parts, table, change.changed.len(), "changed");
        for row in change.added.iter().take(TOLD) {
            parts.push(format!("added to {table}: {}", told(row)));
        }
        more(&mut parts, table, change.added.len(), "added");
        if !change.removed.is_empty() {
            parts.push(format!("{} removed from {table}", rows(change.removed.len())));
        }
    }
    format!("Done: {}.", parts.join("; "))
}

fn more(parts: &mut Vec<String>, table: &str, count: usize, verb: &str) {
    if count > TOLD {
        parts.push(format!("{} more {verb} in {table}", rows(count - TOLD)));
    }
}

fn changed(row: &RowChange) -> String {
    let key: Vec<String> = row.key.fields.iter().map(|(_, value)| show(value)).collect();
    let mut text = key.join(" ");
    let moved = row.after.fields.iter().filter(|(column, after)| row.before.get(column) != Some(after));
    for (column, after) in moved {
        let before = row.before.get(column).map_or_else(|| "nothing".to_owned(), show);
        let _ = write!(text, " {column} {before} → {}", show(after));
    }
    text
}

fn told(row: &Row) -> String {
    let values: Vec<String> =
        row.fields.iter().map(|(column, value)| format!("{column} {}", show(value))).collect();
    values.join(", ")
}

fn rows(count: usize) -> String {
    if count == 1 { "1 row".to_owned() } else { format!("{count} rows") }
}

fn show(value: &Value) -> String {
    match value {
        Value::String(text) => visible(&text.chars().take(60).collect::<String>()),
        Value::Null => "nothing".to_owned(),
        other => visible(&other.to_string()),
    }
}
