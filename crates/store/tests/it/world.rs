//! A store of its own for each test, on either database.

use std::path::PathBuf;
use std::sync::Arc;

use ordain_store::{
    BeginOptions, EntryNote, Faults, Intent, Invariant, Store, StoreError, StoreOptions, TableDeclaration,
    Transaction,
};
use ordain_testkit::postgres::Server;
use ordain_types::{RunId, RunKind, RunRecord};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Runs the same test on both databases.
macro_rules! on_both {
    ($(async fn $name:ident($world:ident: World) $body:block)*) => {$(
        mod $name {
            use super::*;

            async fn check($world: crate::world::World) $body

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn on_sqlite() {
                check(crate::world::World::sqlite()).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn on_postgres() {
                check(crate::world::World::postgres()).await;
            }
        }
    )*};
}
pub(crate) use on_both;

pub(crate) const INVENTORY: &str = r#"[
  {"item_id": "SG001", "name": "Aviator", "price": 80.0, "quantity_in_stock": 23},
  {"item_id": "SG005", "name": "Classic", "price": 60.0, "quantity_in_stock": 10},
  {"item_id": "SG007", "name": "Moon", "price": 120.0, "quantity_in_stock": 0}
]"#;
pub(crate) const TRANSACTIONS: &str = r#"[
  {"transaction_id": "TXN001", "customer_name": "OPENING", "amount": 500.0, "balance": 500.0}
]"#;

/// A folder and a database.
pub(crate) struct World {
    pub(crate) folder: TempDir,
    pub(crate) url: Option<String>,
}

impl World {
    pub(crate) fn sqlite() -> Self {
        Self { folder: TempDir::new().unwrap(), url: None }
    }

    pub(crate) fn postgres() -> Self {
        Self { folder: TempDir::new().unwrap(), url: Some(Server::shared().fresh_database()) }
    }

    /// Options without tables.
    pub(crate) fn options(&self) -> StoreOptions {
        match &self.url {
            Some(url) => StoreOptions::postgres(url, self.folder.path()),
            None => StoreOptions::sqlite(self.folder.path()),
        }
    }

    /// Writes a seed file.
    pub(crate) fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// A table declared with a seed in JSON.
    pub(crate) fn table(&self, name: &str, key: &str, seed: &str) -> TableDeclaration {
        TableDeclaration {
            name: name.to_owned(),
            seed: Some(self.file(&format!("{name}.json"), seed)),
            key: key.split(',').filter(|key| !key.is_empty()).map(str::to_owned).collect(),
            ..TableDeclaration::default()
        }
    }

    /// Options for the shop: an inventory, append-only transactions, and stock that never falls below zero.
    pub(crate) fn shop_options(&self) -> StoreOptions {
        let mut options = self.options();
        options.tables = vec![
            self.table("inventory", "item_id", INVENTORY),
            TableDeclaration {
                append_only: true,
                ..self.table("transactions", "transaction_id", TRANSACTIONS)
            },
        ];
        options.invariants = vec![Invariant {
            name: "stock never below zero".to_owned(),
            sql: "SELECT item_id, quantity_in_stock FROM inventory WHERE quantity_in_stock < 0".to_owned(),
        }];
        options
    }

    pub(crate) async fn shop(&self) -> Store {
        Store::open(self.shop_options()).await.unwrap()
    }

    pub(crate) async fn shop_with_faults(&self, faults: Arc<dyn Faults>) -> Result<Store, StoreError> {
        Store::open(StoreOptions { faults: Some(faults), ..self.shop_options() }).await
    }

    /// One table, declared with a seed in JSON.
    pub(crate) async fn with_table(&self, name: &str, key: &str, seed: &str) -> Store {
        let mut options = self.options();
        options.tables = vec![self.table(name, key, seed)];
        Store::open(options).await.unwrap()
    }

    /// Runs SQL behind the store's back.
    pub(crate) fn tamper(&self, sql: &str) {
        if let Some(url) = &self.url {
            Server::shared().psql(url, sql);
        } else {
            let connection = rusqlite::Connection::open(self.folder.path().join("store.db")).unwrap();
            connection.execute_batch(sql).unwrap();
        }
    }

