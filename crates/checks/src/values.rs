//! Values that a rule names, held against those that a column has.

use serde_json::Value;

use crate::compile::Readiness;
use crate::tables::{TableFacts, Tables};
use crate::{Check, SkipReason};

/// A value that a rule looks for and no row has.
struct Unseen {
    column: String,
    value: String,
    /// The value that differs from it by case or blanks alone, if rows have one.
    nearly: Option<String>,
}

/// Why a rule is not run that looks for a value which no row has, while rows have one that differs from it by case or
/// blanks alone: nothing would be found, and everything would seem to be in order.
pub(crate) fn nearly_named(check: &Check, plan: &Value, tables: &Tables) -> Option<Readiness> {
    unseen(check, plan, tables).into_iter().find_map(|Unseen { column, value, nearly }| {
        let words = format!(
            "the rule names {value:?}, and `{column}` has {:?} instead; write it as the rows do, or correct the rows",
            nearly?
        );
        Some(Readiness::Skipped(SkipReason::NotCompiled, words))
    })
}

/// Why a rule in words is not compiled that demands a value which no row has, while rows have one that differs from it by case
/// or blanks alone: a sentence may mean either. In quotes it means what it says.
pub(crate) fn nearly_demanded(check: &Check, plan: &Value, tables: &Tables) -> Option<Readiness> {
    let facts = check.target_table.first().and_then(|name| tables.ready(name))?;
    let (hint, params) = (check.calculation_hint.as_deref()?, plan.get("params")?);
    let mut named = vec![params];
    all_tests(params, &mut named);
    let is_quoted = |value: &str| {
        ["\"", "'", "\u{201d}", "\u{2019}"].iter().any(|end| hint.contains(&format!("{value}{end}")))
    };
    let unseen = named.into_iter().flat_map(|named| unseen_in(named, facts));
    unseen.filter(|unseen| !is_quoted(&unseen.value)).find_map(|Unseen { column, value, nearly }| {
        let words = format!(
            "the rule names {value:?}, and `{column}` has {:?}; write it as the rows do, or in quotes if it is to be just that",
            nearly?
        );
        Some(Readiness::Skipped(SkipReason::NotCompiled, words))
    })
}

/// What to say of values that a rule looks for and no row has: there may be none today, or they may be written otherwise now.
pub(crate) fn notes(check: &Check, plan: &Value, tables: &Tables) -> Vec<String> {
    let unseen = unseen(check, plan, tables).into_iter();
    unseen.map(|unseen| format!("no row has {:?} in `{}`", unseen.value, unseen.column)).collect()
}

fn unseen(check: &Check, plan: &Value, tables: &Tables) -> Vec<Unseen> {
    let Some(facts) = check.target_table.first().and_then(|name| tables.ready(name)) else {
        return Vec::new();
    };
    // A rule in words has the params of the kind that it was read as.
    let params = plan.get("params").cloned().unwrap_or_else(|| Value::Object(check.params.clone()));
    let mut named = Vec::new();
    if params.get("negate").and_then(Value::as_bool) == Some(true) {
        named.push(&params);
    }
    // Of a share of rows, the demand says which rows are counted.
    match params.get("must").filter(|_| params.get("max_share").is_some()) {
        Some(counted) => all_tests(counted, &mut named),
        None => looked_for(&params, &mut named),
    }
    named.into_iter().flat_map(|named| unseen_in(named, facts)).collect()
}

/// The values of one test that no row has.
fn unseen_in(named: &Value, facts: &TableFacts) -> Vec<Unseen> {
    let name = named.get("column").and_then(Value::as_str).unwrap_or_default();
    let column = facts.columns.iter().find(|column| column.name == name);
    let Some(known) = column.and_then(|column| column.values.as_deref()) else { return Vec::new() };
    let same = |text: &str| text.trim().to_lowercase();
    let values = named.get("values").and_then(Value::as_array).into_iter().flatten();
    let missing = values.filter(|value| !known.contains(value)).filter_map(Value::as_str);
    let unseen = missing.map(|value| {
        let nearly = known.iter().filter_map(Value::as_str).find(|other| same(other) == same(value));
        Unseen { column: name.to_owned(), value: value.to_owned(), nearly: nearly.map(str::to_owned) }
    });
    unseen.collect()
}

/// The tests of a value within params that choose rows, rather than demand something of every row.
fn looked_for<'a>(params: &'a Value, found: &mut Vec<&'a Value>) {
    match params {
        Value::Object(members) => {
            for (name, inner) in members {
                match (name.as_str(), inner) {
                    ("when" | "not" | "share", inner) => all_tests(inner, found),
                    (_, inner) => looked_for(inner, found),
                }
            }
        }
        Value::Array(all) => all.iter().for_each(|inner| looked_for(inner, found)),
        _ => {}
    }
}

fn all_tests<'a>(value: &'a Value, found: &mut Vec<&'a Value>) {
    match value {
        Value::Object(members) => {
            found.extend(members.get("in"));
            members.values().for_each(|inner| all_tests(inner, found));
        }
        Value::Array(all) => all.iter().for_each(|inner| all_tests(inner, found)),
        _ => {}
    }
}
