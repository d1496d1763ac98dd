//! `cargo xtask bench store`: what a purchase costs on small and large tables, beside TinyDB itself.
//!
//! The same purchase (find an item by its name, look at its stock, take one away, add a transaction) is carried out
//! by the whole engine — verified, in a cell, in a transaction, with diff, invariant and ledger entry — and by TinyDB
//! with JSON storage in a plain interpreter, which does none of that.

mod tinydb;
mod writers;

use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::setup;
use anyhow::{Context, bail};
use ordain_cell::profile::{DataDir, Profile};
use ordain_cell::{LocalExecutor, LocalOptions};
use ordain_engine::{Ask, Engine, EngineSettings};
use ordain_store::{Invariant, Store, StoreOptions, TableDeclaration};
use ordain_types::RunState;
use serde_json::json;

use crate::sample::{Sample, rounded};

const PLAN: &str = "\
import uuid
Item = Query()
wanted = user_request
item = inventory_tbl.get(Item.name == wanted)
if item is None or item['quantity_in_stock'] < 1:
    answer_text = 'There is none left.'
    STATUS = 'insufficient_stock'
else:
    inventory_tbl.update({'quantity_in_stock': item['quantity_in_stock'] - 1}, Item.item_id == item['item_id'])
    transactions_tbl.insert({
        'transaction_id': uuid.uuid4().hex,
        'item_id': item['item_id'],
        'amount': item['price'],
    })
    answer_text = f\"Sold one {item['name']}.\"
    STATUS = 'success'
";

/// Clients that ask at once while the rate is measured.
const CLIENTS: usize = 8;

/// Options of `cargo xtask bench store`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Fewer rounds, and no table of a million rows
    #[arg(long)]
    quick: bool,
    /// Measure writers in this PostgreSQL database instead, which is best an empty one
    #[arg(long, value_name = "URL")]
    postgres: Option<String>,
    /// Print the figures as JSON
    #[arg(long)]
    json: bool,
}

/// One size of table: what a purchase takes here and in TinyDB.
struct Size {
    rows: usize,
    ours: Sample,
    tinydb: Option<Sample>,
}

/// Carries out `cargo xtask bench store`.
pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    if let Some(url) = &args.postgres {
        return run_writers(args, url);
    }
    let core = setup::python(Profile::Core)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let folder = tempfile::tempdir()?;
    let (sizes, rounds): (&[usize], usize) =
        if args.quick { (&[1_000, 100_000], 20) } else { (&[1_000, 100_000, 1_000_000], 60) };
    let mut measured = Vec::new();
    let mut rate = 0.0;
    let executor = Arc::new(executor()?);
    for &rows in sizes {
        progress(&format!("making {rows} rows"));
        let place = folder.path().join(rows.to_string());
        let engine = runtime.block_on(engine(&place, rows, Arc::clone(&executor)))?;
        progress(&format!("{rows} rows"));
        let ours = runtime.block_on(purchases(&engine, rows, rounds))?;
        let tinydb = (rows <= 100_000).then(|| tinydb::measure(&core, &place, rows)).transpose()?;
        if rows == 1_000 {
            progress("asks at once");
            rate = runtime.block_on(asks_per_second(&engine, rows, args.quick))?;
        }
        measured.push(Size { rows, ours, tinydb });
    }
    runtime.block_on(executor.close());
    progress("");
    if args.json { print_json(&measured, rate) } else { print_table(&measured, rate) }?;
    Ok(())
}

/// Writers on PostgreSQL.
fn run_writers(args: &Args, url: &str) -> anyhow::Result<()> {
    let span = Duration::from_secs(if args.quick { 2 } else { 8 });
    let folder = tempfile::tempdir()?;
    let measured = setup::threads(None)?.block_on(writers::measure(url, folder.path(), span))?;
    let rows =
        [("1 writer", measured.one), ("4 in line", measured.in_line), ("4 side by side", measured.beside)];
    let mut out = io::stdout().lock();
    if args.json {
        let rows = rows.map(|(name, row)| {
            json!({ "writers": name, "commits_per_s": rounded(row.rate), "again_percent": rounded(row.again_percent) })
        });
        writeln!(out, "{:#}", json!(rows))?;
        return Ok(());
    }
    writeln!(out, "{:<16}{:>14}{:>14}", "PostgreSQL", "commits a s", "tried again")?;
    for (name, row) in rows {
        writeln!(out, "{name:<16}{:>14.0}{:>13.1}%", row.rate, row.again_percent)?;
    }
    Ok(())
}

fn executor() -> anyhow::Result<LocalExecutor> {
    let mut options = LocalOptions::new(DataDir::from_env()?);
    options.idle_cells = 4;
    Ok(LocalExecutor::new(options)?)
}

async fn engine(folder: &Path, rows: usize, executor: Arc<LocalExecutor>) -> anyhow::Result<Engine> {
    std::fs::create_dir_all(folder)?;
    let inventory = folder.join("inventory.csv");
    write_inventory(&inventory, rows)?;
    let transactions = folder.join("transactions.json");
    std::fs::write(
        &transactions,
        json!([{ "transaction_id": "0", "item_id": "0", "amount": 0.0 }]).to_string(),
    )?;
    let mut options = StoreOptions::sqlite(folder.join(".ordain"));
    let table = |name: &str, seed: &Path, key: &str| TableDeclaration {
        name: name.to_owned(),
        seed: Some(seed.to_owned()),
        key: vec![key.to_owned()],
        ..TableDeclaration::default()
    };
    options.tables = vec![
        TableDeclaration {
            indexes: vec![vec!["name".to_owned()]],
            ..table("inventory", &inventory, "item_id")
        },
        TableDeclaration { append_only: true, ..table("transactions", &transactions, "transaction_id") },
    ];
    options.invariants = vec![Invariant {
        name: "stock never below zero".to_owned(),
        sql: "SELECT item_id FROM inventory WHERE quantity_in_stock < 0 LIMIT 1".to_owned(),
    }];
    options.tables[0].indexes.push(vec!["quantity_in_stock".to_owned()]);
    let store = Store::open(options).await?;
    executor.warm(Profile::Core).await?;
    Ok(Engine::new(store, executor, EngineSettings::default()))
}

