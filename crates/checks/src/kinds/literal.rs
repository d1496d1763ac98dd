//! Values as Python writes them.

use serde_json::{Number, Value};

/// A value as a Python expression.
pub(super) fn value(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Number(number) => self::number(number),
        Value::String(string) => text(string),
        Value::Array(items) => list(items.iter().map(self::value)),
        Value::Object(members) => {
            let members: Vec<_> =
                members.iter().map(|(key, item)| format!("{}: {}", text(key), self::value(item))).collect();
            format!("{{{}}}", members.join(", "))
        }
    }
}

/// A number; a large whole one without a fraction, because pandas compares whole numbers with fractions inexactly.
fn number(number: &Number) -> String {
    match number.as_f64().filter(|_| number.is_f64()) {
        Some(whole) if whole.fract() == 0.0 && whole.abs() > 9e15 => format!("{whole:.0}"),
        _ => number.to_string(),
    }
}

/// A pattern as a string literal in which `$` is the very end of a text: Python's also lets a line break through.
pub(super) fn pattern(pattern: &str) -> String {
    let (mut ended, mut is_escaped, mut is_listed) = (String::with_capacity(pattern.len()), false, false);
    for character in pattern.chars() {
        match character {
            '$' if !is_escaped && !is_listed => ended.push_str("\\Z"),
            other => ended.push(other),
        }
        match character {
            '[' if !is_escaped => is_listed = true,
            ']' if !is_escaped => is_listed = false,
            _ => {}
        }
        is_escaped = character == '\\' && !is_escaped;
    }
    // With the flag for several lines `$` is the end of each.
    text(if pattern.contains("(?m") { pattern } else { &ended })
}

/// A list of names.
pub(super) fn names<S: AsRef<str>>(names: &[S]) -> String {
    list(names.iter().map(|name| text(name.as_ref())))
}

fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(", "))
}

/// A string literal in double quotes that no content can leave.
pub(crate) fn text(text: &str) -> String {
    format!("\"{}\"", escaped(text))
}

/// The inner part of an f-string that says `text` as it is.
pub(super) fn spoken(text: &str) -> String {
    escaped(text).replace('{', "{{").replace('}', "}}")
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '"' => escaped.push_str("\\\""),
            '\\' => escaped.push_str("\\\\"),
            '\n' => escaped.push_str("\\n"),
            '\r' => escaped.push_str("\\r"),
            '\t' => escaped.push_str("\\t"),
            other
                if other.is_control()
                    || matches!(other, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}') =>
            {
                // Every control character is below 0x10000.
                escaped.extend(format!("\\u{:04x}", u32::from(other)).chars());
            }
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nothing_leaves_its_literal() {
        assert_eq!(text("a\"b\\c\nd\u{202e}"), r#""a\"b\\c\nd\u202e""#);
        assert_eq!(spoken("{x} \"y\""), r#"{{x}} \"y\""#);
        assert_eq!(
            value(&json!([null, true, 1.5, "x", {"a": [2]}])),
            r#"[None, True, 1.5, "x", {"a": [2]}]"#
        );
    }
}
