//! How the tables of files are read, as it was found: for `frame` in the cell, for the verifier, and for people.

use std::collections::BTreeSet;

use ordain_planner::FileBrief;
use ordain_types::{Column, ColumnType, Table};
use serde_json::{Map, Value, json};

use super::Prepared;

/// Facts of a file that say how it is opened.
const OPENING: [&str; 3] = ["encoding", "delimiter", "compressed"];
/// Facts of a table or a column that only describe it.
const DESCRIBING: [&str; 8] =
    ["samples", "values", "min", "max", "null_share", "notes", "misfits", "stored_as"];
/// Notes that an answer carries.
const NOTES_MAX: usize = 12;

impl Prepared {
    /// The files that hold tables, as tables that code can name in `frame`: with columns where a file holds one table of which
    /// all are known.
    pub fn tables(&self) -> Vec<Table> {
        self.briefs.iter().filter_map(table).collect()
    }

    /// What was found about the columns that a text names, and about their tables; `text` is a plan's code.
    pub fn notes(&self, text: &str) -> Vec<String> {
        let literals: BTreeSet<String> = ordain_verify::string_literals(text)
            .iter()
            .map(|literal| literal.trim_matches(['"', '\'']).to_owned())
            .collect();
        let mut notes = Vec::new();
        for brief in &self.briefs {
            for table in list(&brief.facts, "tables") {
                let said = |note: &Value| Some(format!("{}: {}", brief.name, note.as_str()?));
                notes.extend(list(table, "notes").iter().filter_map(said));
                for column in list(table, "columns") {
                    let name = column.get("name").and_then(Value::as_str).unwrap_or_default();
                    if literals.contains(name) {
                        let said = |note: &Value| Some(format!("{}: {name}: {}", brief.name, note.as_str()?));
                        notes.extend(list(column, "notes").iter().filter_map(said));
                    }
                }
            }
        }
        let left_out = notes.len().saturating_sub(NOTES_MAX);
        notes.truncate(NOTES_MAX);
        notes.extend((left_out > 0).then(|| format!("and {left_out} more notes")));
        notes
    }
}

fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The name of a file that holds tables, and how they are read.
pub(super) fn reading(brief: &FileBrief) -> Option<(String, Value)> {
    brief.facts.get("tables")?;
    let mut reading: Map<String, Value> =
        OPENING.iter().filter_map(|&name| Some((name.to_owned(), brief.facts.get(name)?.clone()))).collect();
    reading.insert("kind".to_owned(), json!(brief.kind));
    let tables = list(&brief.facts, "tables").iter().map(|table| {
        let mut kept = without(table, &DESCRIBING);
        let columns = list(table, "columns").iter().map(|column| without(column, &DESCRIBING));
        kept["columns"] = columns.collect();
        kept
    });
    reading.insert("tables".to_owned(), tables.collect());
    Some((brief.name.clone(), reading.into()))
}

fn without(facts: &Value, names: &[&str]) -> Value {
    let facts = facts.as_object().into_iter().flatten();
    facts
        .filter(|(name, _)| !names.contains(&name.as_str()))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect::<Map<_, _>>()
        .into()
}

fn table(brief: &FileBrief) -> Option<Table> {
    let table = match list(&brief.facts, "tables") {
        [] => return None,
        [table] => table,
        _ => &Value::Null,
    };
    let columns = list(table, "columns");
    // A table that is described in part may have any column.
    let is_whole = table.get("columns_total").and_then(Value::as_u64) == Some(columns.len() as u64);
    let columns = if is_whole { columns } else { &[] };
    let columns = columns.iter().filter_map(|column| {
        let kind = column.get("type").and_then(Value::as_str).unwrap_or_default();
        Some(Column {
            name: column.get("name")?.as_str()?.to_owned(),
            column_type: column_type(kind),
            nullable: true,
            hidden: false,
        })
    });
    Some(Table { name: brief.name.clone(), columns: columns.collect(), read_only: true, ..Table::default() })
}

/// The type of a table's column for a type that a look into a file found.
fn column_type(found: &str) -> ColumnType {
    match found {
        "integer" => ColumnType::Integer,
        "real" | "decimal" | "percent" | "duration" => ColumnType::Real,
        "boolean" => ColumnType::Boolean,
        "date" | "timestamp" => ColumnType::Timestamp,
        "json" => ColumnType::Json,
        _ => ColumnType::Text,
    }
}
