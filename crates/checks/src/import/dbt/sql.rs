//! Tests of dbt as the SELECT that finds the rows which break them: what dbt runs, over the tables that checks have.

use serde_json::{Map, Value};

use super::referenced;
use crate::catalogue::Kind;

/// SQL with names of tables in place of `ref(…)` and `source(…)`, and the names of these tables in order; or why only dbt can
/// fill it in.
pub(super) fn filled(text: &str) -> Result<(String, Vec<String>), &'static str> {
    const ONLY_DBT: &str = "it has Jinja, which only dbt fills in";
    let (mut sql, mut tables, mut rest) = (String::new(), Vec::new(), text);
    while let Some((before, inside)) = rest.split_once("{{") {
        let (call, after) = inside.split_once("}}").ok_or(ONLY_DBT)?;
        let table = referenced(&Value::String(call.to_owned())).ok_or(ONLY_DBT)?;
        sql.push_str(before);
        sql.push_str(&quoted(&table));
        if !tables.contains(&table) {
            tables.push(table);
        }
        rest = after;
    }
    sql.push_str(rest);
    if sql.contains("{%") || sql.contains("{#") {
        return Err(ONLY_DBT);
    }
    Ok((sql.trim().trim_end_matches(';').trim_end().to_owned(), tables))
}

/// The rows of a table for which a condition does not hold, among those that another one chooses.
pub(super) fn where_not(table: &str, condition: &str, chosen: Option<&str>) -> String {
    format!("SELECT * FROM {} WHERE NOT ({condition})", among(table, chosen))
}

/// The rows that break a rule of a kind, among those that a condition in SQL chooses; `None` where no SELECT says the same.
pub(super) fn of_kind(kind: Kind, params: &Map<String, Value>, table: &str, chosen: &str) -> Option<String> {
    let rows = among(table, Some(chosen));
    let text = |name: &str| params.get(name).and_then(Value::as_str);
    let is_set = |name: &str| params.get(name).and_then(Value::as_bool).unwrap_or_default();
    let columns = params.get("columns").and_then(Value::as_array).into_iter().flatten();
    let columns: Vec<String> = columns.filter_map(Value::as_str).map(quoted).collect();
    let of_column = || text("column").map(quoted);
    match kind {
        Kind::NotNull if !is_set("negate") => {
            Some(format!("SELECT * FROM {rows} WHERE {} IS NULL", columns.first()?))
        }
        Kind::Unique => {
            let by = columns.join(", ");
            let there = if text("ignore_row_if") == Some("never") {
                String::new()
            } else {
                let there: Vec<String> = columns.iter().map(|name| format!("{name} IS NOT NULL")).collect();
                format!(" WHERE {}", there.join(" AND "))
            };
            Some(format!("SELECT * FROM {rows}{there} QUALIFY count(*) OVER (PARTITION BY {by}) > 1"))
        }
        Kind::ForeignKey => {
            let to = params.get("references")?;
            let (known, field) = (to.get("table")?.as_str()?, to.pointer("/columns/0")?.as_str()?);
            let (ours, theirs) = (columns.first()?, quoted(field));
            Some(format!(
                "SELECT * FROM {rows} WHERE {ours} IS NOT NULL AND {ours} NOT IN (SELECT {theirs} FROM {} WHERE {theirs} IS NOT NULL)",
                quoted(known)
            ))
        }
        Kind::InSet => {
            let values: Option<Vec<String>> = params.get("values")?.as_array()?.iter().map(literal).collect();
            let is_wrong = if is_set("negate") { "IN" } else { "NOT IN" };
            Some(format!("SELECT * FROM {rows} WHERE {} {is_wrong} ({})", of_column()?, values?.join(", ")))
        }
        Kind::Range => {
            let column = of_column()?;
            let bound = |name: &str, strict: &str, beyond: &str| {
                let value = params.get(name).filter(|value| !value.is_null())?;
                let equal = if is_set(strict) { "=" } else { "" };
                Some(literal(value).map(|value| format!("{column} {beyond}{equal} {value}")))
            };
            let bounds = [bound("min", "strict_min", "<"), bound("max", "strict_max", ">")];
            let bounds: Option<Vec<String>> = bounds.into_iter().flatten().collect();
            Some(format!("SELECT * FROM {rows} WHERE {}", bounds.filter(|all| !all.is_empty())?.join(" OR ")))
        }
        _ => None,
    }
}

fn among(table: &str, chosen: Option<&str>) -> String {
    match chosen {
        Some(chosen) => format!("(SELECT * FROM {} WHERE ({chosen})) AS chosen", quoted(table)),
        None => quoted(table),
    }
}

fn literal(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(format!("'{}'", text.replace('\'', "''"))),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        _ => None,
    }
}

pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
