//! Reads what a model says instead of code: a declaration, a question, a refusal.

use serde_json::Value;

use super::{extract, unusable};
use crate::exchange::Reply;
use crate::prompt::text;

const SPEECH_CHARS_MAX: usize = 600;
/// How a refusal begins, once politeness is stripped.
const REFUSALS: [&str; 16] = [
    "i can't",
    "i cannot",
    "i can not",
    "i'm unable",
    "i am unable",
    "i won't",
    "i will not",
    "i'm not able",
    "i am not able",
    "i'm not comfortable",
    "i must decline",
    "i have to decline",
    "i refuse",
    "as an ai",
    "this request cannot",
    "unable to",
];

/// Takes the `<plan>` out of a reply: what it declares, and the rest.
pub(super) fn declaration(reply: &str) -> (Option<Value>, String) {
    let lower = reply.to_ascii_lowercase();
    let program = lower.find("<execute_python").unwrap_or(lower.len());
    let Some(start) = lower[..program].find("<plan>") else { return (None, reply.to_owned()) };
    let inner = start + "<plan>".len();
    let end = lower[inner..program].find("</plan>").map_or(program, |length| inner + length);
    let after = (end + "</plan>".len()).min(if end == program { program } else { reply.len() });
    let declared = extract::objects(&reply[inner..end]).into_iter().next();
    (declared, format!("{}{}", &reply[..start], &reply[after.max(end)..]))
}

/// The question or the refusal that a declaration holds.
pub(super) fn declared_reply(declared: &Value) -> Option<Reply> {
    let said = |keys: &[&str]| {
        let text = keys.iter().find_map(|key| declared.get(key)?.as_str())?;
        (!text.trim().is_empty()).then(|| text::line(text, SPEECH_CHARS_MAX))
    };
    match declared.get("action")?.as_str()?.to_ascii_lowercase().as_str() {
        "ask" | "question" | "clarify" => said(&["question", "message", "text"]).map(Reply::Question),
        "refuse" | "refusal" | "decline" => said(&["reason", "message", "text"]).map(Reply::Refusal),
        _ => None,
    }
}

/// Reads a reply that holds no code.
pub(super) fn without_code(reply: &str) -> Reply {
    let said = text::line(reply, SPEECH_CHARS_MAX);
    if said.is_empty() {
        return unusable("empty-reply", "the reply is empty", None);
    }
    let plain = said.to_lowercase().replace('’', "'");
    if REFUSALS.iter().any(|refusal| impolite(&plain).starts_with(refusal)) {
        return Reply::Refusal(said);
    }
    if said.ends_with('?') {
        return Reply::Question(said);
    }
    unusable(
        "no-code",
        "the reply holds no program",
        Some("put the program between <execute_python> and </execute_python>"),
    )
}

/// What is said once the politeness before it is over.
fn impolite(said: &str) -> &str {
    const POLITE: [&str; 8] =
        ["i'm sorry", "i am sorry", "sorry", "i apologize", "unfortunately", "but", ",", "."];
    let mut rest = said;
    while let Some(after) = POLITE.iter().find_map(|polite| rest.strip_prefix(polite)) {
        rest = after.trim_start();
    }
    rest
}
