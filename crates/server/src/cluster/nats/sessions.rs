//! Which node holds the cell of a session: a list that is kept on the disks of the NATS servers.

use std::time::Duration;

use async_nats::jetstream::kv::{Entry, Operation};
use futures_util::StreamExt as _;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::super::Held;
use super::{ClusterError, Nats, NodeMember, members, random_name, refused};

/// How long after its last use an entry is kept: for so long a session whose node is gone is known to be lost.
pub(super) const KEPT_FOR: Duration = Duration::from_hours(24);
/// How often an entry is looked at again that another node changes at the same moment.
const TRIES: usize = 5;
const ACTION: &str = "find the node of a session";

pub(super) fn list_name(store: &str) -> String {
    format!("ordain-{store}-sessions")
}

/// An entry of the list.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Holder {
    node: String,
    holding: String,
}

impl Nats {
    pub(super) async fn hold_session(
        &self,
        owner: &str,
        session: &str,
        most: usize,
    ) -> Result<Option<Held>, ClusterError> {
        let key = key(owner, session);
        for _ in 0..TRIES {
            let Some((holder, revision)) = self.holder(&key).await? else {
                if self.held_by(owner).await? >= most {
                    return Ok(None);
                }
                let holder = self.new_holder()?;
                if self.sessions.create(&key, value(&holder).into()).await.is_ok() {
                    return Ok(Some(held(holder, false)));
                }
                continue;
            };
            let is_own = holder.node == self.node;
            if !is_own && self.takes_work(&holder.node).await? {
                return Ok(Some(held(holder, false)));
            }
            // Its own entry is written again, so that it is not forgotten while the session is used.
            let holder = if is_own { holder } else { self.new_holder()? };
            if self.sessions.update(&key, value(&holder).into(), revision).await.is_ok() {
                return Ok(Some(held(holder, !is_own)));
            }
        }
        Err(ClusterError::Refused { action: ACTION, message: "it changes all the time".to_owned() })
    }

    pub(super) async fn holding_of(
        &self,
        owner: &str,
        session: &str,
    ) -> Result<Option<String>, ClusterError> {
        let holder = self.holder(&key(owner, session)).await?;
        Ok(holder.filter(|(holder, _)| holder.node == self.node).map(|(holder, _)| holder.holding))
    }

    pub(super) async fn forget_session(&self, owner: &str, session: &str) -> Result<bool, ClusterError> {
        let key = key(owner, session);
        let was_held = self.holder(&key).await?.is_some();
        if was_held {
            self.sessions.purge(&key).await.map_err(refused(ACTION))?;
        }
        Ok(was_held)
    }

    /// Whether a node is there and takes work.
    pub(super) async fn takes_work(&self, node: &str) -> Result<bool, ClusterError> {
        let member = self.nodes.get(node).await.map_err(refused("list who is there"))?;
        let member = member.and_then(|member| serde_json::from_slice::<NodeMember>(&member).ok());
        Ok(member.is_some_and(|member| !member.draining))
    }

    /// How many sessions of an owner nodes hold that are there.
    async fn held_by(&self, owner: &str) -> Result<usize, ClusterError> {
        let beginning = format!("{}.", hashed(owner));
        let nodes: Vec<NodeMember> = members::members(&self.nodes).await?;
        let mut keys = self.sessions.keys().await.map_err(refused(ACTION))?;
        let mut count = 0;
        while let Some(key) = keys.next().await {
            let key = key.map_err(refused(ACTION))?;
            if key.starts_with(&beginning)
                && let Some((holder, _)) = self.holder(&key).await?
            {
                count += usize::from(nodes.iter().any(|node| node.node == holder.node));
            }
        }
        Ok(count)
    }

    fn new_holder(&self) -> Result<Holder, ClusterError> {
        Ok(Holder { node: self.node.clone(), holding: random_name("name a session")? })
    }

    async fn holder(&self, key: &str) -> Result<Option<(Holder, u64)>, ClusterError> {
        let entry = self.sessions.entry(key).await.map_err(refused(ACTION))?;
        let there = entry.filter(|entry| entry.operation == Operation::Put);
        let read = |entry: Entry| Some((serde_json::from_slice(&entry.value).ok()?, entry.revision));
        Ok(there.and_then(read))
    }
}

fn held(holder: Holder, was_lost: bool) -> Held {
    Held { node: holder.node, holding: holder.holding, was_lost }
}

fn value(holder: &Holder) -> Vec<u8> {
    serde_json::to_vec(holder).unwrap_or_default()
}

/// The name of a session's entry, which may hold few characters only.
fn key(owner: &str, session: &str) -> String {
    format!("{}.{}", hashed(owner), hashed(session))
}

fn hashed(name: &str) -> String {
    ordain_types::hex(&Sha256::digest(name))
}
