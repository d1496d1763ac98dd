//! What a plan's SQL may read.

use std::collections::{HashMap, HashSet};

use ordain_types::{ColumnType, Table};
use serde_json::Value;

/// The tables that a plan's SQL may read, and the columns of them that it may not.
///
/// On SQLite the authorizer asks it for every column that a statement reads. On PostgreSQL the statement can name
/// nothing but the tables that are put before it, so that nothing needs to be asked.
#[derive(Debug, Default)]
pub(crate) struct PlanAccess {
    /// Lower-case names, because SQLite's names know no case.
    tables: HashMap<String, HashSet<String>>,
    /// Columns whose values SQLite gives in another form than PostgreSQL: booleans and nested values.
    converted: HashMap<(String, String), ColumnType>,
    /// The width of the widest table.
    columns_max: usize,
}

impl PlanAccess {
    pub(crate) fn new<'a>(tables: impl Iterator<Item = &'a Table> + Clone, bookkeeping: &[&str]) -> Self {
        let converted = tables.clone().flat_map(|table| {
            let columns = table.columns.iter();
            let other =
                columns.filter(|column| matches!(column.column_type, ColumnType::Boolean | ColumnType::Json));
            other.map(|column| ((table.name.to_lowercase(), column.name.to_lowercase()), column.column_type))
        });
        let converted = converted.collect();
        let columns_max = tables.clone().map(|table| table.columns.len()).max().unwrap_or_default();
        let tables = tables.map(|table| {
            let hidden = table.columns.iter().filter(|column| column.hidden);
            let hidden = hidden.map(|column| column.name.to_lowercase());
            let denied = hidden.chain(bookkeeping.iter().map(|name| (*name).to_owned()));
            (table.name.to_lowercase(), denied.collect())
        });
        Self { tables: tables.collect(), converted, columns_max }
    }

    /// The width of the widest table.
    pub(crate) fn columns_max(&self) -> usize {
        self.columns_max
    }

    /// A value that a query read from a column of a kept table, in the form that every other read gives it.
    pub(crate) fn converted(&self, origin: Option<&(String, String)>, value: Value) -> Value {
        let lower = |(table, column): &(String, String)| (table.to_lowercase(), column.to_lowercase());
        match (origin.and_then(|origin| self.converted.get(&lower(origin))), &value) {
            (Some(ColumnType::Boolean), Value::Number(number)) => Value::Bool(number.as_i64() != Some(0)),
            (Some(ColumnType::Json), Value::String(text)) => serde_json::from_str(text).unwrap_or(value),
            _ => value,
        }
    }

    /// Whether a column may be read; an empty name stands for the table as such.
    pub(crate) fn allows(&self, table: &str, column: &str) -> bool {
        // The table-valued functions over JSON read nothing but their arguments.
        if matches!(table, "json_each" | "json_tree") {
            return true;
        }
        let denied = self.tables.get(&table.to_lowercase());
        denied.is_some_and(|denied| !denied.contains(&column.to_lowercase()))
    }
}
