//! Who is there: nodes and executors say so every few seconds, and are forgotten when they stop.

use std::time::Duration;

use async_nats::jetstream::kv;
use async_nats::jetstream::stream::StorageType;
use futures_util::StreamExt as _;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{ClusterError, Link, refused};

/// How often a member says that it is there.
pub(crate) const SAID_EVERY: Duration = Duration::from_secs(2);
/// After how long without a word it is gone.
pub(super) const GONE_AFTER: Duration = Duration::from_secs(9);
/// The list of executors, which all workspaces share.
const EXECUTORS: &str = "ordain-executors";

pub(super) fn nodes_list(store: &str) -> String {
    format!("ordain-{store}-nodes")
}

async fn executors_list(link: &Link) -> Result<kv::Store, ClusterError> {
    link.list(EXECUTORS.to_owned(), GONE_AFTER, StorageType::Memory).await
}

/// A node, as it describes itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeMember {
    /// Its name, until its process ends.
    pub node: String,
    /// Where it listens.
    pub address: String,
    /// The version of Ordain.
    pub version: String,
    /// The fingerprint of its workspace.
    pub workspace: String,
    /// Runs that it carries out at once.
    pub slots: usize,
    /// Runs that it carries out now.
    pub working: usize,
    /// Runs whose end its callers wait for.
    pub waited_for: usize,
    /// Whether it is stopping.
    pub draining: bool,
}

/// An executor, as it describes itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExecutorMember {
    /// Where nodes reach it.
    pub address: String,
    /// The version of Ordain.
    pub version: String,
    /// The Python packages on offer.
    pub profiles: Vec<String>,
    /// Jobs that it runs at once.
    pub slots: usize,
    /// Jobs that it runs now.
    pub working: usize,
}

/// An executor's place in the list.
#[derive(Debug)]
pub struct Announced {
    link: Link,
    list: kv::Store,
}

impl Announced {
    /// Finds the list of executors.
    pub async fn find(link: &Link) -> Result<Self, ClusterError> {
        Ok(Self { list: executors_list(link).await?, link: link.clone() })
    }

    /// Says for ever that the executor is there.
    pub async fn keep(&self, describe: impl Fn() -> ExecutorMember) {
        loop {
            let member = describe();
            // A word that is not heard is said again, when there is a list: servers may have lost theirs.
            if say(&self.list, &key(&member.address), &member).await.is_err() {
                let _ = executors_list(&self.link).await;
            }
            tokio::time::sleep(SAID_EVERY).await;
        }
    }

    /// The executors that are there.
    pub async fn members(&self) -> Result<Vec<ExecutorMember>, ClusterError> {
        members(&self.list).await
    }

    /// Says that an executor is gone.
    pub async fn leave(&self, address: &str) {
        let _ = self.list.purge(key(address)).await;
    }
}

pub(super) async fn say(list: &kv::Store, key: &str, member: &impl Serialize) -> Result<(), ClusterError> {
    let value = serde_json::to_vec(member).unwrap_or_default();
    let put = list.put(key, value.into()).await;
    put.map(drop).map_err(refused("note who is there"))
}

/// Everybody on a list. Who writes something else into it is not on it.
pub(super) async fn members<T: DeserializeOwned>(list: &kv::Store) -> Result<Vec<T>, ClusterError> {
    const ACTION: &str = "list who is there";
    let mut keys = list.keys().await.map_err(refused(ACTION))?;
    let mut members = Vec::new();
    while let Some(key) = keys.next().await {
        let value = list.get(key.map_err(refused(ACTION))?).await.map_err(refused(ACTION))?;
        members.extend(value.and_then(|value| serde_json::from_slice(&value).ok()));
    }
    Ok(members)
}

/// An address as the name of an entry, which may hold few characters only.
fn key(address: &str) -> String {
    ordain_types::hex(address.as_bytes())
}
