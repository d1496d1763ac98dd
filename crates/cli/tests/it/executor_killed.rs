//! Two executors under load, one of them killed at the worst moment: no run is lost and no row is changed twice.

use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use ordain_cell::{ExecutionFuture, Executor, Host, HostCall, HostFuture, Job, Output};
use ordain_engine::{Ask, Engine, EngineSettings, Mode};
use ordain_server::grpc::{ExecutorPool, PoolOptions};
use ordain_store::{Store, StoreOptions, TableDeclaration};
use ordain_testkit::postgres::Server;
use ordain_types::{Round, RunRecord, RunState, SourceFile};
use serde_json::json;

use crate::command::Folder;
use crate::executor::Served;

const PURCHASES: u32 = 40;
/// How many jobs begin before one is killed.
const JOBS_BEFORE: u32 = 10;

/// Buys the item that the request names: `buy item 7`.
const BUY: &str = "\
Item = Query()
wanted = user_request.split()[-1]
item = inventory_tbl.get(Item.item_id == wanted)
left = item['quantity_in_stock'] - 1
inventory_tbl.update({'quantity_in_stock': left}, Item.item_id == wanted)
STATUS = 'success'
answer_text = 'Sold.'
";

/// Runs jobs on a pool, and kills the first executor when it runs something and the host has just answered a write that
/// the job does not know of yet.
struct Killing {
    pool: ExecutorPool,
    victim: Mutex<Option<Served>>,
    jobs: AtomicU32,
}

struct KillingHost<'a> {
    killing: &'a Killing,
    host: &'a mut dyn Host,
    is_due: bool,
}

impl Executor for Killing {
    fn run<'a>(
        &'a self,
        job: Job,
        host: &'a mut dyn Host,
        output: &'a mut dyn Output,
    ) -> ExecutionFuture<'a> {
        let is_due = self.jobs.fetch_add(1, Ordering::Relaxed) >= JOBS_BEFORE;
        Box::pin(async move {
            let mut host = KillingHost { killing: self, host, is_due };
            self.pool.run(job, &mut host, output).await
        })
    }

    fn end_session<'a>(&'a self, name: &'a str) -> Pin<Box<dyn Future<Output = bool> + Send + 'a>> {
        self.pool.end_session(name)
    }
}

impl Host for KillingHost<'_> {
    fn call(&mut self, call: HostCall) -> HostFuture<'_> {
        let is_write = call.name == "table.update";
        Box::pin(async move {
            let answer = self.host.call(call).await;
            let is_running = self.killing.pool.members()[0].in_flight > 0;
            if is_write && self.is_due && is_running {
                // Dropping it kills it.
                drop(self.killing.victim.lock().unwrap().take());
            }
            answer
        })
    }
}

/// A shop with a stock of 100 for each of so many items.
fn shop(folder: &Folder, url: Option<&str>, items: u32) -> StoreOptions {
    let row = |number: u32| json!({"item_id": number.to_string(), "quantity_in_stock": 100});
    let seed = folder.file("inventory.json", json!((0..items).map(row).collect::<Vec<_>>()).to_string());
    let state = folder.join(".ordain");
    let mut options = match url {
        None => StoreOptions::sqlite(state),
        Some(url) => StoreOptions::postgres(url, state),
    };
    options.tables = vec![TableDeclaration {
        name: "inventory".to_owned(),
        seed: Some(seed.into()),
        key: vec!["item_id".to_owned()],
        ..TableDeclaration::default()
    }];
    options
}

fn ask(item: u32) -> Ask {
    let plan = Some(SourceFile { code: BUY.to_owned(), name: "buy.py".to_owned() });
    Ask { plan, mode: Mode::Commit, ..Ask::new(&format!("buy item {item}"), "test", "test") }
}

/// Forty buyers at once, one for each item in turn, and one executor killed among them.
async fn buy_and_kill(options: StoreOptions, items: u32) -> Vec<RunRecord> {
    let (first, second) = (Served::start(&[]), Served::start(&[]));
    let addresses = [first.url(), second.url()];
    let pool = ExecutorPool::new(addresses.iter().map(String::as_str), &PoolOptions::default()).unwrap();
    let killing = Arc::new(Killing { pool, victim: Mutex::new(Some(first)), jobs: AtomicU32::new(0) });
    let store = Store::open(options).await.unwrap();
    let engine = Engine::new(store, Arc::clone(&killing) as Arc<dyn Executor>, EngineSettings::default());
    let buy = |number: u32| {
        let engine = engine.clone();
        tokio::spawn(async move { engine.ask(ask(number % items)).await.unwrap() })
    };
    let buyers: Vec<_> = (0..PURCHASES).map(buy).collect();
    let mut records = Vec::new();
    for buyer in buyers {
        records.push(buyer.await.unwrap());
    }
    assert!(killing.victim.lock().unwrap().is_none(), "nobody was killed");
    assert!(records.iter().all(|record| record.state == RunState::Committed), "{records:?}");
    assert!(engine.store().verify_ledger().await.unwrap().findings.is_empty());
    assert_eq!(sold(&engine).await, i64::from(PURCHASES), "every purchase counts once");
    records
}

/// How much is gone from the stock, told by a plan.
async fn sold(engine: &Engine) -> i64 {
    let code = "answer_json = sum(100 - row['quantity_in_stock'] for row in inventory_tbl)\nACTION = 'read'\n\
                answer_text = 'Counted.'\nSTATUS = 'success'\n";
    let plan = Some(SourceFile { code: code.to_owned(), name: "count.py".to_owned() });
    let record = engine.ask(Ask { plan, ..Ask::new("count", "test", "test") }).await.unwrap();
    assert!(record.error.is_none(), "{record:?}");
    record.answer.json.unwrap().as_i64().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_sqlite_where_writers_wait_in_line() {
    let folder = Folder::new();
    let records = buy_and_kill(shop(&folder, None, 1), 1).await;
    // There is one writer at a time, so the one that was killed had written.
    let has_lost = |record: &&RunRecord| {
        record.verdict.history.iter().any(|note| matches!(note, Round::ExecutorLost { .. }))
    };
    assert!(records.iter().any(|record| has_lost(&record)), "the run says that its executor was lost");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_postgres_where_many_write_at_once() {
    let folder = Folder::new();
    let url = Server::shared().fresh_database();
    buy_and_kill(shop(&folder, Some(&url), 20), 20).await;
}
