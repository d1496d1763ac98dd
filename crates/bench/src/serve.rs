//! `cargo xtask bench serve`: what the HTTP service does in a second, and what it adds to the call in the same process.
//!
//! The server and its clients share this machine and this process, so the figures are a lower bound for the server
//! alone. Every answer is checked: a refused or failed one does not count as work.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use crate::setup;
use anyhow::bail;
use ordain_cell::Discard;
use ordain_cell::profile::Profile;
use ordain_engine::{Ask, Engine, Exec, Judgement, Origin, Planner};
use ordain_server::http::{self, HttpOptions, Service};
use ordain_types::{PlanSource, SourceFile};
use serde_json::{Map, Value, json};
use tokio::net::TcpListener;

use crate::UsualArgs;
use crate::load;
use crate::sample::{Sample, rounded};
use crate::shop::Shop;

const QUESTION: &str = "Do you have anything under $100?";
const PURCHASE: &str = "buy 1 classic";
const CODE: &str = "print(1 + 1)";
/// Clients at once.
const CLIENTS: [usize; 3] = [1, 8, 64];

/// One kind of request, over HTTP at each number of clients, and in this process where there is such a call.
struct Kind {
    key: &'static str,
    at: Vec<(usize, Measured)>,
    in_process: Option<Sample>,
}

/// What a number of clients got.
struct Measured {
    sample: Sample,
    elapsed: Duration,
}

impl Measured {
    #[expect(clippy::cast_precision_loss, reason = "counts are small")]
    fn per_s(&self) -> f64 {
        self.sample.count() as f64 / self.elapsed.as_secs_f64()
    }
}

/// Carries out `cargo xtask bench serve`.
pub(crate) fn run(args: &UsualArgs) -> anyhow::Result<()> {
    setup::python(Profile::Core)?;
    http::raise_descriptor_limit();
    let rounds = if args.quick { 64 } else { 512 };
    let kinds = setup::threads(None)?.block_on(measure(rounds))?;
    if args.json { print_json(&kinds) } else { print_table(&kinds) }?;
    Ok(())
}

async fn measure(rounds: usize) -> anyhow::Result<Vec<Kind>> {
    let opened = Shop::open().await?;
    let engine = &opened.engine;
    let in_process = (exec_here(engine, rounds).await?, ask_here(engine, rounds).await?);
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let options = HttpOptions::new("bench", address, opened.workspace.state());
    let service = Service::new(engine.clone(), Planner::Rules, options);
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let server = tokio::spawn(http::serve(listener, service, async {
        let _ = stopped.await;
    }));
    let exec = load::post("/v1/exec", &json!({ "code": CODE }));
    let call = json!({ "name": "exec", "arguments": { "code": CODE } });
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call });
    let ask = load::post("/v1/requests", &json!({ "request": QUESTION }));
    let buy = load::post("/v1/requests", &json!({ "request": PURCHASE }));
    let kinds = vec![
        Kind {
            key: "exec",
            at: loaded(address, &exec, "2\\n", rounds).await?,
            in_process: Some(in_process.0),
        },
        Kind {
            key: "exec_mcp",
            at: loaded(address, &load::post("/mcp", &call), "2\\n", rounds).await?,
            in_process: None,
        },
        Kind {
            key: "ask_cached",
            at: loaded(address, &ask, "\"source\":\"cache\"", rounds).await?,
            in_process: Some(in_process.1),
        },
        Kind {
            key: "purchase",
            at: loaded(address, &buy, "\"state\":\"committed\"", rounds).await?,
            in_process: None,
        },
        Kind {
            key: "healthz",
            at: loaded(address, &load::get("/healthz"), "ok", rounds * 8).await?,
            in_process: None,
        },
    ];
    let _ = stop.send(());
    server.await?;
    opened.executor.close().await;
    Ok(kinds)
}

