//! Values on their way between JSON and a column.
//!
//! [`check`] is strict and guards what plans and seeds write. An image holds what the database holds: of a table in place
//! the server's text, of a kept one a value that is the same in JSON. [`encode`] and [`decode`] lose nothing of it, which is
//! what undo rests on; [`shown`] is the view of it for people and plans, and [`image`] the way back.

mod array;

use ordain_types::{ColumnType, is_timestamp};
use serde_json::Value;

use crate::members::Members;
use crate::relation::{Kind, Storage};
use crate::sql::{Datum, Dialect};

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
        ColumnType::Decimal => decimal(value),
        ColumnType::Json | ColumnType::Any => nested(&value, 0).map(|()| value),
    }
}

/// What of a value the database would lose without a word; the error ends "cannot hold …".
pub(crate) fn check_held(dialect: Dialect, storage: &Storage, value: &Value) -> Result<(), String> {
    let is_minus_zero = value.as_f64().is_some_and(|real| real == 0.0 && real.is_sign_negative());
    if dialect == Dialect::Sqlite && storage.kind == Kind::Double && is_minus_zero {
        return Err("minus zero (-0.0), which SQLite makes 0.0 of; write `0.0`".to_owned());
    }
    Ok(())
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

/// An image's value as the database takes it.
pub(crate) fn encode(storage: &Storage, value: &Value) -> Datum {
    match value {
        Value::Null => Datum::Null,
        Value::String(text) if storage.native.is_some() => Datum::Text(text.clone()),
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

/// A checked value in the form that an image of its column has, as far as it is known before the database has it.
pub(crate) fn image(storage: &Storage, value: Value) -> Value {
    if storage.native.is_none() || value.is_null() {
        return value;
    }
    Value::String(match (storage.kind, value) {
        (Kind::Json, value) => value.to_string(),
        (Kind::Array { .. }, Value::Array(items)) => array::literal(&items),
        (_, Value::String(text)) => text,
        (_, value) => value.to_string(),
    })
}

/// The image of a nested value that gets another one: the members that stay keep the text that they have.
pub(crate) fn merged(storage: &Storage, before: Option<&Value>, after: Value) -> Value {
    match (storage.kind, before, &after) {
        (Kind::Json, Some(Value::String(before)), Value::String(text)) if storage.native.is_some() => {
            serde_json::from_str(text).map_or(after, |wanted| Value::String(merged_text(before, &wanted)))
        }
        _ => after,
    }
}

fn merged_text(before: &str, wanted: &Value) -> String {
    if serde_json::from_str::<Value>(before).is_ok_and(|before| before == *wanted) {
        return before.to_owned();
    }
    let (Value::Object(wanted), Ok(members)) = (wanted, serde_json::from_str::<Members<'_>>(before)) else {
        return wanted.to_string();
    };
    let name = |name: &str| Value::from(name).to_string();
    let stays = members.0.iter().filter_map(|(key, text)| {
        Some(format!("{}: {}", name(key), merged_text(text.get(), wanted.get(key)?)))
    });
    let is_new = |(key, _): &(&String, &Value)| members.0.iter().all(|(known, _)| known != *key);
    let new = wanted.iter().filter(is_new).map(|(key, value)| format!("{}: {value}", name(key)));
    format!("{{{}}}", stays.chain(new).collect::<Vec<_>>().join(", "))
}

/// A value of an image as people and plans see it.
pub(crate) fn shown(storage: &Storage, value: Value) -> Value {
    let Value::String(text) = value else { return value };
    if storage.native.is_none() {
        return Value::String(text);
    }
    match storage.kind {
        // PostgreSQL's JSON holds numbers that no double can; as text nothing is lost.
        Kind::Json => serde_json::from_str(&text).unwrap_or(Value::String(text)),
        Kind::Array { of } => array::parsed(&text, of).unwrap_or(Value::String(text)),
        kind => scalar(kind, text),
    }
}

/// The view of the server's text for a value that is not nested.
fn scalar(kind: Kind, text: String) -> Value {
    match kind {
        Kind::Boolean => Value::Bool(text == "true" || text == "t"),
        Kind::Integer => text.parse::<i64>().map_or(Value::String(text), Value::from),
        Kind::Double | Kind::Single => shown_double(text),
        Kind::Numeric => shown_decimal(text),
        Kind::Instant { .. } => Value::String(iso(&text)),
        _ => Value::String(text),
    }
}

/// What a value is, where a column of any type does not tell it by itself. SQLite tells text and numbers apart;
/// PostgreSQL's column holds text.
pub(crate) fn form(dialect: Dialect, value: &Value) -> Option<&'static str> {
    match value {
        Value::Null | Value::String(_) => None,
        Value::Bool(_) => Some("boolean"),
        Value::Array(_) | Value::Object(_) => Some("json"),
        Value::Number(_) if dialect == Dialect::Sqlite => None,
        Value::Number(number) if number.is_f64() => Some("real"),
        Value::Number(_) => Some("integer"),
    }
}

/// A value of a column of any type in the form that it was written in. One that somebody else has put there since is what
/// it looks like to the database.
pub(crate) fn with_form(form: &str, value: Value) -> Value {
    let formed = match (form, &value) {
        ("boolean", Value::Number(number)) => match number.as_i64() {
            Some(0) => Some(Value::Bool(false)),
            Some(1) => Some(Value::Bool(true)),
            _ => None,
        },
        ("boolean", Value::String(text)) => text.parse::<bool>().ok().map(Value::Bool),
        ("integer", Value::String(text)) => text.parse::<i64>().ok().map(Value::from),
        ("real", Value::String(text)) => {
            text.parse::<f64>().ok().filter(|real| real.is_finite()).map(Value::from)
        }
        ("json", Value::String(text)) => {
            serde_json::from_str(text).ok().filter(|value: &Value| value.is_array() || value.is_object())
        }
        _ => None,
    };
    formed.unwrap_or(value)
}

/// A value from the database as an image holds it.
pub(crate) fn decode(storage: &Storage, column_type: ColumnType, datum: Datum) -> Result<Value, String> {
    Ok(match (storage.kind, datum) {
        (_, Datum::Null) => Value::Null,
        (_, Datum::Text(text)) if storage.native.is_some() => Value::String(text),
        (Kind::Boolean, Datum::Integer(value)) => Value::Bool(value != 0),
        (_, Datum::Boolean(value)) => Value::Bool(value),
        (_, Datum::Integer(value)) if column_type == ColumnType::Real => real(&Value::from(value))?,
        (_, Datum::Integer(value)) => Value::from(value),
        (_, Datum::Real(value)) => Value::from(value),
        (Kind::Json, Datum::Text(text)) => serde_json::from_str(&text).map_err(|error| error.to_string())?,
        (kind, Datum::Text(text)) => scalar(kind, text),
    })
}

/// JSON has no NaN and no infinities: they stay text.
fn shown_double(text: String) -> Value {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Value::from(value),
        _ => Value::String(text),
    }
}

/// A decimal is a number where that has the same digits, else text.
fn shown_decimal(text: String) -> Value {
    if let Ok(value) = text.parse::<i64>() {
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

fn decimal(value: Value) -> Result<Value, String> {
    match &value {
        Value::Number(_) => Ok(value),
        Value::String(text) if is_decimal(text) => Ok(value),
        other => Err(format!("{}; it holds decimals, so convert it with `Decimal(…)`", describe(other))),
    }
}

/// Whether a text is a decimal as Python and databases write one.
fn is_decimal(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (digits, exponent) =
        digits.split_once(['e', 'E']).map_or((digits, None), |(digits, exponent)| (digits, Some(exponent)));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let has_exponent = exponent.is_none_or(|exponent| {
        let digits = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        !digits.is_empty() && digits.len() <= 5 && plain(digits)
    });
    plain(whole) && plain(fraction) && !(whole.is_empty() && fraction.is_empty()) && has_exponent
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

    fn native(kind: Kind, name: &str) -> Storage {
        Storage { kind, native: Some(name.to_owned()), filled: Filled::No }
    }

    #[test]
    fn a_decimal_that_a_double_cannot_hold_stays_text() {
        let shown = |text: &str| shown(&native(Kind::Numeric, "numeric"), json!(text));
        assert_eq!(shown("79.90"), json!(79.9));
        assert_eq!(shown("100"), json!(100));
        assert_eq!(shown("0.10000000000000000001"), json!("0.10000000000000000001"));
        assert_eq!(shown("123456789012345678.91"), json!("123456789012345678.91"));
        assert_eq!(shown("NaN"), json!("NaN"));
    }

    #[test]
    fn a_member_that_is_not_assigned_keeps_its_digits() {
        let storage = native(Kind::Json, "jsonb");
        let before =
            json!("{\"wei\": 1000000000000000000001, \"a\": {\"x\": 1.10, \"y\": 2}, \"seen\": false}");
        let mut after = shown(&storage, before.clone());
        after["seen"] = json!(true);
        after["a"]["y"] = json!(3);
        after["new"] = json!([1]);
        let merged = merged(&storage, Some(&before), image(&storage, after));
        let text =
            "{\"wei\": 1000000000000000000001, \"a\": {\"x\": 1.10, \"y\": 3}, \"seen\": true, \"new\": [1]}";
        assert_eq!(merged, json!(text));
    }

    #[test]
    fn an_instant_is_read_in_iso_form() {
        assert_eq!(iso("2025-10-03 09:16:59.6+00"), "2025-10-03T09:16:59.6+00:00");
        assert_eq!(iso("2025-10-03 09:16:59"), "2025-10-03T09:16:59");
        assert_eq!(iso("infinity"), "infinity");
    }
}
