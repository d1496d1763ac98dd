//! Data tests of dbt: `schema.yml` with models, seeds, snapshots and sources.

use serde_json::{Map, Value, json};

use super::draft::{self, params};
use super::expectation::{NotMapped, map_expectation};
use super::{ImportError, Imported, Tool};
use crate::check::{Check, Severity, Threshold};

/// Where a test stands.
struct TestTarget<'a> {
    table: &'a str,
    column: Option<&'a str>,
}

pub(super) fn import(file: &Value) -> Result<Imported, ImportError> {
    let mut imported = Imported::default();
    let mut is_dbt = false;
    for group in ["models", "seeds", "snapshots"] {
        for model in list(file, group) {
            is_dbt = true;
            take_model(&mut imported, model);
        }
    }
    for source in list(file, "sources") {
        is_dbt = true;
        for table in list(source, "tables") {
            take_model(&mut imported, table);
        }
    }
    if !is_dbt {
        let message = "it has none of `models`, `seeds`, `snapshots` and `sources`".to_owned();
        return Err(ImportError::Shape { tool: Tool::Dbt, message });
    }
    Ok(imported)
}

fn list<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    value.get(key).and_then(Value::as_array).into_iter().flatten()
}

fn tests(value: &Value) -> impl Iterator<Item = &Value> {
    list(value, "tests").chain(list(value, "data_tests"))
}

fn take_model(imported: &mut Imported, model: &Value) {
    let Some(table) = model.get("name").and_then(Value::as_str) else {
        imported.leave_out("(a model)", "(unknown)", "it has no name");
        return;
    };
    for test in tests(model) {
        take_test(imported, &TestTarget { table, column: None }, test);
    }
    for column in list(model, "columns") {
        let name = column.get("name").and_then(Value::as_str);
        for test in tests(column) {
            take_test(imported, &TestTarget { table, column: name }, test);
        }
    }
}

fn take_test(imported: &mut Imported, place: &TestTarget<'_>, test: &Value) {
    let none = json!({});
    let (name, body) = match test {
        Value::String(name) => (name.as_str(), &none),
        Value::Object(map) => match map
            .iter()
            .find(|(key, _)| !["name", "config", "test_name", "description"].contains(&key.as_str()))
        {
            Some((name, body)) => (name.as_str(), body),
            None => match map.get("test_name").and_then(Value::as_str) {
                Some(name) => (name, test),
                None => ("", &none),
            },
        },
        _ => ("", &none),
    };
    let shown = match place.column {
        Some(column) => format!("{}.{column}", place.table),
        None => place.table.to_owned(),
    };
    if name.is_empty() {
        imported.leave_out("(a test)", &shown, "it has no name");
        return;
    }
    // Newer files put what a test takes under `arguments`.
    let mut arguments = body.as_object().cloned().unwrap_or_default();
    if let Some(Value::Object(nested)) = arguments.remove("arguments") {
        arguments.extend(nested);
    }
    let config = config_of(&mut arguments, test);
    let fail_if = share(&arguments);
    match kind_of(name, place, &arguments) {
        Ok((kind, params)) => {
            let mut check = draft::check(place.table, place.column, kind, params);
            check.fail_if = fail_if;
            let check = finish(&mut imported.notes, check, config, name);
            imported.checks.push(check);
        }
        Err(NotMapped::Unsupported(reason) | NotMapped::Invalid(reason)) => {
            imported.leave_out(name, &shown, reason);
        }
    }
}

/// The share that may fail, from the share that must pass.
fn share(arguments: &Map<String, Value>) -> Option<Threshold> {
    let share = arguments.get("mostly").or_else(|| arguments.get("at_least"))?.as_f64()?;
    (0.0..1.0).contains(&share).then(|| draft::fail_above(share))
}

