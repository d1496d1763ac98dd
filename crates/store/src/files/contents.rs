//! Where the content of files is if not in the database, which then knows only what files there are.
//!
//! A content is at `OWNER/NAME/DIGEST`, with owner and name as digests, so that no name is a path.

use std::path::PathBuf;

use super::bucket::Bucket;
use super::{digest, folder};
use crate::error::StoreError;
use crate::options::{Clock, FilePlace};

/// A place that all nodes reach.
#[derive(Debug)]
pub(crate) enum Contents {
    Folder(PathBuf),
    Bucket(Box<Bucket>),
}

impl Contents {
    pub(crate) fn open(place: FilePlace, clock: Clock) -> Result<Self, StoreError> {
        match place {
            FilePlace::Folder(folder) => Ok(Self::Folder(folder)),
            FilePlace::Bucket(options) => Ok(Self::Bucket(Box::new(Bucket::open(options, clock)?))),
        }
    }

    /// Keeps a content, whole or not at all.
    pub(super) async fn keep(&self, owner: &str, name: &str, content: &[u8]) -> Result<(), StoreError> {
        let key = key(owner, name, &digest(content));
        match self {
            Self::Folder(folder) => folder::keep(folder, &key, content).await,
            Self::Bucket(bucket) => bucket.keep(&key, content).await,
        }
    }

    /// Reads a content; `None` if it is not there, because it was just replaced or removed.
    pub(super) async fn read(
        &self,
        owner: &str,
        name: &str,
        sha256: &str,
    ) -> Result<Option<Vec<u8>>, StoreError> {
        let key = key(owner, name, sha256);
        match self {
            Self::Folder(folder) => folder::read(folder, &key).await,
            Self::Bucket(bucket) => bucket.read(&key).await,
        }
    }

    /// Removes a content that is not needed any more.
    pub(super) async fn remove(&self, owner: &str, name: &str, sha256: &str) -> Result<(), StoreError> {
        let key = key(owner, name, sha256);
        match self {
            Self::Folder(folder) => folder::remove(folder, &key).await,
            Self::Bucket(bucket) => bucket.remove(&key).await,
        }
    }
}

fn key(owner: &str, name: &str, sha256: &str) -> String {
    let is_digest = sha256.bytes().all(|byte| byte.is_ascii_hexdigit());
    let sha256 = if is_digest { sha256 } else { "none" };
    format!("{}/{}/{sha256}", digest(owner.as_bytes()), digest(name.as_bytes()))
}
