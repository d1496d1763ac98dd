//! A plain sentence that is true, in the place of one that is not.

use ordain_types::{Diff, TableDiff, row_name, visible};

/// Rows that are named one by one.
const NAMED: usize = 3;
const NAME_CHARS_MAX: usize = 60;

/// What was done, in a sentence: what its actions say of themselves, else which rows were changed. Of a run that changed
/// nothing, that its answer is not shown.
pub fn plain_answer(diff: &Diff, actions_said: &[String]) -> String {
    if diff.is_empty() {
        return "The answer gave a number that no row gives, so it is not shown.".to_owned();
    }
    if let 1..=NAMED = actions_said.len() {
        return actions_said.join(" ");
    }
    let mut parts: Vec<String> =
        diff.tables.iter().flat_map(|(table, change)| of_table(table, change)).collect();
    let last = parts.pop().unwrap_or_default();
    if parts.is_empty() {
        return format!("Done. {last}.");
    }
    format!("Done. {}, and {last}.", parts.join(", "))
}

fn of_table(table: &str, change: &TableDiff) -> Vec<String> {
    let mut parts = Vec::new();
    let names: Vec<String> = change
        .changed
        .iter()
        .take(NAMED)
        .map(|row| visible(&row_name(&row.key).chars().take(NAME_CHARS_MAX).collect::<String>()))
        .collect();
    match change.changed.len() {
        0 => {}
        1 => parts.push(format!("{} of {table} was changed", names.join(""))),
        count if count <= NAMED => parts.push(format!("{} of {table} were changed", names.join(", "))),
        count => parts.push(format!("{count} rows of {table} were changed")),
    }
    for (count, verb) in [(change.added.len(), "added to"), (change.removed.len(), "removed from")] {
        match count {
            0 => {}
            1 => parts.push(format!("1 row was {verb} {table}")),
            count => parts.push(format!("{count} rows were {verb} {table}")),
        }
    }
    parts
}