/// The settings of a test, wherever they stand.
fn config_of(arguments: &mut Map<String, Value>, test: &Value) -> Map<String, Value> {
    let mut config = Map::new();
    for nested in [arguments.remove("config"), test.get("config").cloned()] {
        if let Some(Value::Object(nested)) = nested {
            config.extend(nested);
        }
    }
    // A condition on rows is SQL, like `where`.
    if let Some(condition) = arguments.remove("row_condition") {
        config.insert("where".to_owned(), condition);
    }
    for key in [
        "severity",
        "where",
        "warn_if",
        "error_if",
        "limit",
        "tags",
        "store_failures",
        "enabled",
        "meta",
        "name",
        "description",
    ] {
        if let Some(value) = arguments.remove(key) {
            config.insert(key.to_owned(), value);
        }
    }
    config
}

fn kind_of(
    name: &str,
    place: &TestTarget<'_>,
    arguments: &Map<String, Value>,
) -> Result<(&'static str, Map<String, Value>), NotMapped> {
    let unsupported = |reason: &str| Err(NotMapped::Unsupported(reason.to_owned()));
    let get = |key: &str| arguments.get(key).cloned().unwrap_or_default();
    let column =
        place.column.map(str::to_owned).or_else(|| arguments.get("column_name")?.as_str().map(str::to_owned));
    let columns = json!(column.iter().collect::<Vec<_>>());
    if column.is_none() && matches!(name, "not_null" | "unique" | "accepted_values" | "relationships") {
        return unsupported("it names no column");
    }
    Ok(match name {
        "not_null" | "dbt_utils.not_null_proportion" => ("not_null", params([("columns", columns)])),
        "unique" => ("unique", params([("columns", columns)])),
        "accepted_values" | "dbt_utils.accepted_values" => {
            ("in_set", params([("column", json!(column)), ("values", get("values"))]))
        }
        "dbt_utils.not_accepted_values" => (
            "in_set",
            params([("column", json!(column)), ("values", get("values")), ("negate", json!(true))]),
        ),
        "relationships" | "dbt_utils.relationships_where" => {
            let (Some(table), Some(field)) = (referenced(&get("to")), arguments.get("field")) else {
                return unsupported(
                    "the table that it refers to is not written as ref('…') or source('…', '…')",
                );
            };
            (
                "foreign_key",
                params([("columns", columns), ("references", json!({"table": table, "columns": [field]}))]),
            )
        }
        "dbt_utils.unique_combination_of_columns" => (
            "unique",
            params([("columns", get("combination_of_columns")), ("ignore_row_if", json!("never"))]),
        ),
        "dbt_utils.accepted_range" => {
            let strict = (arguments.get("inclusive") == Some(&json!(false))).then_some(true);
            (
                "range",
                params([
                    ("column", json!(column)),
                    ("min", get("min_value")),
                    ("max", get("max_value")),
                    ("strict_min", json!(strict)),
                    ("strict_max", json!(strict)),
                ]),
            )
        }
        "dbt_utils.not_empty_string" => ("length", params([("column", json!(column)), ("min", json!(1))])),
        "dbt_utils.equal_rowcount" => match referenced(&get("compare_model")) {
            Some(table) => ("row_count", params([("same_as", json!(table))])),
            None => return unsupported("the model to compare with is not written as ref('…')"),
        },
        "dbt_utils.recency" => {
            let (part, interval) = (get("datepart"), get("interval"));
            let unit = match part.as_str() {
                Some("hour") => "h",
                Some("day") => "d",
                Some("week") => "w",
                Some("minute") => "m",
                _ => return unsupported("its `datepart` is none of minute, hour, day and week"),
            };
            ("freshness", params([("column", get("field")), ("max_age", json!(format!("{interval}{unit}")))]))
        }
        _ => {
            let Some(expectation) = name.strip_prefix("dbt_expectations.") else {
                return unsupported(
                    "it is a test of the project's own; write it as a check with `kind` hint or python",
                );
            };
            let mut kwargs = arguments.clone();
            if let Some(column) = column {
                kwargs.entry("column").or_insert(json!(column));
            }
            for (theirs, ours) in [
                ("column_type", "type_"),
                ("column_type_list", "type_list"),
                ("group_by_columns", "group_by"),
            ] {
                if let Some(value) = kwargs.remove(theirs) {
                    kwargs.insert(ours.to_owned(), value);
                }
            }
            let expected = map_expectation(expectation, &kwargs)?;
            if !expected.left.is_empty() {
                let names: Vec<_> = expected.left.keys().map(|name| name.trim_start_matches("gx_")).collect();
                return unsupported(&format!("nothing here means `{}`", names.join("`, `")));
            }
            (expected.kind, expected.params)
        }
    })
}

