//! `ordain runs stats`: how plans fared, what people think of them, and what they cost.

use std::io::{self, Write};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ordain_planner::Stats;
use ordain_store::{RunFilter, Store, StoreError};
use ordain_types::{RunId, parse_duration};
use serde_json::json;

use crate::failure::Failure;

/// Runs that are read at once.
const PAGE: u64 = 200;

/// Figures over runs: plans accepted at first sight, rounds, failures, ratings, tokens and money
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Runs that began within this time
    #[arg(long, value_name = "DURATION", default_value = "30d", value_parser = parse_duration)]
    since: Duration,
}

/// Writes the figures.
pub(crate) async fn write_figures(
    out: &mut impl Write,
    store: &Store,
    args: &Args,
    as_json: bool,
) -> Result<(), Failure> {
    let stats = counted(store, first_id(args.since)).await?;
    if as_json { writeln!(out, "{:#}", json!(stats)) } else { write(out, &stats) }?;
    Ok(())
}

/// The first id that a run of this time can have.
fn first_id(since: Duration) -> RunId {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let millis = u64::try_from(now.saturating_sub(since).as_millis()).unwrap_or_default();
    RunId::from_parts(millis, [0; 10])
}

async fn counted(store: &Store, first: RunId) -> Result<Stats, StoreError> {
    let mut stats = Stats::default();
    let mut filter = RunFilter::newest(PAGE);
    loop {
        let runs = store.find_runs(filter.clone()).await?;
        for run in runs.iter().take_while(|run| run.run_id >= first) {
            stats.add(run);
        }
        match runs.last() {
            Some(last) if last.run_id >= first => filter.before = Some(last.run_id.clone()),
            _ => return Ok(stats),
        }
    }
}

fn write(out: &mut impl Write, stats: &Stats) -> io::Result<()> {
    let list = |counts: &std::collections::BTreeMap<String, u64>| {
        let parts: Vec<String> = counts.iter().map(|(name, count)| format!("{count} {name}")).collect();
        if parts.is_empty() { "none".to_owned() } else { parts.join(", ") }
    };
    let share = |part: u64, whole: u64| match whole {
        0 => "none".to_owned(),
        _ => format!("{part} of {whole} ({:.0} %)", 100.0 * figure(part) / figure(whole)),
    };
    let mean = |sum: u64, count: u64| if count == 0 { 0.0 } else { figure(sum) / figure(count) };
    let money = match stats.runs_without_price {
        0 => format!("${:.4}", stats.cost_usd),
        unknown => {
            format!("${:.4}, without {unknown} runs of models whose price is not known", stats.cost_usd)
        }
    };
    let tokens = stats.input_tokens + stats.output_tokens;
    let lines = [
        ("runs", format!("{}: {}", stats.runs, list(&stats.kinds))),
        ("states", list(&stats.states)),
        ("plans from the cache", share(stats.plans_cached, stats.runs)),
        ("plans accepted at first", share(stats.plans_accepted_at_first, stats.plans_written)),
        (
            "rounds",
            format!("{:.2} a plan, {} at most", mean(stats.rounds, stats.plans_written), stats.rounds_max),
        ),
        ("failed rounds", list(&stats.failures)),
        ("steps planned anew", stats.replans.to_string()),
        ("criteria met", share(stats.criteria_met, stats.criteria)),
        ("ratings", list(&stats.ratings)),
        ("model calls", stats.model_calls.to_string()),
        ("tokens", format!("{tokens}, {:.0} a run", mean(tokens, stats.runs))),
        ("money", money),
    ];
    lines.iter().try_for_each(|(name, value)| writeln!(out, "{name:<24} {value}"))
}

#[expect(clippy::cast_precision_loss, reason = "counts of runs and tokens are far below 2^52")]
fn figure(count: u64) -> f64 {
    count as f64
}
