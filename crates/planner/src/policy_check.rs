//! Looks a policy through for rules that no plan can follow, and for what is told twice.

use std::collections::{BTreeMap, BTreeSet};

use ordain_types::{STATUSES, Tool, nearest};
use ordain_verify::helpers_of;
use serde::Serialize;

use crate::brief::Brief;

/// Words of rules for somebody who talks with a customer and calls tools one by one. A plan does neither.
const DIALOGUE: [&str; 10] = [
    "tool call",
    "call the tool",
    "use the tool",
    "human agent",
    "transfer the",
    "explicit confirmation",
    "confirm with the",
    "ask the user to confirm",
    "wait for the user",
    "the conversation",
];

/// Something about a policy that its owner should know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PolicyFinding {
    /// A stable name of the kind of finding.
    pub code: &'static str,
    /// The line of `policy.md`; nothing where it is about the workspace's settings.
    pub line: Option<usize>,
    /// What was found.
    pub message: String,
    /// What to do about it.
    pub hint: String,
}

/// What the owner should know about the policy, from its first line to its last.
pub fn policy_findings(brief: &Brief, tools: &[Tool]) -> Vec<PolicyFinding> {
    let (names, notes) = (names(brief, tools), notes(brief));
    let mut found = Vec::new();
    let mut earlier: BTreeMap<BTreeSet<String>, usize> = BTreeMap::new();
    for (at, rule) in brief.policy.lines().enumerate() {
        let line = at + 1;
        found.extend(named(rule, &names).map(|finding| PolicyFinding { line: Some(line), ..finding }));
        found.extend(dialogue(rule).map(|finding| PolicyFinding { line: Some(line), ..finding }));
        let words: BTreeSet<String> = words(rule).collect();
        if words.len() < 3 {
            continue;
        }
        if let Some(told) = notes.iter().find(|(_, note)| words.is_subset(note)) {
            let message = format!("what the rule says stands in the description of {}", told.0);
            let hint = "say it in one place; models read both".to_owned();
            found.push(PolicyFinding { code: "repeats-schema", line: Some(line), message, hint });
        }
        if let Some(first) = earlier.insert(words, line) {
            let message = format!("the rule has the same words as the one in line {first}");
            let hint = "keep one of them".to_owned();
            found.push(PolicyFinding { code: "duplicate-rule", line: Some(line), message, hint });
        }
    }
    found.extend(unused_statuses(brief));
    found
}

/// Names in backticks that are no name of this workspace.
fn named<'a>(rule: &'a str, names: &'a BTreeSet<String>) -> impl Iterator<Item = PolicyFinding> + 'a {
    let quoted = rule.split('`').skip(1).step_by(2);
    quoted.filter(|name| is_name(name) && !names.contains(name.trim_end_matches("()"))).map(|name| {
        let near = nearest(name, names.iter().map(String::as_str));
        let hint = near.map(|near| format!("did you mean `{near}`?"));
        PolicyFinding {
            code: "names-nothing",
            line: None,
            message: format!("`{name}` is no table, column, value, status, action or helper here"),
            hint: hint.unwrap_or_else(|| "name something that plans can see".to_owned()),
        }
    })
}

/// Texts such as `Walk-in customer` are written into rows and need not be known.
fn is_name(text: &str) -> bool {
    let is_sign = |sign: char| sign.is_ascii_alphanumeric() || "_.()".contains(sign);
    text.len() > 1 && text.chars().all(is_sign) && (text.contains('_') || text.ends_with("()"))
}

fn dialogue(rule: &str) -> Option<PolicyFinding> {
    let lower = rule.to_lowercase();
    let phrase = DIALOGUE.iter().find(|phrase| lower.contains(**phrase))?;
    Some(PolicyFinding {
        code: "no-dialogue",
        line: None,
        message: format!(
            "\"{phrase}\" is for a conversation or for tools; a plan is one program that runs to its end"
        ),
        hint: "say what is permitted and what is refused; `[approval]` makes changes wait for a person"
            .to_owned(),
    })
}

