//! `POST /chat`: thought, code and observation, with a conversation behind them.

use serde_json::json;

use super::world::served;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_gives_thought_code_and_observation_and_the_next_one_refers_to_it() {
    let shop = served().await;
    let first = shop.post("/chat", &json!({ "message": "How much is the Aviator?" })).await;
    assert_eq!(first.status, 200, "{}", first.text());
    let first = first.json();
    let mut names: Vec<&String> = first.as_object().unwrap().keys().collect();
    names.sort();
    assert_eq!(names, ["code", "observation", "run_id", "session_id", "thought"]);
    assert!(first["observation"].as_str().unwrap().contains("80"), "{first}");
    assert!(first["code"].as_str().unwrap().contains("answer_text"), "{first}");
    assert!(first["thought"].as_str().unwrap().contains("reader"), "{first}");
    let run = first["run_id"].as_str().unwrap();
    assert_eq!(shop.get(&format!("/v1/runs/{run}")).await.json()["state"], "answered");

    let before = shop.stock().await;
    let asked = json!({ "message": "buy some aviators", "session_id": first["session_id"] });
    let asked = shop.post("/chat", &asked).await.json();
    assert!(asked["observation"].as_str().unwrap().contains("How many Aviator"), "{asked}");
    let next = json!({ "message": "2", "session_id": first["session_id"] });
    let next = shop.post("/chat", &next).await.json();
    assert_eq!(next["session_id"], first["session_id"]);
    assert_eq!(shop.stock().await, before - 2, "{next}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn messages_are_judged_before_anything_runs_and_a_key_makes_them_run_once() {
    let shop = served().await;
    assert_eq!(shop.post("/chat", &json!({})).await.problem(), "bad_body");
    let odd = json!({ "message": "hi", "session_id": "a\nb" });
    assert_eq!(shop.post("/chat", &odd).await.problem(), "bad_body");
    let before = shop.stock().await;
    let buy = json!({ "message": "buy 1 aviator", "session_id": "monday" });
    let first = shop.post_with("/chat", &["Idempotency-Key: k1"], &buy).await;
    let second = shop.post_with("/chat", &["Idempotency-Key: k1"], &buy).await;
    assert_eq!(first.json()["run_id"], second.json()["run_id"]);
    assert_eq!(second.header("idempotent-replayed"), Some("true"));
    assert_eq!(shop.stock().await, before - 1);
}
