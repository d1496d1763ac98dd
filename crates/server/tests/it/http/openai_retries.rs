//! Clients that send a call again, and clients that go away.

use std::sync::Arc;
use std::time::Duration;

use ordain_engine::Planner;
use ordain_planner::provider::{Call, Completion, Heard, ModelRequest, Piece, Provider};
use ordain_planner::{Model, ModelSettings};
use ordain_server::http::{self, HttpOptions, Service};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

use super::client;
use super::openai::said;
use super::world::{BUY, Served, served, served_by};

const PATH: &str = "/v1/chat/completions";

/// A model that says something and then waits until it is let go on.
#[derive(Debug)]
struct Gate {
    asked: Semaphore,
    open: Semaphore,
}

impl Provider for Gate {
    fn name(&self) -> String {
        "test:gate".to_owned()
    }

    fn call<'a>(&'a self, _request: &'a ModelRequest, heard: &'a mut Heard<'_>) -> Call<'a> {
        Box::pin(async move {
            heard(Piece::Reply("thinking about it. "));
            self.asked.add_permits(1);
            self.open.acquire().await.unwrap().forget();
            let text = format!("<execute_python>{BUY}</execute_python>");
            Ok(Completion { text, input_tokens: 30, output_tokens: 12, ..Completion::default() })
        })
    }
}

/// A call whose plan the model writes, also where the reader could.
fn to_model(message: &str) -> Value {
    let mut body = said(message);
    body["model"] = json!("ordain-direct");
    body
}

async fn gated() -> (Served, Arc<Gate>) {
    let gate = Arc::new(Gate { asked: Semaphore::new(0), open: Semaphore::new(0) });
    let settings = ModelSettings { review: false, ..ModelSettings::default() };
    let planner = Planner::Model(Model::new(gate.clone(), settings));
    (served_by(planner, |_| {}).await, gate)
}

