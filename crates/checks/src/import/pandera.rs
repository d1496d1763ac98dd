//! A dataframe schema of pandera, as its YAML writes it.

use serde_json::{Map, Value, json};

use super::draft::{self, params};
use super::expectation::column_type;
use super::{ImportError, Imported, Tool};

pub(super) fn import(schema: &Value, table: Option<&str>) -> Result<Imported, ImportError> {
    let Some(columns) = schema.get("columns").and_then(Value::as_object) else {
        return Err(ImportError::Shape {
            tool: Tool::Pandera,
            message: "it has no map `columns`".to_owned(),
        });
    };
    let named = ["name", "title"].iter().find_map(|key| schema.get(*key)?.as_str());
    let table = table.or(named).unwrap_or("table");
    let mut imported = Imported::default();
    take_table(&mut imported, table, schema, columns);
    for (column, spec) in columns {
        take_column(&mut imported, table, column, spec);
    }
    for (name, _) in checks_of(schema) {
        imported.leave_out(
            &name,
            table,
            "a check of the whole frame has no fixed meaning; write it as a hint",
        );
    }
    if schema.get("index").is_some_and(|index| !index.is_null()) {
        imported.leave_out("index", table, "tables here have no index; give its column a check of its own");
    }
    Ok(imported)
}

fn take_table(imported: &mut Imported, table: &str, schema: &Value, columns: &Map<String, Value>) {
    let flag = |key: &str| schema.get(key).and_then(Value::as_bool).unwrap_or_default();
    let is_required = |spec: &Value| spec.get("required").and_then(Value::as_bool).unwrap_or(true);
    let names: Vec<&String> =
        columns.iter().filter(|(_, spec)| is_required(spec)).map(|(name, _)| name).collect();
    let order = if flag("ordered") { json!("exact") } else { Value::Null };
    let extra = if flag("strict") { json!("deny") } else { json!("allow") };
    let params = params([("columns", json!(names)), ("order", order), ("extra", extra)]);
    imported.checks.push(draft::check(table, None, "schema", params));
    if let Some(unique) = schema.get("unique").filter(|unique| !unique.is_null()) {
        let columns = if unique.is_string() { json!([unique]) } else { unique.clone() };
        imported.checks.push(draft::check(
            table,
            None,
            "unique",
            draft::params([("columns", columns), ("ignore_row_if", json!("never"))]),
        ));
    }
}

fn take_column(imported: &mut Imported, table: &str, column: &str, spec: &Value) {
    let flag = |key: &str| spec.get(key).and_then(Value::as_bool).unwrap_or_default();
    let mut push = |kind: &str, params: Map<String, Value>| {
        let mut check = draft::check(table, Some(column), kind, params);
        check.description =
            spec.get("description").and_then(Value::as_str).map(str::to_owned).unwrap_or_default();
        imported.checks.push(check);
    };
    if !flag("nullable") {
        push("not_null", params([("columns", json!([column]))]));
    }
    if flag("unique") {
        push("unique", params([("columns", json!([column]))]));
    }
    let dtype = spec.get("dtype").and_then(Value::as_str);
    if let Some(known) = dtype.and_then(column_type) {
        push("dtype", params([("column", json!(column)), ("type", json!(known))]));
    }
    if let Some(dtype) = dtype.filter(|dtype| column_type(dtype).is_none()) {
        imported.leave_out(
            &format!("dtype {dtype}"),
            &format!("{table}.{column}"),
            "columns here have no such type",
        );
    }
    if flag("regex") {
        imported.leave_out(
            "regex",
            &format!("{table}.{column}"),
            "the name stands for several columns; name each of them",
        );
    }
    for (name, arguments) in checks_of(spec) {
        match kind_of(&name, column, &arguments) {
            Some((kind, params)) => imported.checks.push(draft::check(table, Some(column), kind, params)),
            None => imported.leave_out(&name, &format!("{table}.{column}"), "no kind means the same"),
        }
    }
}

