//! `ordain serve --executor …`: purchases over HTTP that run on executors, one of which is killed among them and comes
//! back. What a kill at the worst moment does to a transaction is shown in `executor_killed`; here it is the real
//! binaries that are at work, all of them.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::command::eventually;
use crate::executor::{BUY_ONE, Served, Shop};
use crate::serve::Server;

const BUYERS: u32 = 6;
/// What each of them buys after the kill.
const PURCHASES: u32 = 8;
/// More than all of them buy.
const STOCK: i64 = 100_000;
/// Jobs that the executor ends before it is killed.
const JOBS_BEFORE: u32 = 3;

fn serve(shop: &Shop, executors: &[&Served]) -> Server {
    let addresses: Vec<String> = executors.iter().map(|executor| executor.url()).collect();
    Server::start(&shop.root, &["--executor", &addresses.join(",")], |_| {})
}

fn buy(server: &Server) -> Value {
    let answer = server.post("/v1/requests", &json!({ "request": "buy one", "plan": BUY_ONE }));
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer.json()
}

fn figure(server: &Server, name: &str) -> String {
    let text = server.get("/metrics").body;
    let line =
        text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_else(|| panic!("{name}: {text}"));
    line.trim().to_owned()
}

#[test]
fn a_killed_executor_loses_no_purchase_and_is_used_again_when_it_is_back() {
    let (shop, victim, other) =
        (Shop::new(u32::try_from(STOCK).unwrap()), Served::start(&[]), Served::start(&[]));
    let server = serve(&shop, &[&victim, &other]);
    let (address, bought, is_killed) = (victim.address.clone(), AtomicU32::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        // There is load when it is killed, and some purchases come after that.
        let purchase = || {
            let mut rest = PURCHASES;
            while rest > 0 {
                let record = buy(&server);
                assert_eq!(record["state"], "committed", "{record}");
                bought.fetch_add(1, Ordering::Relaxed);
                rest -= u32::from(is_killed.load(Ordering::Relaxed));
            }
        };
        for _ in 0..BUYERS {
            scope.spawn(purchase);
        }
        for _ in 0..JOBS_BEFORE {
            victim.wait_for("job");
        }
        // Dropping it kills it.
        drop(victim);
        is_killed.store(true, Ordering::Relaxed);
    });
    let bought = bought.into_inner();
    assert_eq!(shop.classics(), STOCK - i64::from(bought), "every purchase counts once");
    let runs = figure(&server, "ordain_runs_total{kind=\"ask\",state=\"committed\"}");
    assert_eq!(runs, bought.to_string());
    let others = server.get("/metrics").body;
    let others = others.lines().filter(|line| line.starts_with("ordain_runs_total{")).count();
    assert_eq!(others, 1, "nothing else was recorded");
    assert_eq!(server.get("/v1/ledger/verify").json()["whole"], true);
    assert!(eventually(|| figure(&server, "ordain_executors{state=\"sick\"}") == "1"));
    assert_eq!(server.get("/readyz").status, 200, "one of two is enough");

    let back = Served::start_at(&address);
    assert!(eventually(|| figure(&server, "ordain_executors{state=\"well\"}") == "2"));
    let mut more = 0;
    let is_used = eventually(|| {
        buy(&server);
        more += 1;
        back.count("job") > 0
    });
    assert!(is_used, "the one that came back gets jobs again");
    assert_eq!(shop.classics(), STOCK - i64::from(bought) - more);
}

#[test]
fn without_executors_a_server_is_not_ready_and_says_why() {
    let shop = Shop::new(10);
    let server = Server::start(&shop.root, &["--executor", "http://127.0.0.1:1"], |_| {});
    assert!(eventually(|| server.get("/readyz").status == 503));
    let ready = server.get("/readyz").json();
    let part = ready["parts"].as_array().unwrap().iter().find(|part| part["name"] == "executors").unwrap();
    assert_eq!((&part["ok"], &part["found"]), (&json!(false), &json!("0 of 1 can be reached")));
    let answer = server.post("/v1/requests", &json!({ "request": "buy one", "plan": BUY_ONE }));
    assert_eq!(answer.status, 503, "{}", answer.body);
    assert_eq!(shop.classics(), 10);
    assert_eq!(server.get("/healthz").status, 200, "it is alive all the same");
}

/// A collector of traces: gives each span with the service that sent it.
fn collector() -> (String, mpsc::Receiver<(String, Value)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let (sender, spans) = mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let sender = sender.clone();
            std::thread::spawn(move || collect(stream, &sender));
        }
    });
    (endpoint, spans)
}

fn collect(mut stream: TcpStream, sender: &mpsc::Sender<(String, Value)>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).is_ok_and(|read| read > 0) && !line.trim().is_empty() {
            let lower = line.to_ascii_lowercase();
            length =
                lower.strip_prefix("content-length: ").map_or(length, |text| text.trim().parse().unwrap());
            continue;
        }
        if line.is_empty() {
            return;
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        let body: Value = serde_json::from_slice(&body).unwrap();
        let resource = &body["resourceSpans"][0];
        let service = resource["resource"]["attributes"][0]["value"]["stringValue"].as_str().unwrap();
        for span in resource["scopeSpans"][0]["spans"].as_array().unwrap() {
            let _ = sender.send((service.to_owned(), span.clone()));
        }
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}").unwrap();
    }
}

#[test]
fn one_trace_goes_from_the_server_through_the_executor() {
    let (endpoint, spans) = collector();
    let set = |command: &mut std::process::Command| {
        command.env("OTEL_EXPORTER_OTLP_ENDPOINT", &endpoint).env("OTEL_BSP_SCHEDULE_DELAY", "50");
    };
    let (shop, executor) = (Shop::new(10), Served::start_with(&[], set));
    let server = Server::start(&shop.root, &["--executor", &executor.url()], set);
    buy(&server);
    let mut found = std::collections::HashMap::new();
    let names =
        ["POST /v1/requests", "invoke_agent ask", "execute_tool python", "ordain.executor.v1.Executor/Run"];
    while !names.iter().all(|name| found.contains_key(*name)) {
        let (service, span) = spans.recv_timeout(Duration::from_mins(1)).unwrap();
        found.insert(span["name"].as_str().unwrap().to_owned(), (service, span));
    }
    for (upper, lower) in std::iter::zip(names, &names[1..]) {
        let (upper, lower) = (&found[upper].1, &found[*lower].1);
        assert_eq!(upper["traceId"], lower["traceId"]);
        assert_eq!(upper["spanId"], lower["parentSpanId"], "{upper} {lower}");
    }
    let services = names.map(|name| found[name].0.as_str());
    assert_eq!(services, ["ordain", "ordain", "ordain", "ordain-executor"]);
}

#[test]
fn a_collector_that_cannot_be_spoken_to_is_a_configuration_error() {
    let shop = Shop::new(10);
    let mut command = crate::command::ordain(["serve", "--listen", "127.0.0.1:0", "--workspace", &shop.root]);
    command
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4317")
        .env("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc");
    let refused = crate::command::run(command);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(
        refused.stderr.contains("OTEL_EXPORTER_OTLP_PROTOCOL") && refused.stderr.contains("http/json"),
        "{refused:?}"
    );
}
