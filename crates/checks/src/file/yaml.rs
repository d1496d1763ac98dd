//! Reads YAML check files. The reader gives values; their places are found in the text again.

use serde_json::Value;

use super::json::Unreadable;
use super::node::{Content, Member, Node};
use crate::yaml;

/// Reads a document.
pub(super) fn parse(text: &str) -> Result<Node, Unreadable> {
    let value = yaml::read(text).map_err(|error| Unreadable {
        line: u32::try_from(error.line).unwrap_or(u32::MAX),
        message: error.message,
        hint: "check the indentation and the colons around this line",
    })?;
    let lines: Vec<&str> = text.lines().collect();
    let mut from = 0;
    Ok(placed(&value, &lines, &mut from))
}

/// A value with the lines at which its records and their members begin. `from` is where the search goes on.
fn placed(value: &Value, lines: &[&str], from: &mut usize) -> Node {
    let line = |at: usize| u32::try_from(at + 1).unwrap_or(u32::MAX);
    match value {
        Value::Object(members) => {
            let first = members.keys().filter_map(|name| find(lines, name, *from)).min().unwrap_or(*from);
            let mut last = first;
            let mut placed_members = Vec::new();
            for (name, value) in members {
                let at = find(lines, name, first).unwrap_or(first);
                last = last.max(at);
                let mut inner = at;
                let value = match value {
                    Value::Array(_) | Value::Object(_) => placed(value, lines, &mut inner),
                    plain => leaf(plain, line(at)),
                };
                last = last.max(inner);
                placed_members.push(Member { name: name.clone(), line: line(at), value });
            }
            *from = last + 1;
            Node { line: line(first), start: 0, end: 0, content: Content::Map(placed_members) }
        }
        Value::Array(items) => {
            let begin = line(*from);
            let items = items.iter().map(|item| placed(item, lines, from)).collect();
            Node { line: begin, start: 0, end: 0, content: Content::List(items) }
        }
        plain => leaf(plain, line(*from)),
    }
}

fn leaf(value: &Value, line: u32) -> Node {
    let content = match value {
        Value::Bool(value) => Content::Bool(*value),
        Value::Number(number) => Content::Number(number.clone()),
        Value::String(text) => Content::Text(text.clone()),
        _ => Content::Null,
    };
    Node { line, start: 0, end: 0, content }
}

/// The first line from a place on at which a name stands as a key.
fn find(lines: &[&str], name: &str, from: usize) -> Option<usize> {
    let is_key = |line: &&str| {
        let line = line.trim_start().trim_start_matches("- ").trim_start().trim_start_matches(['\"', '\'']);
        line.strip_prefix(name)
            .is_some_and(|rest| rest.trim_start_matches(['\"', '\'']).trim_start().starts_with(':'))
    };
    lines.iter().skip(from).position(is_key).map(|at| from + at)
}