async fn loaded(
    address: std::net::SocketAddr,
    request: &[u8],
    wanted: &str,
    rounds: usize,
) -> anyhow::Result<Vec<(usize, Measured)>> {
    let mut at = Vec::new();
    for clients in CLIENTS {
        let started = Instant::now();
        let each = rounds.div_ceil(clients);
        let sample = load::clients(address, request, wanted, clients, each).await?;
        at.push((clients, Measured { sample, elapsed: started.elapsed() }));
    }
    Ok(at)
}

async fn exec_here(engine: &Engine, rounds: usize) -> anyhow::Result<Sample> {
    let mut sample = Sample::default();
    for _ in 0..rounds {
        let exec = Exec {
            given: SourceFile { code: CODE.to_owned(), name: "main.py".to_owned() },
            judgement: Judgement::Exec,
            profile: Profile::Core,
            limits: engine.settings().limits.clone(),
            files: Vec::new(),
            session: None,
            origin: Origin::new("bench", "cli"),
        };
        let started = Instant::now();
        let record = engine.exec(exec, &mut Discard).await?.record;
        sample.add(started.elapsed());
        if record.outcome.stdout != "2\n" {
            bail!("the code ended {}", record.state);
        }
    }
    Ok(sample)
}

async fn ask_here(engine: &Engine, rounds: usize) -> anyhow::Result<Sample> {
    let mut sample = Sample::default();
    for round in 0..=rounds {
        let started = Instant::now();
        let record = engine.ask(Ask::new(QUESTION, "bench", "cli")).await?;
        // The first one writes the plan.
        if round == 0 {
            continue;
        }
        sample.add(started.elapsed());
        if record.plan.source != PlanSource::Cache || record.error.is_some() {
            bail!("the question ended {} with a plan from {:?}", record.state, record.plan.source);
        }
    }
    Ok(sample)
}

fn print_table(kinds: &[Kind]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{:<12} {:>8} {:>10} {:>10} {:>10}", "", "clients", "per s", "p50 ms", "p99 ms")?;
    for kind in kinds {
        for (clients, measured) in &kind.at {
            let (per_s, sample) = (measured.per_s(), &measured.sample);
            let (p50, p99) = (sample.p50(), sample.p99());
            writeln!(out, "{:<12} {clients:>8} {per_s:>10.0} {p50:>10.2} {p99:>10.2}", kind.key)?;
        }
        if let Some(overhead) = overhead(kind) {
            let here = kind.in_process.as_ref().map_or(f64::NAN, Sample::p50);
            writeln!(out, "{:<12} in this process {here:.2} ms; HTTP adds {overhead:.2} ms", kind.key)?;
        }
    }
    Ok(())
}

/// What HTTP adds to the call in the same process, at one client.
fn overhead(kind: &Kind) -> Option<f64> {
    let (_, one) = kind.at.first()?;
    Some(one.sample.p50() - kind.in_process.as_ref()?.p50())
}

fn print_json(kinds: &[Kind]) -> io::Result<()> {
    let mut figures = Map::new();
    let (mut here, mut added) = (Map::new(), Map::new());
    for kind in kinds {
        let mut at = Map::new();
        for (clients, measured) in &kind.at {
            let figure = json!({ "per_s": rounded(measured.per_s()), "p50_ms": rounded(measured.sample.p50()),
                "p99_ms": rounded(measured.sample.p99()) });
            at.insert(format!("c{clients}"), figure);
        }
        figures.insert(kind.key.to_owned(), Value::Object(at));
        if let (Some(sample), Some(overhead)) = (&kind.in_process, overhead(kind)) {
            here.insert(kind.key.to_owned(), json!({ "p50_ms": rounded(sample.p50()) }));
            added.insert(kind.key.to_owned(), json!({ "p50_ms": rounded(overhead) }));
        }
    }
    figures.insert("in_process".to_owned(), Value::Object(here));
    figures.insert("overhead".to_owned(), Value::Object(added));
    writeln!(io::stdout(), "{:#}", Value::Object(figures))
}