/// The table inside `ref('orders')` or `source('shop', 'orders')`.
fn referenced(to: &Value) -> Option<String> {
    let text = to.as_str()?.trim().trim_start_matches("{{").trim_end_matches("}}").trim();
    let inside = text.strip_prefix("ref(").or_else(|| text.strip_prefix("source("))?.strip_suffix(')')?;
    let name = inside.split(',').next_back()?.trim().trim_matches(['\'', '"']);
    (!name.is_empty()).then(|| name.to_owned())
}

/// Puts the settings of a test into its check.
fn finish(notes: &mut Vec<String>, mut check: Check, mut config: Map<String, Value>, name: &str) -> Check {
    let mut take = |key: &str| config.remove(key);
    check.severity =
        match take("severity").as_ref().and_then(Value::as_str).map(str::to_ascii_lowercase).as_deref() {
            Some("warn") => Severity::Medium,
            _ => Severity::High,
        };
    check.enabled = take("enabled").and_then(|value| value.as_bool()).unwrap_or(true);
    if let Some(condition) = take("where").as_ref().and_then(Value::as_str) {
        // SQL and pandas differ in more than one sign; what is the same in both is taken over.
        let looks_plain = !condition.contains(['=', '{'])
            || condition.contains("==")
            || condition.contains(">=")
            || condition.contains("<=");
        if looks_plain && !condition.to_ascii_lowercase().contains(" is ") {
            check.filter = Some(condition.to_owned());
        } else {
            check.unknown.insert("dbt_where".to_owned(), json!(condition));
            notes.push(format!(
                "{}: its `where` is SQL and is kept as `dbt_where`; write it as `filter`",
                check.check_id
            ));
        }
    }
    check.warn_if = take("warn_if").as_ref().and_then(Value::as_str).and_then(threshold);
    let error_if = take("error_if").as_ref().and_then(Value::as_str).and_then(threshold);
    check.fail_if = check.fail_if.or(error_if);
    check.tags = match take("tags") {
        Some(Value::String(tag)) => vec![tag],
        Some(Value::Array(tags)) => tags.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    };
    if let Some(Value::String(own)) = take("name") {
        check.check_name = own;
    }
    if let Some(Value::String(text)) = take("description") {
        check.description = text;
    }
    if let Some(table) =
        check.params.get("references").and_then(|to| to.get("table")).or_else(|| check.params.get("same_as"))
    {
        check.target_table.extend(table.as_str().map(str::to_owned));
    }
    check.unknown.insert("dbt_test".to_owned(), json!(name));
    check.unknown.extend(config.into_iter().map(|(key, value)| (format!("dbt_{key}"), value)));
    check
}

/// `>10` as a count of failing rows.
fn threshold(condition: &str) -> Option<Threshold> {
    let condition = condition.trim();
    let count = if let Some(least) = condition.strip_prefix(">=") {
        least.trim().parse::<u64>().ok()?.checked_sub(1)?
    } else if let Some(above) = condition.strip_prefix('>') {
        above.trim().parse().ok()?
    } else if condition.replace(' ', "") == "!=0" {
        0
    } else {
        return None;
    };
    Some(Threshold { count: Some(count), percent: None })
}
