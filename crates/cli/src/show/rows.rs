//! The rows of an answer, as a table.

use std::io::{self, Write};

use ordain_types::Answer;
use serde_json::Value;

use super::grid::Grid;
use super::{cell, line};

/// Rows that are shown; all that the plan gave are in the JSON.
const ROWS_SHOWN: usize = 20;

/// Writes the rows of an answer as a table; nothing where it has none.
pub(crate) fn write(out: &mut impl Write, answer: &Answer) -> io::Result<()> {
    let Some(rows) = answer.rows.as_ref().and_then(Value::as_array) else { return Ok(()) };
    let is_there = |name: &&str| rows.iter().take(ROWS_SHOWN).any(|row| row.get(name).is_some());
    let mut columns: Vec<&str> = answer.columns.iter().map(String::as_str).filter(is_there).collect();
    for name in rows.iter().take(ROWS_SHOWN).filter_map(Value::as_object).flat_map(|row| row.keys()) {
        if !columns.contains(&name.as_str()) {
            columns.push(name);
        }
    }
    if columns.is_empty() {
        return Ok(());
    }
    let mut grid = Grid::new(columns.iter().map(|name| line(name)));
    for row in rows.iter().take(ROWS_SHOWN) {
        grid.row(columns.iter().map(|name| row.get(name).map_or_else(String::new, brief)));
    }
    grid.write(out, "")?;
    if rows.len() > ROWS_SHOWN {
        writeln!(out, "… and {} more rows", rows.len() - ROWS_SHOWN)?;
    }
    Ok(())
}

/// A value for the eye: a time of midnight is a day, and a fraction has at most four digits. The record has it whole.
fn brief(value: &Value) -> String {
    match value {
        Value::String(text) if text.len() == 19 && text.ends_with("T00:00:00") => line(&text[..10]),
        Value::Number(number) if number.is_f64() => {
            let rounded = number.as_f64().map(|number| (number * 1e4).round() / 1e4);
            let is_small = rounded.is_some_and(|rounded| rounded == 0.0);
            rounded.filter(|_| !is_small).map_or_else(|| cell(value), |rounded| rounded.to_string())
        }
        other => cell(other),
    }
}
