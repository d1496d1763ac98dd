//! `cargo xtask bench cluster`: what the way through the queue costs, what more nodes bring, and how soon the run of a lost
//! node is done.
//!
//! Nodes are processes of this program on this machine, beside the clients, PostgreSQL and NATS, so that more nodes
//! share the same processors: what counts is that a run costs no more, and that commits do not wait for each other.

mod checks;
mod nodes;

use std::io::{self, Write};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use crate::setup;
use anyhow::{Context as _, bail};
use ordain_cell::profile::Profile;
use serde_json::{Value, json};

use crate::sample::{Sample, rounded};
use crate::{UsualArgs, load, progress};

use checks::Spread;
use nodes::{Node, Shops, take_one};

/// Clients that change rows, each its own.
const CLIENTS: usize = 4;
const NODES_MAX: usize = 3;
/// How long a node may take to do what it is waited for.
const WAIT_MAX: Duration = Duration::from_mins(2);
/// How long a node may say nothing before another takes its runs.
const ACK_WAIT_S: f64 = 10.0;

/// What is measured, and with what.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// An empty PostgreSQL database
    #[arg(long, value_name = "URL")]
    postgres: String,
    /// The NATS servers, separated by commas
    #[arg(long, value_name = "URL[,URL]")]
    cluster: String,
    #[command(flatten)]
    usual: UsualArgs,
}

/// The same question in turns at a server alone, at a node that begins it, and at one that has it go through NATS, where
/// either node takes it.
struct Hop {
    alone: Sample,
    node: Sample,
    queue: Sample,
}

impl Hop {
    fn added_ms(&self, sample: &Sample) -> f64 {
        sample.p50() - self.alone.p50()
    }
}

/// What some nodes did with changes of different rows.
struct Writers {
    nodes: usize,
    changes: f64,
    seconds: f64,
    /// Processor time of the nodes and their cells.
    cpu_ms: f64,
    /// Tries that met another run.
    again: f64,
    /// The most commits of one node that were on their way to the disk at once, as the nodes count them.
    commits_in_flight: f64,
}

impl Writers {
    /// Adds what as many nodes did at another time.
    fn join(&mut self, other: &Self) {
        self.changes += other.changes;
        self.seconds += other.seconds;
        self.cpu_ms += other.cpu_ms;
        self.again += other.again;
        self.commits_in_flight = self.commits_in_flight.max(other.commits_in_flight);
    }

    fn changes_per_s(&self) -> f64 {
        self.changes / self.seconds
    }

    fn cpu_ms_each(&self) -> f64 {
        self.cpu_ms / self.changes
    }

    fn again_percent(&self) -> f64 {
        self.again * 100.0 / self.changes
    }
}

struct Measured {
    hop: Hop,
    writers: Vec<Writers>,
    /// How long after the end of a node the run that it carried out was done by another.
    recovery: Duration,
    checks: checks::Spread,
}

/// Carries out `cargo xtask bench cluster`.
pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    setup::python(Profile::Core)?;
    setup::python(Profile::Data)?;
    let rounds = if args.usual.quick { 50 } else { 400 };
    let measured = setup::threads(None)?.block_on(measure(args, rounds))?;
    if args.usual.json { print_json(&measured) } else { print_table(&measured) }?;
    Ok(())
}

async fn measure(args: &Args, rounds: usize) -> anyhow::Result<Measured> {
    let shops = Shops::make(&args.postgres, &args.cluster, NODES_MAX)?;
    let hop = {
        let alone = shops.start_alone()?;
        // The only slot of the last one waits for the queue.
        let (node, queue) = (shops.start(1, &[])?, shops.start(2, &["--slots", "1"])?);
        hop([&alone, &node, &queue], rounds).await?
    };
    progress("measured the way through the queue; next: writers");
    let mut writers: Vec<Writers> = Vec::new();
    // Forth and back, so that a machine that gets slower or faster meanwhile is so for all of them alike.
    for count in (1..=NODES_MAX).chain((1..=NODES_MAX).rev()) {
        let started = (0..count).map(|at| shops.start(at, &[])).collect::<anyhow::Result<Vec<_>>>()?;
        let did = written(&started, rounds / 2).await?;
        match writers.iter_mut().find(|row| row.nodes == count) {
            Some(row) => row.join(&did),
            None => writers.push(did),
        }
    }
    progress("measured writers; next: a lost node");
    let recovery = recovered(&shops).await?;
    progress("measured a lost node; next: checks, some minutes");
    let count = if args.usual.quick { 200 } else { 10_000 };
    let checks = tokio::task::spawn_blocking(move || checks::measure(count)).await??;
    Ok(Measured { hop, writers, recovery, checks })
}

