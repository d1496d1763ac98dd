//! `ordain serve cluster`: how the servers of one workspace get on together.

use std::io::{self, Write};
use std::process::ExitCode;

use ordain_files::open_store;
use ordain_server::cluster::ClusterStatus;
use ordain_store::Published;
use ordain_types::format_bytes;
use serde_json::json;

use crate::cluster::{ClusterArgs, check_shared};
use crate::failure::{Failure, Outcome};
use crate::runtime;
use crate::show::grid::Grid;
use crate::workspace::{WorkspaceArgs, note, with_store};

/// Accepted runs that are counted.
const COUNTED_MAX: u64 = 10_000;

const EXAMPLES: &str = "\
Examples:
  ordain serve cluster status --cluster nats://a:4222,nats://b:4222,nats://c:4222
  ORDAIN_CLUSTER=nats://a:4222 ordain serve cluster status --json
  ordain serve cluster publish                           after a change of policy.md, checks, data and so on

A node takes the published files in when it starts, and changed ones in `data` while it serves. Published are ordain.toml,
policy.md, helpers.py, eval.jsonl, lock files, `checks`, `data`, and what ordain.toml names; never .ordain, .env or keys.
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
    /// Give all nodes the workspace's files as they are in this folder
    Publish {
        /// Also if this folder does not come from the newest version
        #[arg(long)]
        replace: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// Carries out `ordain serve cluster …`.
pub(crate) fn run(workspace: &WorkspaceArgs, command: &Command) -> Outcome {
    match command {
        Command::Status { cluster, json } => status(workspace, cluster, *json),
        Command::Publish { replace, json } => {
            runtime::on_one_thread(Box::pin(publish(workspace, *replace, *json)))?
        }
    }
}

/// Gives all nodes the workspace's files as they are in this folder.
async fn publish(workspace: &WorkspaceArgs, replace: bool, json: bool) -> Outcome {
    let workspace = workspace.load()?;
    check_shared(&workspace.database)?;
    let store = open_store(&workspace).await?;
    let publication = workspace.publish(&store, replace, note()).await?;
    let mut out = io::stdout().lock();
    if json {
        writeln!(out, "{:#}", json!(publication))?;
        return Ok(ExitCode::SUCCESS);
    }
    let (version, files) = (publication.published.version, publication.files);
    let (bytes, sent) = (format_bytes(publication.bytes), format_bytes(publication.sent_bytes));
    if publication.is_new {
        writeln!(out, "published version {version}: {files} files of {bytes}, {sent} of them sent")?;
    } else {
        writeln!(
            out,
            "version {version} is as this folder is: {files} files of {bytes}, {sent} of them sent"
        )?;
    }
    if publication.is_new && !publication.is_data_only {
        writeln!(io::stderr(), "restart the nodes one at a time; until then they serve what they have")?;
    }
    Ok(ExitCode::SUCCESS)
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
        let published = store.published(1).await?.pop();
        if json {
            let mut shown = json!(status);
            shown["accepted"] = accepted.len().into();
            shown["oldest_accepted_at"] = json!(oldest);
            shown["published"] = json!(published);
            writeln!(out, "{shown:#}")?;
        } else {
            print(&mut out, &status)?;
            if let Some(Published { version, who, at, .. }) = published {
                writeln!(out, "workspace: version {version} is published, by {who}, {at}")?;
            }
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
    let mut nodes = Grid::new(["NODE", "ADDRESS", "VERSION", "WORKSPACE", "FILES", "RUNS", "STATE"]);
    for node in &status.nodes {
        let state = if node.draining { "stopping" } else { "ready" };
        nodes.row([
            node.node.clone(),
            node.address.clone(),
            node.version.clone(),
            node.workspace.clone(),
            if node.files == 0 { "-".to_owned() } else { format!("version {}", node.files) },
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
