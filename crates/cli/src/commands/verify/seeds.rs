//! Infers columns from rows: JSON, JSON lines and CSV.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;

use anyhow::{Context, bail};
use ordain_types::{Column, ColumnType};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// Larger files are not read for their columns.
const FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Rows that are looked at; later ones look alike.
const ROWS_MAX: usize = 10_000;

/// The columns of a file of rows.
pub(super) fn columns(path: &Path) -> anyhow::Result<Vec<Column>> {
    let size = fs_err::metadata(path)?.len();
    if size > FILE_BYTES_MAX {
        bail!("`{}` is {size} bytes long; the limit is {FILE_BYTES_MAX}", path.display());
    }
    let text = fs_err::read_to_string(path)?;
    let text = text.trim_start_matches('\u{feff}');
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let rows = match extension.to_ascii_lowercase().as_str() {
        "json" => json_rows(text),
        "jsonl" | "ndjson" => json_lines(text),
        "csv" => csv_rows(text, ','),
        "tsv" => csv_rows(text, '\t'),
        other => {
            bail!("`{}` ends in `.{other}`; rows are read from .json, .jsonl, .csv and .tsv", path.display())
        }
    };
    let rows = rows.with_context(|| format!("`{}` holds no rows that can be read", path.display()))?;
    Ok(infer(&rows))
}

/// The file tables of a `data` folder: their names and columns. Files of other kinds are passed over.
pub(super) fn file_tables(folder: &Path) -> anyhow::Result<Vec<(String, Vec<Column>)>> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut tables = Vec::new();
    for entry in fs_err::read_dir(folder)? {
        let path = entry?.path();
        let is_read = path.extension().and_then(|extension| extension.to_str()).is_some_and(|extension| {
            ["json", "jsonl", "ndjson", "csv", "tsv"].contains(&extension.to_ascii_lowercase().as_str())
        });
        if let (true, Some(name)) =
            (is_read && path.is_file(), path.file_stem().and_then(|name| name.to_str()))
        {
            tables.push((name.to_owned(), columns(&path)?));
        }
    }
    tables.sort_by(|left, right| left.0.cmp(&right.0));
    Ok(tables)
}

/// One row, its columns in the order in which they are written.
#[derive(Debug, Default, PartialEq)]
struct Row(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Row {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Row;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object with a value for each column")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Row, A::Error> {
                let mut cells = Vec::new();
                while let Some(cell) = map.next_entry()? {
                    cells.push(cell);
                }
                Ok(Row(cells))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

fn json_rows(text: &str) -> anyhow::Result<Vec<Row>> {
    serde_json::from_str(text).context("it is not a JSON list of objects")
}

fn json_lines(text: &str) -> anyhow::Result<Vec<Row>> {
    let lines = text.lines().filter(|line| !line.trim().is_empty()).take(ROWS_MAX);
    lines
        .enumerate()
        .map(|(index, line)| {
            serde_json::from_str(line).with_context(|| format!("line {} is not a JSON object", index + 1))
        })
        .collect()
}

/// Rows of a CSV text; the first line names the columns.
fn csv_rows(text: &str, separator: char) -> anyhow::Result<Vec<Row>> {
    let mut records = csv_records(text, separator).into_iter();
    let Some(names) = records.next() else { bail!("it is empty") };
    let rows = records.take(ROWS_MAX).map(|record| {
        let cells = names.iter().cloned().zip(record.into_iter().map(|cell| cell_value(&cell)));
        Row(cells.collect())
    });
    let rows: Vec<Row> = rows.collect();
    if rows.is_empty() {
        // A file with a head only still says which columns there are.
        return Ok(vec![Row(names.into_iter().map(|name| (name, Value::Null)).collect())]);
    }
    Ok(rows)
}

fn csv_records(text: &str, separator: char) -> Vec<Vec<String>> {
    let mut records = Vec::new();
    let (mut record, mut cell, mut is_quoted) = (Vec::new(), String::new(), false);
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' if is_quoted && characters.peek() == Some(&'"') => {
                characters.next();
                cell.push('"');
            }
            '"' if is_quoted || cell.is_empty() => is_quoted = !is_quoted,
            '\r' if !is_quoted && characters.peek() == Some(&'\n') => {}
            '\n' | '\r' if !is_quoted => {
                record.push(std::mem::take(&mut cell));
                records.push(std::mem::take(&mut record));
                if records.len() > ROWS_MAX {
                    return records;
                }
            }
            _ if character == separator && !is_quoted => record.push(std::mem::take(&mut cell)),
            _ => cell.push(character),
        }
    }
    if !cell.is_empty() || !record.is_empty() {
        record.push(cell);
        records.push(record);
    }
    records.retain(|record| record.iter().any(|cell| !cell.is_empty()));
    records
}

fn cell_value(cell: &str) -> Value {
    let cell = cell.trim();
    if cell.is_empty() {
        return Value::Null;
    }
    match cell.to_ascii_lowercase().as_str() {
        "true" => return Value::Bool(true),
        "false" => return Value::Bool(false),
        _ => {}
    }
    // A leading zero belongs to a code, not to a number.
    let is_code = cell.len() > 1 && cell.starts_with('0') && !cell.starts_with("0.");
    if !is_code {
        if let Ok(number) = cell.parse::<i64>() {
            return number.into();
        }
        if let Ok(number) = cell.parse::<f64>()
            && number.is_finite()
        {
            return number.into();
        }
    }
    cell.into()
}

