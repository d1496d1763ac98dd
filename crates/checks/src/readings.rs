//! What a rule was read as, held against what it is read as now: no rule becomes another one by itself.

use ordain_engine::{column_component, hash};
use ordain_store::{CachedPlan, PlanAuthor};
use ordain_verify::Effects;
use serde_json::{Map, Value, json};

use crate::compile::{Readiness, declared};
use crate::results::Results;
use crate::tables::Tables;
use crate::{Check, SkipReason, change};

/// Why a rule is not run that is read otherwise than a person accepted it or, where nobody did, than it was first read:
/// a column may be gone, and another one be where its words point now. It waits until somebody accepts the new reading.
pub(crate) fn otherwise(
    check: &Check,
    plan: &CachedPlan,
    results: &Results<'_>,
    why: Option<&str>,
) -> Option<Readiness> {
    let now = said(check, plan);
    let (verb, was) = match &check.accepted_reading {
        Some(accepted) if *accepted == now => return None,
        Some(accepted) => ("accepted", accepted.clone()),
        None => {
            let first = first_of(check, results).filter(|first| is_other(first, plan))?;
            ("read", said(check, first))
        }
    };
    let why = why.map(|why| format!(" ({why})")).unwrap_or_default();
    let words = format!(
        "it was {verb} as \u{201c}{was}\u{201d} and would now be read as \u{201c}{now}\u{201d}{why}; `ordain check edit {}` accepts the new reading or corrects the rule",
        check.check_id
    );
    Some(Readiness::Skipped(SkipReason::NotCompiled, words))
}

/// What a rule was last understood as that could not be evaluated now, if its record says the same as then.
pub(crate) fn known(check: &Check, results: &Results<'_>) -> Option<String> {
    let kept = || check.understood(&declared(first_of(check, results)?));
    check.accepted_reading.clone().or_else(kept)
}

fn said(check: &Check, plan: &CachedPlan) -> String {
    check.understood(&declared(plan)).unwrap_or_else(|| "nothing that can be restated".to_owned())
}

/// The oldest kept code of the rule as it is written now. There is none while a person accepts a new reading, because the
/// rule is then read again.
fn first_of<'a>(check: &Check, results: &'a Results<'_>) -> Option<&'a CachedPlan> {
    if results.options.is_trial && results.options.force {
        return None;
    }
    let mut rule = change::rule_of(check);
    // A newer Ordain may write other code, and means the same.
    rule.remove("compiler");
    let is_same = |plan: &&CachedPlan| {
        rule.iter().all(|(name, value)| plan.components.get(name) == Some(&hash(&value.to_string())))
    };
    results.kept.of(&check.check_id).iter().rev().find(is_same)
}

/// Whether code means something else than older code of the same record. Two sentences of a model are not compared: the same
/// rule may be put in many ways.
fn is_other(before: &CachedPlan, plan: &CachedPlan) -> bool {
    let is_model = [before, plan].iter().any(|plan| plan.source == PlanAuthor::Model);
    let parts: &[&str] = if is_model { &["units"] } else { &["kind", "params", "filter", "units"] };
    let (was, now) = (declared(before), declared(plan));
    // What an older reader made a built-in kind of cannot be held against a sentence that is read as a whole.
    if now["kind"] == "rule" && was.get("kind").is_some_and(|kind| kind != "rule") {
        return false;
    }
    // Code that an older Ordain kept may lack a part.
    parts.iter().any(|part| was.get(part).is_some_and(|was| now.get(part) != Some(was)))
}

/// Says in a rule what the numbers of its columns count: the same bound on other units is another rule.
pub(crate) fn say_units(declared: &mut Value, effects: &Effects, tables: &Tables) {
    let Some(parts) = declared.as_object_mut() else { return };
    let mut units = Map::new();
    for (table, read) in &effects.reads {
        for name in &read.named {
            let shown = if effects.reads.len() > 1 { format!("{table}.{name}") } else { name.clone() };
            units.extend(tables.units.get(&column_component(name, table)).map(|unit| (shown, json!(unit))));
        }
    }
    let said = units.iter().map(|(name, unit)| format!("`{name}` in {}", unit.as_str().unwrap_or_default()));
    let said = said.collect::<Vec<_>>().join(", ");
    if let (false, Some(Value::String(intent))) = (said.is_empty(), parts.get_mut("intent")) {
        *intent = format!("{} ({said})", intent.trim_end_matches('.'));
    }
    parts.insert("units".to_owned(), Value::Object(units));
}
