//! Compares the rows in a database with what its ledger says was done to them, without any code of the product.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use rusqlite::types::ValueRef;
use serde_json::{Map, Value};

use crate::postgres::Server;

/// Rows by their keys, by table. What is empty is left out of a row.
type Tables = BTreeMap<String, BTreeMap<String, Map<String, Value>>>;

/// The tables and their keys.
const TABLES: [(&str, &str); 2] = [("stock", "id"), ("orders", "id")];
/// Columns of the product's own.
const OWN: [&str; 2] = ["doc_id", "ordain_absent"];

/// Where the database is.
#[derive(Debug, Clone)]
pub(super) enum Place {
    File(PathBuf),
    Url(String),
}

/// What the database should hold.
#[derive(Debug)]
pub(super) struct Checker {
    tables: Tables,
    /// The last entry of the ledger that was read.
    seq: i64,
}

impl Checker {
    /// Takes the database as it is.
    pub(super) fn new(place: &Place) -> Result<Self> {
        let mut checker = Self { tables: Tables::new(), seq: 0 };
        checker.take(place)?;
        checker.seq = entries(place, 0)?.last().map_or(0, |(seq, _)| *seq);
        Ok(checker)
    }

    /// Takes the rows as they are: others wrote them.
    pub(super) fn take(&mut self, place: &Place) -> Result<()> {
        self.tables = tables(place)?;
        Ok(())
    }

    /// Follows the ledger; gives the first difference, if there is any, and the runs that it says were committed.
    pub(super) fn follow(&mut self, place: &Place) -> Result<(Option<String>, Vec<String>)> {
        let mut committed = Vec::new();
        for (seq, body) in entries(place, self.seq)? {
            self.seq = seq;
            let diff = match body["kind"].as_str() {
                Some("ask" | "approve") if body["content"]["run"]["state"] == "committed" => {
                    committed.push(body["run_id"].as_str().unwrap_or_default().to_owned());
                    &body["content"]["run"]["diff"]
                }
                Some("undo") => &body["detail"]["undone"],
                _ => continue,
            };
            if let Some(message) = self.apply(diff) {
                return Ok((Some(format!("entry {seq} ({}): {message}", body["kind"])), committed));
            }
        }
        Ok((difference(&self.tables, &tables(place)?), committed))
    }

    fn apply(&mut self, diff: &Value) -> Option<String> {
        for (table, part) in diff.as_object().into_iter().flatten() {
            let Some((_, key)) = TABLES.iter().find(|(name, _)| name == table) else {
                return Some(format!("it says that `{table}` was changed"));
            };
            let rows = self.tables.entry(table.clone()).or_default();
            let list = |name: &str| part[name].as_array().cloned().unwrap_or_default();
            let mut take_out = |row: &Value| {
                let row = plain(row);
                let there = rows.remove(&key_of(&row, key));
                (there.as_ref() != Some(&row))
                    .then(|| format!("{table}: it says {row:?} was there, and it was {there:?}"))
            };
            let out: Vec<Value> = list("changed")
                .iter()
                .map(|change| change["before"].clone())
                .chain(list("removed"))
                .collect();
            if let Some(message) = out.iter().find_map(&mut take_out) {
                return Some(message);
            }
            for row in list("changed").iter().map(|change| change["after"].clone()).chain(list("added")) {
                let row = plain(&row);
                if let Some(there) = rows.insert(key_of(&row, key), row) {
                    return Some(format!("{table}: it adds a row where {there:?} was"));
                }
            }
        }
        None
    }
}

fn key_of(row: &Map<String, Value>, key: &str) -> String {
    row.get(key).map(ToString::to_string).unwrap_or_default()
}

fn difference(expected: &Tables, found: &Tables) -> Option<String> {
    TABLES.iter().find_map(|(table, _)| {
        let none = BTreeMap::new();
        let (expected, found) = (expected.get(*table).unwrap_or(&none), found.get(*table).unwrap_or(&none));
        let keys = expected.keys().chain(found.keys());
        keys.into_iter().find(|key| expected.get(*key) != found.get(*key)).map(|key| {
            let (expected, found) = (expected.get(key), found.get(key));
            format!("row {key} of `{table}` is {found:?}, and by the ledger it is {expected:?}")
        })
    })
}

/// A row in one form, whoever wrote it: numbers as doubles, nested text as what it holds, nothing that is empty.
fn plain(row: &Value) -> Map<String, Value> {
    let value = |value: &Value| match value {
        Value::Number(number) => Value::from(number.as_f64()),
        Value::String(text) if text.starts_with(['{', '[']) => {
            serde_json::from_str(text).unwrap_or_else(|_| value.clone())
        }
        other => other.clone(),
    };
    let fields = row.as_object().into_iter().flatten();
    let fields = fields.filter(|(name, value)| !value.is_null() && !OWN.contains(&name.as_str()));
    fields.map(|(name, field)| (name.clone(), value(field))).collect()
}

fn tables(place: &Place) -> Result<Tables> {
    let mut tables = Tables::new();
    for (table, key) in TABLES {
        let rows: Vec<Value> = match place {
            Place::File(path) => sqlite_rows(path, &format!("SELECT * FROM {table}"))?,
            Place::Url(url) => {
                let sql = format!("SELECT coalesce(json_agg(to_jsonb(t)), '[]') FROM {table} t");
                serde_json::from_str(&Server::shared().psql(url, &sql))?
            }
        };
        let rows: Vec<Map<String, Value>> = rows.iter().map(plain).collect();
        let count = rows.len();
        let by_key: BTreeMap<_, _> = rows.into_iter().map(|row| (key_of(&row, key), row)).collect();
        ensure!(by_key.len() == count, "two rows of {table} have the same key");
        tables.insert(table.to_owned(), by_key);
    }
    Ok(tables)
}

/// The ledger behind a place in it.
fn entries(place: &Place, after: i64) -> Result<Vec<(i64, Value)>> {
    let rows: Vec<Value> = match place {
        Place::File(path) => sqlite_rows(
            path,
            &format!("SELECT seq, body FROM ordain_entries WHERE seq > {after} ORDER BY seq"),
        )?,
        Place::Url(url) => {
            let sql = format!(
                "SELECT coalesce(json_agg(e ORDER BY seq), '[]') FROM (SELECT seq, body FROM ordain.entries WHERE seq > {after}) e"
            );
            serde_json::from_str(&Server::shared().psql(url, &sql))?
        }
    };
    let entry = |row: &Value| {
        let body = serde_json::from_str(row["body"].as_str().unwrap_or_default())?;
        Ok((row["seq"].as_i64().context("a place")?, body))
    };
    rows.iter().map(entry).collect()
}

fn sqlite_rows(path: &Path, sql: &str) -> Result<Vec<Value>> {
    let connection = rusqlite::Connection::open(path)?;
    let mut statement = connection.prepare(sql)?;
    let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let mut rows = statement.query([])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let mut fields = Map::new();
        for (place, name) in names.iter().enumerate() {
            let value = match row.get_ref(place)? {
                ValueRef::Null => Value::Null,
                ValueRef::Integer(number) => Value::from(number),
                ValueRef::Real(number) => Value::from(number),
                ValueRef::Text(text) | ValueRef::Blob(text) => Value::from(String::from_utf8_lossy(text)),
            };
            fields.insert(name.clone(), value);
        }
        found.push(Value::Object(fields));
    }
    Ok(found)
}