/// Checks as a map of names, or as a list with `check_name` in the options.
fn checks_of(spec: &Value) -> Vec<(String, Value)> {
    match spec.get("checks") {
        Some(Value::Object(map)) => map.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
        Some(Value::Array(list)) => list
            .iter()
            .filter_map(|item| {
                let map = item.as_object()?;
                let named =
                    map.get("options").and_then(|options| options.get("check_name")).and_then(Value::as_str);
                match named {
                    Some(name) => {
                        Some((name.to_owned(), map.get("value").cloned().unwrap_or_else(|| item.clone())))
                    }
                    None => map.iter().next().map(|(name, value)| (name.clone(), value.clone())),
                }
            })
            .collect(),
        _ => Vec::new(),
    }
}

fn kind_of(name: &str, column: &str, arguments: &Value) -> Option<(&'static str, Map<String, Value>)> {
    let column = json!(column);
    // A check with one argument is written with or without its name.
    let one = |key: &str| match arguments {
        Value::Object(map) => map.get(key).or_else(|| map.get("value")).cloned().unwrap_or_default(),
        other => other.clone(),
    };
    let named = |key: &str| arguments.get(key).cloned().unwrap_or_default();
    let strict = |is_strict: bool| if is_strict { json!(true) } else { Value::Null };
    Some(match name {
        "greater_than" | "gt" => {
            ("range", params([("column", column), ("min", one("min_value")), ("strict_min", json!(true))]))
        }
        "greater_than_or_equal_to" | "ge" => {
            ("range", params([("column", column), ("min", one("min_value"))]))
        }
        "less_than" | "lt" => {
            ("range", params([("column", column), ("max", one("max_value")), ("strict_max", json!(true))]))
        }
        "less_than_or_equal_to" | "le" => ("range", params([("column", column), ("max", one("max_value"))])),
        "in_range" | "between" => {
            let (low, high) = (named("include_min") == json!(false), named("include_max") == json!(false));
            (
                "range",
                params([
                    ("column", column),
                    ("min", named("min_value")),
                    ("max", named("max_value")),
                    ("strict_min", strict(low)),
                    ("strict_max", strict(high)),
                ]),
            )
        }
        "equal_to" | "eq" => ("in_set", params([("column", column), ("values", json!([one("value")]))])),
        "not_equal_to" | "ne" => (
            "in_set",
            params([("column", column), ("values", json!([one("value")])), ("negate", json!(true))]),
        ),
        "isin" => ("in_set", params([("column", column), ("values", one("allowed_values"))])),
        "notin" => (
            "in_set",
            params([("column", column), ("values", one("forbidden_values")), ("negate", json!(true))]),
        ),
        "str_matches" => (
            "regex",
            params([("column", column), ("pattern", json!(format!("^(?:{})", one("pattern").as_str()?)))]),
        ),
        "str_contains" => ("regex", params([("column", column), ("pattern", one("pattern"))])),
        "str_startswith" => (
            "regex",
            params([("column", column), ("pattern", json!(format!("^{}", quoted(one("string").as_str()?))))]),
        ),
        "str_endswith" => (
            "regex",
            params([
                ("column", column),
                ("pattern", json!(format!(r"{}\Z", quoted(one("string").as_str()?)))),
            ]),
        ),
        "str_length" => {
            ("length", params([("column", column), ("min", named("min_value")), ("max", named("max_value"))]))
        }
        "unique_values_eq" => (
            "aggregate",
            params([("column", column), ("function", json!("distinct_values")), ("equals", one("values"))]),
        ),
        _ => return None,
    })
}

/// Text that a pattern takes as it is.
fn quoted(text: &str) -> String {
    let mut out = String::new();
    for character in text.chars() {
        if !character.is_alphanumeric() && !character.is_whitespace() && character != '_' {
            out.push('\\');
        }
        out.push(character);
    }
    out
}
