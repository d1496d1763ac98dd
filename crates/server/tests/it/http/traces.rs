//! Traces, as a collector of `OpenTelemetry` gets them: a real endpoint that reads what comes and is strict about it.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ordain_server::trace::{TraceSettings, Tracer};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::client;
use super::world::{BUY, Served, served_with};

const CALLER: &str = "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

/// How a collector behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Manner {
    Good,
    /// It is not ready at the first call.
    LateOnce,
    /// It takes calls and never answers.
    Silent,
}

/// An endpoint that takes spans.
struct Collector {
    address: SocketAddr,
    spans: Arc<Mutex<Vec<Value>>>,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Collector {
    async fn new(manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (spans, heads) = (Arc::<Mutex<Vec<Value>>>::default(), Arc::<Mutex<Vec<String>>>::default());
        let kept = (Arc::clone(&spans), Arc::clone(&heads));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(take(stream, manner, Arc::clone(&kept.0), Arc::clone(&kept.1)));
            }
        });
        Self { address, spans, heads }
    }

    fn tracer(&self, more: &[(&str, &str)]) -> Tracer {
        let endpoint = format!("http://{}", self.address);
        let read = |name: &str| match name {
            "OTEL_EXPORTER_OTLP_ENDPOINT" => Some(endpoint.clone()),
            "OTEL_BSP_SCHEDULE_DELAY" => Some("50".to_owned()),
            "OTEL_EXPORTER_OTLP_HEADERS" => Some("x-team=shop%20floor".to_owned()),
            _ => more.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()),
        };
        Tracer::new(TraceSettings::from_environment("ordain", &read).unwrap().unwrap()).unwrap()
    }

    /// The spans of a trace by their names, once there are so many.
    async fn trace(&self, id: &str, count: usize) -> HashMap<String, Value> {
        for _ in 0..500 {
            let spans = self.spans.lock().unwrap().clone();
            let of: Vec<Value> = spans.into_iter().filter(|span| span["traceId"] == id).collect();
            if of.len() >= count {
                return of
                    .into_iter()
                    .map(|span| (span["name"].as_str().unwrap().to_owned(), span))
                    .collect();
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("{:#?}", self.spans.lock().unwrap());
    }
}

/// Reads requests on one connection, checks them, and keeps their spans.
async fn take(
    mut stream: TcpStream,
    manner: Manner,
    spans: Arc<Mutex<Vec<Value>>>,
    heads: Arc<Mutex<Vec<String>>>,
) {
    let (mut bytes, mut piece) = (Vec::new(), [0; 16 << 10]);
    loop {
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n");
        let length = end.and_then(|end| {
            let head = String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase();
            head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok())
        });
        let (Some(end), Some(length)) = (end, length) else {
            match stream.read(&mut piece).await {
                Ok(0) | Err(_) => return,
                Ok(read) => bytes.extend_from_slice(&piece[..read]),
            }
            continue;
        };
        while bytes.len() < end + 4 + length {
            let read = stream.read(&mut piece).await.unwrap();
            bytes.extend_from_slice(&piece[..read]);
        }
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let body: Value = serde_json::from_slice(&bytes[end + 4..end + 4 + length]).unwrap();
        bytes.drain(..end + 4 + length);
        let is_first = {
            let mut heads = heads.lock().unwrap();
            heads.push(head);
            heads.len() == 1
        };
        let status = match manner {
            Manner::Silent => std::future::pending().await,
            Manner::LateOnce if is_first => "503 Service Unavailable",
            _ => {
                spans.lock().unwrap().extend(checked(&body));
                "200 OK"
            }
        };
        let answer =
            format!("HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{{}}");
        stream.write_all(answer.as_bytes()).await.unwrap();
    }
}

