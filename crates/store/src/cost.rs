//! What a change of one row costs in a large table: counted by the databases, not by a clock.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use ordain_testkit::postgres::Server;
use ordain_types::{Reference, RunKind, RunRecord};
use serde_json::{Value, json};

use crate::{
    BeginOptions, EntryNote, Intent, Invariant, Store, StoreError, StoreOptions, TableDeclaration,
    Transaction,
};

/// Steps of SQLite's machine, by the path of the database.
static STEPS: Mutex<BTreeMap<String, u64>> = Mutex::new(BTreeMap::new());

/// Counts what a statement took.
pub(crate) fn note(connection: &rusqlite::Connection, statement: &rusqlite::Statement<'_>) {
    let steps = statement.reset_status(rusqlite::StatementStatus::VmStep);
    let path = connection.path().unwrap_or_default().to_owned();
    let mut counted = STEPS.lock().unwrap_or_else(PoisonError::into_inner);
    *counted.entry(path).or_default() += u64::try_from(steps).unwrap_or_default();
}

const SMALL: usize = 1_000;
const LARGE: usize = 20_000;

/// A shop with so many sales.
struct Shop {
    folder: tempfile::TempDir,
    url: Option<String>,
}

impl Shop {
    async fn new(sales: usize, url: Option<String>) -> Self {
        let shop = Self { folder: tempfile::tempdir().unwrap(), url };
        let rows: Vec<Value> =
            (0..sales).map(|n| json!({"sale_id": format!("S{n:08}"), "number": n, "amount": 1.5})).collect();
        std::fs::write(shop.folder.path().join("sales.json"), Value::from(rows).to_string()).unwrap();
        let lines: Vec<Value> =
            (0..sales).map(|n| json!({"line_id": n, "sale_id": format!("S{n:08}")})).collect();
        std::fs::write(shop.folder.path().join("lines.json"), Value::from(lines).to_string()).unwrap();
        drop(shop.open().await);
        shop
    }

    async fn open(&self) -> Store {
        let mut options = match &self.url {
            Some(url) => StoreOptions::postgres(url, self.folder.path()),
            None => StoreOptions::sqlite(self.folder.path()),
        };
        let table = |name: &str, key: &str| TableDeclaration {
            name: name.to_owned(),
            seed: Some(self.folder.path().join(format!("{name}.json"))),
            key: vec![key.to_owned()],
            ..TableDeclaration::default()
        };
        options.tables = vec![table("sales", "sale_id"), table("lines", "line_id")];
        let sql = "SELECT sale_id FROM sales WHERE amount < 0".to_owned();
        options.invariants = vec![Invariant { name: "nobody is paid for buying".to_owned(), sql }];
        let end = |table: &str| Reference { table: table.to_owned(), column: "sale_id".to_owned() };
        options.references = vec![[end("lines"), end("sales")]];
        Store::open(options).await.unwrap()
    }

    /// What was read so far.
    fn read(&self) -> u64 {
        let Some(url) = &self.url else {
            let path = self.folder.path().join("store.db").to_string_lossy().into_owned();
            return STEPS.lock().unwrap()[&path];
        };
        // A connection reports what it has read at the latest when it ends.
        let others = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";
        while Server::shared().psql(url, others) != "0" {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        let sql = "SELECT (SELECT sum(seq_tup_read) FROM pg_stat_user_tables WHERE schemaname = 'public')
            + (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes WHERE schemaname = 'public')";
        Server::shared().psql(url, sql).parse().unwrap()
    }
}

async fn call(transaction: &mut Transaction, operation: &str, args: Value) -> Value {
    transaction.call(operation, args).await.unwrap()
}

fn note_of_test() -> EntryNote {
    EntryNote::by("tester", "test")
}

/// Does one thing with one row.
async fn carry_out(store: &Store, what: &str) -> Result<(), StoreError> {
    let run_id = store.new_run_id()?;
    let record = RunRecord::new(run_id.clone(), RunKind::Ask, what);
    let mut transaction =
        store.begin(BeginOptions { run_id: run_id.clone(), intent: Intent::Beside }).await?;
    let of_row = json!({"op": "eq", "path": ["sale_id"], "value": "S00000007"});
    match what {
        "change" | "hold" => {
            let args = json!({"table": "sales", "where": of_row, "set": {"amount": 2.5}});
            call(&mut transaction, "update", args).await;
        }
        "remove" => drop(call(&mut transaction, "remove", json!({"table": "lines", "where": of_row})).await),
        _ => {
            let key = call(&mut transaction, "next_id", json!({"table": "sales"})).await["key"].clone();
            let row = json!({"sale_id": key, "number": 5, "amount": 1.0});
            call(&mut transaction, "insert", json!({"table": "sales", "rows": [row]})).await;
        }
    }
    if what == "hold" {
        let held = transaction.hold(record, note_of_test()).await?;
        store.approve(held.run_id.as_str(), note_of_test()).await?;
    } else {
        transaction.commit(record, note_of_test()).await?;
    }
    store.undo(run_id.as_str(), note_of_test()).await.map(drop)
}

async fn check(urls: [Option<String>; 2]) {
    let [small_url, large_url] = urls;
    let shops = [Shop::new(SMALL, small_url).await, Shop::new(LARGE, large_url).await];
    for what in ["add", "change", "hold", "remove"] {
        let mut costs = Vec::new();
        for shop in &shops {
            let mut cost = Vec::new();
            // What is read when the store is opened is not meant.
            for is_done in [false, true] {
                let before = shop.read();
                let store = shop.open().await;
                if is_done {
                    carry_out(&store, what).await.unwrap();
                }
                drop(store);
                cost.push(shop.read() - before);
            }
            costs.push(cost[1].saturating_sub(cost[0]));
        }
        let [small, large] = costs[..] else { unreachable!() };
        assert!(
            large * 10 <= small * 13 + 500,
            "to {what} a row and undo it reads {small} in {SMALL} rows and {large} in {LARGE}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_row_costs_as_much_in_a_large_table_as_in_a_small_one_on_sqlite() {
    check([None, None]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_row_costs_as_much_in_a_large_table_as_in_a_small_one_on_postgres() {
    let server = Server::shared();
    check([Some(server.fresh_database()), Some(server.fresh_database())]).await;
}
