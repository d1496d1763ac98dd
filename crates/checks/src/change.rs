//! What a change makes stale: the change matrix, with the reason in words.
//!
//! What a check was compiled against is kept beside its code: the parts of its record that the code depends on, the
//! columns that the code really uses with their types, and the versions of verifier and plan API. Comparing that with
//! what there is now says whether plan and code can be kept, and why not.

use std::collections::{BTreeMap, BTreeSet};

use ordain_types::{ColumnType, Schema};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::check::Check;

/// The version of what plan code finds set and how its result is read.
pub const PLAN_API_VERSION: u32 = 1;

/// The version of what turns rules into code, and of the frames that the code is given. Code of an older one is made anew.
pub const COMPILER_VERSION: u32 = 2;

/// What a check's code was compiled against.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CompiledAgainst {
    /// The parts of the record that the code depends on.
    pub rule: BTreeMap<String, Value>,
    /// All columns of the tables, in order: name and type.
    pub schema: BTreeMap<String, Vec<(String, ColumnType)>>,
    /// The columns that the code uses; `None` means every column.
    pub uses: BTreeMap<String, Option<BTreeSet<String>>>,
    /// The verifier's version.
    pub verifier: u32,
    /// The plan API's version.
    pub plan_api: u32,
}

/// What has to be done with a check's plan and code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Staleness {
    /// Both are kept.
    Fresh,
    /// Both are kept, and the verifier looks at the code again.
    VerifyAgain(String),
    /// Both are made anew, and why.
    Recompile(String),
}

/// The parts of a record that its code depends on.
pub fn rule_of(check: &Check) -> BTreeMap<String, Value> {
    let fields = [
        ("calculation_hint", json!(check.calculation_hint)),
        ("compiler", json!(COMPILER_VERSION)),
        ("filter", json!(check.filter)),
        ("kind", json!(check.kind)),
        ("params", Value::Object(check.params.clone())),
        ("target_table", json!(check.target_table)),
    ];
    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// The parts of a record that the grade and the samples depend on.
pub fn grading_of(check: &Check) -> Value {
    json!([check.severity, check.warn_if, check.fail_if, check.samples, check.key_columns])
}

/// The columns of tables, in order.
pub fn columns_of(schema: &Schema, tables: &BTreeSet<String>) -> BTreeMap<String, Vec<(String, ColumnType)>> {
    let found = schema.tables.iter().filter(|table| tables.contains(&table.name));
    found
        .map(|table| {
            let columns = table.columns.iter().map(|column| (column.name.clone(), column.column_type));
            (table.name.clone(), columns.collect())
        })
        .collect()
}

/// Compares what a check was compiled against with what there is now. The notes tell of changes that do not matter to
/// the code.
pub fn staleness(
    check: &Check,
    against: &CompiledAgainst,
    schema: &Schema,
    verifier: u32,
) -> (Staleness, Vec<String>) {
    for (field, now) in rule_of(check) {
        if against.rule.get(&field) != Some(&now) {
            return (Staleness::Recompile(format!("{field} changed")), Vec::new());
        }
    }
    let mut notes = Vec::new();
    for (name, before) in &against.schema {
        let Some(table) = schema.table(name) else {
            return (Staleness::Recompile(format!("table {name} is gone")), Vec::new());
        };
        let used = against.uses.get(name);
        let is_used = |column: &str| match used {
            Some(Some(columns)) => columns.contains(column),
            // Every column counts, or the verifier does not know the table.
            Some(None) => true,
            None => false,
        };
        let now: BTreeMap<&str, ColumnType> =
            table.columns.iter().map(|column| (column.name.as_str(), column.column_type)).collect();
        let added: Vec<&str> = table
            .columns
            .iter()
            .map(|column| column.name.as_str())
            .filter(|column| !before.iter().any(|(known, _)| known == column))
            .collect();
        for (column, was) in before {
            match now.get(column.as_str()) {
                None if is_used(column) => {
                    let why = match added.as_slice() {
                        [one] => format!("column {column} of {name} is gone (renamed to {one}?)"),
                        _ => format!("column {column} of {name} is gone"),
                    };
                    return (Staleness::Recompile(why), Vec::new());
                }
                Some(is) if is != was && is_used(column) => {
                    let why = format!("column {column} of {name} changed {} → {}", word(*was), word(*is));
                    return (Staleness::Recompile(why), Vec::new());
                }
                None => notes.push(format!("column {column} of {name} is gone; the code does not use it")),
                Some(is) if is != was => notes.push(format!(
                    "column {column} of {name} changed {} → {}; the code does not use it",
                    word(*was),
                    word(*is)
                )),
                Some(_) => {}
            }
        }
        for column in added {
            if matches!(used, Some(None)) {
                notes.push(format!("column {column} of {name} is new"));
            } else {
                notes.push(format!("column {column} of {name} is new; the code does not use it"));
            }
        }
    }
    if against.verifier != verifier {
        let why = format!("the verifier changed from version {} to {verifier}", against.verifier);
        return (Staleness::VerifyAgain(why), notes);
    }
    if against.plan_api != PLAN_API_VERSION {
        let why = format!("the plan API changed from version {} to {PLAN_API_VERSION}", against.plan_api);
        return (Staleness::VerifyAgain(why), notes);
    }
    (Staleness::Fresh, notes)
}

/// A type as people say it.
pub fn word(column_type: ColumnType) -> &'static str {
    match column_type {
        ColumnType::Text => "text",
        ColumnType::Integer => "integer",
        ColumnType::Real => "real",
        ColumnType::Boolean => "boolean",
        ColumnType::Timestamp => "timestamp",
        ColumnType::Json => "json",
    }
}

#[cfg(test)]
mod tests;
