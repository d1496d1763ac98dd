//! The shop of the example workspace, served on a free port.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use ordain_cell::profile::{DataDir, Profile};
use ordain_cell::{LocalExecutor, LocalOptions};
use ordain_checks::Checks;
use ordain_engine::{Engine, EngineSettings, Planner};
use ordain_server::http::{self, HttpOptions, Service};
use ordain_server::trace::traced;
use ordain_store::{Clock, EntryNote, NewKey, Store};
use ordain_workspace::Workspace;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::client::{self, Answer};

/// A plan that sells one Aviator.
pub(crate) const BUY: &str = r#"
from datetime import datetime
item = inventory_tbl.get(Query().name == "Aviator")
inventory_tbl.update({"quantity_in_stock": item["quantity_in_stock"] - 1}, Query().name == "Aviator")
balance = transactions_tbl.all()[-1]["balance_after_transaction"] + item["price"]
transactions_tbl.insert({
    "transaction_id": f"TXN{len(transactions_tbl) + 1:03d}",
    "customer_name": "WALK_IN",
    "transaction_summary": "Sold 1 Aviator",
    "transaction_amount": item["price"],
    "balance_after_transaction": balance,
    "timestamp": datetime.now().isoformat(timespec="seconds"),
})
answer_text = "Sold 1 Aviator."
STATUS = "success"
"#;

/// A plan that writes and then goes on for longer than any test waits.
pub(crate) const SLOW: &str = r#"
inventory_tbl.update({"quantity_in_stock": 1}, Query().name == "Aviator")
total = 0
for number in range(10**12):
    total += number
answer_text = "Changed 1 row."
STATUS = "success"
"#;

/// A served workspace.
pub(crate) struct Served {
    pub(crate) address: SocketAddr,
    pub(crate) service: Service,
    pub(crate) folder: tempfile::TempDir,
    executor: Arc<LocalExecutor>,
    stop: Option<oneshot::Sender<()>>,
    task: Option<tokio::task::JoinHandle<()>>,
}

pub(crate) async fn served() -> Served {
    served_with(|_| {}).await
}

pub(crate) async fn served_with(change: impl FnOnce(&mut HttpOptions)) -> Served {
    served_by(Planner::Rules, change).await
}

pub(crate) async fn served_by(planner: Planner, change: impl FnOnce(&mut HttpOptions)) -> Served {
    served_example("sunglasses", planner, change).await
}

/// Serves an example workspace by its name.
pub(crate) async fn served_example(
    example: &str,
    planner: Planner,
    change: impl FnOnce(&mut HttpOptions),
) -> Served {
    served_from(example, planner, |_| {}, change).await
}

/// Serves the shop with a clock of the test's own.
pub(crate) async fn served_at(clock: Clock, change: impl FnOnce(&mut HttpOptions)) -> Served {
    serve("sunglasses", Planner::Rules, |_| {}, change, Some(clock)).await
}

/// Serves an example workspace with cells and options of the test's own.
pub(crate) async fn served_from(
    example: &str,
    planner: Planner,
    cells: impl FnOnce(&mut LocalOptions),
    change: impl FnOnce(&mut HttpOptions),
) -> Served {
    serve(example, planner, cells, change, None).await
}

async fn serve(
    example: &str,
    planner: Planner,
    cells: impl FnOnce(&mut LocalOptions),
    change: impl FnOnce(&mut HttpOptions),
    clock: Option<Clock>,
) -> Served {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("shop");
    ordain_workspace::init(&root, Some(example)).unwrap();
    let workspace = Workspace::load(&root).unwrap();
    let mut local = LocalOptions::new(DataDir::from_env().unwrap());
    local.idle_cells = 2;
    local.limits = workspace.limits.clone();
    cells(&mut local);
    let executor = Arc::new(LocalExecutor::new(local).unwrap());
    executor.warm(Profile::Core).await.unwrap();
    let mut kept = workspace.store_options();
    if let Some(clock) = clock {
        kept.clock = clock;
    }
    let store = Store::open(kept).await.unwrap();
    let listener = ordain_server::listen("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = listener.local_addr().unwrap();
    let mut options = HttpOptions::new(&workspace.name, address, workspace.state());
    let untraced = Engine::new(store.clone(), executor.clone(), EngineSettings::of(&workspace));
    let checks = Checks::new(Arc::new(workspace.clone()), untraced);
    (options.checks, options.local) = (Some(checks), Some(executor.clone()));
    options.drain_time = Duration::from_secs(5);
    change(&mut options);
    let engine =
        Engine::new(store, traced(executor.clone(), &options.tracer), EngineSettings::of(&workspace));
    let service = Service::new(engine, planner, options);
    let (stop, stopped) = oneshot::channel();
    let task = tokio::spawn(http::serve(listener, service.clone(), async {
        let _ = stopped.await;
    }));
    Served { address, service, folder, executor, stop: Some(stop), task: Some(task) }
}

impl Served {
    pub(crate) fn store(&self) -> &Store {
        self.service.engine().store()
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        client::send(self.address, "GET", path, &[], b"").await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Answer {
        self.post_with(path, &[], body).await
    }

    pub(crate) async fn post_with(&self, path: &str, headers: &[&str], body: &Value) -> Answer {
        let mut lines = vec!["Content-Type: application/json"];
        lines.extend(headers);
        client::send(self.address, "POST", path, &lines, body.to_string().as_bytes()).await
    }

    /// Sells one Aviator.
    pub(crate) async fn buy(&self) -> Answer {
        self.post("/v1/requests", &json!({ "request": "buy an Aviator", "plan": BUY })).await
    }

    /// How many Aviators there are.
    pub(crate) async fn stock(&self) -> i64 {
        let rows = self.get("/v1/tables/inventory/rows").await.json();
        let rows = rows["rows"].as_array().unwrap();
        let aviator = rows.iter().find(|row| row["name"] == "Aviator").unwrap();
        aviator["quantity_in_stock"].as_i64().unwrap()
    }

    /// Begins a run that writes and goes on, and waits until it has written.
    pub(crate) async fn begin_slow(&self, headers: &[&str]) -> String {
        let mut lines = vec!["Prefer: wait=1"];
        lines.extend(headers);
        let body = json!({ "request": "sell for long", "plan": SLOW });
        let answer = self.post_with("/v1/requests", &lines, &body).await;
        assert_eq!(answer.status, 202, "{}", answer.text());
        let record = answer.json();
        assert_eq!(record["state"], "running");
        let run = record["run_id"].as_str().unwrap().to_owned();
        assert_eq!(answer.header("location"), Some(format!("/v1/runs/{run}").as_str()));
        run
    }

    /// Makes a key and gives the line that sends it.
    pub(crate) async fn key(&self, change: impl FnOnce(&mut NewKey)) -> (String, String) {
        let mut new = NewKey { scopes: vec!["read".to_owned(), "run".to_owned()], ..NewKey::default() };
        change(&mut new);
        let (key, secret) = self.store().create_key(new, EntryNote::by("test", "test")).await.unwrap();
        self.service.reload_keys().await.unwrap();
        (key.key_id, format!("Authorization: Bearer {}", secret.0))
    }

    /// Stops the server and waits for it.
    pub(crate) async fn stop(&mut self) {
        let _ = self.stop.take().unwrap().send(());
        self.task.take().unwrap().await.unwrap();
        self.executor.close().await;
    }
}