/// What was seen of one column.
#[derive(Debug, Default)]
struct Seen {
    rows: usize,
    nulls: usize,
    booleans: usize,
    integers: usize,
    reals: usize,
    times: usize,
    texts: usize,
}

fn infer(rows: &[Row]) -> Vec<Column> {
    let mut order: Vec<&str> = Vec::new();
    let mut seen: HashMap<&str, Seen> = HashMap::new();
    for row in rows.iter().take(ROWS_MAX) {
        for (name, value) in &row.0 {
            let column = seen.entry(name).or_insert_with(|| {
                order.push(name);
                Seen::default()
            });
            column.take(value);
        }
    }
    let column = |name: &&str| {
        let seen = &seen[name];
        Column {
            name: (*name).to_owned(),
            column_type: seen.column_type(name),
            nullable: seen.nulls > 0 || seen.rows < rows.len().min(ROWS_MAX),
            hidden: false,
        }
    };
    order.iter().map(column).collect()
}

impl Seen {
    fn take(&mut self, value: &Value) {
        self.rows += 1;
        match value {
            Value::Null => self.nulls += 1,
            Value::Bool(_) => self.booleans += 1,
            Value::Number(number) if number.is_f64() => self.reals += 1,
            Value::Number(_) => self.integers += 1,
            Value::String(text) if is_time(text) => self.times += 1,
            Value::String(_) => self.texts += 1,
            Value::Array(_) | Value::Object(_) => {}
        }
    }

    fn column_type(&self, name: &str) -> ColumnType {
        let filled = self.rows - self.nulls;
        let numbers = self.integers + self.reals;
        if filled == 0 || self.texts + self.times == filled {
            // A text column whose values happen to be times so far takes nothing else.
            return if self.times == filled && filled > 0 { ColumnType::Timestamp } else { ColumnType::Text };
        }
        if self.booleans == filled {
            ColumnType::Boolean
        } else if self.integers == filled && counts(name) {
            ColumnType::Integer
        } else if numbers == filled {
            // Prices of 60 and 80 are whole by chance.
            ColumnType::Real
        } else {
            ColumnType::Json
        }
    }
}

/// Whether a column's name says that its numbers are whole.
fn counts(name: &str) -> bool {
    let name = name.to_lowercase();
    let mut words = name.split(|character: char| !character.is_alphanumeric());
    words.any(|word| {
        ["id", "quantity", "qty", "count", "units", "number", "year", "stock", "rank", "age"].contains(&word)
    })
}

/// Whether a text is an ISO 8601 date or time.
fn is_time(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let has_date = [0, 1, 2, 3, 5, 6, 8, 9].into_iter().all(is_digit)
        && bytes.get(4) == Some(&b'-')
        && bytes.get(7) == Some(&b'-');
    has_date && (bytes.len() == 10 || matches!(bytes[10], b'T' | b' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn types(rows: &[Row]) -> Vec<(String, ColumnType, bool)> {
        infer(rows).into_iter().map(|column| (column.name, column.column_type, column.nullable)).collect()
    }

    #[test]
    fn json_rows_give_names_types_and_nulls_in_order() {
        let rows = json_rows(
            r#"[{"item_id": "SG1", "price": 60, "quantity": 3, "when": "2025-01-02T03:04:05", "tags": ["a"]},
                {"item_id": "SG2", "price": 60.5, "quantity": 4, "when": null, "ok": true}]"#,
        )
        .unwrap();
        assert_eq!(
            types(&rows),
            [
                ("item_id".to_owned(), ColumnType::Text, false),
                ("price".to_owned(), ColumnType::Real, false),
                ("quantity".to_owned(), ColumnType::Integer, false),
                ("when".to_owned(), ColumnType::Timestamp, true),
                ("tags".to_owned(), ColumnType::Json, true),
                ("ok".to_owned(), ColumnType::Boolean, true),
            ]
        );
    }

    #[test]
    fn csv_cells_may_be_quoted_and_hold_line_ends() {
        let rows = csv_rows("id,name,code\r\n1,\"a, \"\"b\"\"\nc\",007\n2,,\n", ',').unwrap();
        assert_eq!(rows[0].0[1], ("name".to_owned(), "a, \"b\"\nc".into()));
        assert_eq!(
            types(&rows),
            [
                ("id".to_owned(), ColumnType::Integer, false),
                ("name".to_owned(), ColumnType::Text, true),
                ("code".to_owned(), ColumnType::Text, true),
            ]
        );
    }

    #[test]
    fn what_holds_no_rows_says_so() {
        for (result, says) in [
            (json_rows("{}"), "not a JSON list of objects"),
            (json_rows("[1]"), "expected an object"),
            (json_rows("["), "not a JSON list"),
            (json_lines("{}\nx"), "line 2 is not a JSON object"),
            (csv_rows("", ','), "empty"),
        ] {
            assert!(format!("{:#}", result.unwrap_err()).contains(says), "{says}");
        }
        assert_eq!(csv_rows("a,b\n", ',').unwrap().len(), 1);
    }
}
