//! `ordain serve cluster`: how the servers of one workspace get on together.

use std::io::{self, Write};
use std::process::ExitCode;

use ordain_server::cluster::ClusterStatus;
use serde_json::json;

use crate::cluster::ClusterArgs;
use crate::failure::{Failure, Outcome};
use crate::show::grid::Grid;
use crate::workspace::{WorkspaceArgs, with_store};

/// Accepted runs that are counted.
const COUNTED_MAX: u64 = 10_000;

const EXAMPLES: &str = "\
Examples:
  ordain serve cluster status --cluster nats://a:4222,nats://b:4222,nats://c:4222
  ORDAIN_CLUSTER=nats://a:4222 ordain serve cluster status --json

Run it in a copy of the workspace that the nodes serve. docs/cluster.md says what to do when a part is missing.";

/// The servers of a workspace that work together
#[derive(Debug, clap::Subcommand)]
#[command(after_help = EXAMPLES)]
pub(crate) enum Command {
    /// The nodes and executors that are there, and the queue
    Status {
        #[command(flatten)]
        cluster: ClusterArgs,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// Carries out `ordain serve cluster …`.
pub(crate) fn run(workspace: &WorkspaceArgs, command: &Command) -> Outcome {
    match command {
        Command::Status { cluster, json } => status(workspace, cluster, *json),
    }
}

fn status(workspace: &WorkspaceArgs, cluster: &ClusterArgs, json: bool) -> Outcome {
    with_store(workspace, async |store| {
        let Some(link) = cluster.connect("ordain serve cluster status").await? else {
            let hint = "give --cluster nats://HOST:4222, or set ORDAIN_CLUSTER";
            return Err(Failure::usage("no cluster is named", hint));
        };
        let status = ClusterStatus::ask(&link, &store.id().await?).await?;
        let accepted = store.queue(COUNTED_MAX).await?;
        let oldest = accepted.first().map(|run| run.accepted_at.clone());
        let mut out = io::stdout().lock();
        if json {
            let mut shown = json!(status);
            shown["accepted"] = accepted.len().into();
            shown["oldest_accepted_at"] = json!(oldest);
            writeln!(out, "{shown:#}")?;
        } else {
            print(&mut out, &status)?;
            let oldest = oldest.map(|at| format!(", the oldest since {at}")).unwrap_or_default();
            writeln!(
                out,
                "queue: {} waiting, {} carried out, {} of them taken again; {} accepted and not ended{oldest}",
                status.waiting,
                status.working,
                status.taken_again,
                accepted.len()
            )?;
        }
        Ok(ExitCode::SUCCESS)
    })
}

fn print(out: &mut impl Write, status: &ClusterStatus) -> io::Result<()> {
    let mut nodes = Grid::new(["NODE", "ADDRESS", "VERSION", "WORKSPACE", "RUNS", "STATE"]);
    for node in &status.nodes {
        let state = if node.draining { "stopping" } else { "ready" };
        nodes.row([
            node.node.clone(),
            node.address.clone(),
            node.version.clone(),
            node.workspace.clone(),
            format!("{} of {}", node.working, node.slots),
            state.to_owned(),
        ]);
    }
    if nodes.is_empty() {
        writeln!(out, "no node is there")?;
    } else {
        nodes.write(out, "")?;
    }
    let mut executors = Grid::new(["EXECUTOR", "VERSION", "PROFILES", "JOBS"]);
    for executor in &status.executors {
        executors.row([
            executor.address.clone(),
            executor.version.clone(),
            executor.profiles.join(","),
            format!("{} of {}", executor.working, executor.slots),
        ]);
    }
    if !executors.is_empty() {
        executors.write(out, "")?;
    }
    if let (Some(leader), false) = (&status.leader, status.replicas.is_empty()) {
        let behind = |is_current: bool| if is_current { "" } else { " (behind)" };
        let others =
            status.replicas.iter().map(|(name, is_current)| format!("{name}{}", behind(*is_current)));
        writeln!(out, "NATS: led by {leader}, kept by {}", others.collect::<Vec<_>>().join(", "))?;
    }
    Ok(())
}