async fn hop([alone, node, queue]: [&Node; 3], rounds: usize) -> anyhow::Result<Hop> {
    let question = load::post("/v1/requests", &json!({ "request": "How many items are there?" }));
    let mut hop = Hop { alone: Sample::default(), node: Sample::default(), queue: Sample::default() };
    for at in 0..rounds + 5 {
        let servers = [(alone, &mut hop.alone), (node, &mut hop.node), (queue, &mut hop.queue)];
        for (server, sample) in servers {
            let asked = load::clients(server.address, &question, "\"state\":\"answered\"", 1, 1).await?;
            // The first ones write the plan and prepare statements.
            if at >= 5 {
                sample.join(asked);
            }
        }
    }
    Ok(hop)
}

async fn written(nodes: &[Node], each: usize) -> anyhow::Result<Writers> {
    let addresses: Vec<SocketAddr> = nodes.iter().map(|node| node.address).collect();
    // Every node compiles every plan when it comes a second time.
    changed(&addresses, 10 * nodes.len()).await?;
    let before = Counted::of(nodes).await?;
    let began = Instant::now();
    let changes = changed(&addresses, each).await?;
    let seconds = began.elapsed().as_secs_f64();
    let after = Counted::of(nodes).await?;
    Ok(Writers {
        nodes: nodes.len(),
        changes,
        seconds,
        cpu_ms: after.cpu_ms - before.cpu_ms,
        again: after.again - before.again,
        commits_in_flight: after.commits_in_flight,
    })
}

/// What nodes have counted so far.
struct Counted {
    cpu_ms: f64,
    again: f64,
    commits_in_flight: f64,
}

impl Counted {
    async fn of(nodes: &[Node]) -> anyhow::Result<Self> {
        let mut counted = Self { cpu_ms: 0.0, again: 0.0, commits_in_flight: 0.0 };
        for node in nodes {
            counted.cpu_ms += node.cpu_ms();
            counted.again += node.figure("ordain_store_started_again_total").await?;
            let at_once = node.figure("ordain_store_commits_in_flight_max").await?;
            counted.commits_in_flight = counted.commits_in_flight.max(at_once);
        }
        Ok(counted)
    }
}

/// Lets every client change a row of its own so often; how many changes that were.
async fn changed(nodes: &[SocketAddr], each: usize) -> anyhow::Result<f64> {
    let clients: Vec<_> = (0..CLIENTS)
        .map(|client| {
            let body = json!({ "request": "take one", "plan": take_one(client) });
            let (node, take) = (nodes[client % nodes.len()], load::post("/v1/requests", &body));
            tokio::spawn(async move { load::clients(node, &take, "\"state\":\"committed\"", 1, each).await })
        })
        .collect();
    let mut changes = 0;
    for client in clients {
        changes += client.await??.count();
    }
    #[expect(clippy::cast_precision_loss, reason = "counts are small")]
    Ok(changes as f64)
}

async fn recovered(shops: &Shops) -> anyhow::Result<Duration> {
    let (lost, other) = (shops.start(0, &[])?, shops.start(1, &[])?);
    let slow = "import time\ntime.sleep(0.5)\nSTATUS = 'success'\nanswer_text = 'It is later.'\n";
    let begin = load::begin("/v1/requests", &json!({ "request": "wait a little", "plan": slow }));
    // Either node may take a run; the one that is to be lost has it at the latest after a few.
    let run = loop {
        let (status, text) = load::once(lost.address, &begin).await?;
        let run = serde_json::from_str::<Value>(&text)?["run_id"].as_str().map(str::to_owned);
        let run = run.with_context(|| format!("the server answered {status}: {text}"))?;
        if is_at(&lost, &other, &run).await? {
            break run;
        }
    };
    drop(lost);
    let killed = Instant::now();
    ended(&other, &run).await?;
    Ok(killed.elapsed())
}

