//! An outline: how a goal is broken into steps, before any code is written.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Steps of one outline.
pub const OUTLINE_STEPS_MAX: usize = 30;
const GOAL_CHARS_MAX: usize = 1_000;
const TEXT_CHARS_MAX: usize = 2_000;
const ID_BYTES_MAX: usize = 40;
/// Lists within lists that one step runs for.
const EACH_MAX: usize = 3;
/// The name under which a criterion reads the result of its own step.
pub const RESULT: &str = "result";
/// The name under which a step that runs for each item of a list reads its item.
pub const ITEM: &str = "item";

/// The one key of an object that stands for a pandas frame: its `columns`, their `types`, the columns that are its `index`,
/// and its `rows`. The runner of cells writes and reads it.
pub const FRAME: &str = "dataframe";

/// A goal and the steps that reach it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Outline {
    /// What is to be reached.
    pub goal: String,
    /// The steps, each after those that it needs.
    pub steps: Vec<OutlineStep>,
}

/// One step of an outline.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OutlineStep {
    /// Names the step: letters, digits and `_`.
    pub id: String,
    /// What it does.
    pub title: String,
    /// The steps whose results it needs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<String>,
    /// How one can tell that it succeeded, in words. A model judges it, unless there is a `check`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub success: String,
    /// How one can tell that it succeeded, as a Python expression over `result`, `inputs` and the tables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<String>,
    /// What carries it out.
    #[serde(default, skip_serializing_if = "StepKind::is_code")]
    pub kind: StepKind,
    /// The step whose result is a list: this one runs for every item of it. Several, the outermost first, are lists within
    /// lists.
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "one_or_several")]
    #[schemars(with = "one_or_several::Written")]
    pub each: Vec<String>,
    /// What is done instead if it fails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub otherwise: Option<String>,
    /// Whether what is done when it has succeeded is committed, whatever becomes of the rest.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub milestone: bool,
}

/// A list that is written as a text where it has one entry.
mod one_or_several {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Deserialize, schemars::JsonSchema)]
    #[schemars(inline)]
    #[serde(untagged, expecting = "`each` is the name of a step or a list of names")]
    pub(super) enum Written {
        One(String),
        Several(Vec<String>),
    }

    pub(super) fn serialize<S: Serializer>(names: &[String], serializer: S) -> Result<S::Ok, S::Error> {
        match names {
            [one] => one.serialize(serializer),
            several => several.serialize(serializer),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
        Ok(match Option::<Written>::deserialize(deserializer)? {
            None => Vec::new(),
            Some(Written::One(name)) => vec![name],
            Some(Written::Several(names)) => names,
        })
    }
}

/// What carries out a step.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StepKind {
    /// A program.
    #[default]
    Code,
    /// A text that a model writes from the results of earlier steps.
    Text,
}

impl StepKind {
    /// Whether a program carries it out.
    pub fn is_code(&self) -> bool {
        *self == Self::Code
    }
}

impl Outline {
    /// Reads an outline and says everything that is wrong with it.
    pub fn read(value: Value) -> Result<Self, Vec<String>> {
        let steps = value.get("steps").and_then(Value::as_array).map_or(0, Vec::len);
        if steps > OUTLINE_STEPS_MAX {
            return Err(vec![format!(
                "it has {steps} steps, and at most {OUTLINE_STEPS_MAX} are carried out"
            )]);
        }
        let outline: Self = serde_json::from_value(value).map_err(|error| vec![error.to_string()])?;
        let problems = outline.problems();
        if problems.is_empty() { Ok(outline) } else { Err(problems) }
    }

    /// The step of that name.
    pub fn step(&self, id: &str) -> Option<&OutlineStep> {
        self.steps.iter().find(|step| step.id == id)
    }

    /// What is wrong with it; nothing if it can be carried out.
    pub fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        if self.goal.trim().is_empty() || self.goal.chars().count() > GOAL_CHARS_MAX {
            problems.push(format!("`goal` needs 1 to {GOAL_CHARS_MAX} characters"));
        }
        if self.steps.is_empty() {
            problems.push("it has no steps".to_owned());
        }
        let mut before: BTreeSet<&str> = BTreeSet::new();
        for step in &self.steps {
            if !before.insert(&step.id) {
                problems.push(format!("two steps are called `{}`", step.id));
            }
            problems
                .extend(step.problems().into_iter().map(|problem| format!("step `{}`: {problem}", step.id)));
            for need in step.needs.iter().chain(&step.each) {
                if self.step(need).is_none() {
                    problems.push(format!("step `{}` needs `{need}`, and there is no such step", step.id));
                }
            }
        }
        if problems.is_empty() && self.in_order().is_none() {
            problems
                .push("its steps need each other in a circle, so none of them could be the first".to_owned());
        }
        problems
    }

    /// The steps so that each stands after those that it needs; `None` if they go in a circle.
    pub fn in_order(&self) -> Option<Vec<&OutlineStep>> {
        let mut done: BTreeSet<&str> = BTreeSet::new();
        let mut ordered = Vec::with_capacity(self.steps.len());
        while ordered.len() < self.steps.len() {
            let is_ready = |step: &&OutlineStep| {
                !done.contains(step.id.as_str()) && step.inputs().all(|need| done.contains(need))
            };
            let step = self.steps.iter().find(is_ready)?;
            done.insert(&step.id);
            ordered.push(step);
        }
        Some(ordered)
    }
}

