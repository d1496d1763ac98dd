//! Writers on PostgreSQL: one alone, several in line, several side by side.
//!
//! Each takes one away from the stock of an item of its own choice and adds a transaction, straight through the store,
//! with diff, invariant and ledger entry but without a cell: on a small machine cells would hide what the store does.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use ordain_store::{
    BeginOptions, EntryNote, Intent, Invariant, Store, StoreError, StoreOptions, TableDeclaration,
};
use ordain_types::{RunKind, RunRecord};
use serde_json::json;

/// Items to choose from.
const ITEMS: usize = 10_000;
/// Writers at once.
const WRITERS: usize = 4;

/// What some writers did.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Writers {
    /// Commits a second.
    pub(crate) rate: f64,
    /// Tries that met another writer, of a hundred commits.
    pub(crate) again_percent: f64,
}

/// One writer, several in line, several side by side.
#[derive(Debug)]
pub(crate) struct Measured {
    pub(crate) one: Writers,
    pub(crate) in_line: Writers,
    pub(crate) beside: Writers,
}

/// Measures in a database that has no table `bench_items` yet.
pub(crate) async fn measure(url: &str, folder: &Path, span: Duration) -> anyhow::Result<Measured> {
    let store = open(url, folder).await?;
    Ok(Measured {
        one: write(&store, 1, Intent::Beside, span).await?,
        in_line: write(&store, WRITERS, Intent::Write, span).await?,
        beside: write(&store, WRITERS, Intent::Beside, span).await?,
    })
}

async fn open(url: &str, folder: &Path) -> anyhow::Result<Store> {
    std::fs::create_dir_all(folder)?;
    let items: Vec<_> = (0..ITEMS).map(|at| json!({ "item_id": item(at), "stock": 1_000_000 })).collect();
    let table = |name: &str, key: &str, rows: serde_json::Value| -> anyhow::Result<TableDeclaration> {
        let seed = folder.join(format!("{name}.json"));
        std::fs::write(&seed, rows.to_string())?;
        let (name, key) = (name.to_owned(), vec![key.to_owned()]);
        Ok(TableDeclaration { name, key, seed: Some(seed), ..TableDeclaration::default() })
    };
    let mut options = StoreOptions::postgres(url, folder.join(".ordain"));
    options.tables = vec![
        table("bench_items", "item_id", json!(items))?,
        table("bench_sales", "sale_id", json!([{ "sale_id": "0", "item_id": "0" }]))?,
    ];
    options.invariants = vec![Invariant {
        name: "stock never below zero".to_owned(),
        sql: "SELECT item_id FROM bench_items WHERE stock < 0".to_owned(),
    }];
    Ok(Store::open(options).await?)
}

fn item(at: usize) -> String {
    format!("I{at:05}")
}

async fn write(store: &Store, writers: usize, intent: Intent, span: Duration) -> anyhow::Result<Writers> {
    let began = Instant::now();
    let tasks: Vec<_> = (0..writers)
        .map(|writer| tokio::spawn(write_until(store.clone(), writer, intent, began + span)))
        .collect();
    let (mut commits, mut again) = (0, 0);
    for task in tasks {
        let (committed, tried_again) = task.await.context("a writer ended early")??;
        (commits, again) = (commits + committed, again + tried_again);
    }
    let rate = f64::from(commits) / began.elapsed().as_secs_f64();
    Ok(Writers { rate, again_percent: f64::from(again) * 100.0 / f64::from(commits.max(1)) })
}

async fn write_until(
    store: Store,
    writer: usize,
    intent: Intent,
    end: Instant,
) -> anyhow::Result<(u32, u32)> {
    let (mut commits, mut again) = (0_u32, 0_u32);
    while Instant::now() < end {
        let chosen = item((writer * 2503 + commits as usize * 7919) % ITEMS);
        let mut tried = intent;
        loop {
            match sell(&store, &chosen, tried).await {
                Ok(()) => break,
                Err(StoreError::Conflict) if tried == Intent::Beside => {
                    (tried, again) = (Intent::Write, again + 1);
                }
                Err(error) => bail!(error),
            }
        }
        commits += 1;
    }
    Ok((commits, again))
}

async fn sell(store: &Store, chosen: &str, intent: Intent) -> Result<(), StoreError> {
    let run_id = store.new_run_id()?;
    let mut transaction = store.begin(BeginOptions { run_id: run_id.clone(), intent }).await?;
    let by_key = json!({ "op": "eq", "path": ["item_id"], "value": chosen });
    let search = json!({ "table": "bench_items", "where": by_key, "limit": 1 });
    let page = transaction.call("search", search).await?;
    let (doc_id, stock) = (&page["rows"][0][0], page["rows"][0][1][1].as_i64().unwrap_or_default());
    let update = json!({ "table": "bench_items", "doc_ids": [doc_id], "set": { "stock": stock - 1 } });
    transaction.call("update", update).await?;
    let sale = json!({ "sale_id": run_id, "item_id": chosen });
    transaction.call("insert", json!({ "table": "bench_sales", "rows": [sale] })).await?;
    let record = RunRecord::new(run_id, RunKind::Ask, "sell one");
    transaction.commit(record, EntryNote::by("bench", "cli")).await.map(drop)
}
