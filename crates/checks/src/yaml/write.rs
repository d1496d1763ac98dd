//! A value to YAML, in blocks, with the words that say what a record is first.

use std::fmt::Write;

use serde_json::Value;

/// Keys that come first, in this order; the rest follow by name.
const FIRST: &[&str] = &[
    "version",
    "check_id",
    "check_name",
    "name",
    "description",
    "target_table",
    "kind",
    "calculation_hint",
    "params",
    "columns",
    "key_columns",
    "filter",
    "allow_empty",
    "severity",
    "warn_if",
    "fail_if",
    "enabled",
    "owner",
    "tags",
    "schedule",
    "depends_on",
    "blocking",
    "samples",
    "type",
    "table",
    "models",
    "data_tests",
    "arguments",
];

/// The value as YAML, with a line break at the end.
pub fn write(value: &Value) -> String {
    let mut out = String::new();
    match value {
        Value::Object(map) if !map.is_empty() => block(&mut out, value, 0),
        Value::Array(items) if !items.is_empty() => block(&mut out, value, 0),
        _ => {
            out.push_str(&inline(value));
            out.push('\n');
        }
    }
    out
}

fn block(out: &mut String, value: &Value, indent: usize) {
    match value {
        Value::Object(map) => {
            let mut keys: Vec<&String> = map.keys().collect();
            keys.sort_by_key(|key| FIRST.iter().position(|first| first == key).unwrap_or(FIRST.len()));
            for key in keys {
                let _ = write!(out, "{:indent$}{}:", "", word(key));
                below(out, &map[key], indent + 2);
            }
        }
        Value::Array(items) => {
            for item in items {
                let _ = write!(out, "{:indent$}-", "");
                match item {
                    Value::Object(map) if !map.is_empty() => {
                        // The first key stands behind the dash, the others below it.
                        let mut lines = String::new();
                        block(&mut lines, item, indent + 2);
                        out.push(' ');
                        out.push_str(lines.trim_start_matches(' '));
                    }
                    _ => below(out, item, indent + 2),
                }
            }
        }
        _ => {}
    }
}

fn below(out: &mut String, value: &Value, indent: usize) {
    let is_block = match value {
        Value::Object(map) => !map.is_empty(),
        // Short lists of plain values read better in one line.
        Value::Array(items) => {
            items.iter().any(|item| item.is_object() || item.is_array()) || items.len() > 12
        }
        _ => false,
    };
    if is_block {
        out.push('\n');
        block(out, value, indent);
    } else {
        let _ = writeln!(out, " {}", inline(value));
    }
}

fn inline(value: &Value) -> String {
    match value {
        Value::String(text) => word(text),
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(inline).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(_) => value.to_string(),
        other => other.to_string(),
    }
}

/// Text, quoted unless it can only be read as text.
fn word(text: &str) -> String {
    let is_plain = text.starts_with(|character: char| character.is_ascii_alphabetic() || character == '_')
        && text.chars().all(|character| character.is_ascii_alphanumeric() || "_-./ ".contains(character))
        && !text.ends_with(' ')
        && !matches!(
            text.to_ascii_lowercase().as_str(),
            "null" | "true" | "false" | "yes" | "no" | "on" | "off" | "y" | "n" | "nan" | "inf"
        );
    // JSON text is also YAML text.
    if is_plain { text.to_owned() } else { Value::from(text).to_string() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::yaml::read;

    #[test]
    fn what_is_written_is_read_back_as_it_was() {
        let values = [
            json!({"check_id": "A", "params": {"values": [1, "1", null, true, "true", "a: b", "- x", "#", "é\n\t\""]}}),
            json!([{"a": [{"b": {"c": []}}, {}], "d": {}}, [], [[1, [2]]], "x"]),
            json!({"": "", "~": "~", "<": "<<", "1": 1, "deep": {"list": [{"x": 1, "y": [1, 2]}, "z"]}}),
            json!("plain"),
            json!([]),
        ];
        for value in values {
            let text = write(&value);
            assert_eq!(read(&text).unwrap(), value, "{text}");
        }
    }
}
