//! The sides of a comparison, each a process of its own from its start to its end.

use std::collections::HashMap;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::setup;
use anyhow::{Context as _, ensure};
use ordain_cell::FRAMES_SOURCE;
use ordain_cell::profile::Installed;
use serde_json::{Value, json};

use crate::cells::commands::Commands;

const PLAIN: &str = include_str!("plain.py");
const TOOLS: &str = include_str!("tools.py");
/// Linux counts the time of ended children for programs in hundredths of a second.
const TICK_MS: f64 = 10.0;
/// How long cells of a helper may take to end.
const ENDING_TIME: Duration = Duration::from_millis(100);

/// What a process took, in milliseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Took {
    pub(crate) wall_ms: f64,
    /// Of all processors, and of everything that it started.
    pub(crate) cpu_ms: f64,
}

impl Took {
    /// The lesser of both, each by itself: whatever else the machine did only adds.
    pub(crate) fn best(self, other: Self) -> Self {
        Self { wall_ms: self.wall_ms.min(other.wall_ms), cpu_ms: self.cpu_ms.min(other.cpu_ms) }
    }
}

/// What one side found.
#[derive(Debug)]
pub(crate) struct Judged {
    pub(crate) took: Took,
    /// Whether each check passes, in their order.
    pub(crate) passes: Vec<bool>,
}

/// `ordain check run` in a workspace, with cells of a resident helper or with a zygote of its own. What the helper and its cells
/// take counts. Gives the code of its checks too.
pub(crate) fn ours(
    workspace: &Path,
    jobs: usize,
    helper: Option<&Commands>,
) -> anyhow::Result<(Judged, Vec<Value>)> {
    let mut command = helper.map_or_else(setup::ordain, Commands::ordain)?;
    command.args(["check", "run", "--json", "--jobs", &jobs.to_string(), "--workspace"]).arg(workspace);
    if helper.is_none() {
        command.env("ORDAIN_RESIDENT", "off");
    }
    let before = helper.map(cpu_of_helpers).transpose()?;
    let (mut took, output) = run(&mut command, b"")?;
    if let Some((helper, before)) = helper.zip(before) {
        // Its cells have ended, or are about to.
        std::thread::sleep(ENDING_TIME);
        took.cpu_ms += cpu_of_helpers(helper)? - before;
    }
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
pub(crate) fn plain(data: &Installed, file: &Path, codes: &[Value]) -> anyhow::Result<Judged> {
    let mut command = Command::new(&data.interpreter.executable);
    command.env("PYTHONPATH", &data.site).args(["-c", PLAIN]).arg(file);
    judged(&mut command, &json!({ "codes": codes, "frames": FRAMES_SOURCE }))
}

/// The same checks by another tool that an interpreter has.
pub(crate) fn tool(
    command: &mut Command,
    name: &str,
    file: &Path,
    checks: &[Value],
) -> anyhow::Result<Judged> {
    command.args(["-c", TOOLS, name]).arg(file);
    judged(command, &json!(checks)).with_context(|| format!("{name} did not judge the checks"))
}

/// An interpreter with the packages of a profile.
pub(crate) fn interpreter(profile: &Installed) -> Command {
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
    let [_, _, _, children, theirs] = figures("self")?;
    Ok(f64::from(children + theirs) * TICK_MS)
}

/// The processor time of helpers and of everything that they started, in milliseconds.
fn cpu_of_helpers(helper: &Commands) -> anyhow::Result<f64> {
    let mut processes = HashMap::new();
    for entry in std::fs::read_dir("/proc")?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        // One that has ended meanwhile counts for its parent.
        if let (Ok(process), Ok(figures)) = (name.parse::<u32>(), figures(&name)) {
            processes.insert(process, figures);
        }
    }
    let mut wanted = helper.helpers()?;
    let mut ticks = 0;
    while let Some(process) = wanted.pop() {
        let Some([_, figures @ ..]) = processes.get(&process) else { continue };
        ticks += figures.iter().sum::<u32>();
        let of_process = |(_, [parent, ..]): &(&u32, &[u32; 5])| *parent == process;
        wanted.extend(processes.iter().filter(of_process).map(|(child, _)| *child));
    }
    Ok(f64::from(ticks) * TICK_MS)
}

/// What Linux says of a process: its parent, and the ticks in its own code, the kernel, and the same of its ended children.
fn figures(process: &str) -> anyhow::Result<[u32; 5]> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat"))?;
    // The name in it may hold anything but ends with the last `)`.
    let fields = stat.rsplit_once(')').map(|(_, fields)| fields).unwrap_or_default();
    let fields: Vec<&str> = fields.split_whitespace().collect();
    let mut found = [0; 5];
    for (into, at) in found.iter_mut().zip([1, 11, 12, 13, 14]) {
        *into = fields.get(at).context("/proc tells less of a process than it used to")?.parse()?;
    }
    Ok(found)
}
