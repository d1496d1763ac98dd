//! A run that one node accepts and another carries out is one trace.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::command::eventually;
use crate::nodes::{Nodes, begin_endless, carries_out_one};
use crate::serve::send;

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

/// Takes spans, as a collector of `OpenTelemetry` does.
#[derive(Clone, Default)]
struct Collector(Arc<Mutex<Vec<Value>>>);

impl Collector {
    /// Listens on a free port of this machine, until the test ends.
    fn start() -> (Self, String) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let collector = Self::default();
        let taking = collector.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let collector = taking.clone();
                std::thread::spawn(move || collector.take(stream));
            }
        });
        (collector, address)
    }

    /// Reads requests on one connection until it ends.
    fn take(&self, stream: TcpStream) -> Option<()> {
        let mut reader = BufReader::new(stream);
        loop {
            let mut length = 0;
            loop {
                let mut line = String::new();
                if reader.read_line(&mut line).ok()? == 0 {
                    return None;
                }
                let line = line.trim().to_ascii_lowercase();
                if let Some(text) = line.strip_prefix("content-length: ") {
                    length = text.parse().ok()?;
                }
                if line.is_empty() {
                    break;
                }
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).ok()?;
            let body: Value = serde_json::from_slice(&body).ok()?;
            let scopes = body["resourceSpans"]
                .as_array()?
                .iter()
                .filter_map(|resource| resource["scopeSpans"].as_array());
            let spans = scopes.flatten().filter_map(|scope| scope["spans"].as_array()).flatten().cloned();
            self.0.lock().unwrap().extend(spans);
            let answer = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
            reader.get_mut().write_all(answer).ok()?;
        }
    }

    fn span(&self, name: &str) -> Option<Value> {
        let spans = self.0.lock().unwrap();
        spans.iter().find(|span| span["traceId"] == TRACE && span["name"] == name).cloned()
    }
}

#[test]
fn what_another_node_carries_out_stands_under_the_span_of_its_run() {
    let (collector, address) = Collector::start();
    let mut nodes = Nodes::new(2, 1);
    nodes.variables = vec![("OTEL_EXPORTER_OTLP_ENDPOINT", address)];
    let busy = nodes.start(0, &["--slots", "1"]);
    begin_endless(&busy);
    assert!(carries_out_one(&busy));
    let _free = nodes.start(1, &[]);
    let head = format!(
        "POST /v1/exec HTTP/1.1\r\nContent-Type: application/json\r\nPrefer: wait=300\r\ntraceparent: 00-{TRACE}-00f067aa0ba902b7-01\r\n"
    );
    let ran = send(&busy.address, &head, &json!({ "code": "print(1)" }).to_string());
    assert_eq!(ran.json()["state"], "answered", "{ran:?}");
    assert!(
        eventually(
            || collector.span("invoke_agent exec").is_some() && collector.span("verify_plan").is_some()
        ),
        "{:#?}",
        collector.0.lock().unwrap()
    );
    let (run, part) = (collector.span("invoke_agent exec").unwrap(), collector.span("verify_plan").unwrap());
    assert_eq!(part["parentSpanId"], run["spanId"], "{part} {run}");
}
