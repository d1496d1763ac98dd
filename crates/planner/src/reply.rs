//! Reads what a model wrote: code, a look, an outline, a question, a refusal, or nothing that can be used.
//!
//! Reading is tolerant about form and strict about two things: a reply that was cut off, or that is prose, never becomes
//! code, and code with something around it is marked so, since only code that changes nothing may be taken from it.
//! Whether the code is right is the verifier's business, not ours.

mod alias;
mod clean;
mod extract;
mod forms;
mod modules;
mod params;
mod speech;

use ordain_types::{ErrorClass, Trouble};
use serde_json::Value;

use crate::brief::{Brief, OutlineForm, Task};
use crate::exchange::{Draft, Reply};
use crate::prompt::{PLACEHOLDER, text};
use crate::provider::Finish;
use extract::ReplyContent;

/// The code of the trouble with a reply that was cut off.
pub(crate) const TRUNCATED: &str = "truncated";
/// The same once more, after the model was asked to go on.
pub(crate) const TRUNCATED_AGAIN: &str = "truncated-again";

const TITLE_CHARS_MAX: usize = 100;
const SENTENCE_CHARS_MAX: usize = 1_000;
const DECLARED_BYTES_MAX: usize = 64 * 1024;

/// Reads a model's whole reply to a brief.
pub(crate) fn read(reply: &str, finish: Finish, brief: &Brief) -> Reply {
    let task = brief.task;
    if finish == Finish::Filtered {
        return Reply::Refusal("the provider's filter stopped the reply".to_owned());
    }
    let mut modifications = Vec::new();
    let text = clean::outside(reply, &mut modifications);
    if finish == Finish::Length {
        return truncated(&extract::code(&text, task));
    }
    if let Some(reply) = forms::read(&text, brief, &mut modifications) {
        return reply;
    }
    let (declared, text) = speech::declaration(&text);
    // Requests and checks are answered by one program; a code task may need several files.
    let (modules, text) = if task == Task::Code { modules::take(&text) } else { (Vec::new(), text) };
    let found = extract::code(&text, task);
    if let Some(reply) = declared.as_ref().and_then(speech::declared_reply) {
        // A plan or a question, never both: the cautious reading changes nothing.
        return reply;
    }
    let is_alone = extract::is_alone(&text, &found);
    let reply = match found {
        ReplyContent::Code { code, note } => {
            modifications.extend(note);
            draft(&code, declared, modifications, brief)
        }
        ReplyContent::Open { code } => {
            let code = clean::inside(&code, &mut modifications);
            if !extract::is_whole(&code, task) {
                return truncated(&ReplyContent::Open { code });
            }
            modifications.push("the closing tag was missing".to_owned());
            draft(&code, declared, modifications, brief)
        }
        ReplyContent::Nothing => speech::without_code(&text),
    };
    match reply {
        Reply::Plan(_) if brief.forms.outline == OutlineForm::Required => {
            let hint = "reply with <outline>{...}</outline>; the code of each step is asked for later";
            unusable("outline-missing", "an outline is wanted, not a program", Some(hint))
        }
        Reply::Plan(draft) => Reply::Plan(Draft { modules, has_more: !is_alone, ..draft }),
        reply => reply,
    }
}

/// Joins a reply that was cut off with what came when the model was asked to go on.
pub(crate) fn splice(partial: &str, rest: &str) -> String {
    const OVERLAP_MIN: usize = 20;
    const OVERLAP_MAX: usize = 2000;
    let rest = rest.trim_start_matches('\u{feff}');
    let longest = partial.len().min(rest.len()).min(OVERLAP_MAX);
    let overlap = (OVERLAP_MIN..=longest)
        .rev()
        .find(|&length| rest.is_char_boundary(length) && partial.ends_with(&rest[..length]));
    format!("{partial}{}", &rest[overlap.unwrap_or(0)..])
}

/// Finds the JSON object in a reply that should be nothing but one.
pub(crate) fn object(reply: &str) -> Option<Value> {
    let text = clean::outside(reply, &mut Vec::new());
    extract::objects(&text).into_iter().next()
}

/// The JSON object that a reply is, with nothing around it but thoughts or a fence, and no name twice.
pub(crate) fn only_object(reply: &str) -> Option<Value> {
    extract::only_object(&clean::outside(reply, &mut Vec::new()))
}

/// The text that a model wrote, without its thoughts.
pub(crate) fn prose(reply: &str) -> String {
    let text = clean::outside(reply, &mut Vec::new());
    text::harmless(text.trim())
}

/// The sentence that was asked for alone; `None` if the reply is something else.
pub(crate) fn sentence(reply: &str) -> Option<String> {
    let text = prose(reply);
    let text = text.trim_matches('"').trim();
    let is_code = text.contains("```") || text.contains("answer_text") || text.starts_with(['{', '[', '<']);
    (!text.is_empty() && !is_code && text.chars().count() <= SENTENCE_CHARS_MAX).then(|| text.to_owned())
}

fn draft(code: &str, declared: Option<Value>, mut modifications: Vec<String>, brief: &Brief) -> Reply {
    let code = clean::inside(code, &mut modifications);
    if code.trim().is_empty() {
        return unusable("empty-code", "the program is empty", None);
    }
    if code.contains(PLACEHOLDER) {
        let message =
            format!("the program holds `{PLACEHOLDER}`, which stands in our examples and is no value");
        return unusable("copied-example", &message, Some("take the value from `params` or from a row"));
    }
    let params = match params::of(declared.as_ref(), &brief.request, &mut modifications) {
        Ok(params) => params,
        Err(trouble) => return Reply::Unusable(trouble),
    };
    let code = if brief.task == Task::Check { code } else { alias::resolved(code, &mut modifications) };
    let title = title(declared.as_ref(), &code);
    let declared = declared.filter(|declared| declared.to_string().len() <= DECLARED_BYTES_MAX);
    Reply::Plan(Draft { code, title, declared, modifications, params, ..Draft::default() })
}

/// What the plan does, in its own words or in its first comment's.
fn title(declared: Option<&Value>, code: &str) -> String {
    let goal =
        |plan: &Value| ["goal", "title"].iter().find_map(|key| Some(plan.get(key)?.as_str()?.to_owned()));
    let comment = || {
        let line = code.lines().map(str::trim).find(|line| !line.is_empty())?;
        let line = line.strip_prefix('#')?.trim();
        let line = line.trim_start_matches(|c: char| c.is_ascii_digit() || ").: ".contains(c));
        Some(line.trim_end_matches('.').to_owned())
    };
    let title = declared.and_then(goal).or_else(comment).unwrap_or_default();
    text::line(&title, TITLE_CHARS_MAX)
}

fn truncated(found: &ReplyContent) -> Reply {
    let message = match found {
        ReplyContent::Nothing => "the reply was cut off before there was a program",
        _ => "the reply was cut off in the middle of the program",
    };
    unusable(TRUNCATED, message, None)
}

pub(crate) fn unusable(code: &str, message: &str, hint: Option<&str>) -> Reply {
    Reply::Unusable(Trouble {
        class: ErrorClass::Reply,
        code: code.to_owned(),
        message: message.to_owned(),
        line: None,
        hint: hint.map(str::to_owned),
    })
}

#[cfg(test)]
mod tests;
