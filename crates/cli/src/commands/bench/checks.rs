//! `ordain bench checks`: kept checks against the same pandas code in one plain Python process.

use std::fmt::Write as _;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;

use anyhow::{Context, bail};
use ordain_cell::profile::{Installed, Profile};
use ordain_checks::RunReport;
use ordain_engine::{EngineSettings, Quiet};
use ordain_standing::{CheckOptions, CheckTask, Checks, read_checks};
use ordain_workspace::Workspace;
use serde::Deserialize;
use serde_json::{Value, json};

use super::sample::rounded;
use crate::commands::python;
use crate::engine;
use crate::failure::Outcome;

const PEER: &str = include_str!("checks.py");

/// How checks are measured
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Fewer checks and rows
    #[arg(long)]
    quick: bool,
    /// Checks that run at once
    #[arg(long, default_value_t = 2)]
    jobs: usize,
    /// Print the figures as JSON
    #[arg(long)]
    json: bool,
}

/// What the peer took, in seconds.
#[derive(Debug, Deserialize)]
struct Peer {
    import: f64,
    load: f64,
    run: f64,
    /// Each check by itself.
    each: Vec<f64>,
}

/// One case: what was run, and how long each side took.
#[derive(Debug)]
struct Measured {
    name: String,
    checks: usize,
    /// The first run: reading tables and compiling.
    first_ms: f64,
    /// A run with everything kept.
    kept_ms: f64,
    /// Each check of that run by itself, its cell included.
    each_ms: Vec<f64>,
    peer: Peer,
}

/// Carries out `ordain bench checks`.
pub(super) fn run(args: &Args) -> Outcome {
    let data = python::ensure(Profile::Data)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let (many, rows) = if args.quick { (100, 100_000) } else { (1000, 1_000_000) };
    let mut measured = Vec::new();
    for (name, checks, rows) in
        [(format!("{many} checks, 100 rows"), many, 100), (format!("20 checks, {rows} rows"), 20, rows)]
    {
        progress(&name);
        let folder = tempfile::tempdir()?;
        lay_out(folder.path(), checks, rows)?;
        let first = runtime.block_on(run_once(folder.path(), args.jobs))?;
        let kept = runtime.block_on(run_once(folder.path(), args.jobs))?;
        let peer = measure_peer(&data, &folder.path().join("data"), &kept)?;
        measured.push(Measured {
            name,
            checks,
            first_ms: first.duration_ms,
            kept_ms: kept.duration_ms,
            each_ms: kept.results.iter().map(|result| result.duration_ms).collect(),
            peer,
        });
    }
    if args.json { print_json(&measured) } else { print_table(&measured) }?;
    Ok(ExitCode::SUCCESS)
}

/// A workspace with one table and checks of several kinds.
pub(super) fn lay_out(folder: &Path, checks: usize, rows: usize) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder.join("data"))?;
    std::fs::create_dir_all(folder.join("checks"))?;
    std::fs::write(
        folder.join("ordain.toml"),
        "[workspace]\nname = \"bench\"\n[limits]\nmemory = \"1GiB\"\nwall = \"2m\"\n",
    )?;
    let mut file = BufWriter::new(std::fs::File::create(folder.join("data/orders.csv"))?);
    writeln!(file, "order_id,user_id,quantity,price,status,created_at")?;
    for n in 0..rows {
        let status = ["paid", "open", "void"][n % 3];
        let (user, quantity, price) = (n * 7919 % 50_000, n % 9 + 1, n % 500);
        writeln!(file, "{n},{user},{quantity},{price}.5,{status},2025-{:02}-{:02}", n % 12 + 1, n % 28 + 1)?;
    }
    file.flush()?;
    let kinds = [
        ("not_null", json!({"columns": ["price"]})),
        ("unique", json!({"columns": ["order_id"]})),
        ("range", json!({"column": "price", "min": 0, "max": 1000})),
        ("in_set", json!({"column": "status", "values": ["paid", "open", "void"]})),
        ("two_columns", json!({"left": "quantity", "op": "<=", "right": "order_id"})),
        ("aggregate", json!({"column": "price", "function": "mean", "min": 0})),
        ("row_count", json!({"min": 1})),
        ("length", json!({"column": "status", "min": 4, "max": 4})),
        ("monotonic", json!({"column": "order_id"})),
        ("aggregate", json!({"column": "user_id", "function": "distinct_count", "min": 1})),
    ];
    let records: Vec<Value> = (0..checks)
        .map(|n| {
            let (kind, params) = &kinds[n % kinds.len()];
            json!({"check_id": format!("C{n}"), "kind": kind, "target_table": "orders", "params": params, "samples": {"max_rows": 0}})
        })
        .collect();
    std::fs::write(folder.join("checks/checks.json"), serde_json::to_vec(&records)?)?;
    Ok(())
}

