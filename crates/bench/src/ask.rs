//! `cargo xtask bench ask`: from words to an answer, with a plan from the cache and with one written anew.
//!
//! Every request is carried out whole: brief, plan, verdict, cell, transaction, diff, invariants, ledger. The two
//! paths differ in one thing only, so their ratio is what the cache saves where the reader writes plans. Where a
//! model writes them it saves the model's call as well, which takes seconds.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::Instant;

use crate::setup;
use anyhow::bail;
use ordain_cell::profile::Profile;
use ordain_engine::{Ask, Engine, Mode};
use ordain_planner::{Brief, ColumnBrief, Reply, TableBrief, Task, reader};
use ordain_types::{Column, ColumnType, PlanSource, RunRecord, Table};
use serde_json::json;

use crate::UsualArgs;
use crate::sample::{Sample, rounded};
use crate::shop::Shop;

/// Names that the requests go through.
const NAMES: [&str; 4] = ["aviator", "wayfarer", "classic", "moon"];
/// Prices that the questions go through; a plan says its price, so each has a plan of its own.
const PRICES: usize = 4;

/// One way to ask, and what it takes.
struct Way {
    name: &'static str,
    key: &'static str,
    sample: Sample,
}

/// Carries out `cargo xtask bench ask`.
pub(crate) fn run(args: &UsualArgs) -> anyhow::Result<()> {
    setup::python(Profile::Core)?;
    let rounds = if args.quick { 40 } else { 300 };
    let ways = setup::threads(Some(2))?.block_on(measure(rounds))?;
    if args.json { print_json(&ways) } else { print_table(&ways) }?;
    Ok(())
}

async fn measure(rounds: usize) -> anyhow::Result<Vec<Way>> {
    let shop = Shop::open().await?;
    let engine = &shop.engine;
    let question = |round: usize| format!("Do you have anything under ${}?", 61 + round % PRICES);
    let purchase = |round: usize| format!("buy {} {}", 1 + round % 2, NAMES[round % NAMES.len()]);
    let ways = vec![
        Way {
            name: "question, plan from the cache",
            key: "read_cached",
            sample: asked(engine, rounds, true, question).await?,
        },
        Way {
            name: "question, plan by rules",
            key: "read_planned",
            sample: asked(engine, rounds, false, question).await?,
        },
        Way {
            name: "purchase, plan from the cache",
            key: "write_cached",
            sample: asked(engine, rounds, true, purchase).await?,
        },
        Way {
            name: "purchase, plan by rules",
            key: "write_planned",
            sample: asked(engine, rounds, false, purchase).await?,
        },
    ];
    shop.executor.close().await;
    let reading = Way { name: "reading 21 words, 100,000 rows", key: "reading", sample: reading(rounds)? };
    Ok(ways.into_iter().chain([reading]).collect())
}

/// Reading alone, once the catalog is there: a table with as many rows and as many known values as there can be.
fn reading(rounds: usize) -> anyhow::Result<Sample> {
    let column = |name: &str, column_type| Column {
        name: name.to_owned(),
        column_type,
        nullable: false,
        hidden: false,
    };
    let names = (0..5_000).map(|row| json!(format!("Article {row}"))).collect();
    let kinds = (0..200).map(|kind| json!(format!("kind{kind}"))).chain([json!("garden")]).collect();
    let known = |name: &str, values| ColumnBrief { name: name.to_owned(), values, ..ColumnBrief::default() };
    let table = TableBrief {
        table: Table {
            name: "items".to_owned(),
            columns: vec![
                column("name", ColumnType::Text),
                column("category", ColumnType::Text),
                column("price", ColumnType::Real),
                column("stock", ColumnType::Integer),
            ],
            key: vec!["name".to_owned()],
            append_only: false,
            read_only: false,
            hidden: false,
        },
        rows: 100_000,
        columns: vec![
            known("name", Some(names)),
            known("category", Some(kinds)),
            known("price", None),
            known("stock", None),
        ],
        roles: BTreeMap::new(),
        references: Vec::new(),
        indexes: Vec::new(),
    };
    let mut brief = Brief::new(Task::Ask, "");
    brief.tables = Arc::new(vec![table]);
    let mut sample = Sample::default();
    for round in 0..=rounds {
        brief.request = format!(
            "please show me all of the items in the category garden that cost between {round} and 900 and are in stock"
        );
        let started = Instant::now();
        let reply = reader::plan(&brief);
        if round > 0 {
            sample.add(started.elapsed());
        }
        if !matches!(reply, Reply::Plan(_)) {
            bail!("`{}` was not read: {reply:?}", brief.request);
        }
    }
    Ok(sample)
}

async fn asked(
    engine: &Engine,
    rounds: usize,
    cache: bool,
    request: impl Fn(usize) -> String,
) -> anyhow::Result<Sample> {
    // The first one writes the plan, the next few fill caches, as the first few of any day do.
    const FIRST: usize = 4;
    let mut sample = Sample::default();
    for round in 0..rounds + FIRST {
        // Purchases are dry runs, so that the shop does not run out of stock.
        let ask = Ask { cache, mode: Mode::DryRun, ..Ask::new(&request(round), "bench", "cli") };
        let started = Instant::now();
        let record = engine.ask(ask).await?;
        if round >= FIRST {
            sample.add(started.elapsed());
            check(&record, cache)?;
        }
    }
    Ok(sample)
}

/// A figure counts only if the request was answered, in the way that is measured.
fn check(record: &RunRecord, cache: bool) -> anyhow::Result<()> {
    let wanted = if cache { PlanSource::Cache } else { PlanSource::Rules };
    let is_answered = record.error.is_none() && record.status.as_deref() == Some("success");
    if record.plan.source != wanted || !is_answered {
        bail!("`{}` ended {} with a plan from {:?}", record.request, record.state, record.plan.source);
    }
    Ok(())
}

fn print_table(ways: &[Way]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{:<32} {:>10} {:>10}", "", "p50 ms", "p95 ms")?;
    for way in ways {
        writeln!(out, "{:<32} {:>10.2} {:>10.2}", way.name, way.sample.p50(), way.sample.p95())?;
    }
    for pair in ways.chunks(2) {
        if let [cached, planned] = pair {
            let ratio = planned.sample.p50() / cached.sample.p50();
            writeln!(out, "{}: {ratio:.2}x the time of {}", planned.name, cached.name)?;
        }
    }
    Ok(())
}

fn print_json(ways: &[Way]) -> io::Result<()> {
    let mut figures = serde_json::Map::new();
    for way in ways {
        let figure = json!({ "p50_ms": rounded(way.sample.p50()), "p95_ms": rounded(way.sample.p95()) });
        figures.insert(way.key.to_owned(), figure);
    }
    writeln!(io::stdout(), "{:#}", serde_json::Value::Object(figures))
}
