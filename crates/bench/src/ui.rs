//! `cargo xtask bench ui`: how long the server takes for each page of the web UI with many runs stored, what a page weighs on
//! the wire, and how it feels in a browser.
//!
//! Times are of whole requests on loopback, each on a connection of its own, so they are an upper bound for the server.

mod felt;

use std::io::{self, Write};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use crate::setup;
use anyhow::{Context as _, bail};
use ordain_cell::profile::Profile;
use ordain_checks::Checks;
use ordain_engine::{Ask, Engine, EngineSettings, Mode, Planner};
use ordain_files::open_store;
use ordain_server::http::{self, HttpOptions, Service};
use ordain_store::{ConversationTurn, EntryNote, Store, StoreError};
use ordain_types::{RunRecord, RunState};
use ordain_workspace::{Workspace, init};
use serde_json::{Map, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use self::felt::Felt;
use crate::sample::{Sample, rounded};
use crate::shop::executor;

/// Runs that wait for approval, which the page of approvals shows whole.
const HELD: usize = 20;
/// Records that are written together.
const TOGETHER: usize = 256;
/// What a page may take, and what it may weigh with everything that it loads.
const PAGE_MS_MAX: f64 = 30.0;
const FIRST_LOAD_BYTES_MAX: usize = 60_000;
/// How long a click or a key may wait for the next picture.
const INTERACTION_MS_MAX: f64 = 100.0;

/// Options of `cargo xtask bench ui`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Runs that are stored before pages are asked for
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    runs: usize,
    /// Print the figures as JSON
    #[arg(long)]
    json: bool,
}

/// One page.
struct Page {
    path: String,
    sample: Sample,
    /// The page alone, compressed.
    bytes: usize,
    /// The page and the files that it loads, compressed.
    first_load: usize,
}

/// Carries out `cargo xtask bench ui`.
pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    setup::python(Profile::Core)?;
    let (pages, felt) = setup::threads(None)?.block_on(measure(args.runs))?;
    if args.json { print_json(&pages, &felt) } else { print_table(&pages, &felt, args.runs) }?;
    Ok(())
}

async fn measure(runs: usize) -> anyhow::Result<(Vec<Page>, Vec<Felt>)> {
    let folder = tempfile::tempdir()?;
    let root = folder.path().join("shop");
    init(&root, Some("sunglasses"))?;
    let workspace = Workspace::load(&root)?;
    let executor = executor(&workspace, 1)?;
    executor.warm(Profile::Core).await?;
    let store = open_store(&workspace).await?;
    let engine = Engine::new(store.clone(), executor.clone(), EngineSettings::of(&workspace));
    let bought = engine.ask(Ask::new("buy 2 pairs of Aviator", "bench", "cli")).await?;
    fill(&store, &bought, runs).await?;
    for _ in 0..HELD {
        let ask = Ask::new("buy 1 pair of Aviator", "bench", "cli");
        engine.ask(Ask { mode: Mode::Hold, ..ask }).await?;
    }
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let mut options = HttpOptions::new("bench", address, workspace.state());
    options.checks = Some(Checks::new(Arc::new(workspace.clone()), engine.clone()));
    let service = Service::new(engine, Planner::Rules, options);
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let server = tokio::spawn(http::serve(listener, service, async {
        let _ = stopped.await;
    }));
    let run_page = format!("/runs/{}", bought.run_id);
    let paths = [
        "/",
        "/ask",
        "/runs",
        &run_page,
        "/approvals",
        "/checks",
        "/tables",
        "/tables/inventory",
        "/tables/inventory/history?key=%7B%22item_id%22%3A%22SG001%22%7D",
        "/plans",
        "/ledger",
        "/settings",
        "/keys",
    ];
    let mut pages = Vec::new();
    for path in paths {
        pages.push(page(address, path).await?);
    }
    let felt = felt::measure(address, run_page).await?;
    let _ = stop.send(());
    server.await?;
    executor.close().await;
    Ok((pages, felt))
}