/// Whether the first node carries a run out. If the second one does, its end is waited for.
async fn is_at(first: &Node, second: &Node, run: &str) -> anyhow::Result<bool> {
    let deadline = Instant::now() + WAIT_MAX;
    while Instant::now() < deadline {
        if first.figure("ordain_cluster_working").await? > 0.5 {
            return Ok(true);
        }
        if second.figure("ordain_cluster_working").await? > 0.5 {
            ended(second, run).await?;
            return Ok(false);
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    bail!("no node took a run")
}

async fn ended(node: &Node, run: &str) -> anyhow::Result<()> {
    let deadline = Instant::now() + WAIT_MAX;
    loop {
        let (_, text) = load::once(node.address, &load::get(&format!("/v1/runs/{run}"))).await?;
        match serde_json::from_str::<Value>(&text)?["state"].as_str() {
            Some("running") if Instant::now() < deadline => {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            Some("answered") => return Ok(()),
            _ => bail!("the run did not end well: {text}"),
        }
    }
}

fn print_table(measured: &Measured) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let hop = &measured.hop;
    writeln!(
        out,
        "a question, p50: {:.2} ms at a server alone, {:.2} ms at a node, {:.2} ms through NATS",
        hop.alone.p50(),
        hop.node.p50(),
        hop.queue.p50()
    )?;
    let (node, queue) = (hop.added_ms(&hop.node), hop.added_ms(&hop.queue));
    writeln!(out, "a node adds {node:.2} ms, the way through NATS {queue:.2} ms (must: 2)")?;
    writeln!(out)?;
    writeln!(
        out,
        "{:<10}{:>16}{:>18}{:>14}{:>20}",
        "", "changes a s", "CPU ms a change", "tried again", "commits in flight"
    )?;
    for row in &measured.writers {
        let name = format!("{} node{}", row.nodes, if row.nodes == 1 { "" } else { "s" });
        writeln!(
            out,
            "{name:<10}{:>16.0}{:>18.1}{:>13.1}%{:>20.0}",
            row.changes_per_s(),
            row.cpu_ms_each(),
            row.again_percent(),
            row.commits_in_flight
        )?;
    }
    writeln!(
        out,
        "{:<10}{:>16}{:>18}{:>14}{:>20}",
        "must",
        "",
        format!("{:.1}", cpu_must(&measured.writers)),
        "1.0%",
        "2"
    )?;
    writeln!(out)?;
    let (seconds, must) = (measured.recovery.as_secs_f64(), ACK_WAIT_S + 2.0);
    writeln!(out, "the run of a lost node was done {seconds:.1} s after its end (must: {must:.0})")?;
    let Spread { checks, one, two } = measured.checks;
    let (one, two) = (one.as_secs_f64(), two.as_secs_f64());
    writeln!(
        out,
        "{checks} checks: {one:.1} s on one executor, {two:.1} s on two, {:.2} times as fast",
        one / two
    )
}

/// A change may take 15 % more processor time than at one node.
fn cpu_must(writers: &[Writers]) -> f64 {
    writers.first().map_or(f64::NAN, |one| one.cpu_ms_each() * 1.15)
}

fn print_json(measured: &Measured) -> io::Result<()> {
    let writers: Vec<Value> = (measured.writers.iter())
        .map(|row| {
            json!({ "nodes": row.nodes, "changes_per_s": rounded(row.changes_per_s()),
                "cpu_ms": rounded(row.cpu_ms_each()), "again_percent": rounded(row.again_percent()), "commits_in_flight": row.commits_in_flight })
        })
        .collect();
    let hop = &measured.hop;
    let (alone, node, queue) = (&hop.alone, &hop.node, &hop.queue);
    let told = json!({
        "question_alone_p50_ms": rounded(alone.p50()), "question_node_p50_ms": rounded(node.p50()),
        "question_alone_p99_ms": rounded(alone.p99()), "question_node_p99_ms": rounded(node.p99()),
        "question_queue_p50_ms": rounded(queue.p50()), "question_queue_p99_ms": rounded(queue.p99()),
        "node_adds_p50_ms": rounded(hop.added_ms(node)),
        "hop_p50_ms": rounded(hop.added_ms(queue)), "hop_must_ms": 2,
        "writers": writers, "cpu_must_ms": rounded(cpu_must(&measured.writers)), "again_must_percent": 1,
        "commits_in_flight_must": 2,
        "checks": measured.checks.checks, "checks_one_executor_s": rounded(measured.checks.one.as_secs_f64()),
        "checks_two_executors_s": rounded(measured.checks.two.as_secs_f64()),
        "recovery_s": rounded(measured.recovery.as_secs_f64()), "recovery_must_s": ACK_WAIT_S + 2.0,
    });
    writeln!(io::stdout(), "{told:#}")
}
