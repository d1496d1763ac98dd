//! Streams of events: quiet ones, broken ones, and ones that are taken up again.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use ordain_engine::Planner;
use ordain_planner::provider::{Call, Heard, ModelRequest, Piece, Provider, ProviderError};
use ordain_planner::{Model, ModelSettings};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;

use super::client;
use super::openai::said;
use super::world::{BUY, served, served_by, served_with};

/// Reads from a stream until the text holds something, and gives all of it.
pub(crate) async fn read_until(stream: &mut TcpStream, wanted: &str) -> String {
    let (mut bytes, mut piece) = (Vec::new(), [0; 4096]);
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if text.contains(wanted) {
            return text;
        }
        let read = tokio::time::timeout(Duration::from_secs(30), stream.read(&mut piece)).await;
        let read = read.unwrap_or_else(|_| panic!("no `{wanted}` in {text}")).unwrap();
        assert!(read > 0, "the stream ended without `{wanted}`: {text}");
        bytes.extend_from_slice(&piece[..read]);
    }
}

async fn watch(address: SocketAddr, run: &str, last: Option<u64>) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let last = last.map(|last| format!("Last-Event-ID: {last}\r\n")).unwrap_or_default();
    let head =
        format!("GET /v1/runs/{run}/events HTTP/1.1\r\nHost: localhost\r\n{last}Connection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    stream
}

