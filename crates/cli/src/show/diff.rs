//! A diff as before and after.

use std::io::{self, Write};

use ordain_types::{Diff, Row, TableDiff};
use serde_json::Value;

use super::grid::{CELL_MAX, Grid};
use super::{Colour, cell, coloured};

/// Rows of one kind that are shown for a table where not all are asked for.
const ROWS_SHOWN: usize = 20;
/// Characters of a long value that are shown from where it differs, where not all are asked for.
const VALUE_SHOWN: usize = 2000;
/// Characters that two long values share before they differ, to show where that is.
const SHARED_SHOWN: usize = 30;

/// How much of a diff is shown. What is left out is always said, and how to see it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Extent<'a> {
    /// The first rows of each kind.
    Short {
        /// The run, to be named where something is left out.
        run: &'a str,
    },
    /// Every row, and the whole of every value.
    All,
}

/// Writes a diff, table by table.
pub(crate) fn write(out: &mut impl Write, diff: &Diff, extent: Extent<'_>) -> io::Result<()> {
    if diff.is_empty() {
        return writeln!(out, "nothing changed");
    }
    for (table, part) in &diff.tables {
        write_table(out, table, part, extent)?;
    }
    Ok(())
}

fn write_table(out: &mut impl Write, table: &str, part: &TableDiff, extent: Extent<'_>) -> io::Result<()> {
    let table = super::line(table);
    if !part.changed.is_empty() {
        let mut grid = Grid::new([table.as_str(), "column", "before", "after"]);
        let mut long = Vec::new();
        for change in part.changed.iter().take(extent.rows()) {
            let named = key(&change.key);
            let mut first = named.clone();
            for (column, before, after) in differences(&change.before, &change.after) {
                if [&before, &after].iter().any(|value| value.chars().count() > CELL_MAX) {
                    long.push((format!("{named} {}", super::line(&column)), before, after));
                } else {
                    grid.row([std::mem::take(&mut first), super::line(&column), before, after]);
                }
            }
        }
        if !grid.is_empty() || !long.is_empty() {
            grid.write(out, "  ")?;
        }
        for (what, before, after) in &long {
            write_long(out, what, before, after, extent)?;
        }
        left_out(out, part.changed.len(), "changed", extent)?;
    }
    write_rows(out, &table, &part.added, ("+", Colour::Green, "added"), extent)?;
    write_rows(out, &table, &part.removed, ("-", Colour::Red, "removed"), extent)
}

/// Writes a change of a value that is too long for a cell, from where it differs.
fn write_long(
    out: &mut impl Write,
    what: &str,
    before: &str,
    after: &str,
    extent: Extent<'_>,
) -> io::Result<()> {
    let shared =
        std::iter::zip(before.chars(), after.chars()).take_while(|(left, right)| left == right).count();
    writeln!(out, "  {what}")?;
    for (sign, colour, value) in [("-", Colour::Red, before), ("+", Colour::Green, after)] {
        let skipped = if matches!(extent, Extent::All) { 0 } else { shared.saturating_sub(SHARED_SHOWN) };
        let start = if skipped > 0 { "…" } else { "" };
        let rest: String = value.chars().skip(skipped).collect();
        let shown = if matches!(extent, Extent::All) { rest } else { super::cut(&rest, VALUE_SHOWN) };
        writeln!(out, "    {} {start}{shown}", coloured(colour, sign))?;
    }
    Ok(())
}

impl Extent<'_> {
    fn rows(self) -> usize {
        match self {
            Self::Short { .. } => ROWS_SHOWN,
            Self::All => usize::MAX,
        }
    }
}

fn write_rows(
    out: &mut impl Write,
    table: &str,
    rows: &[Row],
    (sign, colour, word): (&str, Colour, &str),
    extent: Extent<'_>,
) -> io::Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let mut lines = Vec::new();
    let shown = &rows[..rows.len().min(extent.rows())];
    let marks = Some((table, sign));
    let grid = match extent {
        Extent::Short { .. } => filled(shown, marks, Grid::row),
        Extent::All => filled(shown, marks, Grid::whole_row),
    };
    grid.write(&mut lines, "")?;
    for (index, line) in String::from_utf8_lossy(&lines).lines().enumerate() {
        let line = if index == 0 { line.to_owned() } else { line.replacen(sign, &coloured(colour, sign), 1) };
        writeln!(out, "  {line}")?;
    }
    left_out(out, rows.len(), word, extent)
}

fn left_out(out: &mut impl Write, count: usize, word: &str, extent: Extent<'_>) -> io::Result<()> {
    match extent {
        Extent::Short { run } if count > ROWS_SHOWN => {
            let more = count - ROWS_SHOWN;
            writeln!(out, "  … and {more} more {word}; `ordain runs show {run} --all` shows every row")
        }
        _ => Ok(()),
    }
}

/// Rows under the names of their columns, in the order in which these first occur.
pub(crate) fn grid_of(rows: &[Row]) -> Grid {
    filled(rows, None, Grid::row)
}

