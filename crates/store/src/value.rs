//! Values on their way between JSON and a column.
//!
//! [`check`] is strict and guards what plans and seeds write. [`encode`] and [`decode`] lose nothing: what was read
//! from a column can be written back to it as it was, which is what undo rests on.

use ordain_types::{ColumnType, is_timestamp};
use serde_json::Value;

use crate::relation::{Kind, Storage};
use crate::sql::Datum;

/// The largest whole number up to which every whole number is a double: 2^53.
const EXACT_MAX: f64 = 9_007_199_254_740_992.0;
/// How deep a nested value may go; both databases and the parser take more.
const DEPTH_MAX: usize = 60;

/// Checks a value against its column and gives it the column's form. The error ends "cannot hold …".
pub(crate) fn check(column_type: ColumnType, nullable: bool, value: Value) -> Result<Value, String> {
    if value.is_null() {
        return if nullable { Ok(value) } else { Err("nothing (None)".to_owned()) };
    }
    match column_type {
        ColumnType::Text => text(value),
        ColumnType::Integer => integer(&value),
        ColumnType::Real => real(&value),
        ColumnType::Boolean if value.is_boolean() => Ok(value),
        ColumnType::Boolean => Err(format!("{}; it holds true or false", describe(&value))),
        ColumnType::Timestamp => timestamp(value),
        ColumnType::Json => nested(&value, 0).map(|()| value),
    }
}

/// How many bytes a value takes, roughly: enough to hold a limit.
pub(crate) fn weight(value: &Value) -> u64 {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
        Value::String(text) => text.len() as u64 + 8,
        Value::Array(items) => items.iter().map(weight).sum::<u64>() + 8,
        Value::Object(members) => {
            members.iter().map(|(name, value)| name.len() as u64 + 8 + weight(value)).sum::<u64>() + 8
        }
    }
}

/// A value as the database takes it.
pub(crate) fn encode(storage: &Storage, value: &Value) -> Datum {
    match value {
        Value::Null => Datum::Null,
        _ if storage.kind == Kind::Json => Datum::Text(value.to_string()),
        Value::Bool(value) => Datum::Boolean(*value),
        Value::String(text) => Datum::Text(text.clone()),
        Value::Number(number) => {
            let integer = number.as_i64().filter(|_| storage.kind != Kind::Double).map(Datum::Integer);
            let real = || number.as_f64().map(Datum::Real);
            integer.or_else(real).unwrap_or_else(|| Datum::Text(number.to_string()))
        }
        // Only a JSON column gives a nested value; a column of another type that holds one is refused by `check`.
        Value::Array(_) | Value::Object(_) => Datum::Text(value.to_string()),
    }
}

/// A value from the database, in the column's form.
pub(crate) fn decode(storage: &Storage, column_type: ColumnType, datum: Datum) -> Result<Value, String> {
    Ok(match (storage.kind, datum) {
        (_, Datum::Null) => Value::Null,
        (Kind::Boolean, Datum::Integer(value)) => Value::Bool(value != 0),
        (_, Datum::Boolean(value)) => Value::Bool(value),
        (_, Datum::Integer(value)) if column_type == ColumnType::Real => real(&Value::from(value))?,
        (_, Datum::Integer(value)) => Value::from(value),
        (_, Datum::Real(value)) => Value::from(value),
        (Kind::Json, Datum::Text(text)) => decode_json(storage, text)?,
        (Kind::Boolean, Datum::Text(text)) => Value::Bool(text == "true"),
        (Kind::Integer, Datum::Text(text)) => text.parse::<i64>().map_or(Value::String(text), Value::from),
        (Kind::Double | Kind::Single, Datum::Text(text)) => decode_double(text),
        (Kind::Numeric, Datum::Text(text)) => decode_numeric(column_type, text),
        (Kind::Instant { .. }, Datum::Text(text)) => Value::String(iso(&text)),
        (_, Datum::Text(text)) => Value::String(text),
    })
}

fn decode_json(storage: &Storage, text: String) -> Result<Value, String> {
    match serde_json::from_str(&text) {
        Ok(value) => Ok(value),
        // PostgreSQL's JSON holds numbers that no double can; as text nothing is lost.
        Err(_) if storage.native.is_some() => Ok(Value::String(text)),
        Err(error) => Err(error.to_string()),
    }
}

/// JSON has no NaN and no infinities: they stay text.
fn decode_double(text: String) -> Value {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Value::from(value),
        _ => Value::String(text),
    }
}

/// A decimal that a double cannot hold stays text, so that it can be written back as it was.
fn decode_numeric(column_type: ColumnType, text: String) -> Value {
    if column_type == ColumnType::Integer
        && let Ok(value) = text.parse::<i64>()
    {
        return Value::from(value);
    }
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && significant(&format!("{value}")) == significant(&text) => {
            Value::from(value)
        }
        _ => Value::String(text),
    }
}