fn ids(text: &str) -> Vec<u64> {
    text.lines().filter_map(|line| line.strip_prefix("id: ")?.trim().parse().ok()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_quiet_stream_says_that_it_is_still_there() {
    let shop = served_with(|options| options.ping_every = Duration::from_millis(100)).await;
    let run = shop.begin_slow(&[]).await;
    let mut stream = watch(shop.address, &run, None).await;
    let text = read_until(&mut stream, ": ping\n\n").await;
    assert!(text.contains("event: started"), "{text}");
    read_until(&mut stream, ": ping\n\n").await;
    shop.post(&format!("/v1/runs/{run}/cancel"), &json!({})).await;
    read_until(&mut stream, "event: finished").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_watcher_that_lost_its_connection_takes_up_where_it_was() {
    let shop = served().await;
    let code = "total = 0\nprint('one', flush=True)\nfor n in range(10**12):\n    total += n\n    if n % 5_000_000 == 0:\n        print(n, flush=True)";
    let begun = shop.post_with("/v1/exec", &["Prefer: respond-async"], &json!({ "code": code })).await.json();
    let run = begun["run_id"].as_str().unwrap().to_owned();
    let mut first = watch(shop.address, &run, None).await;
    let seen = ids(&read_until(&mut first, "event: stdout").await);
    drop(first);
    let last = *seen.last().unwrap();
    let mut again = watch(shop.address, &run, Some(last)).await;
    // The run goes on while nobody watches, and what was missed is sent later.
    let head = read_until(&mut again, "event: stdout").await;
    shop.post(&format!("/v1/runs/{run}/cancel"), &json!({})).await;
    let rest = read_until(&mut again, "event: finished").await;
    let later = ids(&(head + &rest));
    assert_eq!(later[0], last + 1, "nothing is sent twice and nothing is left out");
    assert!(std::iter::zip(&later, &later[1..]).all(|(one, next)| one + 1 == *next), "{later:?}");
    let over = watch(shop.address, &run, later.last().copied()).await;
    let mut over = over;
    assert!(read_until(&mut over, "\r\n\r\n").await.starts_with("HTTP/1.1 204"), "all was seen");
}

/// A model that says something and then fails, once it is let.
#[derive(Debug)]
struct Breaking(Semaphore);

impl Provider for Breaking {
    fn name(&self) -> String {
        "test:breaking".to_owned()
    }

    fn call<'a>(&'a self, _request: &'a ModelRequest, heard: &'a mut Heard<'_>) -> Call<'a> {
        Box::pin(async move {
            heard(Piece::Reply("thinking about it. "));
            self.0.acquire().await.unwrap().forget();
            Err(ProviderError::NoCredit {
                provider: "test".to_owned(),
                message: "the purse is empty".to_owned(),
            })
        })
    }
}

fn chunks(text: &str) -> Vec<Value> {
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    data.filter(|data| *data != "[DONE]").map(|data| serde_json::from_str(data).unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_that_breaks_off_in_a_stream_ends_it_with_words_and_changes_nothing() {
    let settings = ModelSettings { review: false, ..ModelSettings::default() };
    let gate = Arc::new(Breaking(Semaphore::new(0)));
    let planner = Planner::Model(Model::new(gate.clone(), settings));
    let shop = served_by(planner, |options| options.ping_every = Duration::from_millis(50)).await;
    let before = shop.stock().await;
    let mut body = said("please sell me one Aviator");
    body["model"] = json!("ordain-direct");
    body["stream"] = json!(true);
    let mut stream = super::openai_retries::begin(&shop, &body).await;
    let mut heard = read_until(&mut stream, ": ping").await.into_bytes();
    gate.0.add_permits(1);
    stream.read_to_end(&mut heard).await.unwrap();
    let answer = client::parse(&heard).unwrap();
    assert_eq!((answer.status, answer.header("content-type")), (200, Some("text/event-stream")));
    let text = answer.text();
    let chunks = chunks(&text);
    let reason: String = chunks
        .iter()
        .filter_map(|chunk| chunk["choices"][0]["delta"]["reasoning_content"].as_str())
        .collect();
    assert!(reason.contains("thinking about it."), "{text}");
    let told: String =
        chunks.iter().filter_map(|chunk| chunk["choices"][0]["delta"]["content"].as_str()).collect();
    let error = chunks.iter().find_map(|chunk| chunk.get("error"));
    assert!(!told.is_empty() || error.is_some(), "the client got nothing: {text}");
    assert_eq!(shop.stock().await, before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_error_behind_the_first_chunk_is_a_chunk_of_its_own_and_the_last() {
    let shop = served().await;
    // The run that holds the key goes on, so that the store refuses the second one when its stream has begun.
    let run = shop.begin_slow(&["Idempotency-Key: one"]).await;
    let mut body = said("buy 1 aviator");
    body["stream"] = json!(true);
    let streamed = shop.post_with("/v1/chat/completions", &["Idempotency-Key: one"], &body).await;
    let text = streamed.text();
    // Whether its stream had begun is a matter of moments: either way it is an error and says so once.
    let error = if streamed.status == 200 {
        let chunks = chunks(&text);
        assert!(!text.contains("[DONE]"), "nothing comes behind an error: {text}");
        chunks.last().unwrap()["error"].clone()
    } else {
        streamed.json()["error"].clone()
    };
    assert!(error["message"].as_str().is_some_and(|message| !message.is_empty()), "{text}");
    shop.post(&format!("/v1/runs/{run}/cancel"), &json!({})).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_of_an_allowed_origin_may_read_and_one_of_another_changes_nothing() {
    let shop = served_with(|options| options.cors = vec!["https://app.example".to_owned()]).await;
    let before = shop.stock().await;
    let body = json!({ "request": "buy", "plan": BUY });
    let allowed = shop.post_with("/v1/requests", &["Origin: https://app.example"], &body).await;
    assert_eq!(allowed.header("access-control-allow-origin"), Some("https://app.example"));
    assert_eq!(allowed.header("vary"), Some("Origin"));
    let exposed = allowed.header("access-control-expose-headers").unwrap();
    assert!(
        ["Location", "X-Request-Id", "Retry-After"].iter().all(|name| exposed.contains(name)),
        "{exposed}"
    );
    assert_eq!(allowed.header("access-control-allow-credentials"), None);
    for origin in ["https://evil.example", "https://app.example.evil.example", "http://app.example", "null"] {
        let line = format!("Origin: {origin}");
        let refused = shop.post_with("/v1/requests", &[&line], &body).await;
        assert_eq!((refused.status, refused.problem().as_str()), (403, "foreign_origin"), "{origin}");
        assert_eq!(refused.header("access-control-allow-origin"), None, "{origin}");
        let asks = [line.as_str(), "Access-Control-Request-Method: POST"];
        let preflight = client::send(shop.address, "OPTIONS", "/v1/requests", &asks, b"").await;
        assert_eq!(
            (preflight.status, preflight.header("access-control-allow-methods")),
            (403, None),
            "{origin}"
        );
    }
    let asks = [
        "Origin: https://app.example",
        "Access-Control-Request-Method: POST",
        "Access-Control-Request-Headers: authorization,content-type,traceparent",
    ];
    let preflight = client::send(shop.address, "OPTIONS", "/v1/requests", &asks, b"").await;
    assert_eq!((preflight.status, preflight.header("access-control-max-age")), (204, Some("600")));
    let headers = preflight.header("access-control-allow-headers").unwrap().to_ascii_lowercase();
    assert!(
        ["authorization", "content-type", "traceparent"].iter().all(|name| headers.contains(name)),
        "{headers}"
    );
    assert_eq!(shop.stock().await, before - 1, "one purchase was made");
}
