//! The part of the brief about looks, outlines and the steps of a run.

use std::fmt::Write as _;

use ordain_types::{FRAME, OUTLINE_STEPS_MAX};
use serde_json::{Map, Value};

use super::{block, policy, say, text};
use crate::brief::{Brief, OutlineForm, Stage, StepBrief};
use crate::exchange::{Message, Speaker};

const ANSWER_CHARS_MAX: usize = 2_000;
/// What is shown of the result of one step, and of the results of all.
const RESULT_CHARS_MAX: usize = 3_000;
const RESULTS_CHARS_MAX: usize = 16_000;
/// A result that a text is written from, or that is judged.
const WHOLE_RESULT_CHARS_MAX: usize = 12_000;

/// Adds what is special about this request: answers of the person, the step that is asked for.
pub(super) fn blocks(text: &mut String, brief: &Brief) {
    if !brief.answers.is_empty() {
        block(text, "answers", &answers(brief));
    }
    match &brief.stage {
        Stage::Whole => {}
        Stage::Step(step) => step_blocks(text, step),
        Stage::Replan { outline, done, why } => {
            block(text, "outline", &text::value(&serde_json::json!(outline), super::OUTLINE_TEXT_CHARS_MAX));
            block(text, "done untrusted=\"true\"", &results(done, RESULT_CHARS_MAX));
            let why = text::data(why, ANSWER_CHARS_MAX);
            let told = include_str!("../../prompts/replan.md").replace("{{why}}", &why);
            block(text, "replan", &told);
        }
        Stage::React { steps } => {
            let told = include_str!("../../prompts/react.md").replace("{{steps}}", &steps.to_string());
            block(text, "how", &told);
        }
    }
}

/// Adds the forms besides a program in which a planner may reply.
pub(super) fn forms(text: &mut String, brief: &Brief) {
    let limit = OUTLINE_STEPS_MAX.to_string();
    let form = match brief.forms.outline {
        OutlineForm::Never => return,
        OutlineForm::Allowed => include_str!("../../prompts/outline_allowed.md"),
        OutlineForm::Required => "Reply with an outline (or with a question), not with a program.\n",
    };
    let outline = include_str!("../../prompts/outline_form.md").replace("{{steps}}", &limit);
    block(text, "forms", &format!("{form}{outline}"));
}

fn answers(brief: &Brief) -> String {
    let mut told = String::from("You asked before; this is what the person answered:\n");
    for question in &brief.answers {
        let (asked, said) = (&question.text, question.answer.as_deref().unwrap_or("(no answer)"));
        let _ = writeln!(told, "- {}", text::line(asked, ANSWER_CHARS_MAX));
        let _ = writeln!(told, "  {}", text::line(said, ANSWER_CHARS_MAX));
    }
    told
}

fn step_blocks(text: &mut String, step: &StepBrief) {
    block(text, "outline", &text::value(&serde_json::json!(step.outline), super::OUTLINE_TEXT_CHARS_MAX));
    if !step.inputs.is_empty() {
        block(text, "inputs untrusted=\"true\"", &results(&step.inputs, RESULT_CHARS_MAX));
    }
    let mut told = include_str!("../../prompts/step.md")
        .replace("{{id}}", &step.step.id)
        .replace("{{title}}", &text::line(&step.step.title, ANSWER_CHARS_MAX));
    let criterion = step.step.check.as_deref().unwrap_or(&step.step.success);
    if !criterion.is_empty() {
        let _ = writeln!(told, "It has succeeded when: {}", text::line(criterion, ANSWER_CHARS_MAX));
    }
    match step.step.each.as_slice() {
        [] => {}
        [_] => told.push_str(
            "It runs once for every item of a list; `inputs[\"item\"]` is the item of this time.\n",
        ),
        several => {
            let items: Vec<String> =
                several.iter().map(|each| format!("inputs[\"item\"][\"{each}\"]")).collect();
            let _ = writeln!(
                told,
                "It runs once for every item of lists within lists; the items of this time are {}.",
                items.join(", ")
            );
        }
    }
    told.push_str(if step.is_last {
        "It is the last step: besides `result` it sets `answer_text` and `STATUS`, as the contract says.\n"
    } else {
        "It is not the last step: it sets `result` and neither `answer_text` nor `STATUS`.\n"
    });
    block(text, "step", &told);
}

