//! Reads YAML as plain JSON values, one event after the other.
//!
//! Files of checks come from anywhere, so reading is bounded: how deep a document is nested and how many values it has
//! once its aliases are followed. A few lines of aliases can otherwise stand for more values than fit into memory.

use std::collections::HashMap;

use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Number, Value};

/// Larger documents are refused before they are looked at.
const BYTES_MAX: usize = 32 << 20;
/// Nesting that no file of checks has.
const DEPTH_MAX: usize = 100;
/// Values that a document may have once its aliases are followed.
const VALUES_MAX: usize = 2_000_000;

/// Why a text is not YAML that can be read.
#[derive(Debug, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub struct YamlError {
    /// Counted from one.
    pub line: usize,
    /// Counted from one.
    pub column: usize,
    /// What is wrong.
    pub message: String,
}

/// The first document of a YAML text, as a value. Keys become text; dates stay text.
pub fn read(text: &str) -> Result<Value, YamlError> {
    if text.len() > BYTES_MAX {
        return Err(error(1, 1, format!("the file is larger than {} MiB", BYTES_MAX >> 20)));
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut tree = Tree::default();
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|wrong| {
            error(wrong.marker().line(), wrong.marker().col() + 1, wrong.info().to_owned())
        })?;
        let at = (span.start.line(), span.start.col() + 1);
        if tree.take(event).map_err(|message| error(at.0, at.1, message))? {
            break;
        }
    }
    Ok(tree.root.unwrap_or(Value::Null))
}

fn error(line: usize, column: usize, message: String) -> YamlError {
    YamlError { line: line.max(1), column, message }
}

/// A value that is being built.
enum Open {
    List { items: Vec<Value>, anchor: usize },
    Map { map: Map<String, Value>, merged: Vec<Value>, key: Option<String>, anchor: usize },
}

#[derive(Default)]
struct Tree {
    open: Vec<Open>,
    /// What can be repeated by an alias, and how many values each stands for.
    anchors: HashMap<usize, (Value, usize)>,
    values: usize,
    root: Option<Value>,
}

impl Tree {
    /// Takes the next event; says whether the document has ended.
    fn take(&mut self, event: Event<'_>) -> Result<bool, String> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let is_text = style != ScalarStyle::Plain || tag.is_some_and(|tag| tag.suffix == "str");
                let value = if is_text { Value::String(text.into_owned()) } else { plain(&text) };
                self.add(value, anchor, 1)?;
            }
            Event::SequenceStart(anchor, _) => self.open(Open::List { items: Vec::new(), anchor })?,
            Event::MappingStart(anchor, _) => {
                self.open(Open::Map { map: Map::new(), merged: Vec::new(), key: None, anchor })?;
            }
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(Open::List { items, anchor }) => self.add(Value::Array(items), anchor, 1)?,
                Some(Open::Map { mut map, merged, anchor, .. }) => {
                    for value in merged {
                        merge(&mut map, value);
                    }
                    self.add(Value::Object(map), anchor, 1)?;
                }
                None => return Err("a list or map ends that did not begin".to_owned()),
            },
            Event::Alias(anchor) => {
                let (value, size) =
                    self.anchors.get(&anchor).cloned().ok_or("an alias names nothing above it")?;
                self.add(value, 0, size)?;
            }
            Event::DocumentEnd => return Ok(true),
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentStart(_) => {}
        }
        Ok(false)
    }

    fn open(&mut self, open: Open) -> Result<(), String> {
        if self.open.len() >= DEPTH_MAX {
            return Err(format!("lists and maps are nested deeper than {DEPTH_MAX} levels"));
        }
        self.open.push(open);
        Ok(())
    }

    fn add(&mut self, value: Value, anchor: usize, size: usize) -> Result<(), String> {
        self.values += size;
        if self.values > VALUES_MAX {
            return Err(format!("the document stands for more than {VALUES_MAX} values"));
        }
        if anchor != 0 {
            let size = count(&value);
            self.anchors.insert(anchor, (value.clone(), size));
        }
        match self.open.last_mut() {
            None => self.root = Some(value),
            Some(Open::List { items, .. }) => items.push(value),
            Some(Open::Map { map, merged, key, .. }) => match key.take() {
                None => *key = Some(key_text(value)?),
                Some(key) if key == "<<" => merged.push(value),
                Some(key) if map.contains_key(&key) => return Err(format!("the key `{key}` is there twice")),
                Some(key) => {
                    map.insert(key, value);
                }
            },
        }
        Ok(())
    }
}

/// `<<` brings the keys of another map, which the map's own keys win over.
fn merge(map: &mut Map<String, Value>, value: Value) {
    let maps = match value {
        Value::Array(maps) => maps,
        one => vec![one],
    };
    for other in maps {
        if let Value::Object(other) = other {
            for (key, value) in other {
                map.entry(key).or_insert(value);
            }
        }
    }
}

fn key_text(value: Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text),
        Value::Null => Ok("null".to_owned()),
        Value::Bool(_) | Value::Number(_) => Ok(value.to_string()),
        Value::Array(_) | Value::Object(_) => Err("a key is a list or a map".to_owned()),
    }
}

fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(map) => map.values().map(count).sum(),
        _ => 0,
    }
}

/// A plain word by the rules of YAML's core schema.
fn plain(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ => number(text).map_or_else(|| Value::String(text.to_owned()), Value::Number),
    }
}

fn number(text: &str) -> Option<Number> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if !digits.starts_with(|character: char| character.is_ascii_digit() || character == '.') {
        return None;
    }
    if let Ok(whole) = text.trim_start_matches('+').parse::<i64>() {
        return Some(whole.into());
    }
    let is_number = digits.chars().all(|character| character.is_ascii_digit() || "+-.eE".contains(character));
    let number = text.parse::<f64>().ok().filter(|_| is_number)?;
    Number::from_f64(number)
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use serde_json::json;

    use super::*;

    #[test]
    fn plain_words_have_the_types_that_people_expect() {
        let value =
            read("a: 1\nb: 1.5\nc: yes\nd: true\ne: ~\nf: '1'\ng: 2024-01-01\nh: -3\ni: 1e3\n").unwrap();
        assert_eq!(
            value,
            json!({"a": 1, "b": 1.5, "c": "yes", "d": true, "e": null, "f": "1", "g": "2024-01-01", "h": -3, "i": 1000.0})
        );
    }

    #[test]
    fn lists_maps_aliases_and_merges_are_followed() {
        let value = read("base: &b {x: 1, y: 2}\nlist:\n  - *b\n  - <<: *b\n    y: 3\n").unwrap();
        assert_eq!(value["list"], json!([{"x": 1, "y": 2}, {"x": 1, "y": 3}]));
    }

    #[test]
    fn aliases_that_stand_for_too_much_are_refused() {
        let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
        for level in 1..12 {
            let before = level - 1;
            let many = vec![format!("*a{before}"); 10].join(", ");
            writeln!(text, "a{level}: &a{level} [{many}]").unwrap();
        }
        let error = read(&text).unwrap_err();
        assert!(error.message.contains("stands for more than"), "{error}");
    }

    #[test]
    fn what_is_not_yaml_is_told_with_its_place() {
        for text in ["a: [1, 2", "a: 'x", "\t- x: [", "a: 1\na: 2\n", &"[".repeat(5000)] {
            let error = read(text).unwrap_err();
            assert!(error.line >= 1, "{error}");
        }
    }
}
