//! Checks over HTTP: the example with planted errors, real files and real cells with pandas.

use ordain_engine::Planner;
use serde_json::{Value, json};

use super::client;
use super::world::{Served, served, served_example, served_with};

async fn data_quality() -> Served {
    served_example("data-quality", Planner::Rules, |_| {}).await
}

fn statuses(report: &Value) -> Vec<(&str, &str)> {
    let results = report["results"].as_array().unwrap();
    results
        .iter()
        .map(|result| (result["check_id"].as_str().unwrap(), result["status"].as_str().unwrap()))
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_checks_run_and_what_they_gave_is_found_again() {
    let served = data_quality().await;
    let before = served.get("/v1/checks/CHK-020").await.json();
    assert_eq!(
        (&before["compiled"], &before["stale"], &before["last"]),
        (&Value::Null, &Value::Null, &Value::Null)
    );

    // No body is needed to run all of them.
    let answer = client::send(served.address, "POST", "/v1/checks/run", &["Prefer: wait=250"], b"").await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let report = answer.json();
    let run = report["run_id"].as_str().unwrap();
    assert_eq!(answer.header("location"), Some(format!("/v1/runs/{run}").as_str()));
    let found = statuses(&report);
    let listed = served.get("/v1/checks?limit=500").await.json();
    let listed = listed["checks"].as_array().unwrap();
    assert_eq!(found.len(), listed.len(), "every check has a result");
    assert!(!found.iter().any(|(_, status)| *status == "ERROR"), "{found:?}");
    let failing =
        report["results"].as_array().unwrap().iter().find(|it| it["check_id"] == "CHK-010").unwrap();
    assert_eq!(failing["status"], "FAIL", "{failing}");
    assert!(failing["failed"].as_u64().unwrap() > 0 && !failing["samples"].as_array().unwrap().is_empty());

    let record = served.get(&format!("/v1/runs/{run}")).await.json();
    assert_eq!((&record["kind"], &record["state"]), (&json!("check"), &json!("answered")));
    let ledger = served.get("/v1/ledger").await.text();
    assert!(ledger.contains(run), "the run is in the ledger");
    for item in listed {
        assert_eq!(item["last"]["run_id"], run, "{item}");
    }

    let after = served.get("/v1/checks/CHK-020").await.json();
    assert!(after["compiled"]["code"].as_str().is_some_and(|code| !code.is_empty()), "{after}");
    assert_eq!((&after["stale"], &after["last"]["run_id"]), (&Value::Null, &json!(run)));
    assert_eq!(after["result"]["status"], after["last"]["status"]);

    let past = served.get("/v1/checks/CHK-020/history").await.json();
    assert_eq!((past.as_array().unwrap().len(), &past[0]["run_id"]), (1, &json!(run)));
    let page = served.get("/v1/check-report").await;
    assert!(page.header("content-type").unwrap().starts_with("text/html"));
    assert!(page.text().contains("CHK-010") && page.text().contains(run));
    let changes = served.get("/v1/check-changes").await.json();
    assert!(changes.as_array().unwrap().iter().all(|change| change["code"] == "keep"), "{changes}");

    let figures = served.get("/metrics").await.text();
    let line = "ordain_check_results_total{status=\"fail\",severity=\"high\"}";
    assert!(figures.contains(line), "{figures}");
    assert!(figures.contains("ordain_runs_total{kind=\"check\",state=\"answered\"} 1"), "{figures}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_tables_that_checks_look_at_are_told_with_what_their_rows_suggest() {
    let served = data_quality().await;
    let tables = served.get("/v1/data").await.json();
    let orders = tables.as_array().unwrap().iter().find(|table| table["table"] == "orders").unwrap();
    assert!(orders["rows"].as_u64().unwrap() > 0 && orders["summary"].as_str().unwrap().contains("rows"));
    assert!(
        orders["columns"].as_array().unwrap().iter().all(|column| column["type"].is_string()),
        "{orders}"
    );
    let proposed = served.get("/v1/data/orders/suggestions").await.json();
    assert!(proposed.as_array().unwrap().iter().all(|it| it["check"]["check_id"].is_string()), "{proposed}");
    assert_eq!(served.get("/v1/data/nothing/suggestions").await.problem(), "bad_table");
    assert_eq!(served.get("/v1/check-report").await.problem(), "no_report");
    assert_eq!(served.get("/v1/check-prompts").await.json(), json!([]));
    assert_eq!(served.get("/v1/checks/nothing/history").await.problem(), "unknown_check");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_check_is_tried_saved_by_its_reading_changed_and_removed() {
    let served = data_quality().await;
    let send = async |method: &str, path: &str, body: &Value| {
        client::send(
            served.address,
            method,
            path,
            &["Content-Type: application/json"],
            body.to_string().as_bytes(),
        )
        .await
    };
    let mut check = json!({"calculation_hint": "quantity must be above 0", "target_table": "orders"});
    let tried = send("POST", "/v1/checks", &check).await;
    assert_eq!(tried.status, 200, "{}", tried.text());
    let tried = tried.json();
    let reading = tried["reading"].clone();
    assert_eq!((&tried["saved"], tried["result"]["evaluated"].is_u64()), (&json!(false), true), "{tried}");
    let id = tried["result"]["check_id"].as_str().unwrap().to_owned();
    let path = format!("/v1/checks/{id}");
    assert_eq!(served.get(&path).await.problem(), "unknown_check", "nothing is saved yet");

    check["accepted_reading"] = json!("orders: something else");
    assert_eq!(send("POST", "/v1/checks", &check).await.problem(), "read_otherwise");
    check["accepted_reading"] = reading.clone();
    let saved = send("POST", "/v1/checks", &check).await;
    assert_eq!((saved.status, saved.json()["saved"].clone()), (201, json!(true)), "{}", saved.text());
    assert_eq!(served.get(&path).await.json()["check"]["accepted_reading"], reading);
    check["check_id"] = json!(id);
    assert_eq!(send("POST", "/v1/checks", &check).await.problem(), "check_id_taken");

    let mut change = json!({"calculation_hint": "quantity must be above 1", "severity": "high"});
    let tried = send("PATCH", &path, &change).await.json();
    assert_ne!(tried["reading"], reading, "{tried}");
    change["accepted_reading"] = tried["reading"].clone();
    assert_eq!(send("PATCH", &path, &change).await.json()["saved"], json!(true));
    let after = served.get(&path).await.json();
    assert_eq!(
        (&after["check"]["severity"], &after["check"]["accepted_reading"]),
        (&json!("high"), &tried["reading"])
    );
    assert_eq!(send("PATCH", &path, &json!({"check_id": "x"})).await.problem(), "bad_check");
    assert_eq!(send("PATCH", &path, &json!({"severity": "huge"})).await.problem(), "bad_check");

    let compiled = send("POST", "/v1/checks/compile", &json!({"select": [format!("id:{id}")]})).await.json();
    assert_eq!(compiled["results"][0]["understood"], tried["reading"], "{compiled}");
    assert_eq!(served.get("/v1/runs").await.json()["runs"], json!([]), "a trial is no run");
    assert_eq!(send("POST", "/v1/checks/accept", &json!({"run": "latest"})).await.problem(), "no_report");

    assert_eq!(send("DELETE", &path, &json!({})).await.status, 204);
    assert_eq!(served.get(&path).await.problem(), "unknown_check");
    let kinds = served.get("/v1/ledger").await.json();
    let rules = kinds["entries"].as_array().unwrap().iter().filter(|entry| entry["kind"] == "rule").count();
    assert_eq!(rules, 3, "{kinds}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_check_runs_once_for_a_key_and_its_code_grows_stale_with_its_rule() {
    let served = data_quality().await;
    let headers = ["Idempotency-Key: k1", "Prefer: wait=250"];
    let path = "/v1/checks/CHK-021/run";
    let first = client::send(served.address, "POST", path, &headers, b"").await;
    assert_eq!(first.status, 200, "{}", first.text());
    assert_eq!(statuses(&first.json()).len(), 1);
    let again = client::send(served.address, "POST", path, &headers, b"").await;
    assert_eq!(again.header("idempotent-replayed"), Some("true"), "{}", again.text());
    assert_eq!(again.json(), first.json());
    let other = client::send(served.address, "POST", "/v1/checks/CHK-020/run", &headers, b"").await;
    assert_eq!((other.status, other.problem().as_str()), (422, "idempotency_key_reused"));
    let runs = served.get("/v1/runs").await.json();
    assert_eq!(runs["runs"].as_array().unwrap().len(), 1, "{runs}");

    let file = served.folder.path().join("shop/checks/checks.json");
    let text = fs_err::read_to_string(&file).unwrap();
    let from = "\"kind\": \"unique\",\n    \"params\": {\"columns\": [\"email\"]}";
    assert!(text.contains(from));
    let to = "\"kind\": \"unique\",\n    \"params\": {\"columns\": [\"user_id\"]}";
    fs_err::write(&file, text.replacen(from, to, 1)).unwrap();
    let stale = served.get("/v1/checks/CHK-021").await.json();
    assert!(stale["stale"].as_str().is_some_and(|why| !why.is_empty()), "{stale}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_list_of_checks_comes_in_pages_that_miss_nothing() {
    let served = data_quality().await;
    let all = served.get("/v1/checks?limit=500").await.json();
    let ids = |page: &Value| -> Vec<String> {
        let checks = page["checks"].as_array().unwrap();
        checks.iter().map(|item| item["check"]["check_id"].as_str().unwrap().to_owned()).collect()
    };
    let (mut paged, mut path) = (Vec::new(), "/v1/checks?limit=2".to_owned());
    loop {
        let page = served.get(&path).await.json();
        paged.extend(ids(&page));
        let Some(cursor) = page["next_cursor"].as_str() else { break };
        path = format!("/v1/checks?limit=2&cursor={cursor}");
    }
    assert!(paged.len() > 4 && paged == ids(&all), "{paged:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_run_is_told_with_its_reason() {
    let served = data_quality().await;
    let unknown = served.get("/v1/checks/CHK-999").await;
    assert_eq!((unknown.status, unknown.problem().as_str()), (404, "unknown_check"));
    let unknown = served.post("/v1/checks/CHK-999/run", &json!({})).await;
    assert_eq!((unknown.status, unknown.problem().as_str()), (404, "unknown_check"));
    for (body, code) in [
        (json!({ "select": ["tga:x"] }), "bad_selection"),
        (json!({ "select": ["tag:no-such-tag"] }), "nothing_selected"),
        (json!({ "selection": [] }), "bad_body"),
    ] {
        let answer = served.post("/v1/checks/run", &body).await;
        assert_eq!((answer.status, answer.problem().as_str()), (422, code), "{body}");
    }
    fs_err::write(served.folder.path().join("shop/checks/more.json"), "[{\"check_id\": \"x\"}]").unwrap();
    let broken = served.post("/v1/checks/run", &json!({})).await;
    assert_eq!((broken.status, broken.problem().as_str()), (409, "bad_check_files"));
    assert!(broken.json()["errors"][0]["pointer"].as_str().unwrap().starts_with("checks/more.json:"));
    let listed = served.get("/v1/checks").await.json();
    assert!(
        !listed["problems"].as_array().unwrap().is_empty()
            && !listed["checks"].as_array().unwrap().is_empty()
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_workspace_without_checks_says_so() {
    let shop = served().await;
    assert_eq!(shop.get("/v1/checks").await.json()["checks"], json!([]));
    let answer = shop.post("/v1/checks/run", &json!({})).await;
    assert_eq!((answer.status, answer.problem().as_str()), (409, "no_checks"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn looking_at_checks_is_not_running_them() {
    let shop = served_with(|options| options.keys_required = true).await;
    let (_, reader) = shop.key(|new| new.scopes = vec!["read".to_owned()]).await;
    let listed = client::send(shop.address, "GET", "/v1/checks", &[&reader], b"").await;
    assert_eq!(listed.status, 200, "{}", listed.text());
    for path in ["/v1/checks/run", "/v1/checks/CHK-1/run"] {
        let refused = client::send(shop.address, "POST", path, &[&reader], b"").await;
        assert_eq!((refused.status, refused.problem().as_str()), (403, "scope_missing"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancelled_run_of_checks_keeps_what_had_finished() {
    let served = data_quality().await;
    let check = |id: &str, needs: &[&str], code: &str| {
        json!({ "check_id": id, "check_name": id, "target_table": "users", "kind": "python", "severity": "low",
            "depends_on": needs, "params": { "code": code } })
    };
    let fast = "users = frame(\"users\")\nresult = {\"status\": \"PASS\", \"summary\": \"fine\", \"evaluated\": len(users)}\n";
    let slow = "number = 1\nwhile number > 0:\n    number += 1\nresult = {\"status\": \"PASS\", \"summary\": \"x\"}\n";
    let checks = json!([check("FAST", &[], fast), check("SLOW", &["FAST"], slow)]);
    let file = served.folder.path().join("shop/checks/checks.json");
    fs_err::write(&file, checks.to_string()).unwrap();
    let begun = client::send(served.address, "POST", "/v1/checks/run", &["Prefer: respond-async"], b"").await;
    assert_eq!(begun.status, 202, "{}", begun.text());
    let run = begun.json()["run_id"].as_str().unwrap().to_owned();
    // The one that others depend on is done.
    let mut watched = tokio::net::TcpStream::connect(served.address).await.unwrap();
    let head = format!("GET /v1/runs/{run}/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
    tokio::io::AsyncWriteExt::write_all(&mut watched, head.as_bytes()).await.unwrap();
    super::streams::read_until(&mut watched, "\"check_id\":\"FAST\"").await;

    let cancelled = served.post(&format!("/v1/runs/{run}/cancel"), &json!({})).await;
    assert_eq!(cancelled.status, 200, "{}", cancelled.text());
    let record = cancelled.json();
    assert_eq!(
        (&record["error"]["code"], &record["status"]),
        (&json!("cancelled"), &Value::Null),
        "{record}"
    );
    assert_eq!(record["answer"]["json"]["PASS"], 1, "{record}");
    assert_eq!(served.get(&format!("/v1/runs/{run}")).await.json()["error"]["code"], "cancelled");
    let fast = served.get("/v1/checks/FAST").await.json();
    assert_eq!((&fast["last"]["run_id"], &fast["result"]["status"]), (&json!(run), &json!("PASS")), "{fast}");
    assert_eq!(served.get("/v1/checks/SLOW").await.json()["last"], Value::Null);
    let again = served.post(&format!("/v1/runs/{run}/cancel"), &json!({})).await;
    assert_eq!((again.status, again.problem().as_str()), (409, "already_ended"));
    // The next run is not kept out.
    let next = client::send(served.address, "POST", "/v1/checks/FAST/run", &["Prefer: wait=250"], b"").await;
    assert_eq!(next.status, 200, "{}", next.text());
}
