//! What the server counts: each figure is read after the thing that it counts was made to happen.

use std::sync::Arc;
use std::time::Duration;

use ordain_engine::Planner;
use ordain_planner::provider::{Call, Completion, Heard, ModelRequest, Provider};
use ordain_planner::{Model, ModelSettings};
use serde_json::json;
use tokio::net::TcpStream;

use super::client;
use super::world::{BUY, Served, served, served_by, served_example, served_from};

/// A model whose price is known, and which is right at the second try.
#[derive(Debug)]
struct Priced(std::sync::atomic::AtomicBool);

impl Provider for Priced {
    fn name(&self) -> String {
        "openai:gpt-4.1-mini".to_owned()
    }

    fn call<'a>(&'a self, _request: &'a ModelRequest, _heard: &'a mut Heard<'_>) -> Call<'a> {
        Box::pin(async move {
            let is_first = !self.0.swap(true, std::sync::atomic::Ordering::SeqCst);
            let code = if is_first { "import socket\n" } else { BUY };
            let text = format!("<execute_python>{code}</execute_python>");
            Ok(Completion { text, input_tokens: 500_000, output_tokens: 100_000, ..Completion::default() })
        })
    }
}

async fn figures(shop: &Served) -> String {
    shop.get("/metrics").await.text()
}

#[track_caller]
fn has(figures: &str, line: &str) {
    assert!(figures.lines().any(|of| of == line), "{line}\n{figures}");
}

