//! Checks in Soda's check language.

use serde_json::{Map, Value, json};

use super::{is_grouped, is_set, left_out, names, param, text};
use crate::check::{Check, Threshold};
use crate::import::Unmapped;

pub(super) fn export(checks: &[Check]) -> (Value, Vec<Unmapped>) {
    let mut groups: Map<String, Value> = Map::new();
    let mut unmapped = Vec::new();
    for check in checks {
        let Some((line, mut settings)) = line_of(check) else {
            unmapped.push(left_out(check, "no check of Soda means the same"));
            continue;
        };
        settings.retain(|_, value| !value.is_null());
        settings.insert("name".to_owned(), json!(check.check_name));
        settings.insert(
            "attributes".to_owned(),
            json!({"check_id": check.check_id, "severity": check.severity.name()}),
        );
        let table = check.target_table.first().map_or("", String::as_str);
        let group = groups.entry(format!("checks for {table}")).or_insert_with(|| json!([]));
        if let Value::Array(group) = group {
            group.push(json!({line: settings}));
        }
    }
    (Value::Object(groups), unmapped)
}

fn line_of(check: &Check) -> Option<(String, Map<String, Value>)> {
    if check.filter.is_some() {
        return None;
    }
    let column = text(check, "column").unwrap_or_default();
    let columns = names(check, "columns");
    let settings = |pairs: Vec<(&str, Value)>| {
        pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>()
    };
    let none = Map::new();
    match (check.kind.as_str(), &columns[..]) {
        _ if is_grouped(check) => None,
        ("not_null", [one]) if !is_set(check, "negate") => {
            Some((format!("missing_{}", limit(one, check.fail_if)?), none))
        }
        ("unique", [_, ..]) => {
            Some((format!("duplicate_{}", limit(&columns.join(", "), check.fail_if)?), none))
        }
        ("in_set", _) if !is_set(check, "negate") => Some((
            format!("invalid_{}", limit(column, check.fail_if)?),
            settings(vec![("valid values", param(check, "values"))]),
        )),
        ("range", _) if !is_set(check, "strict_min") && !is_set(check, "strict_max") => {
            let bounds = vec![("valid min", param(check, "min")), ("valid max", param(check, "max"))];
            Some((format!("invalid_{}", limit(column, check.fail_if)?), settings(bounds)))
        }
        ("length", _) => {
            let bounds =
                vec![("valid min length", param(check, "min")), ("valid max length", param(check, "max"))];
            Some((format!("invalid_{}", limit(column, check.fail_if)?), settings(bounds)))
        }
        ("regex", _) if text(check, "pattern").is_some() && !is_set(check, "negate") => Some((
            format!("invalid_{}", limit(column, check.fail_if)?),
            settings(vec![("valid regex", param(check, "pattern"))]),
        )),
        ("foreign_key", [_, ..]) => {
            let references = check.params.get("references")?;
            let theirs: Vec<_> =
                references.get("columns")?.as_array()?.iter().filter_map(Value::as_str).collect();
            let table = references.get("table")?.as_str()?;
            Some((
                format!("values in ({}) must exist in {table} ({})", columns.join(", "), theirs.join(", ")),
                none,
            ))
        }
        ("row_count", _) => Some((format!("row_count {}", between(check, "min", "max")?), none)),
        ("freshness", _) => Some((format!("freshness({column}) < {}", text(check, "max_age")?), none)),
        ("aggregate", _) => {
            let function = match text(check, "function")? {
                "mean" => "avg",
                "stdev" => "stddev",
                name @ ("min" | "max" | "sum" | "distinct_count") => name,
                _ => return None,
            };
            Some((format!("{function}({column}) {}", between(check, "min", "max")?), none))
        }
        _ => None,
    }
}

/// `count(email) = 0`, or the limit that the check gives.
fn limit(columns: &str, fail_if: Option<Threshold>) -> Option<String> {
    match fail_if {
        None => Some(format!("count({columns}) = 0")),
        Some(Threshold { count: Some(count), percent: None }) => Some(format!("count({columns}) <= {count}")),
        Some(Threshold { count: None, percent: Some(percent) }) => {
            Some(format!("percent({columns}) <= {percent}"))
        }
        Some(_) => None,
    }
}

fn between(check: &Check, least: &str, most: &str) -> Option<String> {
    let number = |name: &str| check.params.get(name).filter(|value| value.is_number());
    let sign = |name: &str, plain: &'static str, strict: &'static str| {
        if is_set(check, name) { strict } else { plain }
    };
    match (number(least), number(most)) {
        (Some(least), Some(most)) if least == most => Some(format!("= {least}")),
        (Some(least), Some(most)) if !is_set(check, "strict_min") && !is_set(check, "strict_max") => {
            Some(format!("between {least} and {most}"))
        }
        (Some(least), None) => Some(format!("{} {least}", sign("strict_min", ">=", ">"))),
        (None, Some(most)) => Some(format!("{} {most}", sign("strict_max", "<=", "<"))),
        _ => None,
    }
}
