//! What a plan's SQL may read.

use std::collections::{HashMap, HashSet};

use ordain_types::Table;

/// The tables that a plan's SQL may read, and the columns of them that it may not.
///
/// On SQLite the authorizer asks it for every column that a statement reads. On PostgreSQL the statement can name
/// nothing but the tables that are put before it, so that nothing needs to be asked.
#[derive(Debug, Default)]
pub(crate) struct PlanAccess {
    /// Lower-case names, because SQLite's names know no case.
    tables: HashMap<String, HashSet<String>>,
}

impl PlanAccess {
    pub(crate) fn new<'a>(tables: impl Iterator<Item = &'a Table>, bookkeeping: &[&str]) -> Self {
        let tables = tables.map(|table| {
            let hidden = table.columns.iter().filter(|column| column.hidden);
            let hidden = hidden.map(|column| column.name.to_lowercase());
            let denied = hidden.chain(bookkeeping.iter().map(|name| (*name).to_owned()));
            (table.name.to_lowercase(), denied.collect())
        });
        Self { tables: tables.collect() }
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
