//! The sides of a comparison, each a process of its own from its start to its end.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, ensure};
use ordain_cell::FRAMES_SOURCE;
use ordain_cell::profile::Installed;
use serde_json::{Value, json};

const PLAIN: &str = include_str!("plain.py");
const TOOLS: &str = include_str!("tools.py");
/// Linux counts the time of ended children for programs in hundredths of a second.
const TICK_MS: f64 = 10.0;

/// What a process took, in milliseconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Took {
    pub(super) wall_ms: f64,
    /// Of all processors, and of everything that it started.
    pub(super) cpu_ms: f64,
}

impl Took {
    /// The lesser of both, each by itself: whatever else the machine did only adds.
    pub(super) fn best(self, other: Self) -> Self {
        Self { wall_ms: self.wall_ms.min(other.wall_ms), cpu_ms: self.cpu_ms.min(other.cpu_ms) }
    }
}

/// What one side found.
#[derive(Debug)]
pub(super) struct Judged {
    pub(super) took: Took,
    /// Whether each check passes, in their order.
    pub(super) passes: Vec<bool>,
}

/// `ordain check run` in a workspace. Gives the code of its checks too.
pub(super) fn ours(workspace: &Path, jobs: usize) -> anyhow::Result<(Judged, Vec<Value>)> {
    let mut command = Command::new("/proc/self/exe");
    command.args(["check", "run", "--json", "--no-resident", "--jobs", &jobs.to_string(), "--workspace"]);
    let (took, output) = run(command.arg(workspace), b"")?;
    let report: Value = serde_json::from_slice(&output).context("the checks gave no report")?;
    let results = report["results"].as_array().context("the report has no results")?;
    let mut passes = Vec::new();
    for result in results {
        let status = result["status"].as_str().unwrap_or_default();
        ensure!(
            matches!(status, "PASS" | "FAIL"),
            "{} is {status}: {}",
            result["check_id"],
            result["reason"]
        );
        passes.push(status == "PASS");
    }
    let codes = results.iter().map(|result| result["code"].clone()).collect();
    Ok((Judged { took, passes }, codes))
}

/// The very code of the checks in one plain process.
pub(super) fn plain(data: &Installed, file: &Path, codes: &[Value]) -> anyhow::Result<Judged> {
    let mut command = Command::new(&data.interpreter.executable);
    command.env("PYTHONPATH", &data.site).args(["-c", PLAIN]).arg(file);
    judged(&mut command, &json!({ "codes": codes, "frames": FRAMES_SOURCE }))
}

/// The same checks by another tool that an interpreter has.
pub(super) fn tool(
    command: &mut Command,
    name: &str,
    file: &Path,
    checks: &[Value],
) -> anyhow::Result<Judged> {
    command.args(["-c", TOOLS, name]).arg(file);
    judged(command, &json!(checks)).with_context(|| format!("{name} did not judge the checks"))
}

/// An interpreter with the packages of a profile.
pub(super) fn interpreter(profile: &Installed) -> Command {
    let mut command = Command::new(&profile.interpreter.executable);
    command.env("PYTHONPATH", &profile.site);
    command
}

fn judged(command: &mut Command, input: &Value) -> anyhow::Result<Judged> {
    let (took, output) = run(command, &serde_json::to_vec(input)?)?;
    // A tool may print before it comes to its verdicts.
    let last = String::from_utf8_lossy(&output).trim_end().lines().last().unwrap_or_default().to_owned();
    Ok(Judged { took, passes: serde_json::from_str(&last).context("it ended without verdicts")? })
}

fn run(command: &mut Command, input: &[u8]) -> anyhow::Result<(Took, Vec<u8>)> {
    // One thread for linear algebra: more of them cost time to start, and nothing here needs them.
    command.env("OPENBLAS_NUM_THREADS", "1").stdin(Stdio::piped()).stdout(Stdio::piped());
    let (began, cpu) = (Instant::now(), cpu_of_children()?);
    let mut process = command.spawn().context("cannot start a side of the comparison")?;
    if let Some(mut stdin) = process.stdin.take() {
        stdin.write_all(input)?;
    }
    let output = process.wait_with_output()?;
    let wall_ms = began.elapsed().as_secs_f64() * 1e3;
    Ok((Took { wall_ms, cpu_ms: cpu_of_children()? - cpu }, output.stdout))
}

/// The processor time of this process' ended children and of theirs, in milliseconds.
fn cpu_of_children() -> anyhow::Result<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    // The name in it may hold anything but ends with the last `)`.
    let fields = stat.rsplit_once(')').map(|(_, fields)| fields).unwrap_or_default();
    let ticks = fields.split_whitespace().skip(13).take(2).map(str::parse::<f64>).sum::<Result<f64, _>>();
    Ok(ticks? * TICK_MS)
}
