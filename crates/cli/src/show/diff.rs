//! A diff as before and after.

use std::io::{self, Write};

use ordain_types::{Diff, Row, TableDiff};

use super::grid::Grid;
use super::{Colour, cell, coloured};

/// Rows of one kind that are shown for a table; a person who needs all of them takes the JSON.
const ROWS_SHOWN: usize = 20;

/// Writes a diff, table by table.
pub(crate) fn write(out: &mut impl Write, diff: &Diff) -> io::Result<()> {
    if diff.is_empty() {
        return writeln!(out, "nothing changed");
    }
    for (table, part) in &diff.tables {
        write_table(out, table, part)?;
    }
    Ok(())
}

fn write_table(out: &mut impl Write, table: &str, part: &TableDiff) -> io::Result<()> {
    let counts =
        [(part.added.len(), "added"), (part.changed.len(), "changed"), (part.removed.len(), "removed")];
    let counts: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    writeln!(out, "{}: {}", coloured(Colour::Bold, &super::line(table)), counts.join(", "))?;
    if !part.changed.is_empty() {
        let mut grid = Grid::new(["row", "column", "before", "after"]);
        for change in part.changed.iter().take(ROWS_SHOWN) {
            for (index, (column, before, after)) in
                differences(&change.before, &change.after).into_iter().enumerate()
            {
                let key = if index == 0 { key(&change.key) } else { String::new() };
                grid.row([key, super::line(&column), before, after]);
            }
        }
        grid.write(out, "  ")?;
        left_out(out, part.changed.len(), "changed")?;
    }
    write_rows(out, &part.added, "+", Colour::Green, "added")?;
    write_rows(out, &part.removed, "-", Colour::Red, "removed")
}

fn write_rows(out: &mut impl Write, rows: &[Row], sign: &str, colour: Colour, word: &str) -> io::Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let mut lines = Vec::new();
    grid_of(&rows[..rows.len().min(ROWS_SHOWN)]).write(&mut lines, "")?;
    for (index, line) in String::from_utf8_lossy(&lines).lines().enumerate() {
        let sign = if index == 0 { " ".to_owned() } else { coloured(colour, sign) };
        writeln!(out, "{sign} {line}")?;
    }
    left_out(out, rows.len(), word)
}

fn left_out(out: &mut impl Write, count: usize, word: &str) -> io::Result<()> {
    if count > ROWS_SHOWN { writeln!(out, "  … and {} more {word}", count - ROWS_SHOWN) } else { Ok(()) }
}

/// Rows under the names of their columns, in the order in which these first occur.
pub(crate) fn grid_of(rows: &[Row]) -> Grid {
    let mut columns: Vec<&str> = Vec::new();
    for name in rows.iter().flat_map(Row::names) {
        if !columns.contains(&name) {
            columns.push(name);
        }
    }
    let mut grid = Grid::new(columns.iter().map(|name| super::line(name)));
    for row in rows {
        grid.row(columns.iter().map(|name| row.get(name).map_or_else(String::new, cell)));
    }
    grid
}

fn differences(before: &Row, after: &Row) -> Vec<(String, String, String)> {
    let names = before.names().chain(after.names().filter(|name| before.get(name).is_none()));
    names
        .filter(|name| before.get(name) != after.get(name))
        .map(|name| {
            let shown = |row: &Row| row.get(name).map_or_else(|| "(absent)".to_owned(), cell);
            (name.to_owned(), shown(before), shown(after))
        })
        .collect()
}

fn key(key: &Row) -> String {
    key.fields
        .iter()
        .map(|(name, value)| format!("{}={}", super::line(name), cell(value)))
        .collect::<Vec<_>>()
        .join(" ")
}
