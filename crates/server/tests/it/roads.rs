//! The same plan takes the same road, however it comes in and wherever it runs: the verdict, the cause and the receipt
//! are the same.

use std::sync::Arc;

use ordain_cell::Executor;
use ordain_cell::profile::Profile;
use ordain_checks::{Checks, read_checks};
use ordain_engine::{Ask, CodeTask, Engine, EngineSettings, Planner, Quiet};
use ordain_files::open_store;
use ordain_types::{RunKind, SourceFile};
use ordain_workspace::Workspace;
use serde_json::{Value, json};

use crate::grpc::world::{World, execute, sent};
use crate::http::world::{Served, served, served_example};

/// Programs that end in every way which all roads know: well, declined, refused, raised, out of time, out of memory.
const PROGRAMS: [(&str, &str); 7] = [
    ("reads", "total = sum([1, 2, 3])\nanswer_text = f'It is {total}.'\nSTATUS = 'success'\n"),
    ("asks back", "answer_text = 'How many?'\nSTATUS = 'invalid_request'\n"),
    ("says it sold", "answer_text = 'Sold, all of them.'\nSTATUS = 'success'\n"),
    ("import", "import socket\nanswer_text = 'x'\nSTATUS = 'success'\n"),
    ("does not parse", "answer_text = (\n"),
    ("raises", "answer_text = 'x'\nSTATUS = 'success'\nx = 1 / len([])\n"),
    (
        "takes too much memory",
        "answer_text = 'x'\nSTATUS = 'success'\nblocks = []\nwhile True:\n    blocks.append(bytearray(1 << 26))\n",
    ),
];

/// What all roads must agree on.
fn outcome(record: &Value) -> Value {
    json!({
        "accepted": record["verdict"]["accepted"],
        "findings": record["verdict"]["findings"].as_array().into_iter().flatten().map(|finding| &finding["code"]).collect::<Vec<_>>(),
        "cause": record["outcome"]["error"]["cause"],
        "state": record["state"],
        "receipt": record["receipt"],
        "error": record["error"]["code"],
    })
}

fn of<T: serde::Serialize>(record: &T) -> Value {
    outcome(&serde_json::to_value(record).unwrap())
}

/// An engine over the served workspace's store, with another executor.
fn over(shop: &Served, executor: Arc<dyn Executor>) -> Engine {
    let workspace = Workspace::load(&shop.folder.path().join("shop")).unwrap();
    Engine::new(shop.store().clone(), executor, EngineSettings::of(&workspace))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_plan_has_the_same_verdict_cause_and_receipt_on_every_road() {
    let (shop, cells) = (served().await, World::new().await);
    let remote = over(&shop, Arc::new(cells.remote()));
    // As after a restart: the workspace is read and its store opened anew.
    let workspace = Workspace::load(&shop.folder.path().join("shop")).unwrap();
    let opened = open_store(&workspace).await.unwrap();
    let restarted = Engine::new(opened, Arc::new(cells.remote()), EngineSettings::of(&workspace));
    for (name, code) in PROGRAMS {
        let here = shop.service.engine();
        let ask = || Ask::new("x", "test", "test").with_plan(code, "plan.py");
        let plan = Some(SourceFile { code: code.to_owned(), name: "plan.py".to_owned() });
        let first = of(&here.ask(ask()).await.unwrap());
        let roads = [
            ("ask after a restart", of(&restarted.ask(ask()).await.unwrap())),
            ("ask on a remote executor", of(&remote.ask(ask()).await.unwrap())),
            (
                "code",
                of(&here.code(CodeTask { plan, ..CodeTask::new("x", "test", "test") }).await.unwrap().record),
            ),
            (
                "HTTP requests",
                outcome(&shop.post("/v1/requests", &json!({ "request": "x", "plan": code })).await.json()),
            ),
            (
                "HTTP code",
                outcome(&shop.post("/v1/code", &json!({ "request": "x", "plan": code })).await.json()),
            ),
        ];
        for (road, came) in roads {
            assert_eq!(came, first, "{name}: {road}");
        }
    }
    cells.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn given_code_has_the_same_verdict_and_cause_over_http_and_grpc() {
    let (shop, cells) = (served().await, World::new().await);
    for (name, code) in [
        ("prints", "print(1 + 1)\n"),
        ("import", "import socket\n"),
        ("does not parse", "x = (\n"),
        ("raises", "x = 1 / len([])\n"),
    ] {
        let record = shop.post("/v1/exec", &json!({ "code": code })).await.json();
        let came = execute(&cells, sent(code)).await.unwrap();
        let cause = match (record["state"].as_str(), record["outcome"]["error"]["cause"].as_str()) {
            (Some("rejected"), _) => "rejected",
            (_, Some(cause)) => cause,
            (_, None) => "ok",
        };
        assert_eq!(came.result.cause, cause, "{name}: {record}");
        let is_ok = cause == "ok";
        assert_eq!(record["receipt"]["kind"] == "none", is_ok, "{name}: {record}");
        assert_eq!(record["receipt"]["tables"], json!({}), "{name}");
    }
    cells.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn checks_give_the_same_on_a_remote_executor() {
    let shop = served_example("data-quality", Planner::Rules, |_| {}).await;
    let cells = World::with(|options| options.profiles.push(Profile::Data)).await;
    let workspace = Arc::new(Workspace::load(&shop.folder.path().join("shop")).unwrap());
    let local = shop.service.engine().clone();
    let mut seen = Vec::new();
    for engine in [local, over(&shop, Arc::new(cells.remote()))] {
        let checks = Checks::new(Arc::clone(&workspace), engine);
        let mut task = checks.task(read_checks(&workspace.root).unwrap(), "test", "test");
        task.options.selection.add("id:CHK-002,id:CHK-010,id:CHK-033,id:CHK-035").unwrap();
        let (record, ran) = checks.run(task, &mut Quiet).await.unwrap();
        let results = ran.unwrap().report.results;
        let results: Vec<_> = results
            .into_iter()
            .map(|result| (result.check_id, result.status, result.failed, result.summary, result.samples))
            .collect();
        // The tables are made anew, so that the remote executor converts them as well.
        fs_err::remove_dir_all(workspace.state().join("cache")).unwrap();
        assert_eq!(record.kind, RunKind::Check);
        seen.push((of(&record), results));
    }
    assert_eq!(seen[0], seen[1]);
    assert_eq!(seen[0].1.len(), 4);
    cells.end().await;
}
