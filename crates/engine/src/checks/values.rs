//! Values and units that a rule rests on, held against those that its columns have.

use ordain_checks::{Check, SkipReason};
use ordain_store::CachedPlan;
use ordain_verify::Effects;
use serde_json::{Map, Value, json};

use super::compile::{Readiness, declared};
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

/// The currency or unit of each column of numbers that code uses, none included.
pub(super) fn units(effects: &Effects, tables: &Tables) -> Value {
    let mut units = Map::new();
    for (table, read) in &effects.reads {
        for name in &read.named {
            if let Some(unit) = unit_of(tables, table, name) {
                units.insert(format!("{table}\u{0}{name}"), json!(unit));
            }
        }
    }
    units.into()
}

/// Why a rule is not run whose column has another currency or unit than it had when the rule was compiled.
pub(super) fn other_unit(check: &Check, plan: &CachedPlan, tables: &Tables) -> Option<Readiness> {
    declared(plan).get("units")?.as_object()?.iter().find_map(|(place, was)| {
        let (table, name) = place.split_once('\0')?;
        let (was, now) = (was.as_str()?, unit_of(tables, table, name)?);
        let said = |unit: &str| if unit.is_empty() { "no unit".to_owned() } else { unit.to_owned() };
        let words = format!(
            "`{name}` of {table} had {} when the rule was compiled, and has {} now; `ordain check edit {}` accepts that or corrects the rule",
            said(was),
            said(&now),
            check.check_id
        );
        (was != now).then_some(Readiness::Skipped(SkipReason::NotCompiled, words))
    })
}

/// The currency or unit of a column, empty where it has none; nothing where it holds no numbers.
fn unit_of(tables: &Tables, table: &str, name: &str) -> Option<String> {
    let column = tables.ready(table)?.columns.iter().find(|column| column.name == name)?;
    let is_number =
        matches!(column.reading.get("type")?.as_str()?, "integer" | "real" | "decimal" | "percent");
    let unit = ["currency", "unit"].iter().find_map(|&key| column.reading.get(key)?.as_str());
    is_number.then(|| unit.unwrap_or_default().to_owned())
}