/// Stores runs like one that was really made.
async fn fill(store: &Store, like: &RunRecord, runs: usize) -> anyhow::Result<()> {
    for first in (0..runs).step_by(TOGETHER) {
        let mut writing = Vec::new();
        for place in first..(first + TOGETHER).min(runs) {
            let state = if place % 3 == 0 { RunState::Committed } else { RunState::Answered };
            let record = RunRecord {
                run_id: store.new_run_id()?,
                state,
                started_at: store.timestamp(),
                ..like.clone()
            };
            writing.push(tokio::spawn(keep(store.clone(), record, place % 10 == 0)));
        }
        for written in writing {
            written.await??;
        }
    }
    Ok(())
}

/// Stores a run, perhaps with a conversation of its own.
async fn keep(store: Store, record: RunRecord, has_conversation: bool) -> Result<(), StoreError> {
    let turn = ConversationTurn {
        seq: 0,
        at: String::new(),
        run_id: record.run_id.to_string(),
        request: record.request.clone(),
        answer: record.answer.text.clone().unwrap_or_default(),
        status: record.status.clone(),
    };
    store.record(record, EntryNote::by("bench", "cli")).await?;
    if has_conversation { store.add_turn(&turn.run_id, &turn).await } else { Ok(()) }
}

async fn page(address: SocketAddr, path: &str) -> anyhow::Result<Page> {
    let plain = get(address, path, "identity").await?;
    let text = String::from_utf8_lossy(&plain).into_owned();
    let bytes = get(address, path, "gzip").await?.len();
    let mut first_load = bytes;
    for asset in text.split('"').filter(|part| part.starts_with("/assets/")) {
        first_load += get(address, asset, "gzip").await?.len();
    }
    let mut sample = Sample::default();
    for _ in 0..50 {
        let started = Instant::now();
        get(address, path, "gzip").await?;
        sample.add(started.elapsed());
    }
    Ok(Page { path: path.to_owned(), sample, bytes, first_load })
}

/// The body of a page; one that is not there is no page.
async fn get(address: SocketAddr, path: &str, coding: &str) -> anyhow::Result<Vec<u8>> {
    let mut stream = TcpStream::connect(address).await?;
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: {address}\r\nAccept: text/html\r\nAccept-Encoding: {coding}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await?;
    if !answer.starts_with(b"HTTP/1.1 200") {
        bail!("{path} is not answered: {}", String::from_utf8_lossy(&answer[..answer.len().min(200)]));
    }
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n").context("an answer without an end")?;
    Ok(answer.split_off(end + 4))
}

fn print_table(pages: &[Page], felt: &[Felt], runs: usize) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "{runs} runs stored; a page may take {PAGE_MS_MAX} ms and weigh {FIRST_LOAD_BYTES_MAX} bytes at first"
    )?;
    writeln!(out, "{:<34} {:>8} {:>8} {:>10} {:>12}", "page", "p50 ms", "p99 ms", "bytes", "first load")?;
    for page in pages {
        let (p50, p99) = (page.sample.p50(), page.sample.p99());
        writeln!(out, "{:<34} {p50:>8.2} {p99:>8.2} {:>10} {:>12}", page.path, page.bytes, page.first_load)?;
    }
    writeln!(out, "\nin Chromium; an interaction may wait {INTERACTION_MS_MAX} ms for the next picture")?;
    writeln!(out, "{:<34} {:>8} {:>8} {:>10} {:>12}", "while", "used", "longest", "task ms", "changes")?;
    for felt in felt {
        let Felt { what, interactions, longest_ms, longest_task_ms, swaps } = felt;
        writeln!(out, "{what:<34} {interactions:>8} {longest_ms:>8} {longest_task_ms:>10} {swaps:>12}")?;
    }
    Ok(())
}

fn print_json(pages: &[Page], felt: &[Felt]) -> io::Result<()> {
    let figures: Map<_, _> = pages
        .iter()
        .map(|page| {
            let figures = json!({ "p50_ms": rounded(page.sample.p50()), "p99_ms": rounded(page.sample.p99()),
                "bytes": page.bytes, "first_load_bytes": page.first_load });
            (page.path.clone(), figures)
        })
        .collect();
    let felt: Map<_, _> = felt
        .iter()
        .map(|felt| {
            let figures = json!({ "interactions": felt.interactions, "longest_ms": felt.longest_ms,
                "longest_task_ms": felt.longest_task_ms, "changes": felt.swaps });
            (felt.what.to_owned(), figures)
        })
        .collect();
    writeln!(io::stdout(), "{:#}", json!({ "pages": figures, "in_browser": felt }))
}
