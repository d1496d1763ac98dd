//! The digests of tables' files, each read once for as long as the file stays the same.

use std::collections::HashMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ordain_cell::{InputFile, Job, hash_files};

use crate::grpc::proto;

/// Files whose digests are remembered.
const FILES_MAX: usize = 1000;

#[derive(Debug, Default)]
pub(super) struct Digests(Mutex<HashMap<PathBuf, (Stamp, String)>>);

/// Which file it is, its size, and when it was last changed in any way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp([u64; 3], [i64; 4]);

impl Digests {
    /// The tables among a job's files, by their digests. A file that cannot be read or is being changed is not among them.
    pub(super) async fn of_tables(&self, job: &Job) -> Vec<proto::KnownFile> {
        let mut known = Vec::new();
        for file in job.files.iter().filter(|file| job.frames.values().any(|name| *name == file.name)) {
            if let Some(sha256) = self.of(file).await {
                known.push(proto::KnownFile { name: file.name.clone(), sha256 });
            }
        }
        known
    }

    async fn of(&self, file: &InputFile) -> Option<String> {
        let stamp = stamp(&file.path)?;
        if let Some((_, digest)) = self.lock().get(&file.path).filter(|(known, _)| *known == stamp) {
            return Some(digest.clone());
        }
        let digest = hash_files(vec![file.clone()]).await.pop().flatten()?;
        if self::stamp(&file.path) != Some(stamp) {
            return None;
        }
        let mut digests = self.lock();
        if digests.len() >= FILES_MAX {
            digests.clear();
        }
        digests.insert(file.path.clone(), (stamp, digest.clone()));
        Some(digest)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<PathBuf, (Stamp, String)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let of = std::fs::metadata(path).ok()?;
    Some(Stamp([of.dev(), of.ino(), of.len()], [of.mtime(), of.mtime_nsec(), of.ctime(), of.ctime_nsec()]))
}
