//! `ordain check watch`: runs checks when they are due and when their files change.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ordain_checks::Schedule;
use ordain_engine::Workspace;
use ordain_engine::checks::State;

use super::run as running;

/// How often files and clocks are looked at.
const TICK: Duration = Duration::from_secs(1);
/// A change is acted on when nothing has changed for so long: files are often written in several goes.
const QUIET: Duration = Duration::from_millis(1500);

/// Run checks when they are due, and when data or check files change
///
/// Each check's `schedule` (cron, in UTC) says when it is due. A run that is still going on is never overlapped: what
/// came due meanwhile is run once afterwards. What came due while nobody watched is run once at the start, with
/// `--catch-up`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    run: running::Args,
    /// Run what is due now, and end: for outside schedulers
    #[arg(long)]
    once: bool,
    /// Also run what came due since its last run
    #[arg(long)]
    catch_up: bool,
    /// Wait up to so many seconds before a scheduled run, so that many workspaces do not start together
    #[arg(long, value_name = "SECONDS", default_value_t = 0)]
    jitter: u64,
}

/// Carries out `ordain check watch`.
pub(super) fn run(args: &Args, workspace: &Arc<Workspace>) -> anyhow::Result<ExitCode> {
    if args.once {
        return once(args, workspace);
    }
    let _ = writeln!(io::stderr(), "watching {}: Ctrl-C ends it", workspace.root.display());
    let mut seen = marks(&workspace.root);
    let mut from = now();
    if args.catch_up {
        run_due(args, workspace, last_runs(workspace).values().copied().min().unwrap_or(0), from)?;
    }
    loop {
        if super::runtime()?.block_on(is_interrupted(TICK)) {
            return Ok(ExitCode::from(crate::failure::INTERRUPTED));
        }
        let to = now();
        run_due(args, workspace, from, to)?;
        from = to;
        let marks_now = marks(&workspace.root);
        if marks_now != seen {
            // Wait for the writer to come to an end.
            loop {
                std::thread::sleep(QUIET);
                let later = marks(&workspace.root);
                if later == marks_now || later == seen {
                    break;
                }
                seen.clone_from(&later);
            }
            seen = marks(&workspace.root);
            let _ = writeln!(io::stderr(), "files changed: running");
            let _ = running::run(&args.run, workspace)?;
        }
    }
}

/// Runs what came due in the last minute, or since its last run with `--catch-up`.
fn once(args: &Args, workspace: &Arc<Workspace>) -> anyhow::Result<ExitCode> {
    let to = now();
    let from = if args.catch_up { None } else { Some(to - 60) };
    match due(workspace, from, to) {
        Err(code) => Ok(code),
        Ok(ids) if ids.is_empty() => {
            let _ = writeln!(io::stderr(), "no check is due");
            Ok(ExitCode::SUCCESS)
        }
        Ok(ids) => running::run(&args.run.only(&ids), workspace),
    }
}

fn run_due(args: &Args, workspace: &Arc<Workspace>, from: i64, to: i64) -> anyhow::Result<()> {
    let Ok(ids) = due(workspace, Some(from), to) else { return Ok(()) };
    if ids.is_empty() {
        return Ok(());
    }
    if args.jitter > 0 {
        // The process id spreads watchers well enough, and a run stays repeatable.
        std::thread::sleep(Duration::from_secs(u64::from(std::process::id()) % (args.jitter + 1)));
    }
    let _ = writeln!(io::stderr(), "due: {}", ids.join(", "));
    running::run(&args.run.only(&ids), workspace).map(drop)
}

/// The checks that came due after `from`, or after their last run, and not after `to`.
fn due(workspace: &Workspace, from: Option<i64>, to: i64) -> Result<Vec<String>, ExitCode> {
    let files = super::files(workspace)?;
    let last = if from.is_none() { last_runs(workspace) } else { BTreeMap::new() };
    let is_due = |id: &str, schedule: &str| {
        let from = from.unwrap_or_else(|| last.get(id).copied().unwrap_or(0));
        let schedule = schedule.parse::<Schedule>().ok();
        schedule.and_then(|schedule| schedule.next_after(from)).is_some_and(|next| next <= to)
    };
    let due =
        files.entries.iter().map(|entry| &entry.check).filter(|check| check.enabled).filter(|check| {
            check.schedule.as_deref().is_some_and(|schedule| is_due(&check.check_id, schedule))
        });
    Ok(due.map(|check| check.check_id.clone()).collect())
}

/// When each check last ran, in seconds since 1970, told by the time that begins a run's id.
fn last_runs(workspace: &Workspace) -> BTreeMap<String, i64> {
    const DIGITS: &str = "0123456789abcdefghjkmnpqrstvwxyz";
    let history = State::open(&workspace.state().join("checks")).and_then(|state| state.history());
    let seconds = |run_id: &str| {
        let digits =
            run_id.chars().take(10).map(|digit| i64::try_from(DIGITS.find(digit).unwrap_or(0)).unwrap_or(0));
        digits.fold(0, |number, digit| number * 32 + digit) / 1000
    };
    let past = history.unwrap_or_default().into_iter();
    past.map(|past| (past.result.check_id, seconds(&past.result.run_id))).collect()
}

/// What the file system says of data and check files.
fn marks(root: &Path) -> BTreeMap<String, (u64, Option<SystemTime>)> {
    let mut marks = BTreeMap::new();
    for folder in ["checks", "data"] {
        for entry in std::fs::read_dir(root.join(folder)).into_iter().flatten().flatten() {
            if let Ok(metadata) = entry.metadata() {
                let name = format!("{folder}/{}", entry.file_name().to_string_lossy());
                marks.insert(name, (metadata.len(), metadata.modified().ok()));
            }
        }
    }
    marks
}

async fn is_interrupted(within: Duration) -> bool {
    tokio::time::timeout(within, tokio::signal::ctrl_c()).await.is_ok()
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}

impl running::Args {
    /// The same for these checks alone.
    fn only(&self, ids: &[String]) -> Self {
        let mut args = self.clone();
        args.chosen.only(ids);
        args
    }
}
