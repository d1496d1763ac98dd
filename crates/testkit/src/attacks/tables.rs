//! The tables that programs are given: a small shop in a store of its own.
//!
//! A program that names a table gets the table interface, answered from one transaction without any verdict before it.
//! What it did is committed if it ended well, and its diff stands in the record. The runner looks at the rows by itself,
//! with SQL, before and after.

use std::path::Path;

use anyhow::{Context, Result};
use ordain_cell::{Host, HostCall, HostError, HostFuture};
use ordain_store::{BeginOptions, EntryNote, Intent, Store, StoreOptions, TableDeclaration, Transaction};
use ordain_types::{Diff, RunKind, RunRecord};
use serde_json::{Map, Value};

/// The tables, the columns that identify their rows, and their first rows.
pub(super) const TABLES: [(&str, &str, &str); 2] = [
    (
        "inventory",
        "item_id",
        r#"[{"item_id": "SG001", "name": "Aviator", "price": 80.0, "stock": 12}, {"item_id": "SG002", "name": "Moon", "price": 120.5, "stock": 0}]"#,
    ),
    ("sales", "sale_id", r#"[{"sale_id": "S1", "amount": 80.0}]"#),
];

/// Whether a program uses tables.
pub(super) fn are_named(code: &str) -> bool {
    TABLES.iter().any(|(table, ..)| code.contains(&format!("{table}_tbl")))
}

/// Makes the tables in a folder of their own.
pub(super) fn plant(folder: &Path) -> Result<()> {
    fs_err::create_dir(folder)?;
    for (table, _, rows) in TABLES {
        fs_err::write(folder.join(format!("{table}.json")), rows)?;
    }
    let folder = folder.to_owned();
    let made = std::thread::spawn(move || -> Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(open(&folder)).map(drop)
    });
    made.join().ok().context("the tables could not be made")?
}

async fn open(folder: &Path) -> Result<Store> {
    let declared = TABLES.map(|(table, key, _)| TableDeclaration {
        name: table.to_owned(),
        seed: Some(folder.join(format!("{table}.json"))),
        key: vec![key.to_owned()],
        ..TableDeclaration::default()
    });
    let options = StoreOptions { tables: declared.into(), ..StoreOptions::sqlite(folder) };
    Ok(Store::open(options).await?)
}

/// Answers calls from one transaction.
pub(super) struct Tables(Transaction);

impl Tables {
    pub(super) async fn begin(folder: &Path) -> Result<Self> {
        let store = open(folder).await?;
        let run_id = store.new_run_id()?;
        Ok(Self(store.begin(BeginOptions { run_id, intent: Intent::Write }).await?))
    }

    /// Keeps what was done, and gives its diff.
    pub(super) async fn commit(self) -> Result<Diff> {
        let record = RunRecord::new(self.0.run_id().clone(), RunKind::Exec, "an attack");
        Ok(self.0.commit(record, EntryNote::by("runner", "attacks")).await?.diff)
    }
}

impl Host for Tables {
    fn call(&mut self, call: HostCall) -> HostFuture<'_> {
        Box::pin(async move {
            let Some(operation) = call.name.strip_prefix("table.") else {
                return Err(HostError::new("unknown_function", "there are tables and nothing else"));
            };
            let answered = self.0.call(operation, Value::Object(call.arguments)).await;
            answered.map_err(|error| HostError::new(error.code(), error.to_string()))
        })
    }
}

/// All rows as they are in the database, by table and key.
pub(super) fn dump(folder: &Path) -> Result<Map<String, Value>> {
    let database = rusqlite::Connection::open(folder.join("store.db"))?;
    TABLES.iter().map(|(table, key, _)| Ok(((*table).to_owned(), rows(&database, table, key)?))).collect()
}

fn rows(database: &rusqlite::Connection, table: &str, key: &str) -> Result<Value> {
    use rusqlite::types::Value as Sql;

    let mut statement = database.prepare(&format!("SELECT * FROM {table}"))?;
    let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let mut found = statement.query([])?;
    let mut dumped = Map::new();
    while let Some(row) = found.next()? {
        let mut object = Map::new();
        // Ordain's own columns are not the program's.
        for (at, name) in names.iter().enumerate().filter(|(_, name)| !is_ordains(name)) {
            let value = match row.get(at)? {
                Sql::Null => Value::Null,
                Sql::Integer(value) => value.into(),
                Sql::Real(value) => value.into(),
                Sql::Text(value) => value.into(),
                Sql::Blob(value) => format!("{value:x?}").into(),
            };
            object.insert(name.clone(), value);
        }
        dumped.insert(object[key].to_string(), object.into());
    }
    Ok(dumped.into())
}

fn is_ordains(column: &str) -> bool {
    column == "doc_id" || column.contains("ordain")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dump_has_the_rows_that_were_planted() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("store");
        plant(&folder).unwrap();
        let dumped = dump(&folder).unwrap();
        assert_eq!(dumped["inventory"]["\"SG001\""]["price"], 80.0);
        assert_eq!(dumped["inventory"].as_object().unwrap().len(), 2);
        assert_eq!(dumped["sales"]["\"S1\""].as_object().unwrap().len(), 2);
    }
}