    /// The name of one of Ordain's own tables.
    pub(crate) fn own(&self, table: &str) -> String {
        if self.url.is_some() { format!("ordain.{table}") } else { format!("ordain_{table}") }
    }
}

pub(crate) fn note() -> EntryNote {
    EntryNote::by("tester", "test")
}

pub(crate) async fn begin(store: &Store, intent: Intent) -> Transaction {
    let run_id = store.new_run_id().unwrap();
    store.begin(BeginOptions { run_id, intent }).await.unwrap()
}

pub(crate) fn record(run_id: &RunId) -> RunRecord {
    RunRecord::new(run_id.clone(), RunKind::Ask, "a test")
}

/// Commits with a plain record.
pub(crate) async fn commit(transaction: Transaction) -> Result<RunRecord, StoreError> {
    let record = record(transaction.run_id());
    transaction.commit(record, note()).await
}

pub(crate) async fn hold(transaction: Transaction) -> Result<RunRecord, StoreError> {
    let record = record(transaction.run_id());
    transaction.hold(record, note()).await
}

/// All rows of a table as objects, with their ids under `doc_id`.
pub(crate) async fn rows(store: &Store, table: &str) -> Vec<Value> {
    let mut transaction = begin(store, Intent::Read).await;
    let rows = all(&mut transaction, json!({ "table": table })).await;
    transaction.roll_back().await.unwrap();
    rows
}

/// All pages of a search, as objects.
pub(crate) async fn all(transaction: &mut Transaction, search: Value) -> Vec<Value> {
    let (mut found, mut args) = (Vec::new(), search);
    loop {
        let page = transaction.call("search", args.clone()).await.unwrap();
        found.extend(objects(&page));
        if page["more"] != json!(true) {
            return found;
        }
        args["after"] = page["last"].clone();
        args["as_of"] = page["as_of"].clone();
    }
}

/// A page's rows as objects; absent fields are left out.
pub(crate) fn objects(page: &Value) -> Vec<Value> {
    let columns = page["columns"].as_array().unwrap();
    let rows = page["rows"].as_array().unwrap();
    rows.iter()
        .map(|row| {
            let absent: Vec<usize> = row[2]
                .as_array()
                .into_iter()
                .flatten()
                .map(|at| usize::try_from(at.as_u64().unwrap()).unwrap())
                .collect();
            let mut object = serde_json::Map::new();
            object.insert("doc_id".to_owned(), row[0].clone());
            for (position, column) in columns.iter().enumerate() {
                if !absent.contains(&position) {
                    object.insert(column.as_str().unwrap().to_owned(), row[1][position].clone());
                }
            }
            Value::Object(object)
        })
        .collect()
}

/// Buys one thing, as a plan would: look it up by name, check the stock, take it, append a transaction.
pub(crate) async fn buy(
    transaction: &mut Transaction,
    name: &str,
    quantity: i32,
) -> Result<bool, StoreError> {
    let by_name = json!({"op": "eq", "path": ["name"], "value": name});
    let page =
        transaction.call("search", json!({"table": "inventory", "where": by_name, "limit": 1})).await?;
    let item = objects(&page).remove(0);
    let stock = item["quantity_in_stock"].as_i64().unwrap();
    if stock < i64::from(quantity) {
        return Ok(false);
    }
    let set = json!({"quantity_in_stock": stock - i64::from(quantity)});
    let by_id = json!([item["doc_id"]]);
    transaction.call("update", json!({"table": "inventory", "doc_ids": by_id, "set": set})).await?;
    let count = transaction.call("count", json!({"table": "transactions"})).await?["count"].as_i64().unwrap();
    let last = transaction.call("search", json!({"table": "transactions", "after": count - 1})).await?;
    let balance = objects(&last).last().and_then(|row| row["balance"].as_f64()).unwrap_or(500.0);
    let amount = item["price"].as_f64().unwrap() * f64::from(quantity);
    let row = json!({"transaction_id": format!("SALE{:03}", count + 1), "customer_name": "Ada", "amount": amount,
        "balance": balance + amount});
    transaction.call("insert", json!({"table": "transactions", "rows": [row]})).await?;
    Ok(true)
}
