//! Changes the text of a JSON check file. What is not changed stays as it is, comments included.

use serde_json::{Map, Value};

use super::json;
use super::node::{Content, Node};

/// Adds checks. `None` if the text is not a list, or a record with a list `checks`, that can be added to.
pub fn append(text: &str, checks: &[Value]) -> Option<String> {
    let written = |check: &Value| {
        let text = serde_json::to_string_pretty(check).unwrap_or_default();
        text.lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
    };
    let added = checks.iter().map(written).collect::<Vec<_>>().join(",\n");
    if text.trim().is_empty() {
        return Some(format!("[\n{added}\n]\n"));
    }
    let root = json::parse(text).ok()?;
    let list = match &root.content {
        Content::List(_) => &root,
        Content::Map(members) => &members.iter().find(|member| member.name == "checks")?.value,
        _ => return None,
    };
    let Content::List(items) = &list.content else { return None };
    put_last(text, items.last(), list, &added)
}

/// Sets fields of one check; a field that is `null` and was not there is left out. `None` if the text has no check of
/// that id.
pub fn change(text: &str, check_id: &str, fields: &Map<String, Value>) -> Option<String> {
    let root = json::parse(text).ok()?;
    let record = record(&root, check_id)?;
    let Content::Map(members) = &record.content else { return None };
    let known = |name: &str| members.iter().find(|member| member.name == name);
    let indent = indent(text, members.last().map_or(record.start, |last| last.value.start));
    let new = fields.iter().filter(|(name, value)| known(name).is_none() && !value.is_null());
    let new: Vec<String> = new
        .map(|(name, value)| format!("{indent}{}: {}", Value::from(name.as_str()), spaced(value)))
        .collect();
    // From the end to the beginning, so that places before a change stay right.
    let mut changed = match &new[..] {
        [] => text.to_owned(),
        new => put_last(text, members.last().map(|last| &last.value), record, &new.join(",\n"))?,
    };
    for member in members.iter().rev() {
        if let Some(value) = fields.get(&member.name).filter(|value| **value != member.value.to_value()) {
            changed.replace_range(member.value.start..member.value.end, &spaced(value));
        }
    }
    Some(changed)
}

/// Takes one check out, with the comma that divides it from its neighbour; comments stay. `None` if the text has no such
/// check, or if it is not one of a list.
pub fn remove(text: &str, check_id: &str) -> Option<String> {
    let root = json::parse(text).ok()?;
    let gone = record(&root, check_id)?;
    if gone == &root {
        return None;
    }
    let comma_behind = |end: usize| {
        let rest = &text[end..];
        rest.trim_start().starts_with(',').then(|| end + rest.len() - rest.trim_start().len())
    };
    let mut left = text.to_owned();
    let mut end = gone.end;
    match (comma_behind(gone.end), super::records(&root).iter().rev().find(|record| record.end <= gone.start))
    {
        (Some(comma), _) => end = comma + 1,
        // The last one: the comma behind the one before goes.
        (None, Some(before)) => {
            let comma = comma_behind(before.end)?;
            left.replace_range(comma..=comma, " ");
        }
        (None, None) => {}
    }
    let line_start = text[..gone.start].rfind('\n').map_or(0, |at| at + 1);
    let line_end = text[end..].find('\n').map_or(text.len(), |length| end + length + 1);
    let has_own_lines =
        text[line_start..gone.start].trim().is_empty() && text[end..line_end].trim().is_empty();
    let range = if has_own_lines { line_start..line_end } else { gone.start..end };
    left.replace_range(range, "");
    Some(left)
}

/// The record of a check.
fn record<'a>(root: &'a Node, check_id: &str) -> Option<&'a Node> {
    let is_it = |record: &&Node| match &record.content {
        Content::Map(members) => members.iter().any(|member| {
            member.name == "check_id" && member.value.content == Content::Text(check_id.to_owned())
        }),
        _ => false,
    };
    super::records(root).iter().find(is_it)
}

/// Puts something behind the last item of a list or a record.
fn put_last(text: &str, last: Option<&Node>, within: &Node, added: &str) -> Option<String> {
    let (at, comma) = match last {
        Some(item) => (item.end, ","),
        None => (within.end - 1, ""),
    };
    // The last item may be followed by a comma, and by a comment in its line; both stay where they are.
    let inside = &text[at..within.end - 1];
    let has_comma = inside.trim_start().starts_with(',');
    let after = if has_comma { at + inside.find(',')? + 1 } else { at };
    let comma = if has_comma { "" } else { comma };
    let line_end = text[after..within.end - 1].find('\n').map_or(after, |length| after + length);
    let rest_of_line = &text[after..line_end];
    let line_break = if line_end == after && !text[after..].starts_with('\n') { "\n" } else { "" };
    Some(format!(
        "{}{comma}{rest_of_line}\n{added}{line_break}{}",
        &text[..after],
        text[line_end..].trim_start_matches(if line_break.is_empty() { '\0' } else { ' ' })
    ))
}

/// The blanks at the beginning of the line that holds a place.
fn indent(text: &str, place: usize) -> &str {
    let line = &text[text[..place].rfind('\n').map_or(0, |at| at + 1)..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// A value in one line, as people write it: a blank behind each comma and colon.
fn spaced(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("[{}]", items.iter().map(spaced).collect::<Vec<_>>().join(", ")),
        Value::Object(members) => {
            let member = |(name, value): (&String, &Value)| {
                format!("{}: {}", Value::from(name.as_str()), spaced(value))
            };
            format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(", "))
        }
        plain => plain.to_string(),
    }
}
