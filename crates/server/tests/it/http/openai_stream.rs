//! Streamed answers, chunk by chunk.

use serde_json::{Value, json};

use super::client::Answer;
use super::openai::said;
use super::world::served;

/// The chunks of a stream, which must end as it should.
fn chunks(answer: &Answer) -> Vec<Value> {
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(answer.header("content-type"), Some("text/event-stream"));
    let text = answer.text();
    let mut data: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("data: ")).collect();
    assert_eq!(data.pop(), Some("[DONE]"), "{text}");
    data.into_iter().map(|data| serde_json::from_str(data).unwrap()).collect()
}

fn joined(chunks: &[Value], name: &str) -> String {
    chunks.iter().filter_map(|chunk| chunk["choices"][0]["delta"][name].as_str()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_streamed_purchase_has_the_chunks_that_clients_expect() {
    let shop = served().await;
    let before = shop.stock().await;
    let mut body = said("buy 1 aviator");
    body["stream"] = json!(true);
    let answer = shop.post("/v1/chat/completions", &body).await;
    let chunks = chunks(&answer);
    assert_eq!(chunks[0]["choices"][0]["delta"], json!({ "role": "assistant", "content": "" }));
    for chunk in &chunks {
        assert_eq!(chunk["object"], "chat.completion.chunk");
        assert_eq!((&chunk["id"], &chunk["created"]), (&chunks[0]["id"], &chunks[0]["created"]));
        assert!(chunk.get("usage").is_none(), "usage was not asked for");
    }
    let last = chunks.last().unwrap();
    assert_eq!(
        (&last["choices"][0]["finish_reason"], &last["choices"][0]["delta"]),
        (&json!("stop"), &json!({}))
    );
    assert_eq!(last["ordain"]["state"], "committed");
    assert_eq!(answer.header("x-ordain-run-id"), last["ordain"]["run_id"].as_str());
    assert!(joined(&chunks, "content").contains("Aviator"));
    assert!(joined(&chunks, "reasoning_content").contains("```python"));
    assert_eq!(shop.stock().await, before - 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn usage_comes_in_a_chunk_of_its_own_if_it_is_asked_for() {
    let shop = served().await;
    let mut body = said("How much is the Moon?");
    body["stream"] = json!(true);
    body["stream_options"] = json!({ "include_usage": true });
    let chunks = chunks(&shop.post("/v1/chat/completions", &body).await);
    let (last, others) = chunks.split_last().unwrap();
    assert_eq!(last["choices"], json!([]));
    assert!(last["usage"]["total_tokens"].is_u64());
    assert!(others.iter().all(|chunk| chunk.get("usage") == Some(&Value::Null)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_refused_before_the_stream_begins_has_its_own_status() {
    let shop = served().await;
    let mut body = said("hi");
    body["stream"] = json!(true);
    body["n"] = json!(3);
    let answer = shop.post("/v1/chat/completions", &body).await;
    assert_eq!((answer.status, answer.header("content-type")), (400, Some("application/json")));
    body["n"] = json!(1);
    body["messages"][0]["content"] = json!("approve 01zzzzzzzzzzzzzzzzzzzzzzzz");
    let answer = shop.post("/v1/chat/completions", &body).await;
    assert_eq!((answer.status, answer.header("content-type")), (404, Some("application/json")));
}
