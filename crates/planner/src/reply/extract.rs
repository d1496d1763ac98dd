//! Finds the program in a reply: our tags first, then the forms that models use unasked.

use ordain_verify::{Glance, glance};
use serde_json::Value;

use super::clean;
use crate::brief::Task;

/// What a reply holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ReplyContent {
    /// A program, and how it was found where that is worth a note.
    Code { code: String, note: Option<String> },
    /// The beginning of a program whose end is not marked.
    Open { code: String },
    /// No program.
    Nothing,
}

const TAG: &str = "execute_python";
const OTHER_TAGS: [&str; 3] = ["python", "code", "execute"];
const TOOLS: [&str; 7] = [
    "run_code",
    "python",
    "execute",
    "execute_python",
    "run_python",
    "code_interpreter",
    "python_interpreter",
];
/// Places at which a JSON object is looked for.
const OBJECTS_MAX: usize = 20;

/// Finds the program.
pub(super) fn code(text: &str, task: Task) -> ReplyContent {
    match tagged(text, TAG) {
        ReplyContent::Nothing => {}
        found => return found,
    }
    for tag in OTHER_TAGS {
        // People write these tags in prose, too: here the inside has to prove that it is a program.
        match tagged(text, tag) {
            ReplyContent::Code { code, .. } if is_program(&clean::inside(&code, &mut Vec::new()), task) => {
                return ReplyContent::Code { code, note: Some(format!("the program stood in <{tag}> tags")) };
            }
            ReplyContent::Open { code } if is_whole(&clean::inside(&code, &mut Vec::new()), task) => {
                return ReplyContent::Open { code };
            }
            _ => {}
        }
    }
    match fenced(text, task) {
        ReplyContent::Nothing => {}
        found => return found,
    }
    if let Some(code) = objects(text).iter().find_map(|value| code_of(value, 0)) {
        return ReplyContent::Code { code, note: Some("the program stood in JSON".to_owned()) };
    }
    let raw = clean::inside(text, &mut Vec::new());
    if is_program(&raw, task) {
        return ReplyContent::Code {
            code: text.to_owned(),
            note: Some("the reply was the bare program".to_owned()),
        };
    }
    ReplyContent::Nothing
}

/// Whether a reply is exactly one of the forms, and the code that was found in it is what that form holds.
pub(super) fn is_alone(text: &str, found: &ReplyContent) -> bool {
    let ReplyContent::Code { code, .. } = found else { return false };
    let text = text.trim();
    // A tag that stands anywhere is the form, or there is more than one.
    let tags = std::iter::once(TAG).chain(OTHER_TAGS);
    if let Some(inside) = tags.into_iter().find_map(|tag| only_tagged(text, tag)) {
        return inside.trim() == code.trim();
    }
    if let [fence] = fences(text).as_slice()
        && fence.is_closed
        && clean::unfenced(text).is_some_and(|inside| inside.trim() == fence.body.trim())
    {
        let held = only_object(&fence.body).as_ref().and_then(|value| code_of(value, 0));
        return held.as_deref().unwrap_or(&clean::inside(&fence.body, &mut Vec::new())).trim() == code.trim();
    }
    match only_object(text) {
        Some(value) => code_of(&value, 0).is_some_and(|held| held.trim() == code.trim()),
        None => text == code.trim(),
    }
}

/// The text between two tags, if there is nothing before or behind them.
fn only_tagged<'t>(text: &'t str, tag: &str) -> Option<&'t str> {
    let lower = text.to_ascii_lowercase();
    let (open, close) = (format!("<{tag}"), format!("</{tag}>"));
    let begin = lower.find('>').filter(|_| lower.starts_with(&open))? + 1;
    let end = lower.len() - lower.ends_with(&close).then_some(close.len())?;
    let is_once = lower.matches(&open).count() == 1 && lower.matches(&close).count() == 1;
    text.get(begin..end).filter(|_| is_once)
}

/// The JSON object that a text is, in a fence or in the tags of a tool call at most.
pub(super) fn only_object(text: &str) -> Option<Value> {
    let text = only_tagged(text.trim(), "tool_call").unwrap_or(text.trim());
    let inside = clean::unfenced(text);
    let Only(members) = serde_json::from_str(inside.as_deref().unwrap_or(text)).ok()?;
    Some(Value::Object(members))
}

/// An object in which no name stands twice: of two values nobody can say which one is meant.
struct Only(serde_json::Map<String, Value>);

impl<'de> serde::Deserialize<'de> for Only {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(OnlyMembers)
    }
}

struct OnlyMembers;

impl<'de> serde::de::Visitor<'de> for OnlyMembers {
    type Value = Only;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Only, A::Error> {
        let mut members = serde_json::Map::new();
        while let Some((name, value)) = map.next_entry::<String, Value>()? {
            if members.insert(name, value).is_some() {
                return Err(serde::de::Error::custom("a name stands twice"));
            }
        }
        Ok(Only(members))
    }
}

/// Whether code parses and sets everything that it has to: then nothing of it can be missing.
pub(super) fn is_whole(code: &str, task: Task) -> bool {
    let names: &[&str] = if task == Task::Check { &["result"] } else { &["answer_text", "STATUS"] };
    glance(code).is_some_and(|seen| names.iter().all(|name| seen.assigned.contains(*name)))
}

