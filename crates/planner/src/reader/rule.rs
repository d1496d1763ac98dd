//! Rules about data in words: each becomes a built-in kind of check with its params, and the kind compiles to code.
//!
//! The laws are those of requests: every word stands in the rule, there is one reading, and it is restated. Columns are
//! known by their whole names alone, so that a column that comes, goes or is renamed never changes what a rule means.

mod claim;
mod days;
mod figure;
mod having;
mod made;
mod phrase;
mod sentence;

use ordain_checks::Check;
use ordain_checks::kinds::{self, CompiledKind, HINT};
use ordain_types::Schema;
use serde_json::{Map, Value, json};

use super::index::{Index, What};
use super::parse::Parser;
use super::token::{self, Kind, Token};
use super::trace::Trace;
use super::{TOKENS_MAX, Unknown, amounts, unknown};
use crate::brief::Brief;
use crate::exchange::{Draft, Reply};

pub(crate) use claim::Rule;

/// The separator between a hint and the filter of its check.
const FILTER: &str = " Look only at rows where ";

/// Writes the code of a check that is stated in words.
pub(crate) fn plan(brief: &Brief) -> Reply {
    let (hint, filter) = match brief.request.split_once(FILTER) {
        Some((hint, filter)) => (hint, Some(filter.trim_end_matches('.'))),
        None => (brief.request.as_str(), None),
    };
    if brief.tables.is_empty() {
        return Reply::Refusal("there is no table to look at".to_owned());
    }
    match read(brief, hint) {
        Ok(rules) => chosen(brief, &rules, filter),
        Err(unknown) => Reply::Refusal(declined(brief, unknown.as_ref())),
    }
}

/// The rules that a sentence may state, the plainest ones; the word that is not understood if there is none.
pub(crate) fn read(brief: &Brief, hint: &str) -> Result<Vec<Rule>, Option<Unknown>> {
    let index = Index::of(brief, &super::files::described(&brief.catalog));
    let tokens = token::tokens(hint);
    let trace = Trace::default();
    if tokens.is_empty() || tokens.len() > TOKENS_MAX {
        return Err(None);
    }
    let problem = amounts::problem(&index, &tokens).or_else(|| amounts::uncounted(&index, &tokens));
    if let Some(problem) = problem.or_else(|| of_some(&index, &tokens)) {
        return Err(Some(problem));
    }
    let mut all: Vec<(Rule, u32)> = Vec::new();
    // The table that the check names first is judged; another one only where the sentence names it before any other.
    let named = (0..tokens.len()).find_map(|at| {
        index.at(&tokens, at).into_iter().find_map(|(what, ..)| match what {
            What::Table(table) => Some(table),
            _ => None,
        })
    });
    for focus in [Some(0), named].into_iter().flatten() {
        let parser = Parser { strict: true, text: hint, ..Parser::new(&index, &tokens, focus, &trace) };
        all.extend(parser.rules());
        if !all.is_empty() {
            break;
        }
    }
    let Some(least) = all.iter().map(|(_, cost)| *cost).min() else {
        return Err(unknown(&index, &tokens, &trace));
    };
    let mut rules: Vec<Rule> = Vec::new();
    for (rule, _) in all.into_iter().filter(|(_, cost)| *cost == least) {
        if !rules.contains(&rule) {
            rules.push(rule);
        }
    }
    Ok(rules)
}

/// A rule is about every row or about a share of them: `some` is neither, and nothing may drop it.
fn of_some(index: &Index, tokens: &[Token]) -> Option<Unknown> {
    let is_some = |(at, token): &(usize, &Token)| {
        token.kind == Kind::Word && token.lower == "some" && index.at(tokens, *at).is_empty()
    };
    let (_, token) = tokens.iter().enumerate().find(is_some)?;
    let reason = "“some” says neither how many rows nor which; write “at least 5% of rows …”, or leave it out \
                  if every row is meant";
    Some(Unknown {
        text: token.text.clone(),
        at: token.at,
        is_known: true,
        nearest: None,
        reason: Some(reason.to_owned()),
    })
}

fn chosen(brief: &Brief, rules: &[Rule], filter: Option<&str>) -> Reply {
    match rules {
        [rule] => match compile(brief, rule, filter) {
            Ok((compiled, params)) => Reply::Plan(draft(rule, compiled, params)),
            Err(reason) => Reply::Refusal(format!("the reader read this as `{}`, but {reason}", rule.kind)),
        },
        several => {
            let read = |rule: &Rule| compile(brief, rule, filter).map(|(compiled, _)| compiled.plan.intent);
            let (choices, failed): (Vec<_>, Vec<_>) = several.iter().map(read).partition(Result::is_ok);
            let said = choices.into_iter().flatten().collect::<Vec<_>>().join("; or ");
            match failed.into_iter().find_map(Result::err) {
                Some(reason) if said.is_empty() => {
                    Reply::Refusal(format!("the rule cannot be judged: {reason}"))
                }
                _ => {
                    Reply::Question(format!("it can be read in several ways: {said}; say it in other words"))
                }
            }
        }
    }
}

fn compile(
    brief: &Brief,
    rule: &Rule,
    filter: Option<&str>,
) -> Result<(CompiledKind, Map<String, Value>), String> {
    let own = rule.filter.as_deref();
    let filter = match (filter, own) {
        (Some(one), Some(other)) => Some(format!("({one}) and ({other})")),
        (one, other) => one.or(other).map(str::to_owned),
    };
    let params = rule.params.as_object().cloned().unwrap_or_default();
    let schema = Schema { tables: brief.tables.iter().map(|table| table.table.clone()).collect() };
    let check = Check { filter, ..Check::new(HINT.to_owned(), &rule.table, rule.kind, params) };
    let mut compiled = kinds::compile(&check, &schema).map_err(|error| {
        let help = error.hint().map(|help| format!("; {help}")).unwrap_or_default();
        format!("{error}{help}")
    })?;
    if let Some(own) = own {
        compiled.plan.intent = format!("{}, where {own}", compiled.plan.intent);
    }
    Ok((compiled, check.params))
}

fn draft(rule: &Rule, compiled: CompiledKind, params: Map<String, Value>) -> Draft {
    let mut declared = json!(compiled.plan);
    declared["kind"] = json!(rule.kind);
    declared["params"] = Value::Object(params);
    declared["filter"] = json!(rule.filter);
    declared["planner"] = json!("rules");
    Draft {
        code: compiled.code,
        reading: Some(compiled.plan.intent.clone()),
        title: compiled.plan.intent,
        declared: Some(declared),
        ..Draft::default()
    }
}

fn declined(brief: &Brief, unknown: Option<&Unknown>) -> String {
    if let Some(reason) = unknown.and_then(|unknown| unknown.reason.as_ref()) {
        return format!("the reader does not take this rule: {reason}");
    }
    let columns: Vec<&str> =
        brief.tables[0].table.columns.iter().map(|column| column.name.as_str()).take(12).collect();
    let word =
        unknown.map_or_else(|| "it as a whole".to_owned(), |unknown| format!("“{}” in it", unknown.text));
    format!(
        "the reader does not understand this rule: {word}; name columns as they are called ({}) and say what must hold \
         (\"price must be above 0\", \"when status is paid, paid_at must not be null\"), or use a model, or a built-in kind",
        columns.join(", ")
    )
}

#[cfg(test)]
mod tests;
