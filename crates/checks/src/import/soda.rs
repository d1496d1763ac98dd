//! Soda: checks in its check language (`checks for orders:`), or a data contract (`dataset:` with columns).

use serde_json::{Map, Value, json};

use super::draft::{self, params};
use super::soda_text::{Comparison, Metric, read_line};
use super::{ImportError, Imported, Tool};
use crate::check::{Check, Threshold};

pub(super) fn import(file: &Value) -> Result<Imported, ImportError> {
    let mut imported = Imported::default();
    let Some(map) = file.as_object() else {
        return Err(ImportError::Shape { tool: Tool::Soda, message: "it is not a map".to_owned() });
    };
    if let Some(dataset) = map.get("dataset").and_then(Value::as_str) {
        take_contract(&mut imported, dataset, file);
        return Ok(imported);
    }
    let groups: Vec<_> =
        map.iter().filter_map(|(key, value)| Some((key.strip_prefix("checks for ")?, value))).collect();
    if groups.is_empty() {
        let message = "it has neither `checks for TABLE` nor `dataset`".to_owned();
        return Err(ImportError::Shape { tool: Tool::Soda, message });
    }
    for (table, checks) in groups {
        let table = table.split_whitespace().next().unwrap_or(table).trim_matches('"');
        for check in checks.as_array().into_iter().flatten() {
            take_check(&mut imported, table, check);
        }
    }
    for key in map.keys().filter(|key| !key.starts_with("checks for ")) {
        imported.leave_out(key, "(file)", "only checks are read");
    }
    Ok(imported)
}

/// A check is one line, or one line with settings below it.
fn take_check(imported: &mut Imported, table: &str, check: &Value) {
    let none = Map::new();
    let (line, settings) = match check {
        Value::String(line) => (line.as_str(), &none),
        Value::Object(map) => match map.iter().next() {
            Some((line, settings)) => (line.as_str(), settings.as_object().unwrap_or(&none)),
            None => return imported.leave_out("(a check)", table, "it is empty"),
        },
        _ => return imported.leave_out("(a check)", table, "it is not text"),
    };
    if line == "schema" {
        return take_schema(imported, table, settings);
    }
    let Some((metric, comparison)) = read_line(line) else {
        return imported.leave_out(line, table, "its form is not known");
    };
    match draft_of(table, &metric, &comparison, settings) {
        Ok(mut draft) => {
            if let Some(name) = settings.get("name").and_then(Value::as_str) {
                name.clone_into(&mut draft.check_name);
            }
            draft.filter = settings.get("filter").and_then(Value::as_str).map(str::to_owned);
            let known = |key: &str| {
                key == "name" || key == "filter" || key.starts_with("valid ") || key.starts_with("missing ")
            };
            let rest = settings.iter().filter(|(key, _)| !known(key));
            draft
                .unknown
                .extend(rest.map(|(key, value)| (format!("soda_{}", key.replace(' ', "_")), value.clone())));
            imported.checks.push(draft);
        }
        Err(reason) => imported.leave_out(line, table, reason),
    }
}