/// The same; `marks` puts a column in front, with that name and that text in every row.
fn filled(rows: &[Row], marks: Option<(&str, &str)>, add: impl Fn(&mut Grid, Vec<String>)) -> Grid {
    let mut columns: Vec<&str> = Vec::new();
    for name in rows.iter().flat_map(Row::names) {
        if !columns.contains(&name) {
            columns.push(name);
        }
    }
    let names = columns.iter().map(|name| super::line(name));
    let mut grid = Grid::new(marks.map(|(table, _)| table.to_owned()).into_iter().chain(names));
    for row in rows {
        let cells = columns.iter().map(|name| row.get(name).map_or_else(String::new, cell));
        add(&mut grid, marks.map(|(_, sign)| sign.to_owned()).into_iter().chain(cells).collect());
    }
    grid
}

fn differences(before: &Row, after: &Row) -> Vec<(String, String, String)> {
    let names = before.names().chain(after.names().filter(|name| before.get(name).is_none()));
    names
        .filter(|name| before.get(name) != after.get(name))
        .map(|name| {
            let shown = |row: &Row| row.get(name).map_or_else(|| "(absent)".to_owned(), cell);
            let (mut old, mut new) = (shown(before), shown(after));
            if look_alike(&old, &new) {
                // A number and its text, a letter and its twin of another alphabet: as data they differ.
                (old, new) = (as_data(before.get(name)), as_data(after.get(name)));
            }
            (name.to_owned(), old, new)
        })
        .collect()
}

/// Whether people may take one value for the other: they differ in spaces, in marks that join letters, or in letters that
/// have a twin in ASCII.
fn look_alike(left: &str, right: &str) -> bool {
    let seen = |text: &str| -> String {
        let words: Vec<&str> = text.split_whitespace().collect();
        words
            .join(" ")
            .chars()
            .filter(|c| !matches!(c, '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}'))
            .collect()
    };
    let (left, right) = (seen(left), seen(right));
    let is_twin = |(left, right): (char, char)| left == right || left.is_ascii() != right.is_ascii();
    left.chars().count() == right.chars().count() && std::iter::zip(left.chars(), right.chars()).all(is_twin)
}

/// A value as JSON, with everything but ASCII written out.
fn as_data(value: Option<&Value>) -> String {
    let text = value.map_or_else(|| "(absent)".to_owned(), Value::to_string);
    text.chars().fold(String::new(), |mut shown, c| {
        if c.is_ascii() && !c.is_control() {
            shown.push(c);
        } else {
            shown.extend(c.escape_unicode());
        }
        shown
    })
}

fn key(key: &Row) -> String {
    key.fields
        .iter()
        .map(|(name, value)| format!("{}={}", super::line(name), cell(value)))
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use ordain_types::RowChange;
    use serde_json::json;

    use super::*;

    fn row(value: &Value) -> Row {
        serde_json::from_value(json!({ "text": value })).unwrap()
    }

    fn shown(part: TableDiff, extent: Extent<'_>) -> String {
        let mut out = Vec::new();
        let diff = Diff { tables: BTreeMap::from([("t".to_owned(), part)]) };
        write(&mut out, &diff, extent).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn changed(before: &Value, after: &Value) -> String {
        let change = RowChange { key: row(&json!(1)), before: row(before), after: row(after) };
        let part = TableDiff { changed: vec![change], ..TableDiff::default() };
        shown(part, Extent::Short { run: "06e" })
    }

    #[test]
    fn a_row_is_named_although_its_first_column_is_too_long_for_the_table() {
        let row =
            |text: &str, price: u32| serde_json::from_value(json!({ "a": text, "price": price })).unwrap();
        let key = serde_json::from_value(json!({ "id": "SG003" })).unwrap();
        let change = RowChange { key, before: row("short", 105), after: row(&"x".repeat(200), 1) };
        let part = TableDiff { changed: vec![change], ..TableDiff::default() };
        let text = shown(part, Extent::Short { run: "06e" });
        assert!(text.contains("id=SG003  price   105     1"), "{text}");
    }

    #[test]
    fn a_change_never_shows_the_same_before_and_after() {
        let long = "a long description that goes on for much longer than a cell of the table is wide";
        let paid = format!("{long} PAY TO IBAN XX00");
        let text = changed(&json!(long), &json!(paid));
        assert!(text.contains("PAY TO IBAN XX00"), "{text}");
        assert!(changed(&json!("x\u{200d}y"), &json!("xy")).contains("x\\u{200d}y  xy"));
        for (before, after) in [
            (json!("5"), json!(5)),
            (json!("a"), json!("a ")),
            (json!("\u{430}"), json!("a")),
            (json!(null), json!("–")),
            (json!("a\nb"), json!("a\\nb")),
        ] {
            let text = changed(&before, &after);
            let line = text.lines().last().unwrap().to_owned();
            let (old, new) = (as_data(Some(&before)), as_data(Some(&after)));
            assert!(line.contains(&old) && line.contains(&new), "{before} {after}: {text}");
        }
    }

    #[test]
    fn rows_that_are_left_out_are_said_and_can_be_had() {
        let part = || TableDiff {
            added: (0..300).map(|n| row(&json!(format!("n{n}")))).collect(),
            ..TableDiff::default()
        };
        let short = shown(part(), Extent::Short { run: "06e" });
        assert!(short.contains("280 more added; `ordain runs show 06e --all` shows every row"), "{short}");
        assert!(shown(part(), Extent::All).contains("n299"));
    }
}