/// Whether a text is a program for the task, and not prose that happens to parse.
fn is_program(code: &str, task: Task) -> bool {
    let answers = |seen: &Glance| {
        let calls = seen.calls.iter().any(|call| call.name == "final_answer");
        calls || ["answer_text", "STATUS", "result"].iter().any(|name| seen.assigned.contains(*name))
    };
    let Some(seen) = glance(code) else { return false };
    match task {
        Task::Ask => answers(&seen),
        Task::Check => seen.assigned.contains("result"),
        Task::Code => answers(&seen) || seen.has_imports && seen.statements > 1,
    }
}

/// The inside of the last pair of tags.
pub(super) fn tagged(text: &str, tag: &str) -> ReplyContent {
    let lower = text.to_ascii_lowercase();
    let (open, close) = (format!("<{tag}"), format!("</{tag}>"));
    let mut start = None;
    for (at, _) in lower.match_indices(&open) {
        let after = &lower[at + open.len()..];
        let Some(end) = after.find('>').filter(|end| *end < 80) else { continue };
        // `<python_code>` is another tag than `<python>`.
        if end == 0 || after.starts_with(char::is_whitespace) {
            start = Some(at + open.len() + end + 1);
        }
    }
    let Some(start) = start else { return ReplyContent::Nothing };
    match lower[start..].rfind(&close) {
        Some(length) => ReplyContent::Code { code: text[start..start + length].to_owned(), note: None },
        None => ReplyContent::Open { code: text[start..].to_owned() },
    }
}

struct Fence {
    language: String,
    body: String,
    is_closed: bool,
}

fn fences(text: &str) -> Vec<Fence> {
    let mut found: Vec<Fence> = Vec::new();
    let mut mark = None;
    for line in text.lines() {
        let trimmed = line.trim();
        match (mark, ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark))) {
            (None, Some(opening)) => {
                let language = trimmed.trim_start_matches(['`', '~']).trim().to_ascii_lowercase();
                mark = Some(opening);
                found.push(Fence { language, body: String::new(), is_closed: false });
            }
            (Some(opening), Some(closing))
                if opening == closing && trimmed.trim_matches(['`', '~']).is_empty() =>
            {
                mark = None;
                if let Some(fence) = found.last_mut() {
                    fence.is_closed = true;
                }
            }
            (Some(_), _) => {
                if let Some(fence) = found.last_mut() {
                    fence.body.push_str(line);
                    fence.body.push('\n');
                }
            }
            (None, None) => {}
        }
    }
    found
}

/// The programs in fences, joined in order.
fn fenced(text: &str, task: Task) -> ReplyContent {
    let is_python = |fence: &Fence| match fence.language.as_str() {
        "python" | "py" | "python3" => true,
        // A fence without a language may hold anything.
        "" => {
            glance(&clean::inside(&fence.body, &mut Vec::new())).is_some_and(|seen| !seen.assigned.is_empty())
        }
        _ => false,
    };
    let fences = fences(text);
    if let Some(last) =
        fences.last().filter(|fence| !fence.is_closed && (is_python(fence) || fence.language.is_empty()))
    {
        return ReplyContent::Open { code: last.body.clone() };
    }
    let bodies: Vec<String> = fences
        .iter()
        .filter(|fence| is_python(fence))
        .map(|fence| clean::inside(&fence.body, &mut Vec::new()))
        .collect();
    let note = Some("the program stood in a fence".to_owned());
    match bodies.as_slice() {
        [] => ReplyContent::Nothing,
        [only] => ReplyContent::Code { code: only.clone(), note },
        several => {
            let joined = several.join("\n");
            if glance(&joined).is_none()
                && let Some(last) = several.iter().rev().find(|body| is_whole(body, task))
            {
                return ReplyContent::Code { code: last.clone(), note };
            }
            ReplyContent::Code { code: joined, note: Some(format!("{} fences were joined", several.len())) }
        }
    }
}

/// The JSON objects in a text, outermost ones only.
pub(super) fn objects(text: &str) -> Vec<Value> {
    let mut found = Vec::new();
    let mut rest = text;
    for _ in 0..OBJECTS_MAX {
        let Some(at) = rest.find('{') else { break };
        rest = &rest[at..];
        let mut stream = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        match stream.next() {
            Some(Ok(value)) => {
                let read = stream.byte_offset();
                found.push(value);
                rest = &rest[read..];
            }
            _ => rest = &rest[1..],
        }
    }
    found
}

/// The program in a JSON object or a tool call.
fn code_of(value: &Value, depth: usize) -> Option<String> {
    if depth > 4 {
        return None;
    }
    if let Some(list) = value.as_array() {
        return list.iter().find_map(|item| code_of(item, depth + 1));
    }
    let members = value.as_object()?;
    let tool = members.get("name").or_else(|| members.get("tool")).and_then(Value::as_str);
    let is_call = ["arguments", "input", "parameters"].iter().any(|key| members.contains_key(*key));
    if is_call && tool.is_some_and(|tool| !TOOLS.contains(&tool.to_ascii_lowercase().as_str())) {
        return None;
    }
    let direct = ["code", "python", "execute_python"].iter().find_map(|key| members.get(*key)?.as_str());
    if let Some(code) = direct {
        return Some(code.to_owned());
    }
    let inner = ["arguments", "input", "parameters", "function", "tool_calls", "tool_call"];
    inner.iter().filter_map(|key| members.get(*key)).find_map(|inner| match inner {
        Value::String(text) => serde_json::from_str(text).ok().and_then(|value| code_of(&value, depth + 1)),
        value => code_of(value, depth + 1),
    })
}
