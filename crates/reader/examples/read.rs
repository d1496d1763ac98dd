//! Reads rules against a catalog, both as JSON on standard input, and prints what each was read as with its code.
//!
//! Input: `{"tables": [{"name", "key", "columns": [{"name", "holds", "unit", "values", "source", "has_time"}]}],
//! "rules": [{"id", "judged", "tables", "text"}]}`; one JSON object a line comes out.

use std::io::{Read as _, Write as _};

use ordain_reader::{Catalog, Column, Holds, Reader, Reading, Source, Table};
use serde_json::{Value, json};

fn column(facts: &Value) -> Column {
    let text = |name: &str| facts[name].as_str().unwrap_or_default();
    let holds = match text("holds") {
        "whole" => Holds::Whole,
        "number" => Holds::Number,
        "bool" => Holds::Bool,
        "day" => Holds::Day,
        "time" => Holds::Time,
        _ => Holds::Text,
    };
    let mut column = Column::new(text("name"), holds);
    column.unit = facts["unit"].as_str().filter(|unit| !unit.is_empty()).map(str::to_owned);
    column.values = facts["values"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect();
    column.has_time = facts["has_time"] == true;
    column.source = match text("source") {
        "same" => Source::Same,
        "digits" => Source::Digits,
        "iso" => Source::IsoDay,
        _ => Source::Lost,
    };
    column
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    let input: Value = serde_json::from_str(&text)?;
    let tables: Vec<Table> = input["tables"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|table| {
            let columns = table["columns"].as_array().into_iter().flatten().map(column).collect();
            let key = table["key"].as_str().map(Into::into);
            Table { key, ..Table::new(table["name"].as_str().unwrap_or_default(), columns) }
        })
        .collect();
    let mut out = std::io::stdout().lock();
    for rule in input["rules"].as_array().into_iter().flatten() {
        let named: Vec<&str> =
            rule["tables"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let catalog =
            Catalog::of(tables.iter().filter(|table| named.contains(&&*table.name)).cloned().collect());
        let reader = Reader::new(catalog.with_references(), rule["judged"].as_str());
        let begin = std::time::Instant::now();
        let read = reader.rule(rule["text"].as_str().unwrap_or_default());
        let took = begin.elapsed().as_secs_f64() * 1000.0;
        let line = match read {
            Reading::Certain(demand) => {
                let program = reader.program(&demand, rule["text"].as_str().unwrap_or_default(), &[]);
                json!({"read": demand, "words": reader.words(&demand), "code": program.code})
            }
            Reading::Choose(demands) => json!({"choices": demands}),
            Reading::Silent { at, nearest, .. } => json!({"at": at, "nearest": nearest}),
        };
        let mut line = line;
        line["id"] = rule["id"].clone();
        line["ms"] = json!(took);
        writeln!(out, "{line}")?;
    }
    Ok(())
}
