//! Arrays of PostgreSQL as their text and as lists.

use serde_json::Value;

use super::scalar;
use crate::relation::{Item, Kind};

/// How deep arrays are nested; PostgreSQL has six dimensions.
const DEPTH_MAX: usize = 6;

/// The list as PostgreSQL reads an array.
pub(super) fn literal(items: &[Value]) -> String {
    let items = items.iter().map(|item| match item {
        Value::Null => "NULL".to_owned(),
        Value::Array(items) => literal(items),
        Value::Bool(_) | Value::Number(_) => item.to_string(),
        Value::String(text) => quoted(text),
        Value::Object(_) => quoted(&item.to_string()),
    });
    format!("{{{}}}", items.collect::<Vec<_>>().join(","))
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// The text of an array as a list; nothing if it is none.
pub(super) fn parsed(text: &str, of: Item) -> Option<Value> {
    // Bounds other than from one stand before the items.
    let text = if text.starts_with('[') { text.split_once('=')?.1 } else { text };
    let mut rest = text.chars().peekable();
    let list = list(&mut rest, of, 0)?;
    rest.next().is_none().then_some(list)
}

type Rest<'a> = std::iter::Peekable<std::str::Chars<'a>>;

fn list(rest: &mut Rest<'_>, of: Item, depth: usize) -> Option<Value> {
    if rest.next()? != '{' || depth > DEPTH_MAX {
        return None;
    }
    let mut items = Vec::new();
    if rest.peek() == Some(&'}') {
        rest.next();
        return Some(Value::Array(items));
    }
    loop {
        items.push(match rest.peek()? {
            '{' => list(rest, of, depth + 1)?,
            '"' => {
                rest.next();
                view(of, quoted_text(rest)?)
            }
            _ => {
                let mut text = String::new();
                while let Some(character) = rest.next_if(|next| !matches!(next, ',' | '}')) {
                    text.push(character);
                }
                if text == "NULL" { Value::Null } else { view(of, text) }
            }
        });
        match rest.next()? {
            ',' => {}
            '}' => return Some(Value::Array(items)),
            _ => return None,
        }
    }
}

/// The text up to the closing quote.
fn quoted_text(rest: &mut Rest<'_>) -> Option<String> {
    let mut text = String::new();
    loop {
        match rest.next()? {
            '"' => return Some(text),
            '\\' => text.push(rest.next()?),
            other => text.push(other),
        }
    }
}

fn view(of: Item, text: String) -> Value {
    match of {
        Item::Json => serde_json::from_str(&text).unwrap_or(Value::String(text)),
        Item::Boolean => scalar(Kind::Boolean, text),
        Item::Integer => scalar(Kind::Integer, text),
        Item::Double => scalar(Kind::Double, text),
        Item::Numeric => scalar(Kind::Numeric, text),
        Item::Instant => scalar(Kind::Instant { zoned: true }, text),
        Item::Text => Value::String(text),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_list_and_the_text_of_an_array_are_the_same_thing() {
        for (of, list) in [
            (Item::Text, json!(["vip", "a b", "", "NULL", "q\"\\,{}", null])),
            (Item::Integer, json!([[1, 2], [3, null]])),
            (Item::Boolean, json!([true, false])),
            (Item::Json, json!([{"a": [1]}, "x"])),
            (Item::Text, json!([])),
        ] {
            let items = list.as_array().unwrap();
            let text = match of {
                Item::Json => r#"{"{\"a\":[1]}","\"x\""}"#.to_owned(),
                _ => literal(items),
            };
            assert_eq!(parsed(&text, of), Some(list.clone()), "{text}");
        }
        assert_eq!(parsed("{t,f}", Item::Boolean), Some(json!([true, false])));
        assert_eq!(parsed("[0:1]={1,2}", Item::Integer), Some(json!([1, 2])));
        assert_eq!(parsed("{1,2", Item::Integer), None);
    }
}