fn draft_of(
    table: &str,
    metric: &Metric,
    comparison: &Comparison,
    settings: &Map<String, Value>,
) -> Result<Check, String> {
    let column = metric.columns.first().map(String::as_str);
    let need = || column.ok_or_else(|| "it names no column".to_owned());
    match metric.name.as_str() {
        "row_count" => {
            let (least, most) =
                comparison.counts().ok_or("the number of rows is compared in a way that has no bounds")?;
            Ok(draft::check(table, None, "row_count", params([("min", json!(least)), ("max", json!(most))])))
        }
        "missing_count" | "missing_percent" => {
            let params = params([("columns", json!([need()?]))]);
            rows(draft::check(table, column, "not_null", params), metric, comparison)
        }
        "duplicate_count" | "duplicate_percent" => {
            need()?;
            let params = params([("columns", json!(metric.columns))]);
            rows(draft::check(table, column, "unique", params), metric, comparison)
        }
        "invalid_count" | "invalid_percent" => {
            let (kind, params) =
                validity(need()?, settings).ok_or("it does not say what is valid in a way that is known")?;
            rows(draft::check(table, column, kind, params), metric, comparison)
        }
        "freshness" => {
            let age = comparison.duration().ok_or("its limit is not a length of time")?;
            Ok(draft::check(
                table,
                Some(need()?),
                "freshness",
                params([("column", json!(need()?)), ("max_age", json!(age))]),
            ))
        }
        "values_exist_in" => {
            let references = json!({"table": metric.other_table, "columns": metric.other_columns});
            let mut check = draft::check(
                table,
                column,
                "foreign_key",
                params([("columns", json!(metric.columns)), ("references", references)]),
            );
            check.target_table.extend(metric.other_table.clone());
            Ok(check)
        }
        name => {
            let function = match name {
                "avg" => "mean",
                "min" | "max" | "sum" => name,
                "stddev" | "stddev_samp" => "stdev",
                "distinct_count" => "distinct_count",
                _ => return Err(format!("nothing here means `{name}`")),
            };
            let (least, most, strict_min, strict_max) =
                comparison.bounds().ok_or("it is compared in a way that has no bounds")?;
            let strict = |is_strict: bool| if is_strict { json!(true) } else { Value::Null };
            let params = params([
                ("column", json!(need()?)),
                ("function", json!(function)),
                ("min", json!(least)),
                ("max", json!(most)),
                ("strict_min", strict(strict_min)),
                ("strict_max", strict(strict_max)),
            ]);
            Ok(draft::check(table, column, "aggregate", params))
        }
    }
}

/// How many failing rows are allowed.
fn rows(mut check: Check, metric: &Metric, comparison: &Comparison) -> Result<Check, String> {
    let (_, most, _, is_strict) = comparison.bounds().ok_or("it is compared in a way that has no bounds")?;
    let most = most.ok_or("more failures than a number are asked for, not fewer")?;
    check.fail_if = if metric.name.ends_with("percent") {
        Some(Threshold { count: None, percent: Some(most) })
    } else {
        let steps = if is_strict { most.ceil() - 1.0 } else { most.floor() };
        let count = format!("{steps:.0}").parse::<u64>().map_err(|_| "its limit is below zero".to_owned())?;
        (count > 0).then_some(Threshold { count: Some(count), percent: None })
    };
    Ok(check)
}

/// What is valid, from the settings of a check or of a column.
fn validity(column: &str, settings: &Map<String, Value>) -> Option<(&'static str, Map<String, Value>)> {
    let get = |name: &str| {
        settings
            .get(&format!("valid {name}"))
            .or_else(|| settings.get(&format!("valid_{}", name.replace(' ', "_"))))
            .cloned()
            .unwrap_or_default()
    };
    let column = json!(column);
    if !get("values").is_null() {
        return Some(("in_set", params([("column", column), ("values", get("values"))])));
    }
    if !get("regex").is_null() {
        return Some(("regex", params([("column", column), ("pattern", get("regex"))])));
    }
    if !get("min").is_null() || !get("max").is_null() {
        return Some(("range", params([("column", column), ("min", get("min")), ("max", get("max"))])));
    }
    let (least, most) = (get("min length"), get("max length"));
    let exactly = get("length");
    if !exactly.is_null() {
        return Some(("length", params([("column", column), ("min", exactly.clone()), ("max", exactly)])));
    }
    if !least.is_null() || !most.is_null() {
        return Some(("length", params([("column", column), ("min", least), ("max", most)])));
    }
    let kind = match get("format").as_str()? {
        "email" => "email",
        "uuid" => "uuid",
        "url" => "url",
        "ip address" | "ipv4 address" => "ipv4",
        "date iso 8601" | "timestamp 24h" | "date us" | "date eu" => "date_text",
        "integer" | "number whole" => "integer",
        "decimal" | "number decimal point" | "percentage" => "number",
        _ => return None,
    };
    Some(("dtype", params([("column", column), ("type", json!(kind))])))
}