/// The spans of a request, each checked against what the JSON of OTLP asks for.
fn checked(body: &Value) -> Vec<Value> {
    let is_hex = |value: &Value, digits: usize| {
        let text = value.as_str().unwrap();
        text.len() == digits && text.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    let mut spans = Vec::new();
    for resource in body["resourceSpans"].as_array().unwrap() {
        let attributes = resource["resource"]["attributes"].as_array().unwrap();
        assert_eq!(attributes[0], json!({ "key": "service.name", "value": { "stringValue": "ordain" } }));
        for scope in resource["scopeSpans"].as_array().unwrap() {
            assert_eq!(scope["scope"]["name"], "ordain");
            for span in scope["spans"].as_array().unwrap() {
                assert!(is_hex(&span["traceId"], 32) && is_hex(&span["spanId"], 16), "{span}");
                assert!(span.get("parentSpanId").is_none_or(|parent| is_hex(parent, 16)), "{span}");
                let time = |name: &str| span[name].as_str().unwrap().parse::<u64>().unwrap();
                assert!(time("startTimeUnixNano") <= time("endTimeUnixNano"), "{span}");
                assert!((1..=5).contains(&span["kind"].as_u64().unwrap()), "{span}");
                for attribute in span["attributes"].as_array().unwrap() {
                    let value = attribute["value"].as_object().unwrap();
                    assert_eq!(value.len(), 1, "{span}");
                    let (kind, value) = value.iter().next().unwrap();
                    assert!(matches!(kind.as_str(), "stringValue" | "intValue" | "arrayValue"), "{span}");
                    assert!(kind != "intValue" || value.as_str().unwrap().parse::<i64>().is_ok(), "{span}");
                }
                spans.push(span.clone());
            }
        }
    }
    spans
}

fn attribute<'a>(span: &'a Value, name: &str) -> &'a Value {
    let found = span["attributes"].as_array().unwrap().iter().find(|attribute| attribute["key"] == name);
    let value = &found.unwrap_or_else(|| panic!("{name}: {span}"))["value"];
    value.get("stringValue").or(value.get("intValue")).unwrap_or(&value["arrayValue"])
}

