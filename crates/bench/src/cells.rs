//! `cargo xtask bench cells`: how quick cells are, beside what people use otherwise.
//!
//! Every round runs each candidate once, one after the other, so that whatever else the machine does hits all of
//! them alike; the ratios are the finding.

pub(crate) mod commands;
mod peers;
mod report;

use std::io::{self, IsTerminal, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::{Duration, Instant};

use crate::setup;
use anyhow::{Context, bail};
use ordain_cell::profile::{DataDir, Installed, Profile};
use ordain_cell::{Discard, Executor, Job, LocalExecutor, LocalOptions, NoHost};
use ordain_types::Cause;
use ordain_verify::{Contract, DATA_IMPORTS, Policy, Schema, VerifiedCode, verify_bytes};

use commands::Commands;

use crate::UsualArgs;
use crate::sample::Sample;

/// The programs that are measured.
const TRIVIAL: &str = "print(1+1)";
const PANDAS: &str = "import pandas as pd\nprint(pd.DataFrame({'a':[1,2,3]}).a.sum())";

/// Idle cells that are weighed.
const WEIGHED: usize = 50;
/// Jobs in flight while the sustained rate is measured.
const IN_FLIGHT: usize = 4;

/// Everything that was measured.
#[derive(Debug, Default)]
struct Figures {
    python_trivial: Sample,
    python_pandas: Sample,
    bubblewrap_trivial: Sample,
    fresh_trivial: Sample,
    fresh_pandas: Sample,
    warm_trivial: Sample,
    warm_pandas: Sample,
    exec_trivial: Sample,
    exec_pandas: Sample,
    sustained_trivial: f64,
    sustained_pandas: f64,
    idle_core_mb: Option<f64>,
    idle_data_mb: Option<f64>,
}

/// Carries out `cargo xtask bench cells`.
pub(crate) fn run(args: &UsualArgs) -> anyhow::Result<()> {
    let mut installed = Vec::new();
    for profile in [Profile::Core, Profile::Data] {
        installed.push(setup::python(profile)?);
    }
    let figures = setup::one_thread()?.block_on(measure(args, &installed[1]))?;
    if args.json { report::print_json(&figures) } else { report::print_table(&figures, &installed[1]) }?;
    Ok(())
}

async fn measure(args: &UsualArgs, data: &Installed) -> anyhow::Result<Figures> {
    let (rounds, warm_runs, sustained) =
        if args.quick { (5, 10, Duration::from_secs(1)) } else { (15, 20, Duration::from_secs(4)) };
    let mut options = LocalOptions::new(DataDir::from_env()?);
    options.idle_cells = 2;
    let executor = LocalExecutor::new(options)?;
    let commands = Commands::new()?;
    let mut figures = Figures::default();
    for round in 1..=rounds {
        progress(&format!("round {round} of {rounds}"));
        peers(&mut figures, data)?;
        cells(&mut figures, &executor, warm_runs).await?;
        figures.exec_trivial.add(commands.exec(Profile::Core, TRIVIAL)?);
        figures.exec_pandas.add(commands.exec(Profile::Data, PANDAS)?);
    }
    drop(commands);
    progress("sustained rate");
    figures.sustained_trivial = rate(&executor, Profile::Core, TRIVIAL, sustained).await?;
    figures.sustained_pandas = rate(&executor, Profile::Data, PANDAS, sustained).await?;
    executor.close().await;
    progress("memory of idle cells");
    figures.idle_core_mb = weigh(Profile::Core).await?;
    figures.idle_data_mb = weigh(Profile::Data).await?;
    progress("");
    Ok(figures)
}

fn peers(figures: &mut Figures, data: &Installed) -> anyhow::Result<()> {
    figures.python_trivial.add(peers::python(data, TRIVIAL)?);
    figures.python_pandas.add(peers::python(data, PANDAS)?);
    if let Some(taken) = peers::bubblewrap(data, TRIVIAL)? {
        figures.bubblewrap_trivial.add(taken);
    }
    Ok(())
}

async fn cells(figures: &mut Figures, executor: &LocalExecutor, warm_runs: usize) -> anyhow::Result<()> {
    for _ in 0..warm_runs / 5 {
        figures.fresh_trivial.add(fresh(executor, Profile::Core, TRIVIAL).await?);
        figures.fresh_pandas.add(fresh(executor, Profile::Data, PANDAS).await?);
    }
    for _ in 0..warm_runs {
        figures.warm_trivial.add(warm(executor, Profile::Core, TRIVIAL).await?);
        figures.warm_pandas.add(warm(executor, Profile::Data, PANDAS).await?);
    }
    Ok(())
}

/// A job in a cell that was idle before: from handing it over to its result.
async fn warm(executor: &LocalExecutor, profile: Profile, code: &str) -> anyhow::Result<Duration> {
    executor.warm(profile).await?;
    // Idle means idle: what making the cells left to do is done first.
    tokio::time::sleep(Duration::from_micros(200)).await;
    let job = job(profile, code)?;
    let started = Instant::now();
    let execution = executor.run(job, &mut NoHost, &mut Discard).await?;
    let taken = started.elapsed();
    check(execution.cause)?;
    Ok(taken)
}

/// A job in a cell that is made for it: from the order to its result.
async fn fresh(executor: &LocalExecutor, profile: Profile, code: &str) -> anyhow::Result<Duration> {
    executor.warm(profile).await?;
    tokio::time::sleep(Duration::from_micros(200)).await;
    let job = job(profile, code)?;
    let started = Instant::now();
    let execution = executor.run_fresh(job, &mut NoHost, &mut Discard).await?;
    let taken = started.elapsed();
    check(execution.cause)?;
    Ok(taken)
}

/// Executions a second, creation and teardown of every cell included.
async fn rate(executor: &LocalExecutor, profile: Profile, code: &str, span: Duration) -> anyhow::Result<f64> {
    executor.warm(profile).await?;
    let started = Instant::now();
    let worker = || async {
        let mut count = 0_u32;
        while started.elapsed() < span {
            let execution = executor.run(job(profile, code)?, &mut NoHost, &mut Discard).await?;
            check(execution.cause)?;
            count += 1;
        }
        anyhow::Ok(count)
    };
    let counts = all([worker(), worker(), worker(), worker()]).await?;
    // The cells made ahead at the end stand for those that were there at the start.
    executor.warm(profile).await?;
    Ok(f64::from(counts) / started.elapsed().as_secs_f64())
}

/// Runs all workers at once and adds up what they did.
async fn all<F: Future<Output = anyhow::Result<u32>>>(workers: [F; IN_FLIGHT]) -> anyhow::Result<u32> {
    let [a, b, c, d] = workers;
    let (a, b, c, d) = tokio::try_join!(a, b, c, d)?;
    Ok(a + b + c + d)
}

/// The median proportional memory of idle cells, in megabytes.
async fn weigh(profile: Profile) -> anyhow::Result<Option<f64>> {
    let mut options = LocalOptions::new(DataDir::from_env()?);
    options.idle_cells = WEIGHED;
    let executor = LocalExecutor::new(options)?;
    executor.warm(profile).await?;
    tokio::time::sleep(Duration::from_millis(200)).await;
    let processes = executor.idle_processes(profile).await;
    let mut weights: Vec<u64> = processes.iter().filter_map(proportional_kib).collect();
    executor.close().await;
    weights.sort_unstable();
    #[expect(clippy::cast_precision_loss, reason = "a few thousand")]
    Ok(weights.get(weights.len() / 2).map(|kib| *kib as f64 * 1024.0 / 1e6))
}

/// The proportional set size of a process, as the kernel accounts it. Only the superuser may read that of a cell.
fn proportional_kib(process: &OwnedFd) -> Option<u64> {
    let number = |text: &str, field: &str| {
        text.lines().find_map(|line| line.strip_prefix(field)?.split_whitespace().next()?.parse::<u64>().ok())
    };
    let about = std::fs::read_to_string(format!("/proc/self/fdinfo/{}", process.as_raw_fd())).ok()?;
    let pid = number(&about, "Pid:")?;
    let memory = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    number(&memory, "Pss:")
}

pub(crate) fn job(profile: Profile, code: &str) -> anyhow::Result<Job> {
    Ok(Job::new(verified(code)?, profile))
}

fn verified(code: &str) -> anyhow::Result<VerifiedCode> {
    let policy = Policy::for_contract(Contract::Exec).with_packages(DATA_IMPORTS.iter().copied());
    verify_bytes(code.as_bytes(), &policy, &Schema::default())
        .into_verified()
        .context("the measured program was refused")
}

pub(crate) fn check(cause: Cause) -> Result<(), anyhow::Error> {
    if cause != Cause::Ok {
        bail!("a measured program ended with `{cause}`");
    }
    Ok(())
}

/// Says what is going on, on a terminal, in place.
fn progress(text: &str) {
    let mut stderr = io::stderr().lock();
    if stderr.is_terminal() {
        let _ = write!(stderr, "\r\x1b[K{text}");
        let _ = stderr.flush();
    }
}