impl OutlineStep {
    /// The steps whose results it is given.
    pub fn inputs(&self) -> impl Iterator<Item = &str> {
        let each = self.each.iter().filter(|each| !self.needs.contains(each));
        self.needs.iter().chain(each).map(String::as_str)
    }

    fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        let is_name = |text: &str| {
            let is_part = |sign: char| sign.is_ascii_alphanumeric() || sign == '_';
            (1..=ID_BYTES_MAX).contains(&text.len()) && text.chars().all(is_part)
        };
        if !is_name(&self.id) || [RESULT, ITEM].contains(&self.id.as_str()) {
            let reserved = format!("other than `{RESULT}` and `{ITEM}`");
            problems.push(format!("its `id` needs 1 to {ID_BYTES_MAX} letters, digits and `_`, {reserved}"));
        }
        let is_text = |text: &str| !text.trim().is_empty() && text.chars().count() <= TEXT_CHARS_MAX;
        if !is_text(&self.title) {
            problems.push(format!("its `title` needs 1 to {TEXT_CHARS_MAX} characters"));
        }
        let texts = [Some(&self.success), self.check.as_ref(), self.otherwise.as_ref()];
        if texts.into_iter().flatten().any(|text| text.chars().count() > TEXT_CHARS_MAX) {
            problems.push(format!("its texts have at most {TEXT_CHARS_MAX} characters each"));
        }
        let is_twice = |name: &String| self.each.iter().filter(|other| *other == name).count() > 1;
        if self.each.len() > EACH_MAX || self.each.iter().any(is_twice) {
            problems.push(format!("its `each` names at most {EACH_MAX} steps, each of them once"));
        }
        if !self.each.is_empty() && !self.kind.is_code() {
            problems.push("a text is written once; what is done for `each` item is `code`".to_owned());
        }
        if self.check.as_deref().is_some_and(|check| !depends_on_data(check)) {
            problems.push(format!(
                "its `check` says the same whatever the step does; it has to use `{RESULT}`, `inputs` or a table"
            ));
        }
        problems
    }
}

/// Whether an expression names something that depends on the step: its result, its inputs or a table.
fn depends_on_data(expression: &str) -> bool {
    let mut quote = None;
    let mut outside = String::with_capacity(expression.len());
    for sign in expression.chars() {
        match quote {
            None if sign == '"' || sign == '\'' => quote = Some(sign),
            Some(open) if sign == open => quote = None,
            None => outside.push(sign),
            Some(_) => {}
        }
    }
    let mut words = outside.split(|sign: char| !sign.is_alphanumeric() && sign != '_');
    words.any(|word| [RESULT, "inputs", "db", "frame", "sql"].contains(&word) || word.ends_with("_tbl"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn refused(value: Value, said: &str) {
        let problems = Outline::read(value).unwrap_err().join("; ");
        assert!(problems.contains(said), "{problems}");
    }

    #[test]
    fn an_outline_reads_back_as_it_was_written_and_its_steps_come_after_their_needs() {
        let value = json!({ "goal": "a report", "steps": [
            { "id": "write", "title": "write it", "needs": ["count"], "kind": "text" },
            { "id": "count", "title": "count the rows", "check": "result > 0" },
        ]});
        let outline = Outline::read(value).unwrap();
        let order: Vec<&str> = outline.in_order().unwrap().iter().map(|step| step.id.as_str()).collect();
        assert_eq!(order, ["count", "write"]);
        assert_eq!(Outline::read(serde_json::to_value(&outline).unwrap()).unwrap(), outline);
    }

    #[test]
    fn what_cannot_be_carried_out_is_refused_with_the_reason() {
        let step = |id: &str, needs: &[&str]| json!({ "id": id, "title": "do it", "needs": needs });
        refused(json!({ "goal": "g", "steps": [] }), "it has no steps");
        refused(json!({ "goal": "g", "steps": [step("a", &["b"]), step("b", &["a"])] }), "in a circle");
        refused(json!({ "goal": "g", "steps": [step("a", &["x"])] }), "step `a` needs `x`");
        refused(
            json!({ "goal": "g", "steps": [step("a", &[]), step("a", &[])] }),
            "two steps are called `a`",
        );
        refused(json!({ "goal": "", "steps": [step("a", &[])] }), "`goal` needs");
        refused(json!({ "goal": "g", "steps": [step("result", &[])] }), "its `id` needs");
        let many: Vec<Value> = (0..500).map(|number| step(&format!("s{number}"), &[])).collect();
        refused(json!({ "goal": "g", "steps": many }), "it has 500 steps");
        let always = json!({ "id": "a", "title": "t", "check": "1 == 1 or 'result'" });
        refused(json!({ "goal": "g", "steps": [always] }), "says the same whatever the step does");
        let each = |each: Value, kind: &str| json!({ "goal": "g", "steps": [step("a", &[]), { "id": "b", "title": "t", "each": each, "kind": kind }] });
        refused(each(json!("x"), "code"), "step `b` needs `x`");
        refused(each(json!(["a", "a"]), "code"), "each of them once");
        refused(each(json!("a"), "text"), "a text is written once");
        refused(each(json!(1), "code"), "the name of a step or a list of names");
        refused(
            json!({ "goal": "g", "steps": [{ "id": "a", "title": "t", "tool": "x" }] }),
            "unknown field `tool`",
        );
    }
}