/// Waits for a line of the figures.
async fn eventually(shop: &Served, line: &str) {
    for _ in 0..500 {
        if figures(shop).await.lines().any(|of| of == line) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    has(&figures(shop).await, line);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn figures_count_what_happened_without_naming_anybody() {
    let shop = served().await;
    let run = shop.buy().await.json()["run_id"].as_str().unwrap().to_owned();
    shop.post("/v1/exec", &json!({ "code": "import socket" })).await;
    shop.get(&format!("/v1/runs/{run}")).await;
    let text = shop.get("/metrics").await.text();
    for line in [
        "ordain_runs_total{kind=\"ask\",state=\"committed\"} 1",
        "ordain_runs_total{kind=\"exec\",state=\"rejected\"} 1",
        "ordain_approvals_pending 0",
        "ordain_cells_active 0",
        "ordain_cells_idle ",
        "ordain_http_request_duration_seconds_count{route=\"/v1/runs/{run}\",method=\"GET\",code=\"200\"} 1",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    assert!(!text.contains(&run), "no run is named");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tokens_money_and_repairs_of_a_model_are_counted() {
    let settings = ModelSettings { review: false, ..ModelSettings::default() };
    let planner = Planner::Model(Model::new(Arc::new(Priced(false.into())), settings));
    let shop = served_by(planner, |_| {}).await;
    let body = json!({ "request": "please buy an Aviator for me", "strategy": "direct" });
    let record = shop.post("/v1/requests", &body).await.json();
    assert_eq!(
        (&record["state"], &record["verdict"]["iterations"]),
        (&json!("committed"), &json!(2)),
        "{record}"
    );
    let text = figures(&shop).await;
    has(&text, "ordain_model_tokens_total{model=\"openai:gpt-4.1-mini\",type=\"input\"} 1000000");
    has(&text, "ordain_model_tokens_total{model=\"openai:gpt-4.1-mini\",type=\"output\"} 200000");
    has(&text, "ordain_repair_rounds_sum{kind=\"ask\"} 1");
    has(&text, "ordain_cache_requests_total{result=\"miss\"} 1");
    let cost = text
        .lines()
        .find_map(|line| line.strip_prefix("ordain_model_cost_usd_total{model=\"openai:gpt-4.1-mini\"} "));
    let expected = ordain_planner::provider::cost_usd("openai:gpt-4.1-mini", 1_000_000, 200_000).unwrap();
    let cost: f64 = cost.unwrap_or_else(|| panic!("{text}")).parse().unwrap();
    assert!((cost - expected).abs() < 1e-9, "{cost} is not {expected}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn jobs_that_wait_for_a_cell_and_open_connections_are_shown() {
    let shop = served_from("sunglasses", Planner::Rules, |local| local.running_max = 1, |_| {}).await;
    let loops = json!({ "code": "n = 0\nwhile True:\n    n += 1" });
    let mut runs = Vec::new();
    for _ in 0..3 {
        let begun = shop.post_with("/v1/exec", &["Prefer: respond-async"], &loops).await.json();
        runs.push(begun["run_id"].as_str().unwrap().to_owned());
    }
    eventually(&shop, "ordain_queue_depth 2").await;
    has(&figures(&shop).await, "ordain_runs_active 3");
    has(&figures(&shop).await, "ordain_cells_active 1");
    for run in runs {
        shop.post(&format!("/v1/runs/{run}/cancel"), &json!({})).await;
    }
    eventually(&shop, "ordain_queue_depth 0").await;
    eventually(&shop, "ordain_cells_active 0").await;
    has(&figures(&shop).await, "ordain_runs_total{kind=\"exec\",state=\"rolled_back\"} 3");

    let mut open = Vec::new();
    for _ in 0..3 {
        open.push(TcpStream::connect(shop.address).await.unwrap());
    }
    // The one that asks is open too.
    eventually(&shop, "ordain_connections_open 4").await;
    drop(open);
    eventually(&shop, "ordain_connections_open 1").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_check_that_is_compiled_anew_is_counted_with_the_kind_of_its_reason() {
    let served = served_example("data-quality", Planner::Rules, |_| {}).await;
    let run = async || {
        let path = "/v1/checks/CHK-021/run";
        let ran = client::send(served.address, "POST", path, &["Prefer: wait=250"], b"").await;
        assert_eq!(ran.status, 200, "{}", ran.text());
    };
    run().await;
    assert!(!figures(&served).await.contains("ordain_recompiles_total{"), "the first time is not anew");
    let file = served.folder.path().join("shop/checks/checks.json");
    let text = fs_err::read_to_string(&file).unwrap();
    let from = "\"kind\": \"unique\",\n    \"params\": {\"columns\": [\"email\"]}";
    assert!(text.contains(from));
    fs_err::write(&file, text.replacen(from, &from.replace("email", "user_id"), 1)).unwrap();
    run().await;
    has(&figures(&served).await, "ordain_recompiles_total{reason=\"rule\"} 1");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rating_is_kept_with_the_run_and_counted() {
    let shop = served().await;
    let bought = shop.post("/v1/requests", &json!({ "request": "buy an Aviator", "plan": BUY })).await.json();
    let path = format!("/v1/runs/{}/feedback", bought["run_id"].as_str().unwrap());
    for (body, status) in [
        (json!({ "rating": "bad", "note": "wrong <b>customer</b>" }), 200),
        (json!({ "rating": "awful" }), 422),
        (json!({}), 422),
        (json!({ "rating": "good", "note": "x".repeat(2001) }), 422),
    ] {
        let answer = shop.post(&path, &body).await;
        assert_eq!(answer.status, status, "{body}: {}", answer.text());
    }
    let run = shop.get(path.trim_end_matches("/feedback")).await.json();
    assert_eq!((&run["state"], &run["rating"]["grade"]), (&json!("committed"), &json!("bad")));
    has(&figures(&shop).await, "ordain_ratings_total{rating=\"bad\"} 1");
    let page = client::send(
        shop.address,
        "GET",
        path.trim_end_matches("/feedback").trim_start_matches("/v1"),
        &["Accept: text/html"],
        b"",
    )
    .await;
    assert!(page.text().contains("rated bad") && page.text().contains("wrong &lt;b&gt;"), "{}", page.text());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_caller_that_names_a_model_reaches_no_file_no_provider_and_no_label() {
    let shop = served().await;
    let secret = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(secret.path(), "\"hunter2-password\"\n").unwrap();
    let replay = format!("replay:{}", secret.path().display());
    for model in [replay.as_str(), "replay:/no-such-file", "lmstudio:x", "openai:gpt-x", "patient-Mueller"] {
        for (path, request) in [("/v1/requests", "how many items are there?"), ("/v1/code", "5 + 3")] {
            let answer = shop.post(path, &json!({ "request": request, "model": model })).await;
            let problem = answer.json();
            assert_eq!((answer.status, &problem["code"]), (422, &json!("model_not_listed")), "{problem}");
            assert!(
                !answer.text().contains("hunter2") && !answer.text().contains("No such file"),
                "{problem}"
            );
        }
    }
    let text = figures(&shop).await;
    assert!(!text.contains("Mueller"), "{text}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plans_own_status_is_no_label() {
    let shop = served().await;
    let plan = "name = 'Mueller'\nanswer_text = 'no'\nSTATUS = 'patient-' + name\n";
    shop.post("/v1/requests", &json!({ "request": "who?", "plan": plan })).await;
    let text = figures(&shop).await;
    assert!(!text.contains("Mueller"), "{text}");
}
