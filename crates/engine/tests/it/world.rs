//! A small shop in a folder of its own, with an engine over it.

use std::path::Path;
use std::sync::Arc;

use ordain_cell::profile::DataDir;
use ordain_cell::{LocalExecutor, LocalOptions};
use ordain_engine::{Ask, Engine, EngineSettings, Mode};
use ordain_store::{Invariant, Store, StoreOptions, TableDeclaration};
use ordain_testkit::postgres::Server;
use ordain_types::RunRecord;
use serde_json::{Value, json};

/// The plan that buys: three Classic and one Aviator.
pub(crate) const BUY: &str = include_str!("plans/buy.py");

pub(crate) struct World {
    pub(crate) engine: Engine,
    pub(crate) executor: Arc<LocalExecutor>,
    folder: Option<tempfile::TempDir>,
}

/// Runs the same test on both databases.
macro_rules! on_both {
    ($(async fn $name:ident($database:ident: Database) $body:block)*) => {$(
        mod $name {
            use super::*;

            async fn check($database: crate::world::Database) $body

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn on_sqlite() {
                check(crate::world::Database::Sqlite).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn on_postgres() {
                check(crate::world::Database::Postgres).await;
            }
        }
    )*};
}
pub(crate) use on_both;

#[derive(Debug, Clone, Copy)]
pub(crate) enum Database {
    Sqlite,
    Postgres,
}

pub(crate) async fn world(database: Database) -> World {
    world_with(database, &inventory(), EngineSettings::default()).await
}

pub(crate) async fn world_with(database: Database, inventory: &Value, settings: EngineSettings) -> World {
    let folder = tempfile::tempdir().unwrap();
    let options = options_with(folder.path(), database.fresh_url().as_deref(), inventory);
    let mut world = open(options, settings).await;
    world.folder = Some(folder);
    world
}

/// An engine over a store that somebody else keeps.
pub(crate) async fn world_at(options: StoreOptions) -> World {
    open(options, EngineSettings::default()).await
}

/// A shop with much stock, in a given place.
pub(crate) fn options_at(folder: &Path, url: Option<&str>) -> StoreOptions {
    let mut rows = inventory();
    for row in rows.as_array_mut().unwrap() {
        row["quantity_in_stock"] = json!(100_000);
    }
    options_with(folder, url, &rows)
}

pub(crate) async fn open(options: StoreOptions, settings: EngineSettings) -> World {
    let store = Store::open(options).await.unwrap();
    let mut local = LocalOptions::new(DataDir::from_env().unwrap());
    local.idle_cells = 2;
    let executor = Arc::new(LocalExecutor::new(local).unwrap());
    World { engine: Engine::new(store, executor.clone(), settings), executor, folder: None }
}

pub(crate) fn options_with(folder: &Path, url: Option<&str>, inventory: &Value) -> StoreOptions {
    let seed = |name: &str, rows: &Value| {
        let path = folder.join(name);
        fs_err::write(&path, rows.to_string()).unwrap();
        Some(path)
    };
    let state = folder.join(".ordain");
    let mut options = match url {
        None => StoreOptions::sqlite(state),
        Some(url) => StoreOptions::postgres(url, state),
    };
    options.tables = vec![
        TableDeclaration {
            name: "inventory".to_owned(),
            seed: seed("inventory.json", inventory),
            key: vec!["item_id".to_owned()],
            ..TableDeclaration::default()
        },
        TableDeclaration {
            name: "transactions".to_owned(),
            seed: seed("transactions.json", &transactions()),
            key: vec!["transaction_id".to_owned()],
            append_only: true,
            ..TableDeclaration::default()
        },
    ];
    options.invariants = vec![Invariant {
        name: "stock never below zero".to_owned(),
        sql: "SELECT item_id, quantity_in_stock FROM inventory WHERE quantity_in_stock < 0".to_owned(),
    }];
    options
}

impl Database {
    /// A database of its own, where one is needed.
    pub(crate) fn fresh_url(self) -> Option<String> {
        match self {
            Self::Sqlite => None,
            Self::Postgres => Some(Server::shared().fresh_database()),
        }
    }
}

impl World {
    /// No second opinion of code is asked.
    pub(crate) fn without_review(&mut self) {
        let settings = EngineSettings { review: false, ..self.engine.settings().clone() };
        self.engine = Engine::new(self.engine.store().clone(), self.executor.clone(), settings);
    }

    pub(crate) async fn ask(&self, code: &str) -> RunRecord {
        self.ask_as(code, Mode::Commit).await
    }

    pub(crate) async fn ask_as(&self, code: &str, mode: Mode) -> RunRecord {
        self.engine.ask(ask(code, mode)).await.unwrap()
    }

    /// All rows of a table, read by a plan.
    pub(crate) async fn rows(&self, table: &str) -> Vec<Value> {
        let code = format!(
            "ACTION = 'read'\nanswer_rows = [dict(row) for row in {table}_tbl]\nanswer_text = 'rows'\nSTATUS = 'success'\n"
        );
        let record = self.ask(&code).await;
        assert!(record.error.is_none(), "{record:?}");
        record.answer.rows.unwrap().as_array().unwrap().clone()
    }

    pub(crate) async fn stock(&self, item: &str) -> i64 {
        let rows = self.rows("inventory").await;
        let row = rows.iter().find(|row| row["name"] == item).unwrap();
        row["quantity_in_stock"].as_i64().unwrap()
    }
}

pub(crate) fn ask(code: &str, mode: Mode) -> Ask {
    let request = "I want to buy 3 pairs of classic sunglasses and 1 pair of aviator sunglasses.";
    Ask { mode, ..Ask::new(request, "test", "test").with_plan(code, "plan.py") }
}

pub(crate) fn inventory() -> Value {
    json!([
        {"item_id": "SG001", "name": "Aviator", "description": "Teardrop metal frame", "quantity_in_stock": 23, "price": 80},
        {"item_id": "SG002", "name": "Wayfarer", "description": "Trapezoid frame", "quantity_in_stock": 6, "price": 95},
        {"item_id": "SG003", "name": "Classic", "description": "Round frame", "quantity_in_stock": 10, "price": 60},
    ])
}

fn transactions() -> Value {
    json!([{
        "transaction_id": "TXN001",
        "customer_name": "OPENING_BALANCE",
        "transaction_summary": "Opening balance",
        "transaction_amount": 500.0,
        "balance_after_transaction": 500.0,
        "timestamp": "2026-01-01T09:00:00",
    }])
}
