//! `ordain bench cluster`: what the way through the queue costs, what more nodes bring, and how soon the run of a lost
//! node is done.
//!
//! Nodes are processes of this program on this machine, beside the clients, PostgreSQL and NATS, so that more nodes
//! share the same processors: what counts is that throughput does not fall.

use std::io::{self, BufRead as _, BufReader, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use ordain_cell::profile::Profile;
use ordain_workspace::init;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::sample::{Sample, rounded};
use super::{UsualArgs, load};
use crate::commands::python;
use crate::failure::Outcome;
use crate::runtime;

const QUESTION: &str = "Do you have anything under $100?";
/// Items of the example, one for each client, so that no two touch the same row.
const CLIENTS: usize = 4;
const NODES_MAX: usize = 3;
/// How long the run of a lost node may take to be done.
const RECOVERY_MAX: Duration = Duration::from_mins(2);

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

/// What some nodes did.
struct Measured {
    /// The same cached question, one after the other.
    question: Sample,
    purchases_per_s: f64,
}

/// A running node, ended when this is dropped.
struct Node {
    process: Child,
    address: SocketAddr,
}

impl Drop for Node {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Folders of the same shop, which sign with one key.
struct Shops<'a> {
    folder: TempDir,
    args: &'a Args,
}

impl Shops<'_> {
    fn root(&self, at: usize) -> PathBuf {
        self.folder.path().join(at.to_string())
    }

    fn make(&self) -> anyhow::Result<()> {
        for at in 0..NODES_MAX {
            init(&self.root(at), Some("sunglasses"))?;
        }
        Ok(())
    }

    fn start(&self, at: usize, is_node: bool) -> anyhow::Result<Node> {
        let state = |at: usize| self.root(at).join(".ordain");
        for name in ["ledger.key", "ledger.checkpoint"] {
            if at > 0 && !state(at).join(name).exists() {
                fs_err::create_dir_all(state(at))?;
                fs_err::copy(state(0).join(name), state(at).join(name))?;
            }
        }
        start(&self.root(at), &self.args.postgres, is_node.then_some(self.args.cluster.as_str()))
    }
}

fn start(root: &Path, database: &str, cluster: Option<&str>) -> anyhow::Result<Node> {
    let mut command = Command::new("/proc/self/exe");
    command.args([
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--json",
        "--log",
        "off",
        "--model",
        "rules",
        "--workspace",
    ]);
    command.arg(root).env("ORDAIN_STORE_URL", database).env_remove("ORDAIN_CLUSTER");
    if let Some(cluster) = cluster {
        command.env("ORDAIN_CLUSTER", cluster);
    }
    let mut process = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
    let mut line = String::new();
    BufReader::new(process.stdout.as_mut().context("a node has no output")?).read_line(&mut line)?;
    let told: Value = serde_json::from_str(&line).context("a node did not start")?;
    let address = told["listen"].as_str().context("a node did not say where it listens")?.parse()?;
    Ok(Node { process, address })
}

/// Carries out `ordain bench cluster`.
pub(super) fn run(args: &Args) -> Outcome {
    python::ensure(Profile::Core)?;
    let rounds = if args.usual.quick { 50 } else { 400 };
    let (alone, nodes, recovery) = runtime::on_all_threads(Box::pin(measure(args, rounds)))??;
    if args.usual.json {
        print_json(&alone, &nodes, recovery)
    } else {
        print_table(&alone, &nodes, recovery)
    }?;
    Ok(ExitCode::SUCCESS)
}

async fn measure(args: &Args, rounds: usize) -> anyhow::Result<(Measured, Vec<Measured>, Duration)> {
    let shops = Shops { folder: tempfile::tempdir()?, args };
    shops.make()?;
    let alone = {
        let server = shops.start(0, false)?;
        loaded(&[server.address], rounds).await?
    };
    let mut nodes = Vec::new();
    for count in 1..=NODES_MAX {
        let started = (0..count).map(|at| shops.start(at, true)).collect::<anyhow::Result<Vec<_>>>()?;
        let addresses: Vec<_> = started.iter().map(|node| node.address).collect();
        nodes.push(loaded(&addresses, rounds).await?);
    }
    Ok((alone, nodes, recovered(&shops).await?))
}

