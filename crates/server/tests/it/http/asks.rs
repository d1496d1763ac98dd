//! Requests, their runs, and what a person decides on them.

use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::client;
use super::world::{BUY, served};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_is_read_while_it_is_typed_and_nothing_is_carried_out() {
    let shop = served().await;
    let read = shop.get("/v1/read?prefix=buy%202%20m").await.json();
    assert_eq!(read["tokens"][1], json!({"text": "2", "at": [4, 5], "kind": "number", "mentions": []}));
    assert!(read["next"].as_array().unwrap().contains(&json!({"text": "Moon", "kind": "value"})), "{read}");
    let read = shop.get("/v1/read?prefix=buy%202%20moons").await.json();
    assert!(read["readings"][0]["reading"].as_str().unwrap().starts_with("buy 2 Moon"), "{read}");
    assert!(shop.get("/v1/runs").await.json()["runs"].as_array().unwrap().is_empty());
    let long = shop.get(&format!("/v1/read?prefix={}", "a".repeat(2_001))).await;
    assert_eq!((long.status, long.problem().as_str()), (400, "bad_query"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_purchase_shows_its_run_and_its_diff_and_can_be_undone() {
    let shop = served().await;
    let before = shop.stock().await;
    let answer = shop.buy().await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let record = answer.json();
    assert_eq!(record["state"], "committed", "{record}");
    assert_eq!(record["answer"]["text"], "Sold 1 Aviator.");
    assert_eq!(record["diff"]["inventory"]["changed"][0]["after"]["quantity_in_stock"], before - 1);
    assert_eq!(shop.stock().await, before - 1);
    let run = record["run_id"].as_str().unwrap();
    assert_eq!(shop.get(&format!("/v1/runs/{run}")).await.json()["run_id"], record["run_id"]);

    let undone = shop.post(&format!("/v1/runs/{run}/undo"), &json!({})).await;
    assert_eq!((undone.status, undone.json()["state"].clone()), (200, json!("undone")));
    assert_eq!(shop.stock().await, before);
    let again = shop.post(&format!("/v1/runs/{run}/undo"), &json!({})).await;
    assert_eq!((again.status, again.problem().as_str()), (409, "wrong_state"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_held_diff_waits_for_a_person_and_a_dry_run_changes_nothing() {
    let shop = served().await;
    let before = shop.stock().await;
    let dry = shop.post("/v1/requests", &json!({ "request": "buy", "plan": BUY, "dry_run": true })).await;
    assert_eq!(dry.json()["state"], "rolled_back");
    assert_eq!(dry.json()["diff"]["inventory"]["changed"].as_array().unwrap().len(), 1);
    let held =
        shop.post("/v1/requests", &json!({ "request": "buy", "plan": BUY, "hold": true })).await.json();
    assert_eq!(held["state"], "held");
    assert_eq!(shop.stock().await, before);
    let listed = shop.get("/v1/runs?state=held").await.json();
    assert_eq!(listed["runs"][0]["run_id"], held["run_id"]);
    let run = held["run_id"].as_str().unwrap();
    let approved = shop.post(&format!("/v1/runs/{run}/approve"), &json!({})).await;
    assert_eq!(approved.json()["state"], "committed", "{}", approved.text());
    assert_eq!(shop.stock().await, before - 1);
    let held =
        shop.post("/v1/requests", &json!({ "request": "buy", "plan": BUY, "hold": true })).await.json();
    let run = held["run_id"].as_str().unwrap();
    let rejected = shop.post(&format!("/v1/runs/{run}/reject"), &json!({})).await;
    assert_eq!(rejected.json()["state"], "rejected");
    assert_eq!(shop.stock().await, before - 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancelled_run_is_rolled_back_and_recorded() {
    let shop = served().await;
    let before = shop.stock().await;
    let run = shop.begin_slow(&[]).await;
    let shown = shop.get(&format!("/v1/runs/{run}")).await.json();
    assert_eq!(shown["state"], "running");
    let cancelled = shop.post(&format!("/v1/runs/{run}/cancel"), &json!({})).await;
    assert_eq!(cancelled.status, 200, "{}", cancelled.text());
    let record = cancelled.json();
    assert_eq!((&record["state"], &record["error"]["code"]), (&json!("rolled_back"), &json!("cancelled")));
    assert_eq!(shop.stock().await, before, "what it wrote is gone");
    let again = shop.post(&format!("/v1/runs/{run}/cancel"), &json!({})).await;
    assert_eq!((again.status, again.problem().as_str()), (409, "already_ended"));
    let ledger = shop.get("/v1/ledger?limit=1").await.json();
    assert_eq!(ledger["entries"][0]["run_id"], run.as_str());
    assert_eq!(shop.get("/v1/ledger/verify").await.json()["whole"], true);
    assert_eq!(shop.buy().await.json()["state"], "committed", "the store is free again");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_goes_on_when_its_caller_hangs_up() {
    let shop = served().await;
    let before = shop.stock().await;
    let body = json!({ "request": "buy", "plan": BUY }).to_string();
    let head = format!(
        "POST /v1/requests HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    let mut stream = TcpStream::connect(shop.address).await.unwrap();
    stream.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
    // Long enough to be read, not to be answered; the order of the two does not matter to the run.
    tokio::time::sleep(Duration::from_millis(5)).await;
    drop(stream);
    for _ in 0..3000 {
        if shop.stock().await == before - 1 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the purchase was lost with its connection");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_are_told_as_they_come_and_resume_where_they_were_lost() {
    let shop = served().await;
    let body = json!({ "code": "print('one')\nprint('two')" });
    let record = shop.post("/v1/exec", &body).await.json();
    let path = format!("/v1/runs/{}/events", record["run_id"].as_str().unwrap());
    let all = shop.get(&path).await;
    assert_eq!(all.header("content-type"), Some("text/event-stream"));
    let text = all.text();
    assert!(text.contains("event: started") && text.contains("event: stdout"), "{text}");
    assert!(text.trim_end().ends_with('}') && text.contains("event: finished"), "{text}");
    let rest = client::send(shop.address, "GET", &path, &["Last-Event-ID: 1"], b"").await.text();
    assert!(!rest.contains("event: started") && rest.contains("event: finished"), "{rest}");
    let last = text.lines().filter_map(|line| line.strip_prefix("id: ")).next_back().unwrap();
    let seen = client::send(shop.address, "GET", &path, &[&format!("Last-Event-ID: {last}")], b"").await;
    assert_eq!(seen.status, 204);
    let odd = client::send(shop.address, "GET", &path, &["Last-Event-ID: x"], b"").await;
    assert_eq!((odd.status, odd.problem().as_str()), (400, "bad_event_id"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_watcher_is_told_of_the_end_of_a_run_that_goes_on() {
    let shop = served().await;
    let run = shop.begin_slow(&[]).await;
    let mut stream = TcpStream::connect(shop.address).await.unwrap();
    let request =
        format!("GET /v1/runs/{run}/events HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut first = [0; 2048];
    let read = stream.read(&mut first).await.unwrap();
    assert!(read > 0);
    shop.post(&format!("/v1/runs/{run}/cancel"), &json!({})).await;
    let mut rest = Vec::new();
    tokio::time::timeout(Duration::from_secs(30), stream.read_to_end(&mut rest)).await.unwrap().unwrap();
    let text = String::from_utf8_lossy(&rest).into_owned();
    assert!(text.contains("event: finished") && text.contains("cancelled"), "{text}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lists_are_read_page_by_page_without_a_row_twice() {
    let shop = served().await;
    for _ in 0..3 {
        shop.post("/v1/exec", &json!({ "code": "pass" })).await;
    }
    let (mut seen, mut path) = (Vec::new(), "/v1/runs?limit=2".to_owned());
    loop {
        let page = shop.get(&path).await;
        let value = page.json();
        seen.extend(value["runs"].as_array().unwrap().iter().map(|run| run["run_id"].clone()));
        let Some(cursor) = value["next_cursor"].as_str() else { break };
        assert_eq!(page.header("link"), Some(format!("</v1/runs?cursor={cursor}>; rel=\"next\"").as_str()));
        path = format!("/v1/runs?limit=2&cursor={cursor}");
    }
    assert_eq!(seen.len(), 3);
    seen.dedup();
    assert_eq!(seen.len(), 3);
    let rows = shop.get("/v1/tables/inventory/rows?limit=4").await.json();
    assert_eq!(rows["rows"].as_array().unwrap().len(), 4);
    let cursor = rows["next_cursor"].as_str().unwrap();
    let more = shop.get(&format!("/v1/tables/inventory/rows?limit=4&cursor={cursor}")).await.json();
    assert_ne!(more["rows"][0]["item_id"], rows["rows"][3]["item_id"]);
    for path in
        ["/v1/runs?cursor=x", "/v1/runs?limit=0", "/v1/runs?limit=501", "/v1/runs?state=odd", "/v1/runs?a=b"]
    {
        assert_eq!(shop.get(path).await.status, 400, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn turns_of_a_conversation_are_kept() {
    let shop = served().await;
    let body = json!({ "request": "buy", "plan": BUY, "conversation": "till 1" });
    shop.post("/v1/requests", &body).await;
    let sessions = shop.get("/v1/sessions").await.json();
    assert_eq!(sessions["sessions"][0]["conversation"], "till 1");
    let turns = shop.get("/v1/sessions/till%201").await.json();
    assert_eq!(turns["turns"][0]["answer"], "Sold 1 Aviator.");
    assert_eq!(shop.get("/v1/sessions/nobody").await.problem(), "unknown_session");
}

/// Reads a whole list in pages of two, and gives what names its items.
async fn paged(shop: &super::world::Served, path: &str, list: &str, name: &str) -> Vec<String> {
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = shop.get(&format!("{path}?limit=2{cursor}")).await;
        let value = page.json();
        let items = value[list].as_array().unwrap();
        assert!(items.len() <= 2, "{value}");
        seen.extend(items.iter().map(|item| item[name].as_str().unwrap().to_owned()));
        let Some(next) = value["next_cursor"].as_str() else { return seen };
        assert_eq!(page.header("link"), Some(format!("<{path}?cursor={next}>; rel=\"next\"").as_str()));
        cursor = format!("&cursor={next}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn plans_and_conversations_are_read_page_by_page_too() {
    let shop = served().await;
    let requests = [
        "how many classic are left?",
        "what does the aviator cost?",
        "buy 1 wayfarer",
        "do you have round sunglasses?",
        "which sunglasses cost less than $60?",
    ];
    for (place, request) in requests.into_iter().enumerate() {
        // A name may hold anything.
        let body =
            json!({ "request": request, "conversation": format!("till {} / ä#{}", place % 5, place % 5) });
        let record = shop.post("/v1/requests", &body).await.json();
        assert!(record["error"].is_null(), "{record}");
    }
    let plans = paged(&shop, "/v1/plans", "plans", "plan_id").await;
    let pinned = plans.last().unwrap();
    assert_eq!(shop.post(&format!("/v1/plans/{pinned}/pin"), &json!({})).await.status, 200);
    let again = paged(&shop, "/v1/plans", "plans", "plan_id").await;
    assert_eq!(&again[0], pinned, "pinned ones come first, over all pages");
    let whole = shop.get("/v1/plans?limit=500").await.json();
    let whole: Vec<&str> =
        whole["plans"].as_array().unwrap().iter().map(|plan| plan["plan_id"].as_str().unwrap()).collect();
    assert!(whole.len() >= 4 && whole == again, "{whole:?} {again:?}");
    let conversations = paged(&shop, "/v1/sessions", "sessions", "conversation").await;
    let expected: Vec<String> = (0..5).rev().map(|place| format!("till {place} / ä#{place}")).collect();
    assert_eq!(conversations, expected, "the latest first");
    for path in ["/v1/plans?cursor=x", "/v1/sessions?cursor=Zm9v", "/v1/plans?limit=0", "/v1/sessions?a=b"] {
        assert_eq!(shop.get(path).await.status, 400, "{path}");
    }
}
