//! An expectation suite of Great Expectations.

use serde_json::{Map, Value};

use super::expectation::arguments::REPORTING;
use super::expectation::{NotMapped, map_expectation};
use super::{ImportError, Imported, Tool, draft};
use crate::check::Severity;

/// A suite names no table; it is given, or else the suite's own name stands for it.
pub(super) fn import(suite: &Value, table: Option<&str>) -> Result<Imported, ImportError> {
    let expectations = suite.get("expectations").and_then(Value::as_array).ok_or_else(|| {
        ImportError::Shape { tool: Tool::Gx, message: "it has no list `expectations`".to_owned() }
    })?;
    let named = ["expectation_suite_name", "name"].iter().find_map(|key| suite.get(*key)?.as_str());
    let table = table.or(named).unwrap_or("table").to_owned();
    let mut imported = Imported::default();
    for key in suite.as_object().into_iter().flat_map(Map::keys).filter(|key| *key != "expectations") {
        let is_name = ["expectation_suite_name", "name"].contains(&key.as_str());
        imported.account(
            "(the suite)",
            key,
            (!is_name).then_some("it describes the suite and asks nothing of its rows"),
        );
    }
    for expectation in expectations {
        take(&mut imported, &table, expectation);
    }
    Ok(imported)
}

fn take(imported: &mut Imported, table: &str, expectation: &Value) {
    let named = ["type", "expectation_type"].iter().find_map(|key| expectation.get(*key)?.as_str());
    let Some(kind) = named else {
        imported.leave_out("(an expectation)", table, "it has no type");
        return;
    };
    let none = Map::new();
    let kwargs = expectation.get("kwargs").and_then(Value::as_object).unwrap_or(&none);
    let column = kwargs.get("column").or_else(|| kwargs.get("column_A")).and_then(Value::as_str);
    let place = column.map_or_else(|| table.to_owned(), |column| format!("{table}.{column}"));
    let made = map_expectation(kind, kwargs).and_then(|expected| match expected.left.keys().next() {
        // What nobody knows may say anything about the rule.
        Some(unknown) => {
            let unknown = unknown.trim_start_matches("gx_");
            Err(NotMapped::Unsupported(format!("nothing here means its argument `{unknown}`")))
        }
        None => Ok(expected),
    });
    account(imported, &format!("{place}: {kind}"), expectation, kwargs, made.is_ok());
    match made {
        Err(NotMapped::Unsupported(reason) | NotMapped::Invalid(reason)) => {
            imported.turn_off(kind, &place, &[table.to_owned()], reason, expectation);
        }
        Ok(expected) => {
            let mut check = draft::check(table, column, expected.kind, expected.params);
            check.filter = expected.filter;
            check.fail_if = expected.fail_if;
            check.severity = severity(expectation);
            check.description = notes(expectation).unwrap_or_default();
            if let Some(other) = check.params.get("same_as").and_then(Value::as_str) {
                check.target_table.push(other.to_owned());
            }
            if let Some(meta) =
                expectation.get("meta").filter(|meta| meta.as_object().is_some_and(|map| !map.is_empty()))
            {
                check.unknown.insert("meta".to_owned(), meta.clone());
            }
            imported.checks.push(check);
        }
    }
}

/// Says what became of each key of an expectation.
fn account(
    imported: &mut Imported,
    at: &str,
    expectation: &Value,
    kwargs: &Map<String, Value>,
    is_made: bool,
) {
    const READ: [&str; 6] = ["type", "expectation_type", "kwargs", "severity", "notes", "meta"];
    for key in expectation.as_object().into_iter().flat_map(Map::keys).filter(|key| *key != "kwargs") {
        let is_read = is_made && READ.contains(&key.as_str());
        imported.account(at, key, (!is_read).then_some("it says nothing about the data"));
    }
    for key in kwargs.keys() {
        let why = if REPORTING.contains(&key.as_str()) {
            Some("it says how results are reported")
        } else {
            (!is_made).then_some("its expectation is turned off")
        };
        imported.account(at, key, why);
    }
}

fn severity(expectation: &Value) -> Severity {
    match expectation.get("severity").and_then(Value::as_str) {
        Some("info") => Severity::Info,
        Some("warning") => Severity::Medium,
        Some("critical") => Severity::Critical,
        _ => Severity::High,
    }
}

fn notes(expectation: &Value) -> Option<String> {
    let notes = expectation.get("notes").or_else(|| expectation.get("meta")?.get("notes"))?;
    match notes {
        Value::String(text) => Some(text.clone()),
        Value::Array(lines) => Some(lines.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n")),
        other => other.get("content").map(|content| match content {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        }),
    }
}