/// A decimal without zeros that say nothing.
fn significant(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

/// PostgreSQL's `2025-10-03 09:16:59.6+00` as ISO 8601.
fn iso(text: &str) -> String {
    let text = text.replacen(' ', "T", 1);
    match text.strip_suffix("+00") {
        Some(local) => format!("{local}+00:00"),
        None => text,
    }
}

fn text(value: Value) -> Result<Value, String> {
    match &value {
        Value::String(text) if text.contains('\0') => Err("text with a NUL character".to_owned()),
        Value::String(_) => Ok(value),
        other => Err(format!("{}; it holds text, so convert it with `str(…)`", describe(other))),
    }
}

fn timestamp(value: Value) -> Result<Value, String> {
    match &value {
        Value::String(text) if is_timestamp(text) => Ok(value),
        other => Err(format!(
            "{}; it holds a time in ISO 8601, such as `datetime.now().isoformat()` gives",
            describe(other)
        )),
    }
}

fn integer(value: &Value) -> Result<Value, String> {
    if let Some(integer) = value.as_i64() {
        return Ok(Value::from(integer));
    }
    match value.as_f64() {
        #[expect(clippy::cast_possible_truncation, reason = "checked: whole and within 2^53")]
        Some(real) if real.fract() == 0.0 && real.abs() <= EXACT_MAX => Ok(Value::from(real as i64)),
        Some(_) if value.is_u64() || value.as_f64().is_some_and(|real| real.fract() == 0.0) => {
            Err(format!("{}; it holds whole numbers of 64 bits", describe(value)))
        }
        _ => Err(format!("{}; it holds whole numbers", describe(value))),
    }
}

fn real(value: &Value) -> Result<Value, String> {
    match value.as_f64() {
        Some(real) if real.is_finite() => Ok(Value::from(real)),
        _ => Err(format!("{}; it holds numbers", describe(value))),
    }
}

fn nested(value: &Value, depth: usize) -> Result<(), String> {
    if depth > DEPTH_MAX {
        return Err(format!("a value nested deeper than {DEPTH_MAX}"));
    }
    let nul = |text: &str| text.contains('\0').then(|| "text with a NUL character".to_owned());
    match value {
        Value::Number(number) if number.is_u64() && number.as_i64().is_none() => {
            Err(format!("{number}; whole numbers have at most 64 bits"))
        }
        Value::String(text) => nul(text).map_or(Ok(()), Err),
        Value::Array(items) => items.iter().try_for_each(|item| nested(item, depth + 1)),
        Value::Object(members) => members.iter().try_for_each(|(name, value)| {
            nul(name).map_or(Ok(()), Err).and_then(|()| nested(value, depth + 1))
        }),
        _ => Ok(()),
    }
}

/// A value in a message, cut short.
fn describe(value: &Value) -> String {
    const SHOWN: usize = 40;
    let text = value.to_string();
    let kind = match value {
        Value::Null => return "nothing (None)".to_owned(),
        Value::Bool(_) => "the boolean",
        Value::Number(_) => "the number",
        Value::String(_) => "the text",
        Value::Array(_) => "the list",
        Value::Object(_) => "the object",
    };
    if text.chars().count() <= SHOWN {
        return format!("{kind} {text}");
    }
    format!("{kind} {}…", text.chars().take(SHOWN).collect::<String>())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::relation::Filled;

    #[test]
    fn a_column_takes_what_it_holds_and_refuses_the_rest() {
        let check = |column_type, value| check(column_type, true, value);
        assert_eq!(check(ColumnType::Integer, json!(3.0)), Ok(json!(3)));
        assert_eq!(check(ColumnType::Real, json!(3)), Ok(json!(3.0)));
        assert_eq!(check(ColumnType::Integer, Value::Null), Ok(Value::Null));
        for (column_type, wrong) in [
            (ColumnType::Integer, json!(3.5)),
            (ColumnType::Integer, json!(u64::MAX)),
            (ColumnType::Integer, json!(1e22)),
            (ColumnType::Integer, json!(true)),
            (ColumnType::Integer, json!("3")),
            (ColumnType::Text, json!(3)),
            (ColumnType::Text, json!("a\0b")),
            (ColumnType::Boolean, json!(1)),
            (ColumnType::Timestamp, json!("yesterday")),
            (ColumnType::Json, json!({"a": [u64::MAX]})),
            (ColumnType::Json, json!({"a\0": 1})),
        ] {
            assert!(check(column_type, wrong.clone()).is_err(), "{column_type:?} {wrong}");
        }
    }

    #[test]
    fn a_decimal_that_a_double_cannot_hold_stays_text() {
        let numeric = Storage { kind: Kind::Numeric, native: Some("numeric".to_owned()), filled: Filled::No };
        let decoded = |text: &str| decode(&numeric, ColumnType::Real, Datum::Text(text.to_owned())).unwrap();
        assert_eq!(decoded("79.90"), json!(79.9));
        assert_eq!(decoded("100"), json!(100.0));
        assert_eq!(decoded("0.10000000000000000001"), json!("0.10000000000000000001"));
        assert_eq!(decoded("NaN"), json!("NaN"));
    }

    #[test]
    fn an_instant_is_read_in_iso_form() {
        assert_eq!(iso("2025-10-03 09:16:59.6+00"), "2025-10-03T09:16:59.6+00:00");
        assert_eq!(iso("2025-10-03 09:16:59"), "2025-10-03T09:16:59");
        assert_eq!(iso("infinity"), "infinity");
    }
}
