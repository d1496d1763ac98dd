//! Health, figures, stopping, and one server for a workspace.

use std::time::Duration;

use ordain_server::http::{ServeLock, ServeLockError};
use serde_json::json;

use super::world::served;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_says_what_it_is_and_whether_it_can_work() {
    let shop = served().await;
    assert_eq!(shop.get("/healthz").await.json()["status"], "ok");
    let ready = shop.get("/readyz").await;
    assert_eq!((ready.status, ready.json()["ready"].clone()), (200, json!(true)), "{}", ready.text());
    assert_eq!(shop.get("/version").await.json()["planner"], "rules");
    shop.service.begin_draining();
    let ready = shop.get("/readyz").await;
    assert_eq!((ready.status, ready.json()["parts"][0]["found"].clone()), (503, json!("stopping")));
    assert_eq!(shop.get("/healthz").await.status, 200, "it is alive all the same");
    let refused = shop.buy().await;
    assert_eq!((refused.status, refused.problem().as_str()), (503, "draining"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stopping_rolls_back_what_does_not_end_in_time() {
    let mut shop = super::world::served_with(|options| options.drain_time = Duration::from_millis(100)).await;
    let run = shop.begin_slow(&[]).await;
    shop.stop().await;
    let record = shop.store().run(&run).await.unwrap();
    assert_eq!(record.error.unwrap().code, "cancelled");
    let report = shop.store().verify_ledger().await.unwrap();
    assert!(report.is_whole());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stopping_lets_what_goes_on_come_to_its_end() {
    let mut shop = super::world::served_with(|options| options.drain_time = Duration::from_mins(1)).await;
    let body = json!({ "code": "total = 0\nfor n in range(3_000_000):\n    total += n\nprint(total)" });
    let answer = shop.post_with("/v1/exec", &["Prefer: respond-async"], &body).await;
    assert_eq!(answer.status, 202);
    let run = answer.json()["run_id"].as_str().unwrap().to_owned();
    shop.stop().await;
    let record = shop.store().run(&run).await.unwrap();
    assert_eq!(record.outcome.stdout, "4499998500000\n");
}

#[test]
fn a_second_server_on_a_workspace_is_told_who_has_it() {
    let folder = tempfile::tempdir().unwrap();
    let first = ServeLock::take(folder.path()).unwrap();
    let Err(ServeLockError::Taken { process, .. }) = ServeLock::take(folder.path()) else {
        panic!("the second one is refused")
    };
    assert_eq!(process, std::process::id().to_string());
    drop(first);
    ServeLock::take(folder.path()).unwrap();
}
