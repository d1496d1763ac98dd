//! Values that a rule names, held against those that a column has.

use ordain_checks::{Check, SkipReason};
use serde_json::Value;

use super::compile::Readiness;
use super::tables::Tables;

/// Why a rule is not run that looks for a value which no row has, while rows have one that differs from it by case or
/// blanks alone: nothing would be found, and everything would seem to be in order.
pub(super) fn nearly_named(check: &Check, plan: &Value, tables: &Tables) -> Option<Readiness> {
    let facts = check.target_table.first().and_then(|name| tables.ready(name))?;
    let mut named = Vec::new();
    let params = plan.get("params")?;
    if params.get("negate").and_then(Value::as_bool) == Some(true) {
        named.push(params);
    }
    // Of a share of rows, the demand says which rows are counted.
    match params.get("must").filter(|_| params.get("max_share").is_some()) {
        Some(counted) => all_tests(counted, &mut named),
        None => looked_for(params, &mut named),
    }
    named.into_iter().find_map(|named| {
        let (name, values) = (named.get("column")?.as_str()?, named.get("values")?.as_array()?);
        let known = facts.columns.iter().find(|column| column.name == name)?.values.as_deref()?;
        let same = |text: &str| text.trim().to_lowercase();
        values.iter().filter_map(Value::as_str).find_map(|value| {
            let nearly = known.iter().filter_map(Value::as_str).filter(|other| same(other) == same(value));
            let nearly: Vec<&str> = nearly.collect();
            let other = nearly.first().filter(|_| !nearly.contains(&value))?;
            let words = format!(
                "the rule names {value:?}, and `{name}` has {other:?} instead; write it as the rows do, or correct the rows"
            );
            Some(Readiness::Skipped(SkipReason::NotCompiled, words))
        })
    })
}

/// The tests of a value within params that choose rows, rather than demand something of every row.
fn looked_for<'a>(params: &'a Value, found: &mut Vec<&'a Value>) {
    match params {
        Value::Object(members) => {
            for (name, inner) in members {
                match (name.as_str(), inner) {
                    ("when" | "not", inner) => all_tests(inner, found),
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
