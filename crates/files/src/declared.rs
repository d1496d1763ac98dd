//! What the owner declares about a data file, as the reader of tables takes it.

use ordain_types::{Catalog, ColumnNotes, DataNotes};
use serde_json::{Map, Value, json};

/// The declaration for a file of this name: by the name as it is, or without one ending after the other, as
/// `orders.csv` and `orders` of `orders.csv.gz`; nothing where there is none.
pub fn declaration_of(catalog: &Catalog, name: &str) -> Value {
    let notes = catalog.section_of(name).and_then(|section| catalog.data.get(section));
    notes.map_or_else(|| json!({}), declared)
}

fn declared(notes: &DataNotes) -> Value {
    let mut table = Map::new();
    let mut set = |name: &str, value: Value| drop(table.insert(name.to_owned(), value));
    if let Some(decimal) = notes.decimal {
        set("given_decimal", json!(decimal));
    }
    if let Some(thousands) = notes.thousands {
        set("given_thousands", json!(thousands));
    }
    if let Some(order @ ("day-first" | "month-first")) = notes.date_format.as_deref() {
        set("given_order", json!(order));
    }
    if !notes.null_values.is_empty() {
        set("null_values", json!(notes.null_values));
    }
    let columns: Map<String, Value> =
        notes.columns.iter().map(|(name, column)| (name.clone(), of_column(column, notes))).collect();
    let mut declared = json!({ "table": table, "columns": columns });
    for (name, value) in [
        ("encoding", json!(notes.encoding)),
        ("delimiter", json!(notes.delimiter)),
        ("sheet", json!(notes.sheet)),
        ("header_row", json!(notes.header_row)),
    ] {
        if !value.is_null() {
            declared[name] = value;
        }
    }
    declared
}

fn of_column(column: &ColumnNotes, notes: &DataNotes) -> Value {
    let mut reading = json!({});
    if let Some(data_type) = column.data_type {
        reading["type"] = json!(data_type);
    }
    if let Some(unit) = &column.unit {
        reading["unit"] = json!(unit);
    }
    if let Some(pattern) = notes.date_format.as_deref().filter(|pattern| pattern.contains('%'))
        && matches!(reading["type"].as_str(), Some("date" | "timestamp"))
    {
        reading["format"] = json!(pattern);
    }
    reading
}
