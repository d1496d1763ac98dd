//! How a cluster is, for `ordain serve cluster status`.

use async_nats::jetstream::context::ConsumerInfoErrorKind;
use async_nats::jetstream::stream::StorageType;
use serde::Serialize;

use super::super::Lane;
use super::members::{self, Announced, ExecutorMember, NodeMember};
use super::{ClusterError, Link, once_joined, queue};

/// How a cluster is.
#[derive(Debug, Clone, Serialize)]
pub struct ClusterStatus {
    /// The nodes that are there.
    pub nodes: Vec<NodeMember>,
    /// The executors that are there.
    pub executors: Vec<ExecutorMember>,
    /// Runs in the queue that no node has taken.
    pub waiting: u64,
    /// Runs that nodes carry out, as they last said, and parts of runs of checks.
    pub working: u64,
    /// Runs that were taken more than once, of those in the queue.
    pub taken_again: u64,
    /// The NATS server that leads the queue, where there are several.
    pub leader: Option<String>,
    /// The other NATS servers that keep the queue, and whether each is up to date.
    pub replicas: Vec<(String, bool)>,
}

impl ClusterStatus {
    /// Asks how the cluster of a store is.
    pub async fn ask(link: &Link, store: &str) -> Result<Self, ClusterError> {
        const ACTION: &str = "describe the queue";
        let nodes = link.list(members::nodes_list(store), members::GONE_AFTER, StorageType::Memory).await?;
        let mut nodes: Vec<NodeMember> = members::members(&nodes).await?;
        nodes.sort_by(|one, other| one.address.cmp(&other.address));
        let mut executors = Announced::find(link).await?.members().await?;
        executors.sort_by(|one, other| one.address.cmp(&other.address));
        let working = nodes.iter().map(|node| node.working as u64).sum();
        let mut status = Self {
            nodes,
            executors,
            waiting: 0,
            working,
            taken_again: 0,
            leader: None,
            replicas: Vec::new(),
        };
        let stream = link.stream(queue::config(store)).await?;
        let info = once_joined(ACTION, || stream.get_info()).await?;
        if let Some(servers) = info.cluster {
            status.leader = servers.leader;
            status.replicas = servers.replicas.into_iter().map(|peer| (peer.name, peer.current)).collect();
        }
        let mut lanes = std::collections::BTreeSet::new();
        for node in &status.nodes {
            let of = |lane| if lane == Lane::Own { &node.node } else { &node.workspace };
            lanes.extend(Lane::ALL.map(|lane| queue::consumer_name(of(lane), lane)));
        }
        for name in lanes {
            let info = once_joined(ACTION, || async {
                match stream.consumer_info(&name).await {
                    // Its node has left meanwhile.
                    Err(error) if error.kind() == ConsumerInfoErrorKind::NotFound => Ok(None),
                    info => info.map(Some),
                }
            });
            let Some(info) = info.await? else { continue };
            status.waiting += info.num_pending;
            if name.starts_with(Lane::Parts.as_str()) {
                status.working += info.num_ack_pending as u64;
            }
            status.taken_again += info.num_redelivered as u64;
        }
        Ok(status)
    }
}
