//! What a question about files is found by in the plan cache: its words, and what the files look like.
//!
//! The rows are left out: the same question about new data with the same columns runs the same code, as long as the values
//! that the question names are in the same columns.

use serde_json::{Value, json};

use super::{Brief, FileBrief};
use crate::exchange::Reply;
use crate::reader;

/// Facts that say how a file is to be read.
const READING: [&str; 6] = ["encoding", "delimiter", "header", "sheets", "compressed", "pandas_keys"];
/// Facts of a table that say how it is found in its file.
const FINDING: [&str; 7] = ["name", "path", "member", "index", "header_row", "by_column", "columns_total"];

/// What two questions about files have in common that one plan answers, as a text.
pub fn question_key(brief: &Brief) -> String {
    // Signs are part of a question too: `units > 5` is not `units < 5`.
    let words = reader::spoken(brief.request.trim_end_matches(['?', '.', ' ']));
    // What a question comes to may depend on the rows: which years there are, and whether a number is missing.
    let read = match reader::plan(brief) {
        Reply::Plan(draft) => draft.code,
        _ => String::new(),
    };
    let files: Vec<Value> = brief.files.iter().map(schema).collect();
    let meaning = json!([brief.catalog.data, brief.catalog.phrasings, brief.catalog.metrics]);
    let named = reader::mentioned(&brief.request, brief.files.iter().flat_map(values));
    format!("code\0{words}\0{}\0{meaning}\0{}\0{read}", json!(files), json!(named))
}

/// The columns of a file whose values are known, each with its values.
fn values(file: &FileBrief) -> Vec<(&str, &[Value])> {
    let tables = file.facts.get("tables").and_then(Value::as_array).into_iter().flatten();
    let columns = tables.filter_map(|table| table.get("columns")?.as_array()).flatten();
    columns
        .filter_map(|column| {
            Some((column.get("name")?.as_str()?, column.get("values")?.as_array()?.as_slice()))
        })
        .collect()
}

fn schema(file: &FileBrief) -> Value {
    let facts = &file.facts;
    let picked = |from: &Value, names: &[&str]| -> Value {
        names.iter().map(|&name| from.get(name).cloned().unwrap_or_default()).collect()
    };
    let tables: Vec<Value> = facts
        .get("tables")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .map(|table| {
            let columns = table.get("columns").and_then(Value::as_array).into_iter().flatten();
            let columns: Vec<Value> = columns
                .map(|column| {
                    picked(column, &["name", "type", "currency", "unit", "zone", "called", "misfits"])
                })
                .collect();
            json!([picked(table, &FINDING), columns])
        })
        .collect();
    let arrays: Vec<Value> = facts
        .get("arrays")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .map(|array| picked(array, &["name", "type", "dimensions"]))
        .collect();
    let is_readable = facts.get("problem").is_none();
    json!([file.name, file.kind, is_readable, picked(facts, &READING), tables, arrays])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::brief::Task;

    fn key(request: &str, rows: u64, kind: &str) -> String {
        let mut brief = Brief::new(Task::Code, request);
        brief.files.push(FileBrief {
            name: "a.csv".to_owned(),
            bytes: rows * 10,
            kind: "csv".to_owned(),
            facts: json!({ "tables": [{ "rows": rows, "columns": [{ "name": "units", "type": kind, "samples": [rows] }] }] }),
        });
        question_key(&brief)
    }

    #[test]
    fn a_column_in_another_currency_or_unit_changes_the_key() {
        let key = |counts: Value| {
            let mut brief = Brief::new(Task::Code, "rows with cost above 5");
            let (name, kind) = ("f.csv".to_owned(), "csv".to_owned());
            let mut column = json!({ "name": "cost", "type": "decimal" });
            column.as_object_mut().unwrap().extend(counts.as_object().unwrap().clone());
            brief.files.push(FileBrief {
                name,
                bytes: 10,
                kind,
                facts: json!({ "tables": [{ "columns": [column] }] }),
            });
            question_key(&brief)
        };
        let all =
            [json!({}), json!({ "currency": "USD" }), json!({ "currency": "EUR" }), json!({ "unit": "kg" })];
        let different: std::collections::BTreeSet<String> = all.into_iter().map(key).collect();
        assert_eq!(different.len(), 4);
    }

    #[test]
    fn a_value_that_moved_to_another_column_changes_the_key() {
        let key = |city: &str, region: &str| {
            let column = |name: &str, value: &str| json!({ "name": name, "type": "text", "values": [value] });
            let mut brief = Brief::new(Task::Code, "total units of North");
            brief.files.push(FileBrief {
                name: "s.csv".to_owned(),
                bytes: 10,
                kind: "csv".to_owned(),
                facts: json!({ "tables": [{ "columns": [column("city", city), column("region", region)] }] }),
            });
            question_key(&brief)
        };
        assert_eq!(key("Bonn", "North"), key("Rome", "North"), "other values do not matter");
        assert_ne!(key("Bonn", "North"), key("North", "Bonn"));
        assert_ne!(key("Bonn", "North"), key("North", "North"));
    }

    #[test]
    fn new_rows_keep_the_key_and_a_new_type_or_question_does_not() {
        let first = key("total units?", 10, "integer");
        assert_eq!(first, key("Total units", 20, "integer"));
        assert_ne!(first, key("total units", 10, "text"));
        assert_ne!(first, key("average units", 10, "integer"));
        assert_ne!(key("units > 5", 10, "integer"), key("units < 5", 10, "integer"));
    }
}
