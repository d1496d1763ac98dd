//! Seeds in CSV and TSV: a header line, then one row a line.

use ordain_types::ColumnType;
use serde_json::Value;

use super::{Raw, RawRow, SeedError, Source, infer};

/// Reads a table. An empty cell is `None`.
pub(super) fn table(source: &Source<'_>, delimiter: u8) -> Result<Raw, SeedError> {
    let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).from_reader(source.text.as_bytes());
    let names: Vec<String> = match reader.headers() {
        Ok(header) => header.iter().map(|name| name.trim().to_owned()).collect(),
        Err(error) => return Err(csv_error(source, &error)),
    };
    if let Some(twice) = (1..names.len()).find(|place| names[..*place].contains(&names[*place])) {
        let message = format!("the header names the column `{}` twice", names[twice]);
        return Err(source.error(Some(1), message));
    }
    let mut raw = Raw { names, rows: Vec::new(), is_text: true };
    for record in reader.records() {
        let record = record.map_err(|error| csv_error(source, &error))?;
        let line = record.position().map_or(0, csv::Position::line);
        let cell =
            |text: &str| Some(if text.is_empty() { Value::Null } else { Value::String(text.to_owned()) });
        raw.rows.push(RawRow { line, doc_id: None, values: record.iter().map(cell).collect() });
    }
    Ok(raw)
}

/// A cell's text as a value of its column. The error ends "cannot hold …".
pub(super) fn value(column_type: ColumnType, text: String) -> Result<Value, String> {
    let wrong = |holds: &str| Err(format!("`{}`; it holds {holds}", crate::relation::shortened(&text)));
    match column_type {
        ColumnType::Text | ColumnType::Timestamp => Ok(Value::String(text)),
        ColumnType::Integer => match text.trim().parse::<i64>() {
            Ok(integer) => Ok(Value::from(integer)),
            Err(_) => wrong("whole numbers of 64 bits"),
        },
        ColumnType::Real if infer::is_not_a_number(text.trim()) => {
            wrong("numbers, and an empty cell for none")
        }
        ColumnType::Real => match text.trim().parse::<f64>() {
            Ok(real) if real.is_finite() => Ok(Value::from(real)),
            _ => wrong("numbers"),
        },
        ColumnType::Boolean => match text.trim().to_ascii_lowercase().as_str() {
            "true" | "1" => Ok(Value::Bool(true)),
            "false" | "0" => Ok(Value::Bool(false)),
            _ => wrong("true or false"),
        },
        ColumnType::Json => serde_json::from_str(&text).or_else(|_| wrong("JSON")),
    }
}

fn csv_error(source: &Source<'_>, error: &csv::Error) -> SeedError {
    let line = error.position().map(csv::Position::line);
    match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => source
            .error(line, format!("the row has {len} cells, the header {expected_len}"))
            .hint("put a cell that holds a comma in double quotes"),
        _ => source.error(line, error.to_string()),
    }
}