/// Columns that must be there, and those that must not.
fn take_schema(imported: &mut Imported, table: &str, settings: &Map<String, Value>) {
    for level in ["fail", "warn"] {
        let Some(rules) = settings.get(level).and_then(Value::as_object) else { continue };
        for (rule, value) in rules {
            match rule.as_str() {
                "when required column missing" => {
                    let params = params([("columns", value.clone()), ("extra", json!("allow"))]);
                    imported.checks.push(draft::check(table, None, "schema", params));
                }
                _ => imported.leave_out(
                    &format!("schema: {rule}"),
                    table,
                    "only missing columns can be asked for",
                ),
            }
        }
    }
}

/// A data contract: columns with their checks.
fn take_contract(imported: &mut Imported, dataset: &str, contract: &Value) {
    let table = dataset.rsplit(['/', '.']).next().unwrap_or(dataset);
    let columns: Vec<_> = contract.get("columns").and_then(Value::as_array).into_iter().flatten().collect();
    let names: Vec<_> = columns.iter().filter_map(|column| column.get("name")?.as_str()).collect();
    if !names.is_empty() {
        imported.checks.push(draft::check(
            table,
            None,
            "schema",
            params([("columns", json!(names)), ("extra", json!("allow"))]),
        ));
    }
    for column in columns {
        let name = column.get("name").and_then(Value::as_str).unwrap_or_default();
        for check in column.get("checks").and_then(Value::as_array).into_iter().flatten() {
            take_contract_check(imported, table, Some(name), check);
        }
    }
    for check in contract.get("checks").and_then(Value::as_array).into_iter().flatten() {
        take_contract_check(imported, table, None, check);
    }
}

fn take_contract_check(imported: &mut Imported, table: &str, column: Option<&str>, check: &Value) {
    let none = Map::new();
    let (name, settings) = match check {
        Value::String(name) => (name.as_str(), &none),
        Value::Object(map) => match map.iter().next() {
            Some((name, settings)) => (name.as_str(), settings.as_object().unwrap_or(&none)),
            None => return,
        },
        _ => return,
    };
    let place = column.map_or_else(|| table.to_owned(), |column| format!("{table}.{column}"));
    let mapped = match (name, column) {
        ("missing", Some(column)) => Some(("not_null", params([("columns", json!([column]))]))),
        ("duplicate", Some(column)) => Some(("unique", params([("columns", json!([column]))]))),
        ("duplicate", None) => {
            settings.get("columns").map(|columns| ("unique", params([("columns", columns.clone())])))
        }
        ("invalid", Some(column)) => validity(column, settings),
        ("row_count", None) => {
            let must_be = |key: &str| {
                settings.get("threshold").and_then(|threshold| threshold.get(key)).and_then(Value::as_u64)
            };
            let least = must_be("must_be_greater_than_or_equal")
                .or(must_be("must_be_greater_than").map(|count| count + 1));
            Some((
                "row_count",
                params([
                    ("min", json!(least.unwrap_or(1))),
                    ("max", json!(must_be("must_be_less_than_or_equal"))),
                ]),
            ))
        }
        ("freshness", _) => settings.get("column").map(|column| {
            let hours = settings
                .get("threshold")
                .and_then(|threshold| threshold.get("must_be_less_than"))
                .and_then(Value::as_u64);
            (
                "freshness",
                params([("column", column.clone()), ("max_age", json!(format!("{}h", hours.unwrap_or(24))))]),
            )
        }),
        _ => None,
    };
    match mapped {
        Some((kind, params)) => {
            let mut check = draft::check(table, column, kind, params);
            if let Some(name) = settings.get("name").and_then(Value::as_str) {
                name.clone_into(&mut check.check_name);
            }
            imported.checks.push(check);
        }
        None => imported.leave_out(name, &place, "no kind means the same"),
    }
}