async fn loaded(nodes: &[SocketAddr], rounds: usize) -> anyhow::Result<Measured> {
    let question = load::post("/v1/requests", &json!({ "request": QUESTION }));
    // The first one writes the plan.
    load::clients(nodes[0], &question, "state", 1, 2).await?;
    let question = load::clients(nodes[0], &question, "\"source\":\"cache\"", 1, rounds).await?;
    let began = Instant::now();
    let clients: Vec<_> = (0..CLIENTS)
        .map(|client| {
            let buy =
                load::post("/v1/requests", &json!({ "request": "restock one", "plan": restock(client) }));
            let node = nodes[client % nodes.len()];
            tokio::spawn(
                async move { load::clients(node, &buy, "\"state\":\"committed\"", 1, rounds / 2).await },
            )
        })
        .collect();
    let mut bought = Sample::default();
    for client in clients {
        bought.join(client.await??);
    }
    #[expect(clippy::cast_precision_loss, reason = "counts are small")]
    let purchases_per_s = bought.count() as f64 / began.elapsed().as_secs_f64();
    Ok(Measured { question, purchases_per_s })
}

/// A change of one row, which can be made again and again.
fn restock(client: usize) -> String {
    format!(
        "Item = Query()\nitem = sorted(inventory_tbl.all(), key=lambda item: item['item_id'])[{client}]\n\
         one = Item.item_id == item['item_id']\n\
         inventory_tbl.update({{'quantity_in_stock': item['quantity_in_stock'] + 1}}, one)\n\
         STATUS = 'success'\nanswer_text = 'One more is there.'\n"
    )
}

/// How long after the end of a node the run that it carried out is done by another.
async fn recovered(shops: &Shops<'_>) -> anyhow::Result<Duration> {
    let lost = shops.start(0, true)?;
    let slow = "total = 0\nfor number in range(20_000_000):\n    total += number\nSTATUS = 'success'\nanswer_text = 'Counted.'\n";
    let (status, text) =
        load::once(lost.address, &load::begin("/v1/requests", &json!({ "request": "count", "plan": slow })))
            .await?;
    let run = serde_json::from_str::<Value>(&text)?["run_id"].as_str().map(str::to_owned);
    let run = run.with_context(|| format!("the server answered {status}: {text}"))?;
    let deadline = Instant::now() + RECOVERY_MAX;
    while !load::once(lost.address, &load::get("/metrics")).await?.1.contains("ordain_cluster_working 1") {
        if Instant::now() > deadline {
            bail!("no node took the run");
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    let other = shops.start(1, true)?;
    drop(lost);
    let killed = Instant::now();
    loop {
        let (_, text) = load::once(other.address, &load::get(&format!("/v1/runs/{run}"))).await?;
        match serde_json::from_str::<Value>(&text)?["state"].as_str() {
            Some("running") if Instant::now() < deadline => {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            Some("answered") => return Ok(killed.elapsed()),
            _ => bail!("the run did not end well: {text}"),
        }
    }
}

fn print_table(alone: &Measured, nodes: &[Measured], recovery: Duration) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{:<18} {:>16} {:>16} {:>14}", "", "question p50 ms", "question p99 ms", "changes per s")?;
    let row = |out: &mut dyn Write, name: &str, measured: &Measured| {
        let (p50, p99) = (measured.question.p50(), measured.question.p99());
        writeln!(out, "{name:<18} {p50:>16.2} {p99:>16.2} {:>14.0}", measured.purchases_per_s)
    };
    row(&mut out, "one server alone", alone)?;
    for (at, measured) in nodes.iter().enumerate() {
        row(&mut out, &format!("cluster of {}", at + 1), measured)?;
    }
    writeln!(out, "the way through the queue adds {:.2} ms (p50)", hop(alone, nodes))?;
    writeln!(out, "the run of a lost node was done {:.1} s after its end", recovery.as_secs_f64())
}

fn hop(alone: &Measured, nodes: &[Measured]) -> f64 {
    nodes.first().map_or(f64::NAN, |one| one.question.p50() - alone.question.p50())
}

fn print_json(alone: &Measured, nodes: &[Measured], recovery: Duration) -> io::Result<()> {
    let figures = |measured: &Measured| {
        json!({ "question_p50_ms": rounded(measured.question.p50()), "question_p99_ms": rounded(measured.question.p99()),
            "changes_per_s": rounded(measured.purchases_per_s) })
    };
    let nodes_figures: Vec<Value> = nodes.iter().map(figures).collect();
    let told = json!({ "alone": figures(alone), "nodes": nodes_figures, "hop_p50_ms": rounded(hop(alone, nodes)),
        "recovery_s": rounded(recovery.as_secs_f64()) });
    writeln!(io::stdout(), "{told:#}")
}