/// What earlier steps gave, one line each.
fn results(results: &Map<String, Value>, chars_max: usize) -> String {
    let mut told = String::new();
    for (id, result) in results {
        let _ = writeln!(told, "inputs[\"{}\"] = {}", text::line(id, 60), shown(result, chars_max));
    }
    text::cut(&told, RESULTS_CHARS_MAX)
}

/// A result; of a frame its columns with their types, then its rows.
fn shown(result: &Value, chars_max: usize) -> String {
    let Some(frame) = result.as_object().and_then(|object| object.get(FRAME)) else {
        return text::cut(&text::value(result, chars_max), chars_max);
    };
    let list = |key: &str| frame[key].as_array().map_or(&[] as &[Value], Vec::as_slice);
    let word = |value: &Value| text::line(value.as_str().unwrap_or_default(), 100);
    let columns = list("columns").iter().zip(list("types"));
    let columns: Vec<String> =
        columns.map(|(name, kind)| format!("{} ({})", word(name), word(kind))).collect();
    let rows = text::cut(&text::value(&frame["rows"], chars_max), chars_max);
    let (count, columns) = (list("rows").len(), columns.join(", "));
    format!("a pandas DataFrame with {count} rows; its columns: {columns}; its rows: {rows}")
}

/// The messages that ask whether a step met its criterion.
pub(crate) fn criterion(brief: &Brief, result: &Value) -> Vec<Message> {
    let mut user = String::new();
    block(&mut user, "request", &text::data(&brief.request, super::REQUEST_CHARS_MAX));
    if let Stage::Step(step) = &brief.stage {
        block(&mut user, "goal", &text::data(&step.outline.goal, ANSWER_CHARS_MAX));
        block(&mut user, "step", &text::data(&step.step.title, ANSWER_CHARS_MAX));
        if !step.inputs.is_empty() {
            block(&mut user, "inputs untrusted=\"true\"", &results(&step.inputs, RESULT_CHARS_MAX));
        }
        block(&mut user, "criterion", &text::data(&step.step.success, ANSWER_CHARS_MAX));
    }
    block(&mut user, "data untrusted=\"true\"", &shown(result, WHOLE_RESULT_CHARS_MAX));
    vec![
        say(Speaker::System, include_str!("../../prompts/criterion.md").to_owned()),
        say(Speaker::Ordain, user),
    ]
}

/// The messages that ask for the text of a step.
pub(crate) fn text(brief: &Brief) -> Vec<Message> {
    let mut system = String::from(include_str!("../../prompts/text.md"));
    if !brief.policy.trim().is_empty() {
        block(&mut system, "policy", &policy(&brief.policy));
    }
    let mut user = String::new();
    block(&mut user, "request", &text::data(&brief.request, super::REQUEST_CHARS_MAX));
    if !brief.today.is_empty() {
        block(&mut user, "today", &brief.today);
    }
    if let Stage::Step(step) = &brief.stage {
        block(&mut user, "data untrusted=\"true\"", &results(&step.inputs, WHOLE_RESULT_CHARS_MAX));
        let mut told = text::line(&step.step.title, ANSWER_CHARS_MAX);
        if !step.step.success.is_empty() {
            let success = text::line(&step.step.success, ANSWER_CHARS_MAX);
            let _ = write!(told, "\nThe text is good when: {success}");
        }
        block(&mut user, "step", &told);
    }
    vec![say(Speaker::System, system), say(Speaker::Ordain, user)]
}