/// Begins a call and gives its connection.
pub(crate) async fn begin(shop: &Served, body: &Value) -> TcpStream {
    let body = body.to_string();
    let mut stream = TcpStream::connect(shop.address).await.unwrap();
    let head = format!(
        "POST {PATH} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream
}

/// Waits until a look at the runs is as wanted.
async fn eventually(shop: &Served, is_so: impl Fn(&[Value]) -> bool) {
    for _ in 0..600 {
        let runs = shop.get("/v1/runs").await.json();
        if is_so(runs["runs"].as_array().unwrap()) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("{}", shop.get("/v1/runs").await.text());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_is_sent_again_is_carried_out_once() {
    let shop = served().await;
    let before = shop.stock().await;
    let first = shop.post(PATH, &said("buy 1 aviator")).await;
    let retry = shop.post_with(PATH, &["x-stainless-retry-count: 1"], &said("buy 1 aviator")).await;
    assert_eq!(retry.header("idempotent-replayed"), Some("true"));
    let (first, retry) = (first.json(), retry.json());
    assert_eq!((&first["id"], &first["choices"]), (&retry["id"], &retry["choices"]));
    assert_eq!(retry["ordain"]["replayed"], true);
    assert_eq!(shop.stock().await, before - 1);
    // A caller that does not say that it is a retry learns that nothing more was done.
    let silent = shop.post(PATH, &said("buy 1 aviator")).await.json();
    let text = silent["choices"][0]["message"]["content"].as_str().unwrap();
    assert!(text.contains("not carried out again"), "{text}");
    assert_eq!(shop.stock().await, before - 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_conversation_that_went_on_and_a_new_key_are_calls_of_their_own() {
    let shop = served().await;
    let before = shop.stock().await;
    let first = shop.post(PATH, &said("buy 1 aviator")).await.json();
    let mut longer = said("buy 1 aviator");
    let answered = json!({ "role": "assistant", "content": first["choices"][0]["message"]["content"] });
    let more = [answered, json!({ "role": "user", "content": "buy 1 aviator" })];
    longer["messages"].as_array_mut().unwrap().extend(more);
    let second = shop.post(PATH, &longer).await.json();
    assert_ne!(first["ordain"]["run_id"], second["ordain"]["run_id"]);
    assert_eq!(shop.stock().await, before - 2);
    for _ in 0..2 {
        shop.post_with(PATH, &["Idempotency-Key: another"], &said("buy 1 aviator")).await;
    }
    assert_eq!(shop.stock().await, before - 3);
    let other = shop.post_with(PATH, &["Idempotency-Key: another"], &said("buy 2 aviators")).await;
    assert_eq!((other.status, other.json()["error"]["code"].as_str()), (400, Some("idempotency_key_reused")));
    assert_eq!(shop.stock().await, before - 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_purchase_that_was_taken_back_can_be_made_again() {
    let shop = served().await;
    let before = shop.stock().await;
    let first = shop.post(PATH, &said("buy 1 aviator")).await.json();
    let run = first["ordain"]["run_id"].as_str().unwrap();
    shop.post(&format!("/v1/runs/{run}/undo"), &json!({})).await;
    assert_eq!(shop.stock().await, before);
    let second = shop.post(PATH, &said("buy 1 aviator")).await.json();
    assert_ne!(second["ordain"]["run_id"], first["ordain"]["run_id"]);
    assert_eq!(shop.stock().await, before - 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn questions_are_answered_anew() {
    let shop = served().await;
    let ask = said("what is the quantity in stock of the Aviator?");
    let first = shop.post(PATH, &ask).await.json();
    shop.buy().await;
    let second = shop.post(PATH, &ask).await.json();
    assert_ne!(first["choices"][0]["message"]["content"], second["choices"][0]["message"]["content"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_retry_joins_the_run_that_goes_on() {
    let (shop, gate) = gated().await;
    let before = shop.stock().await;
    let mut streamed = to_model("buy 1 aviator");
    streamed["stream"] = json!(true);
    let first = begin(&shop, &to_model("buy 1 aviator")).await;
    gate.asked.acquire().await.unwrap().forget();
    let mut second = begin(&shop, &streamed).await;
    // It has joined when its stream begins.
    let mut heard = vec![0; 12];
    second.read_exact(&mut heard).await.unwrap();
    assert_eq!(heard, b"HTTP/1.1 200");
    // The first one gives up; the second still waits for the run.
    drop(first);
    tokio::time::sleep(Duration::from_millis(300)).await;
    gate.open.add_permits(1);
    second.read_to_end(&mut heard).await.unwrap();
    let told = client::parse(&heard).unwrap();
    assert_eq!(told.status, 200);
    assert!(
        told.text().contains("thinking about it") && told.text().contains("\"committed\""),
        "{}",
        told.text()
    );
    assert_eq!(shop.stock().await, before - 1);
    assert_eq!(shop.get("/v1/runs").await.json()["runs"].as_array().unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_goes_away_has_cancelled_its_run_and_can_ask_again() {
    let (shop, gate) = gated().await;
    let before = shop.stock().await;
    for is_streamed in [false, true] {
        let mut body = to_model("buy 1 aviator");
        body["stream"] = json!(is_streamed);
        let gone = begin(&shop, &body).await;
        gate.asked.acquire().await.unwrap().forget();
        drop(gone);
        let count = if is_streamed { 2 } else { 1 };
        eventually(&shop, |runs| runs.len() == count && runs.iter().all(|run| run["state"] == "rolled_back"))
            .await;
        assert_eq!(shop.stock().await, before);
    }
    gate.open.add_permits(1);
    let again = shop.post(PATH, &to_model("buy 1 aviator")).await.json();
    assert_eq!(again["ordain"]["state"], "committed", "{again}");
    assert_eq!(again["usage"]["total_tokens"], 42);
    assert_eq!(shop.stock().await, before - 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_was_started_anew_knows_the_call_again() {
    let shop = served().await;
    let before = shop.stock().await;
    let first = shop.post(PATH, &to_model("buy 1 aviator")).await.json();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let options = HttpOptions::new("shop", address, shop.folder.path().to_owned());
    let service = Service::new(shop.service.engine().clone(), Planner::Rules, options);
    let serving = tokio::spawn(http::serve(listener, service, std::future::pending()));
    let body = to_model("buy 1 aviator").to_string();
    let lines = ["Content-Type: application/json", "x-stainless-retry-count: 1"];
    let second = client::send(address, "POST", PATH, &lines, body.as_bytes()).await;
    assert_eq!(second.header("idempotent-replayed"), Some("true"), "{}", second.text());
    assert_eq!(second.json()["ordain"]["run_id"], first["ordain"]["run_id"]);
    assert_eq!(shop.stock().await, before - 1);
    serving.abort();
}
