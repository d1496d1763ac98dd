//! `cargo xtask bench strategies`: what a run of several steps costs besides its model and its code.
//!
//! The model's replies are written down, so it takes no time. The cost of a step is measured against the same code in a
//! bare cell, and beside it a run of its own, whose time is a cell's, a transaction's and a record's.

use std::io::{self, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::setup;
use anyhow::{Context as _, bail};
use ordain_cell::profile::Profile;
use ordain_cell::{Discard, Executor as _, NoHost};
use ordain_engine::{Ask, Engine, Planner, Progress};
use ordain_planner::provider::Replay;
use ordain_planner::{Model, ModelSettings, Quiet};
use ordain_types::{Event, RunRecord, Strategy};
use serde_json::{Value, json};

use crate::UsualArgs;
use crate::cells;
use crate::sample::{Sample, rounded};
use crate::shop::Shop;

/// Steps of the outline by which the cost of a step is measured.
const STEPS: usize = 20;
/// Steps of the session whose memory is looked at: as many as a run may have.
const SESSION_STEPS: usize = 50;
/// From this step on a session's memory should not grow.
const SETTLED_STEP: usize = 10;

/// What was measured.
struct Figures {
    step: Sample,
    cell: Sample,
    single: Sample,
    side_by_side: Duration,
    /// Kibibytes of this process after the tenth and after the last step of a session.
    memory: (u64, u64),
}

/// Carries out `cargo xtask bench strategies`.
pub(crate) fn run(args: &UsualArgs) -> anyhow::Result<()> {
    // A session has all packages, whatever its steps import.
    setup::python(Profile::Full)?;
    let rounds = if args.quick { 2 } else { 10 };
    let figures = setup::threads(Some(2))?.block_on(measure(rounds))?;
    if args.json { print_json(&figures) } else { print_table(&figures) }?;
    Ok(())
}

async fn measure(rounds: usize) -> anyhow::Result<Figures> {
    let shop = Shop::open().await?;
    let engine = &shop.engine;
    let (mut step, mut cell, mut single) = (Sample::default(), Sample::default(), Sample::default());
    let bare = cells::job(Profile::Core, STEP)?;
    for _ in 0..rounds {
        let started = Instant::now();
        let record = carried_out(engine, chain()?, Strategy::Plan, &mut Quiet).await?;
        let each = u32::try_from(record.plan.steps.len()).unwrap_or(u32::MAX);
        step.add(started.elapsed() / each.max(1));
        for _ in 0..STEPS {
            let started = Instant::now();
            cells::check(shop.executor.run(bare.clone(), &mut NoHost, &mut Discard).await?.cause)?;
            cell.add(started.elapsed());
            let started = Instant::now();
            let ask = Ask::new("one program", "bench", "cli").with_plan(LAST, "plan.py");
            checked(engine.ask(ask).await?)?;
            single.add(started.elapsed());
        }
    }
    let mut steps = Watched::default();
    carried_out(engine, pair()?, Strategy::Plan, &mut steps).await?;
    let mut session = Watched::default();
    carried_out(engine, session_of(SESSION_STEPS)?, Strategy::React, &mut session).await?;
    shop.executor.close().await;
    let memory = |at: usize| session.memory.get(at).copied().unwrap_or_default();
    Ok(Figures {
        step,
        cell,
        single,
        side_by_side: steps.side_by_side().context("the two steps were not seen to end")?,
        memory: (memory(SETTLED_STEP - 1), memory(SESSION_STEPS - 1)),
    })
}

const STEP: &str = "result = 1";
const LAST: &str = "answer_text, STATUS, result = 'Done.', 'success', 1";

fn program(code: &str) -> String {
    format!("<execute_python>\n{code}\n</execute_python>")
}

fn outlined(steps: &[Value]) -> String {
    format!("<outline>{}</outline>", json!({ "goal": "measure", "steps": steps }))
}

/// Steps that each need the one before.
fn chain() -> anyhow::Result<Replay> {
    let step = |at: usize| {
        let needs: Vec<String> = at.checked_sub(1).map(|before| format!("s{before}")).into_iter().collect();
        json!({ "id": format!("s{at}"), "title": "do it", "needs": needs })
    };
    let steps: Vec<Value> = (0..STEPS).map(step).collect();
    let mut replies = vec![outlined(&steps)];
    replies.extend((1..STEPS).map(|_| program(STEP)));
    replies.push(program(LAST));
    replay(&replies)
}

/// Two steps of a second that do not need each other, and one that needs both.
fn pair() -> anyhow::Result<Replay> {
    let step = |id: &str, needs: &[&str]| json!({ "id": id, "title": "wait", "needs": needs });
    let wait = program("import time\ntime.sleep(1)\nresult = len(inventory_tbl)");
    replay(&[
        outlined(&[step("one", &[]), step("other", &[]), step("both", &["one", "other"])]),
        wait.clone(),
        wait,
        program(LAST),
    ])
}

fn session_of(steps: usize) -> anyhow::Result<Replay> {
    let mut replies: Vec<String> = (1..steps).map(|step| program(&format!("print({step})"))).collect();
    replies.push(program(LAST));
    replay(&replies)
}

fn replay(replies: &[String]) -> anyhow::Result<Replay> {
    let lines: Vec<String> = replies.iter().map(|reply| json!({ "reply": reply }).to_string()).collect();
    Ok(Replay::parse("bench", &lines.join("\n"))?)
}

async fn carried_out(
    engine: &Engine,
    replies: Replay,
    strategy: Strategy,
    progress: &mut dyn Progress,
) -> anyhow::Result<RunRecord> {
    let settings = ModelSettings { review: false, ..ModelSettings::default() };
    let planner = Planner::Model(Model::new(Arc::new(replies), settings));
    let ask = Ask { planner, strategy, cache: false, ..Ask::new("Measure the steps", "bench", "cli") };
    checked(engine.ask_with(ask, progress).await?)
}

/// A figure counts only if the run was carried out.
fn checked(record: RunRecord) -> anyhow::Result<RunRecord> {
    match &record.error {
        Some(error) => bail!("`{}` ended {}: {}", record.request, record.state, error.message),
        None => Ok(record),
    }
}

/// When steps began and ended, and what this process held after each.
#[derive(Debug, Default)]
struct Watched {
    began: Option<Instant>,
    ended: Vec<Instant>,
    memory: Vec<u64>,
}

impl Watched {
    /// From the beginning of the first step to the end of the second.
    fn side_by_side(&self) -> Option<Duration> {
        Some(self.ended.get(1)?.duration_since(self.began?))
    }
}

impl Progress for Watched {
    fn text(&mut self, _piece: &str) {}

    fn stage(&mut self, _name: &str) {}

    fn event(&mut self, event: &Event) {
        match event {
            Event::StepStarted { .. } => self.began = self.began.or_else(|| Some(Instant::now())),
            Event::StepFinished { .. } => {
                self.ended.push(Instant::now());
                self.memory.push(resident_kib());
            }
            _ => {}
        }
    }
}

/// What this process holds in memory, in kibibytes.
fn resident_kib() -> u64 {
    let status = fs_err::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or_default()
}

impl Figures {
    fn overhead(&self) -> f64 {
        self.step.p50() - self.cell.p50()
    }
}

fn print_table(figures: &Figures) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "a step of an outline, all of it        {:>8.2} ms", figures.step.p50())?;
    writeln!(out, "the same program in a bare cell        {:>8.2} ms", figures.cell.p50())?;
    writeln!(out, "so the engine's part of a step         {:>8.2} ms", figures.overhead())?;
    writeln!(out, "a program as a run of its own          {:>8.2} ms", figures.single.p50())?;
    let together = figures.side_by_side.as_secs_f64();
    writeln!(out, "two reading steps of 1 s together      {together:>8.2} s")?;
    let (early, late) = figures.memory;
    writeln!(
        out,
        "a session after {SETTLED_STEP} and {SESSION_STEPS} steps         {early:>8} KiB, {late} KiB"
    )
}

fn print_json(figures: &Figures) -> io::Result<()> {
    let shown = json!({
        "step_p50_ms": rounded(figures.step.p50()),
        "cell_p50_ms": rounded(figures.cell.p50()),
        "single_p50_ms": rounded(figures.single.p50()),
        "overhead_ms": rounded(figures.overhead()),
        "side_by_side_s": rounded(figures.side_by_side.as_secs_f64()),
        "session_kib_early": figures.memory.0,
        "session_kib_late": figures.memory.1,
    });
    writeln!(io::stdout(), "{shown:#}")
}
