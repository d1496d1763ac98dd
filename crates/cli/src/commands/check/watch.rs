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
use crate::failure::INTERRUPTED;

/// How often files and clocks are looked at.
const TICK: Duration = Duration::from_secs(1);
/// A change is acted on when nothing has changed for so long: files are often written in several goes.
const QUIET: Duration = Duration::from_millis(1500);

/// Run checks when they are due, and when data or check files change
///
/// Each check's `schedule` (cron, in UTC) says when it is due. A run that is still going on is never overlapped: what
/// came due meanwhile is run once afterwards, and a run of another process is waited for. What came due while nobody watched is run once at the start, with
/// `--catch-up`.
// The arguments of `run` are a group called `Args` already.
#[derive(Debug, Clone, clap::Args)]
#[group(id = "watch")]
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
    let mut args = args.clone();
    // Another process may be running checks: its run is waited for, because what is due must not be lost.
    args.run.waits = true;
    if args.once {
        return once(&args, workspace);
    }
    let _ = writeln!(io::stderr(), "watching {}: Ctrl-C ends it", workspace.root.display());
    let watched = Watched {
        args: &args,
        workspace,
        clock: tokio::runtime::Builder::new_current_thread().enable_all().build()?,
    };
    watched.watch()?;
    Ok(ExitCode::from(INTERRUPTED))
}

struct Watched<'a> {
    args: &'a Args,
    workspace: &'a Arc<Workspace>,
    clock: tokio::runtime::Runtime,
}

impl Watched<'_> {
    /// Watches until someone interrupts it.
    fn watch(&self) -> anyhow::Result<()> {
        let mut seen = marks(&self.workspace.root);
        let mut from = now();
        if self.args.catch_up && self.run_due(None, from)? {
            return Ok(());
        }
        loop {
            if self.is_interrupted(TICK) {
                return Ok(());
            }
            let to = now();
            if self.run_due(Some(from), to)? {
                return Ok(());
            }
            from = to;
            if marks(&self.workspace.root) == seen {
                continue;
            }
            let Some(settled) = self.settled() else { return Ok(()) };
            seen = settled;
            let _ = writeln!(io::stderr(), "files changed: running");
            if running::run(&self.args.run, self.workspace)? == ExitCode::from(INTERRUPTED) {
                return Ok(());
            }
        }
    }

    /// What the files are once their writer has come to an end; `None` if someone ended the watching.
    fn settled(&self) -> Option<Marks> {
        let mut seen = marks(&self.workspace.root);
        loop {
            if self.is_interrupted(QUIET) {
                return None;
            }
            let later = marks(&self.workspace.root);
            if later == seen {
                return Some(later);
            }
            seen = later;
        }
    }

    /// Runs what came due. Whether someone stopped it.
    fn run_due(&self, from: Option<i64>, to: i64) -> anyhow::Result<bool> {
        let Ok(ids) = due(&self.args.run.chosen, self.workspace, from, to) else { return Ok(false) };
        if ids.is_empty() {
            return Ok(false);
        }
        // The process id spreads watchers well enough, and a run stays repeatable.
        let wait = u64::from(std::process::id()) % (self.args.jitter + 1);
        if wait > 0 && self.is_interrupted(Duration::from_secs(wait)) {
            return Ok(true);
        }
        let _ = writeln!(io::stderr(), "due: {}", ids.join(", "));
        let code = running::run(&self.args.run.only(&ids), self.workspace)?;
        Ok(code == ExitCode::from(INTERRUPTED))
    }

    /// Waits so long, unless someone ends it.
    fn is_interrupted(&self, within: Duration) -> bool {
        self.clock.block_on(async { tokio::time::timeout(within, tokio::signal::ctrl_c()).await.is_ok() })
    }
}

/// Runs what came due in the last minute, or since its last run with `--catch-up`.
fn once(args: &Args, workspace: &Arc<Workspace>) -> anyhow::Result<ExitCode> {
    let to = now();
    let from = if args.catch_up { None } else { Some(to - 60) };
    match due(&args.run.chosen, workspace, from, to) {
        Err(code) => Ok(code),
        Ok(ids) if ids.is_empty() => {
            let _ = writeln!(io::stderr(), "no check is due");
            Ok(ExitCode::SUCCESS)
        }
        Ok(ids) => running::run(&args.run.only(&ids), workspace),
    }
}

/// The selected checks that came due after `from`, or after their last run, and not after `to`.
fn due(
    chosen: &running::Chosen,
    workspace: &Workspace,
    from: Option<i64>,
    to: i64,
) -> Result<Vec<String>, ExitCode> {
    let selection = chosen.selection()?;
    let files = super::files(workspace)?;
    let last = if from.is_none() { last_runs(workspace) } else { BTreeMap::new() };
    let is_due = |id: &str, schedule: &str| {
        let from = from.unwrap_or_else(|| last.get(id).copied().unwrap_or(0));
        let schedule = schedule.parse::<Schedule>().ok();
        schedule.and_then(|schedule| schedule.next_after(from)).is_some_and(|next| next <= to)
    };
    let due = files
        .entries
        .iter()
        .map(|entry| &entry.check)
        .filter(|check| check.enabled && selection.holds(check))
        .filter(|check| check.schedule.as_deref().is_some_and(|schedule| is_due(&check.check_id, schedule)));
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

/// Sizes and times of files, by name.
type Marks = BTreeMap<String, (u64, Option<SystemTime>)>;

/// What the file system says of data and check files.
fn marks(root: &Path) -> Marks {
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