fn write_inventory(path: &Path, rows: usize) -> io::Result<()> {
    let mut file = io::BufWriter::new(std::fs::File::create(path)?);
    writeln!(file, "item_id,name,description,quantity_in_stock,price")?;
    for at in 0..rows {
        writeln!(file, "I{at:07},{},a thing to buy,1000000,{}.5", name_of(at), at % 90 + 10)?;
    }
    file.flush()
}

/// The name of an item; names are as many as rows.
fn name_of(at: usize) -> String {
    format!("Item {at:07}")
}

async fn purchases(engine: &Engine, rows: usize, rounds: usize) -> anyhow::Result<Sample> {
    let mut sample = Sample::default();
    for round in 0..rounds + 3 {
        let started = Instant::now();
        buy(engine, &name_of(round * 7919 % rows)).await?;
        // The first few fill caches, as the first few of any day do.
        if round >= 3 {
            sample.add(started.elapsed());
        }
    }
    Ok(sample)
}

async fn buy(engine: &Engine, name: &str) -> anyhow::Result<()> {
    let record = engine.ask(Ask::new(name, "bench", "cli").with_plan(PLAN, "purchase.py")).await?;
    if record.state != RunState::Committed {
        bail!("a purchase ended {}: {:?}", record.state, record.error);
    }
    Ok(())
}

async fn asks_per_second(engine: &Engine, rows: usize, is_quick: bool) -> anyhow::Result<f64> {
    let span = Duration::from_secs(if is_quick { 1 } else { 4 });
    let started = Instant::now();
    let mut clients = Vec::new();
    for client in 0..CLIENTS {
        let engine = engine.clone();
        clients.push(tokio::spawn(async move {
            let mut count = 0_u32;
            while started.elapsed() < span {
                buy(&engine, &name_of((client * 131 + count as usize * 17) % rows)).await?;
                count += 1;
            }
            anyhow::Ok(count)
        }));
    }
    let mut asked = 0;
    for client in clients {
        asked += client.await.context("a client ended early")??;
    }
    Ok(f64::from(asked) / started.elapsed().as_secs_f64())
}

fn print_json(sizes: &[Size], rate: f64) -> io::Result<()> {
    let mut p50 = serde_json::Map::new();
    let mut ratios = serde_json::Map::new();
    for size in sizes {
        let label = label(size.rows);
        p50.insert(format!("rows_{label}"), json!(rounded(size.ours.p50())));
        if let Some(tinydb) = &size.tinydb {
            p50.insert(format!("tinydb_{label}"), json!(rounded(tinydb.p50())));
            ratios.insert(format!("vs_tinydb_{label}"), json!(rounded(tinydb.p50() / size.ours.p50())));
        }
    }
    if let (Some(first), Some(last)) = (sizes.first(), sizes.iter().find(|size| size.rows == 1_000_000)) {
        ratios.insert("growth_1m_vs_1k".to_owned(), json!(rounded(last.ours.p50() / first.ours.p50())));
    }
    let record = json!({ "p50_ms": p50, "ratios": ratios, "asks_per_s": rounded(rate) });
    writeln!(io::stdout(), "{record:#}")
}

fn print_table(sizes: &[Size], rate: f64) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "one purchase, milliseconds (SQLite)")?;
    writeln!(
        out,
        "{:<10}{:>10}{:>10}{:>10}{:>14}{:>10}",
        "rows", "p50", "p95", "min", "TinyDB p50", "ratio"
    )?;
    for size in sizes {
        let (tinydb, ratio) = match &size.tinydb {
            Some(tinydb) => {
                (format!("{:.3}", tinydb.p50()), format!("{:.1}×", tinydb.p50() / size.ours.p50()))
            }
            None => ("-".to_owned(), "-".to_owned()),
        };
        let ours = &size.ours;
        let rows = label(size.rows);
        writeln!(
            out,
            "{rows:<10}{:>10.3}{:>10.3}{:>10.3}{tinydb:>14}{ratio:>10}",
            ours.p50(),
            ours.p95(),
            ours.min()
        )?;
    }
    if let (Some(first), Some(last)) = (sizes.first(), sizes.last()) {
        let growth = last.ours.p50() / first.ours.p50();
        writeln!(out, "growth from {} to {} rows: {growth:.2}×", label(first.rows), label(last.rows))?;
    }
    writeln!(out, "{CLIENTS} clients at once: {rate:.0} asks a second")
}

fn label(rows: usize) -> String {
    if rows >= 1_000_000 { format!("{}m", rows / 1_000_000) } else { format!("{}k", rows / 1_000) }
}

/// Says what is going on, on a terminal, in place.
fn progress(text: &str) {
    let mut stderr = io::stderr().lock();
    if stderr.is_terminal() {
        let _ = write!(stderr, "\r\x1b[K{text}");
        let _ = stderr.flush();
    }
}