/// Everything that a rule may name.
fn names(brief: &Brief, tools: &[Tool]) -> BTreeSet<String> {
    let mut names: BTreeSet<String> = STATUSES.iter().map(|(name, _)| (*name).to_owned()).collect();
    names.extend(brief.statuses.iter().map(|(name, _)| name.clone()));
    for action in &brief.catalog.actions {
        names.insert(action.name.clone());
        names.extend(action.params.keys().cloned());
    }
    names.extend(helpers_of(&brief.helpers).unwrap_or_default().into_iter().map(|helper| helper.name));
    for tool in tools {
        names.extend(tool.verbs.keys().map(|verb| format!("{}.{verb}", tool.name)));
    }
    for table in brief.tables.iter() {
        names.insert(table.table.name.clone());
        for column in &table.table.columns {
            names.insert(column.name.clone());
            names.insert(format!("{}.{}", table.table.name, column.name));
        }
        let values = table.columns.iter().filter_map(|column| column.values.as_ref()).flatten();
        names.extend(values.filter_map(serde_json::Value::as_str).map(str::to_owned));
    }
    names
}

/// What descriptions say, with what each is of.
fn notes(brief: &Brief) -> Vec<(String, BTreeSet<String>)> {
    let mut notes = Vec::new();
    for (table, note) in &brief.catalog.tables {
        let about = note.description.as_deref().unwrap_or_default();
        notes.push((format!("`{table}`"), words(&format!("{table} {about}")).collect()));
        for (column, note) in &note.columns {
            let about = note.description.as_deref().unwrap_or_default();
            notes
                .push((format!("`{table}.{column}`"), words(&format!("{table} {column} {about}")).collect()));
        }
    }
    notes
}

fn unused_statuses(brief: &Brief) -> impl Iterator<Item = PolicyFinding> {
    let is_used = |name: &str| brief.policy.contains(name) || brief.helpers.contains(name);
    let unused = brief.statuses.iter().filter(move |(name, when)| when.is_empty() && !is_used(name));
    unused.map(|(name, _)| PolicyFinding {
        code: "unused-status",
        line: None,
        message: format!("no rule and no helper says when the status `{name}` is given"),
        hint: format!("write `statuses = {{ {name} = \"…\" }}` with when it is given, or remove it"),
    })
}

/// Words of four letters and more, in lower case.
fn words(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|character: char| !character.is_alphanumeric());
    words.filter(|word| word.chars().count() >= 4).map(str::to_lowercase)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::brief::Task;

    #[test]
    fn rules_that_cannot_be_followed_are_named_with_their_line() {
        let catalog = serde_json::json!({ "tables": { "orders": {
            "description": "what customers ordered, newest first" } } });
        let mut brief = Brief::new(Task::Ask, "");
        brief.policy = "1. Ask for explicit confirmation before a return.\n\
                     2. Use `exchange_items()` for exchanges, and `not_permitted` if it is too late.\n\
                     3. Write `Walk-in customer` where nobody is named.\n\
                     4. Orders: what customers ordered.\n\
                     5. Never refund twice within days.\n\
                     6. Never refund twice, within days!\n"
            .to_owned();
        brief.statuses = vec![("escalated".to_owned(), String::new())];
        brief.catalog = Arc::new(serde_json::from_value(catalog).unwrap());
        let found: Vec<(&str, Option<usize>)> =
            policy_findings(&brief, &[]).iter().map(|finding| (finding.code, finding.line)).collect();
        let expected = [
            ("no-dialogue", Some(1)),
            ("names-nothing", Some(2)),
            ("repeats-schema", Some(4)),
            ("duplicate-rule", Some(6)),
            ("unused-status", None),
        ];
        assert_eq!(found, expected);
    }
}
