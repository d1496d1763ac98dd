//! Keeps the facts about files within what a planner can be shown.

use ordain_planner::FileBrief;
use serde_json::Value;

/// What may be told about all files together in detail.
const BYTES_MAX: usize = 160 * 1024;
/// The same of the names and types of columns: a question may be about any of them. A model is shown less, and told so.
const NAMES_BYTES_MAX: usize = 4 << 20;
/// Columns that are still named when there are too many files to tell everything.
const COLUMNS_KEPT: usize = 40;

/// What is known of a column that a question about it depends on.
const KEPT: [&str; 10] =
    ["name", "type", "values", "currency", "unit", "zone", "called", "misfits", "decimal", "because"];

/// Leaves out details, the least needed first, until everything fits.
pub(super) fn fit(briefs: &mut [FileBrief]) {
    let bounds = [BYTES_MAX, NAMES_BYTES_MAX, NAMES_BYTES_MAX];
    for (bytes_max, cut) in bounds.into_iter().zip([cut_samples, cut_columns, cut_all]) {
        if size(briefs) <= bytes_max {
            return;
        }
        for brief in &mut *briefs {
            cut(&mut brief.facts);
        }
    }
}

fn size(briefs: &[FileBrief]) -> usize {
    briefs.iter().map(|brief| brief.facts.to_string().len()).sum()
}

fn each_table(facts: &mut Value, change: impl Fn(&mut serde_json::Map<String, Value>)) {
    let tables = facts.get_mut("tables").and_then(Value::as_array_mut);
    for table in tables.into_iter().flatten().filter_map(Value::as_object_mut) {
        change(table);
    }
}

fn cut_samples(facts: &mut Value) {
    each_table(facts, |table| {
        let columns = table.get_mut("columns").and_then(Value::as_array_mut);
        for column in columns.into_iter().flatten().filter_map(Value::as_object_mut) {
            column.retain(|name, _| KEPT.contains(&name.as_str()));
        }
    });
    if let Some(facts) = facts.as_object_mut() {
        facts.remove("excerpt");
    }
}

fn cut_columns(facts: &mut Value) {
    each_table(facts, |table| {
        let columns = table.get_mut("columns").and_then(Value::as_array_mut);
        if let Some(columns) = columns {
            columns.truncate(COLUMNS_KEPT);
            for column in columns.iter_mut().filter_map(Value::as_object_mut) {
                column.remove("values");
            }
        }
    });
    if let Some(members) = facts.get_mut("members").and_then(Value::as_array_mut) {
        members.truncate(10);
    }
}

/// What is left is the format, how many rows there are and what was wrong.
fn cut_all(facts: &mut Value) {
    each_table(facts, |table| {
        table
            .retain(|name, _| matches!(name.as_str(), "name" | "rows" | "columns_total" | "path" | "member"));
    });
    if let Some(facts) = facts.as_object_mut() {
        facts.retain(|name, _| {
            matches!(name.as_str(), "tables" | "problem" | "note" | "encoding" | "delimiter" | "header")
        });
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_thousand_files_fit_and_keep_what_matters_most() {
        let columns: Vec<Value> = (0..30)
            .map(|n| json!({ "name": format!("column {n}"), "type": "text", "samples": ["x".repeat(50)] }))
            .collect();
        let facts =
            json!({ "encoding": "utf-8", "tables": [{ "name": null, "rows": 9, "columns": columns }] });
        let brief = |n: usize| FileBrief {
            name: format!("{n}.csv"),
            bytes: 1,
            kind: "csv".to_owned(),
            facts: facts.clone(),
        };
        let mut briefs: Vec<FileBrief> = (0..1000).map(brief).collect();
        fit(&mut briefs);
        assert!(size(&briefs) <= NAMES_BYTES_MAX);
        let last = &briefs[999].facts["tables"][0];
        assert_eq!((&last["rows"], &last["columns"][29]["name"]), (&json!(9), &json!("column 29")));
        assert!(last["columns"][29].get("samples").is_none());
        let mut many: Vec<FileBrief> = (0..20_000).map(brief).collect();
        fit(&mut many);
        assert!(size(&many) <= NAMES_BYTES_MAX);
        assert_eq!(many[9999].facts["tables"][0]["rows"], 9);
        let mut few = vec![brief(1)];
        fit(&mut few);
        assert_eq!(few[0].facts, facts);
    }
}
