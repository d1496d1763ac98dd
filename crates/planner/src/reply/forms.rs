//! Reads replies that are no program: a look at the data, an outline, a question.

use ordain_types::Outline;
use serde_json::{Value, json};

use super::{clean, extract, unusable};
use crate::brief::{Brief, OutlineForm, Stage};
use crate::exchange::{Draft, Reply};
use crate::prompt::text;
use extract::ReplyContent;

const QUESTION_CHARS_MAX: usize = 600;
const PROGRAM: (&str, &str) = ("<execute_python", "</execute_python>");

/// The look, outline or question in a reply; `None` if it has none of them and is read as a program.
pub(super) fn read(reply: &str, brief: &Brief, modifications: &mut Vec<String>) -> Option<Reply> {
    // A program may hold such tags in its texts; only text outside of it counts.
    let (outside, has_program) = outside_of_program(reply);
    let [ask, look, outline] = ["ask", "look", "outline"].map(|tag| extract::tagged(&outside, tag));
    if let ReplyContent::Code { code, .. } = &ask {
        let question = text::line(code, QUESTION_CHARS_MAX);
        // A plan or a question, never both: the cautious reading changes nothing.
        let is_empty = question.is_empty();
        let empty = || unusable("empty-question", "the question in <ask> is empty", None);
        return Some(if is_empty { empty() } else { Reply::Question(question) });
    }
    match (look, outline) {
        (ReplyContent::Code { .. }, ReplyContent::Code { .. }) => Some(several("a look and an outline")),
        (ReplyContent::Code { .. }, _) if has_program => Some(several("a look and a program")),
        (_, ReplyContent::Code { .. }) if has_program => Some(several("an outline and a program")),
        (ReplyContent::Code { code, .. }, _) => Some(read_look(&code, brief, modifications)),
        (_, ReplyContent::Code { code, .. }) => Some(read_outline(&code, brief)),
        _ => None,
    }
}

fn several(what: &str) -> Reply {
    let hint = "reply with one of them; after a look you are asked again";
    unusable("several-forms", &format!("the reply holds {what}"), Some(hint))
}

fn read_look(code: &str, brief: &Brief, modifications: &mut Vec<String>) -> Reply {
    if brief.forms.looks == 0 {
        let hint = "reply with the program between <execute_python> and </execute_python>";
        return unusable("look-not-allowed", "there is no look at the data here", Some(hint));
    }
    let code = clean::inside(code, modifications);
    if code.trim().is_empty() {
        return unusable("empty-look", "the look holds no program", Some("print what you want to see"));
    }
    let modifications = std::mem::take(modifications);
    Reply::Look(Draft { code, title: "look".to_owned(), modifications, ..Draft::default() })
}

fn read_outline(inner: &str, brief: &Brief) -> Reply {
    if brief.forms.outline == OutlineForm::Never {
        let hint = "reply with the program between <execute_python> and </execute_python>";
        return unusable("outline-not-allowed", "one program is wanted, not an outline", Some(hint));
    }
    let Some(value) = extract::objects(inner).into_iter().next() else {
        let hint = "reply with <outline>{\"goal\": …, \"steps\": […]}</outline>";
        return unusable("bad-outline", "the outline is no JSON object", Some(hint));
    };
    match Outline::read(with_done(value, brief)) {
        Ok(outline) => Reply::Outline(outline),
        Err(problems) => {
            let hint = "reply with the whole outline again";
            unusable(
                "bad-outline",
                &format!("the outline cannot be carried out: {}", problems.join("; ")),
                Some(hint),
            )
        }
    }
}

/// An outline of what is left, with the steps in front of it that are done: later ones may need their results.
fn with_done(mut value: Value, brief: &Brief) -> Value {
    let Stage::Replan { outline, done, .. } = &brief.stage else { return value };
    let Some(steps) = value.get_mut("steps").and_then(Value::as_array_mut) else { return value };
    steps.retain(|step| !step["id"].as_str().is_some_and(|id| done.contains_key(id)));
    let kept = outline.steps.iter().filter(|step| done.contains_key(&step.id)).map(|step| json!(step));
    steps.splice(0..0, kept);
    value
}

/// The reply without its program, and whether it had one.
fn outside_of_program(reply: &str) -> (String, bool) {
    let lower = reply.to_ascii_lowercase();
    let Some(start) = lower.find(PROGRAM.0) else { return (reply.to_owned(), false) };
    let end = lower.rfind(PROGRAM.1).map_or(reply.len(), |at| at + PROGRAM.1.len()).max(start);
    (format!("{}{}", &reply[..start], &reply[end..]), true)
}
