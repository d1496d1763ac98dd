//! Seeds in JSON: a list of objects, TinyDB's object of documents, or one object a line.

use std::collections::HashMap;

use ordain_types::Row;
use serde::de::Deserialize;
use serde_json::value::RawValue;

use super::{Raw, RawRow, SeedError, Source};
use crate::members::Members;

/// Reads a `.json` file.
pub(super) fn document(source: &Source<'_>, table: &str) -> Result<Raw, SeedError> {
    check_numbers(source)?;
    if source.text.trim_start().starts_with('[') {
        let rows: Vec<&RawValue> = parse(source, source.text)?;
        return rows_of(source, rows.into_iter().map(|row| (None, row)));
    }
    let members: Members<'_> = parse(source, source.text)?;
    let whole = members.0.iter().find(|(name, _)| name == table).or_else(|| {
        // A file that TinyDB wrote with one unnamed table.
        members.0.iter().find(|(name, _)| name == "_default").filter(|_| members.0.len() == 1)
    });
    match whole {
        Some((_, value)) if value.get().starts_with('[') => {
            let rows: Vec<&RawValue> = parse(source, value.get())?;
            rows_of(source, rows.into_iter().map(|row| (None, row)))
        }
        Some((_, value)) => documents(source, parse(source, value.get())?),
        None if members.0.len() > 1 && members.0.iter().all(|(_, value)| value.get().starts_with('[')) => {
            let names: Vec<String> =
                members.0.iter().map(|(name, _)| format!("`{}`", crate::relation::shortened(name))).collect();
            let message = format!("it holds several tables: {}", names.join(", "));
            Err(source.error(None, message).hint("call the table as one of them, or give that one alone"))
        }
        None => documents(source, members),
    }
}

/// Reads a `.jsonl` file.
pub(super) fn lines(source: &Source<'_>) -> Result<Raw, SeedError> {
    check_numbers(source)?;
    let mut rows = Vec::new();
    for line in source.text.lines().filter(|line| !line.trim().is_empty()) {
        let row: &RawValue = parse(source, line)?;
        rows.push((None, row));
    }
    rows_of(source, rows.into_iter())
}

/// TinyDB's form: an object of documents by their ids.
fn documents(source: &Source<'_>, members: Members<'_>) -> Result<Raw, SeedError> {
    let mut rows = Vec::with_capacity(members.0.len());
    for (name, value) in members.0 {
        let id = name.parse::<i64>().ok().filter(|id| *id > 0 && id.to_string() == name);
        let Some(id) = id else {
            let line = source.line_of(offset(source, value.get()));
            let message = format!("`{}` is not a document id", crate::relation::shortened(&name));
            let hint = "a seed is a list of objects, or an object of documents whose names are whole numbers";
            return Err(source.error(Some(line), message).hint(hint));
        };
        rows.push((Some(id), value));
    }
    rows_of(source, rows.into_iter())
}

fn rows_of<'a>(
    source: &Source<'a>,
    rows: impl Iterator<Item = (Option<i64>, &'a RawValue)>,
) -> Result<Raw, SeedError> {
    let (mut raw, mut places) = (Raw::default(), HashMap::new());
    for (doc_id, value) in rows {
        let line = source.line_of_next(offset(source, value.get()));
        if !value.get().starts_with('{') {
            return Err(source
                .error(Some(line), "a row is an object")
                .hint("write `{\"column\": value, …}`"));
        }
        let row: Row = parse(source, value.get())?;
        let mut values = vec![None; raw.names.len()];
        for (name, value) in row.fields {
            let place = raw.place(&mut places, &name);
            values.resize(values.len().max(place + 1), None);
            values[place] = Some(value);
        }
        raw.rows.push(RawRow { line, doc_id, values });
    }
    Ok(raw)
}

/// Parses a part of the file; an error names the line in the file.
fn parse<'a, T: Deserialize<'a>>(source: &Source<'a>, text: &'a str) -> Result<T, SeedError> {
    serde_json::from_str(text).map_err(|error| {
        let first = source.line_of(offset(source, text));
        let line = first + (error.line() as u64).saturating_sub(1);
        let message = error.to_string();
        // The position within the part would only confuse.
        let message = message.split(" at line ").next().unwrap_or_default().to_owned();
        let wrong = source.error(Some(line), message);
        let culprit = text.lines().nth(error.line().saturating_sub(1)).unwrap_or_default();
        if ["NaN", "Infinity"].iter().any(|word| culprit.contains(word)) {
            return wrong.hint("JSON has no NaN and no Infinity; write null");
        }
        wrong
    })
}

/// Where a part of the file's text begins.
fn offset(source: &Source<'_>, part: &str) -> usize {
    (part.as_ptr() as usize).saturating_sub(source.text.as_ptr() as usize)
}

/// Finds whole numbers of more than 64 bits, which the parser would silently round.
fn check_numbers(source: &Source<'_>) -> Result<(), SeedError> {
    let bytes = source.text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => at = end_of_string(bytes, at + 1),
            b'-' | b'0'..=b'9' => {
                let end = end_of_number(bytes, at);
                let number = &source.text[at..end];
                if number.len() > 18 && !number.contains(['.', 'e', 'E']) && number.parse::<i64>().is_err() {
                    let shown = crate::relation::shortened(number);
                    return Err(source
                        .error(
                            Some(source.line_of(at)),
                            format!("the whole number {shown} has more than 64 bits"),
                        )
                        .hint("write it as text, in quotes"));
                }
                at = end;
            }
            _ => at += 1,
        }
    }
    Ok(())
}

fn end_of_string(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() && bytes[at] != b'"' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    at + 1
}

fn end_of_number(bytes: &[u8], at: usize) -> usize {
    let more = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-');
    at + 1 + bytes[at + 1..].iter().take_while(|byte| more(byte)).count()
}
