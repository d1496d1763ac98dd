//! The same request, sent twice, happens once.

use serde_json::json;

use super::world::{BUY, served};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_repeated_request_gives_the_first_outcome_and_says_so() {
    let shop = served().await;
    let before = shop.stock().await;
    let key = ["Idempotency-Key: order-17"];
    let body = json!({ "request": "buy", "plan": BUY });
    let first = shop.post_with("/v1/requests", &key, &body).await;
    assert_eq!(first.header("idempotent-replayed"), None);
    let second = shop.post_with("/v1/requests", &key, &body).await;
    assert_eq!(second.header("idempotent-replayed"), Some("true"));
    assert_eq!(first.json()["run_id"], second.json()["run_id"]);
    assert_eq!(shop.stock().await, before - 1);
    let other = json!({ "request": "buy another", "plan": BUY });
    let reused = shop.post_with("/v1/requests", &key, &other).await;
    assert_eq!((reused.status, reused.problem().as_str()), (422, "idempotency_key_reused"));
    assert_eq!(shop.stock().await, before - 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_repeat_of_a_run_that_goes_on_is_told_where_it_is() {
    let shop = served().await;
    let key = ["Idempotency-Key: slow-1"];
    let run = shop.begin_slow(&key).await;
    let body = json!({ "request": "sell for long", "plan": super::world::SLOW });
    let again = shop.post_with("/v1/requests", &key, &body).await;
    assert_eq!((again.status, again.problem().as_str()), (409, "still_running"));
    assert_eq!(again.header("location"), Some(format!("/v1/runs/{run}").as_str()));
    shop.post(&format!("/v1/runs/{run}/cancel"), &json!({})).await;
    let replayed = shop.post_with("/v1/requests", &key, &body).await;
    assert_eq!(replayed.json()["error"]["code"], "cancelled", "a cancelled run is what came of it");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_repeats_at_once_run_once() {
    let shop = served().await;
    let before = shop.stock().await;
    let body = json!({ "request": "buy", "plan": BUY });
    let key = ["Idempotency-Key: burst"];
    let sent = (0..8).map(|_| shop.post_with("/v1/requests", &key, &body));
    let answers = futures_util::future::join_all(sent).await;
    for answer in &answers {
        assert!(matches!(answer.status, 200 | 409), "{}", answer.text());
    }
    assert!(answers.iter().any(|answer| answer.status == 200));
    assert_eq!(shop.stock().await, before - 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn code_is_run_once_under_its_key_and_odd_keys_are_refused() {
    let shop = served().await;
    let body = json!({ "code": "print(1)" });
    let first = shop.post_with("/v1/exec", &["Idempotency-Key: e1"], &body).await;
    let second = shop.post_with("/v1/exec", &["Idempotency-Key: e1"], &body).await;
    assert_eq!(first.json()["run_id"], second.json()["run_id"]);
    let with_file =
        |content: &str| json!({ "code": "print(1)", "files": [{ "name": "a", "content_base64": content }] });
    shop.post_with("/v1/exec", &["Idempotency-Key: f1"], &with_file("YQ==")).await;
    let other = shop.post_with("/v1/exec", &["Idempotency-Key: f1"], &with_file("Yg==")).await;
    assert_eq!(other.problem(), "idempotency_key_reused", "another file is another request");
    let long = format!("Idempotency-Key: {}", "x".repeat(256));
    for odd in [long.as_str(), "Idempotency-Key: é"] {
        let answer = shop.post_with("/v1/exec", &[odd], &body).await;
        assert_eq!((answer.status, answer.problem().as_str()), (400, "bad_idempotency_key"));
    }
}