async fn run_once(folder: &Path, jobs: usize) -> anyhow::Result<RunReport> {
    let workspace = Arc::new(Workspace::load(folder)?);
    let engine =
        engine::open(&workspace, engine::executor(&workspace, 0, None)?, EngineSettings::of(&workspace))
            .await?;
    let checks = Checks::new(workspace, engine);
    let options = CheckOptions { jobs, ..CheckOptions::default() };
    let task = CheckTask { options, ..checks.task(read_checks(folder)?, "bench", "cli") };
    let Some(ran) = checks.run(task, &mut Quiet).await?.1 else { bail!("no check ran") };
    if let Some(wrong) = ran.report.results.iter().find(|result| result.reason.is_some()) {
        bail!("{}: {}", wrong.check_id, wrong.reason.as_deref().unwrap_or_default());
    }
    Ok(ran.report)
}

/// Runs the very code of the checks in one plain process.
fn measure_peer(data: &Installed, folder: &Path, report: &RunReport) -> anyhow::Result<Peer> {
    let programs: Vec<Value> = report
        .results
        .iter()
        .map(|result| json!({"code": result.code, "tables": result.target_table}))
        .collect();
    let mut command = Command::new(&data.interpreter.executable);
    command.env("PYTHONPATH", &data.site).env("OPENBLAS_NUM_THREADS", "1").args(["-c", PEER]).arg(folder);
    let mut process =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().context("cannot start the peer")?;
    if let Some(mut stdin) = process.stdin.take() {
        stdin.write_all(&serde_json::to_vec(&programs)?)?;
    }
    let output = process.wait_with_output()?;
    if !output.status.success() {
        bail!("the peer ended with {}", output.status);
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

impl Measured {
    /// What the peer took from its start to its end.
    fn peer_ms(&self) -> f64 {
        (self.peer.import + self.peer.load + self.peer.run) * 1e3
    }

    /// What a cell adds to a check, in the middle: milliseconds more than the same code took in the peer.
    fn added_ms(&self) -> f64 {
        let pairs = self.each_ms.iter().zip(&self.peer.each);
        let mut added: Vec<f64> = pairs.map(|(cell, plain)| cell - plain * 1e3).collect();
        added.sort_by(f64::total_cmp);
        added.get(added.len() / 2).copied().unwrap_or_default()
    }

    /// How much longer all checks took in their cells than in the peer, in percent.
    fn overhead_pct(&self) -> f64 {
        let (cells, plain) = (self.each_ms.iter().sum::<f64>(), self.peer.each.iter().sum::<f64>() * 1e3);
        (cells / plain - 1.0) * 100.0
    }
}

fn print_json(measured: &[Measured]) -> io::Result<()> {
    let cases: Vec<Value> = measured
        .iter()
        .map(|it| {
            json!({
                "case": it.name,
                "checks": it.checks,
                "first_ms": rounded(it.first_ms),
                "kept_ms": rounded(it.kept_ms),
                "peer_ms": rounded(it.peer_ms()),
                "peer_import_ms": rounded(it.peer.import * 1e3),
                "peer_load_ms": rounded(it.peer.load * 1e3),
                "peer_run_ms": rounded(it.peer.run * 1e3),
                "ratio": rounded(it.kept_ms / it.peer_ms()),
                "cells_ms": rounded(it.each_ms.iter().sum()),
                "added_ms": rounded(it.added_ms()),
                "overhead_pct": rounded(it.overhead_pct()),
            })
        })
        .collect();
    writeln!(io::stdout(), "{}", serde_json::to_string_pretty(&cases).map_err(io::Error::from)?)
}

fn print_table(measured: &[Measured]) -> io::Result<()> {
    let mut text = String::new();
    for it in measured {
        let _ = writeln!(
            text,
            "{}: first run {:.0} ms, with kept code {:.0} ms\n  plain Python: {:.0} ms (import {:.0}, load {:.0}, run {:.0})\n  \
             kept run against plain Python: {:.2}×; {:.2} ms a check\n  \
             checks alone: {:.0} ms in cells, {:+.1} % against plain Python; a cell adds {:.2} ms to a check",
            it.name,
            it.first_ms,
            it.kept_ms,
            it.peer_ms(),
            it.peer.import * 1e3,
            it.peer.load * 1e3,
            it.peer.run * 1e3,
            it.kept_ms / it.peer_ms(),
            it.kept_ms / f64::from(u32::try_from(it.checks).unwrap_or(u32::MAX)),
            it.each_ms.iter().sum::<f64>(),
            it.overhead_pct(),
            it.added_ms(),
        );
    }
    io::stdout().lock().write_all(text.as_bytes())
}

fn progress(what: &str) {
    let _ = writeln!(io::stderr(), "{what} …");
}
