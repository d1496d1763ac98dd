//! The end of the ledger that nodes tell each other, on the disks of the NATS servers. What it says, and whether it is
//! genuine, the store knows.

use std::time::Duration;

use async_nats::jetstream::kv::{self, Operation};
use async_nats::jetstream::stream::StorageType;

use super::{ClusterError, Link, once_joined};

const KEY: &str = "end";
const ACTION: &str = "keep the end of the ledger";

/// Where nodes of a store's cluster tell the end of its ledger.
#[derive(Debug)]
pub struct LedgerEnds(kv::Store);

impl LedgerEnds {
    /// Finds it, or makes it.
    pub async fn find(link: &Link, store: &str) -> Result<Self, ClusterError> {
        let name = format!("ordain-{store}-ledger");
        Ok(Self(link.list(name, Duration::ZERO, StorageType::File).await?))
    }

    /// The end that was told last, with what names this telling.
    pub async fn last(&self) -> Result<(Option<String>, u64), ClusterError> {
        let entry = once_joined(ACTION, || self.0.entry(KEY)).await?;
        Ok(match entry {
            Some(entry) if entry.operation == Operation::Put => {
                (String::from_utf8(entry.value.to_vec()).ok(), entry.revision)
            }
            _ => (None, 0),
        })
    }

    /// Tells an end, unless somebody told another one behind `last`.
    pub(super) async fn tell(&self, end: String, last: u64) {
        // What is not taken now is told again a moment later.
        let _ = match last {
            0 => self.0.create(KEY, end.into()).await.is_ok(),
            last => self.0.update(KEY, end.into(), last).await.is_ok(),
        };
    }
}