async fn traced_shop(collector: &Collector, more: &[(&str, &str)]) -> Served {
    let tracer = collector.tracer(more);
    served_with(|options| options.tracer = tracer).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_purchase_is_one_trace_from_the_callers_span_to_the_commit() {
    let collector = Collector::new(Manner::Good).await;
    let shop = traced_shop(&collector, &[]).await;
    let body = json!({ "request": "buy 1 aviator" });
    let record = shop.post_with("/v1/requests", &[CALLER, "tracestate: a=b"], &body).await.json();
    assert_eq!(record["state"], "committed", "{record}");
    let spans = collector.trace("4bf92f3577b34da6a3ce929d0e0e4736", 6).await;
    let of = |name: &str| spans.get(name).unwrap_or_else(|| panic!("{name}: {spans:#?}"));

    let request = of("POST /v1/requests");
    assert_eq!((&request["parentSpanId"], &request["kind"]), (&json!("00f067aa0ba902b7"), &json!(2)));
    assert_eq!(request["traceState"], "a=b");
    assert_eq!(attribute(request, "http.response.status_code"), "200");
    assert_eq!(attribute(request, "ordain.run.id"), &record["run_id"]);
    let run = of("invoke_agent ask");
    assert_eq!(run["parentSpanId"], request["spanId"]);
    assert_eq!(attribute(run, "ordain.run.id"), &record["run_id"]);
    assert_eq!(attribute(run, "ordain.run.state"), "committed");
    for part in ["plan ask", "verify_plan", "execute_tool python", "commit_changes"] {
        assert_eq!(of(part)["parentSpanId"], run["spanId"], "{part}");
        let time = |span: &Value, name: &str| span[name].as_str().unwrap().parse::<u64>().unwrap();
        assert!(time(of(part), "startTimeUnixNano") >= time(run, "startTimeUnixNano"), "{part}");
        assert!(time(of(part), "endTimeUnixNano") <= time(run, "endTimeUnixNano"), "{part}");
    }
    assert_eq!(attribute(of("plan ask"), "ordain.plan.source"), "rules");
    assert_eq!(attribute(of("verify_plan"), "ordain.verdict"), "accepted");
    assert_eq!(attribute(of("execute_tool python"), "ordain.cell.cause"), "ok");
    assert_eq!(attribute(of("commit_changes"), "ordain.diff.rows_changed"), "1");
    let all = format!("{spans:?}");
    assert!(!all.contains("aviator") && !all.contains("quantity"), "no words, code or rows: {all}");

    let heads = collector.heads.lock().unwrap().join("\n").to_ascii_lowercase();
    assert!(heads.starts_with("post /v1/traces http/1.1"), "{heads}");
    assert!(
        heads.contains("content-type: application/json") && heads.contains("x-team: shop floor"),
        "{heads}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_went_wrong_is_told_and_a_problem_names_its_trace() {
    let collector = Collector::new(Manner::Good).await;
    let shop = traced_shop(&collector, &[]).await;
    let refused = shop.post_with("/v1/exec", &[CALLER], &json!({ "code": "import socket" })).await.json();
    assert_eq!(refused["state"], "rejected");
    let spans = collector.trace("4bf92f3577b34da6a3ce929d0e0e4736", 3).await;
    let verdict = &spans["verify_plan"];
    assert_eq!(attribute(verdict, "ordain.verdict"), "rejected");
    let codes = attribute(verdict, "ordain.finding.codes");
    assert!(codes["values"][0]["stringValue"].as_str().is_some_and(|code| !code.is_empty()), "{codes}");
    assert!(!spans.contains_key("execute_tool python"), "refused code never runs");

    let mine = "traceparent: 00-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-00f067aa0ba902b7-01";
    let problem = client::send(shop.address, "GET", "/v1/runs/nothing", &[mine], b"").await;
    assert_eq!(problem.json()["trace_id"], "a".repeat(32));
    collector.trace(&"a".repeat(32), 1).await;
    // Without a caller's trace a new one begins.
    let problem = shop.get("/v1/runs/nothing").await.json();
    let id = problem["trace_id"].as_str().unwrap().to_owned();
    let spans = collector.trace(&id, 1).await;
    assert!(spans["GET /v1/runs/{run}"].get("parentSpanId").is_none());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_check_of_a_run_has_a_span_of_its_own() {
    let collector = Collector::new(Manner::Good).await;
    let tracer = collector.tracer(&[]);
    let planner = ordain_engine::Planner::Rules;
    let served =
        super::world::served_example("data-quality", planner, |options| options.tracer = tracer).await;
    let headers = [CALLER, "Prefer: wait=250"];
    let ran = client::send(served.address, "POST", "/v1/checks/CHK-010/run", &headers, b"").await;
    assert_eq!(ran.status, 200, "{}", ran.text());
    let spans = collector.trace("4bf92f3577b34da6a3ce929d0e0e4736", 3).await;
    let (run, check) = (&spans["invoke_agent check"], &spans["run_check"]);
    assert_eq!(check["parentSpanId"], run["spanId"]);
    assert_eq!(attribute(check, "ordain.check.id"), "CHK-010");
    assert_eq!(attribute(check, "ordain.check.status"), "FAIL");
    assert_eq!(attribute(check, "ordain.check.severity"), &ran.json()["results"][0]["severity"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_trace_that_nobody_records_is_not_sent() {
    let collector = Collector::new(Manner::Good).await;
    let shop = traced_shop(&collector, &[]).await;
    let unsampled = CALLER.replace("-01", "-00");
    client::send(shop.address, "GET", "/healthz", &[&unsampled], b"").await;
    let body = json!({ "request": "buy", "plan": BUY });
    assert_eq!(shop.post_with("/v1/requests", &[&unsampled], &body).await.status, 200);
    client::send(shop.address, "GET", "/version", &["traceparent: odd"], b"").await;
    for _ in 0..500 {
        let spans = collector.spans.lock().unwrap().clone();
        if spans.iter().any(|span| span["name"] == "GET /version") {
            assert_eq!(spans.len(), 1, "{spans:#?}");
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("what came later never came");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_collector_that_is_late_is_asked_again() {
    let collector = Collector::new(Manner::LateOnce).await;
    let shop = traced_shop(&collector, &[]).await;
    client::send(shop.address, "GET", "/healthz", &[CALLER], b"").await;
    collector.trace("4bf92f3577b34da6a3ce929d0e0e4736", 1).await;
    assert!(collector.heads.lock().unwrap().len() >= 2);
    for _ in 0..500 {
        if shop.get("/metrics").await.text().contains("ordain_trace_spans_total{result=\"dropped\"} 0") {
            return;
        }
    }
    panic!("{}", shop.get("/metrics").await.text());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_collector_that_never_answers_holds_up_nobody_and_losses_are_counted() {
    let collector = Collector::new(Manner::Silent).await;
    let shop = traced_shop(&collector, &[("OTEL_BSP_MAX_QUEUE_SIZE", "8")]).await;
    // The first batch is under way for as long as the test lasts; then the queue fills.
    shop.get("/healthz").await;
    while collector.heads.lock().unwrap().is_empty() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    for _ in 0..20 {
        assert_eq!(shop.get("/healthz").await.status, 200);
    }
    assert_eq!(shop.buy().await.json()["state"], "committed");
    let text = shop.get("/metrics").await.text();
    let dropped =
        text.lines().find_map(|line| line.strip_prefix("ordain_trace_spans_total{result=\"dropped\"} "));
    assert!(dropped.unwrap().parse::<u64>().unwrap() >= 12, "{text}");
    assert!(text.contains("ordain_trace_spans_total{result=\"exported\"} 0"), "{text}");
}
