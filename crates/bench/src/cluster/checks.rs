//! Many checks on one executor and on two.
//!
//! Each executor runs one job at a time, as a machine with one processor would, so that two have twice as much room.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use serde_json::Value;

use crate::checks::lay_out;
use crate::setup;

/// Rows of the table that the checks are about.
const ROWS: usize = 100;

/// How long the same checks took.
#[derive(Clone, Copy)]
pub(crate) struct Spread {
    pub(crate) checks: usize,
    pub(crate) one: Duration,
    pub(crate) two: Duration,
}

/// A running executor, ended when this is dropped.
struct Executor {
    process: Child,
    url: String,
}

impl Drop for Executor {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

pub(crate) fn measure(checks: usize) -> anyhow::Result<Spread> {
    let folder = tempfile::tempdir()?;
    lay_out(folder.path(), checks, ROWS)?;
    let executors = [start()?, start()?];
    // The first run reads the table and makes the code.
    run(folder.path(), &executors[..1], checks)?;
    Ok(Spread {
        checks,
        one: run(folder.path(), &executors[..1], checks)?,
        two: run(folder.path(), &executors, checks)?,
    })
}

fn start() -> anyhow::Result<Executor> {
    let mut command = setup::ordain()?;
    command.args([
        "executor",
        "--listen",
        "127.0.0.1:0",
        "--json",
        "--profiles",
        "core,data",
        "--running",
        "1",
    ]);
    let mut process = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
    let stderr = process.stderr.take().context("an executor has no output")?;
    let mut lines = BufReader::new(stderr).lines();
    let listening = lines.find_map(|line| {
        let told: Value = serde_json::from_str(&line.ok()?).ok()?;
        (told["event"] == "listening").then(|| told["address"].as_str().map(str::to_owned))?
    });
    // What it says later is of no interest, but it must not be kept from saying it.
    std::thread::spawn(move || lines.for_each(drop));
    let address = listening.context("an executor did not start")?;
    Ok(Executor { process, url: format!("http://{address}") })
}

fn run(workspace: &Path, executors: &[Executor], checks: usize) -> anyhow::Result<Duration> {
    let urls: Vec<&str> = executors.iter().map(|executor| executor.url.as_str()).collect();
    let jobs = (2 * executors.len()).to_string();
    let mut command = setup::ordain()?;
    command.args(["check", "run", "--json", "--jobs", &jobs, "--executor", &urls.join(","), "--workspace"]);
    command.arg(workspace).stdin(Stdio::null());
    let began = Instant::now();
    let ran = command.output()?;
    let took = began.elapsed();
    let report: Value = serde_json::from_slice(&ran.stdout).context("the checks gave no report")?;
    // Some of them fail, as they are meant to; all of them are judged.
    let judged: u64 = ["PASS", "FAIL"].iter().filter_map(|state| report["counts"][state].as_u64()).sum();
    ensure!(judged == checks as u64, "not every check was judged: {}", report["counts"]);
    Ok(took)
}
