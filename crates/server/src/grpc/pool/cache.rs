//! Executions that are kept for the next identical job.
//!
//! Only code whose text shows that it always gives the same (no clock, no unseeded chance), that has no tables and no
//! session, and that called no host while it ran, is kept. The key is everything that the code can see: itself, its
//! values, helpers, files, profile and limits.

use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::io::{self, Write as _};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ordain_cell::{Artifact, Execution, Job, Output, Stream, Timing};
use ordain_types::{Cause, Schema};
use ordain_verify::{Contract, Policy, verify};
use sha2::{Digest, Sha256};

use crate::grpc::convert::limits_of;

/// The largest share of the cache that one execution may take.
const SHARE: usize = 8;
/// Kept executions, however small.
const ENTRIES_MAX: usize = 10_000;

/// What a job can see, hashed.
pub(super) type Key = [u8; 32];

#[derive(Debug)]
pub(super) struct Cache {
    bytes_max: usize,
    hits: AtomicU64,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    entries: HashMap<Key, Arc<Entry>>,
    /// The oldest first.
    order: VecDeque<Key>,
    bytes: usize,
}

#[derive(Debug)]
struct Entry {
    /// Without artifacts, whose content stands beside it.
    execution: Execution,
    artifacts: Vec<(String, Vec<u8>)>,
    bytes: usize,
}

impl Cache {
    pub(super) fn new(bytes_max: usize) -> Self {
        Self { bytes_max, hits: AtomicU64::new(0), kept: Mutex::default() }
    }

    pub(super) fn hits(&self) -> u64 {
        self.hits.load(Ordering::Relaxed)
    }

    /// The key of a job, if what comes of it may be kept.
    pub(super) async fn key(&self, job: &Job) -> Option<Key> {
        if self.bytes_max == 0 || !is_repeatable(job) {
            return None;
        }
        if job.files.is_empty() {
            return hash(job).ok();
        }
        let job = job.clone();
        tokio::task::spawn_blocking(move || hash(&job).ok()).await.ok().flatten()
    }

    /// An earlier execution, told again.
    pub(super) fn get(&self, key: &Key, output: &mut dyn Output) -> Option<Execution> {
        let entry = Arc::clone(self.lock().entries.get(key)?);
        let artifacts = entry.artifacts.iter().map(|(name, content)| again(name, content));
        let artifacts = artifacts.collect::<io::Result<Option<Vec<_>>>>().ok().flatten()?;
        for (stream, bytes) in
            [(Stream::Stdout, &entry.execution.stdout), (Stream::Stderr, &entry.execution.stderr)]
        {
            if !bytes.is_empty() {
                output.write(stream, bytes);
            }
        }
        self.hits.fetch_add(1, Ordering::Relaxed);
        // Nothing ran this time.
        Some(Execution { artifacts, timing: Timing::default(), ..without_artifacts(&entry.execution) })
    }

    /// Keeps an execution, if it is fit to be kept.
    pub(super) fn keep(&self, key: Key, execution: &Execution) {
        if execution.cause != Cause::Ok || execution.host_calls > 0 {
            return;
        }
        let values = serde_json::to_string(&execution.values).map_or(usize::MAX, |text| text.len() * 4);
        let left = usize::try_from(execution.artifacts.iter().map(|artifact| artifact.bytes).sum::<u64>());
        let bytes = [execution.stdout.len(), execution.stderr.len(), left.unwrap_or(usize::MAX), 4096]
            .into_iter()
            .fold(values, usize::saturating_add);
        if bytes > self.bytes_max / SHARE {
            return;
        }
        let read = |artifact: &Artifact| artifact.read().map(|content| (artifact.name.clone(), content));
        let Ok(artifacts) = execution.artifacts.iter().map(read).collect::<io::Result<Vec<_>>>() else {
            return;
        };
        let entry = Entry { execution: without_artifacts(execution), artifacts, bytes };
        self.lock().insert(key, entry, self.bytes_max);
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn insert(&mut self, key: Key, entry: Entry, bytes_max: usize) {
        self.bytes += entry.bytes;
        match self.entries.insert(key, Arc::new(entry)) {
            Some(replaced) => self.bytes -= replaced.bytes,
            None => self.order.push_back(key),
        }
        while self.bytes > bytes_max || self.order.len() > ENTRIES_MAX {
            let Some(oldest) = self.order.pop_front() else { break };
            if let Some(dropped) = self.entries.remove(&oldest) {
                self.bytes -= dropped.bytes;
            }
        }
    }
}

/// Whether the code's text shows that it always gives the same.
fn is_repeatable(job: &Job) -> bool {
    let contract = job.code.contract();
    // Nothing is known of code under the open contract, nor of what helpers do.
    let has_tables = !job.tables.is_empty() || !job.frames.is_empty();
    if job.session.is_some() || has_tables || !job.helpers.is_empty() || contract == Contract::Open {
        return false;
    }
    let mut policy = match &job.judged_by {
        Some(judged_by) => judged_by.policy.clone(),
        None => Policy::for_contract(contract).with_packages(job.profile.imports().iter().copied()),
    };
    policy.names.extend(job.values.keys().cloned());
    let verdict = verify(job.code.code(), &policy, &Schema::default());
    verdict.is_accepted() && verdict.effects.deterministic && !verdict.effects.may_write
}

fn hash(job: &Job) -> io::Result<Key> {
    let mut hash = Sha256::new();
    let mut part = |bytes: &[u8]| {
        // Lengths keep two neighbours apart.
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    part(job.code.code().as_bytes());
    part(job.code.contract().as_str().as_bytes());
    part(job.name.as_bytes());
    part(job.profile.name().as_bytes());
    part(&prost::Message::encode_to_vec(&limits_of(&job.limits)));
    part(&serde_json::to_vec(&job.values)?);
    part(&serde_json::to_vec(&job.collect)?);
    part(&serde_json::to_vec(&job.failing)?);
    for file in &job.files {
        part(file.name.as_bytes());
        let mut content = Sha256::new();
        io::copy(&mut File::open(&file.path)?, &mut HashWriter(&mut content))?;
        part(&content.finalize());
    }
    Ok(hash.finalize().into())
}

/// Lets a file be copied into a hash.
struct HashWriter<'a>(&'a mut Sha256);

impl io::Write for HashWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn again(name: &str, content: &[u8]) -> io::Result<Option<Artifact>> {
    let mut file = tempfile::tempfile()?;
    file.write_all(content)?;
    Artifact::received(name, file)
}

fn without_artifacts(execution: &Execution) -> Execution {
    Execution {
        cause: execution.cause,
        exit: execution.exit,
        signal: execution.signal,
        stdout: execution.stdout.clone(),
        stderr: execution.stderr.clone(),
        output_truncated: execution.output_truncated,
        error: execution.error.clone(),
        values: execution.values.clone(),
        notes: execution.notes.clone(),
        artifacts: Vec::new(),
        refused: execution.refused.clone(),
        left_behind: execution.left_behind.clone(),
        detail: execution.detail.clone(),
        limits: execution.limits.clone(),
        timing: execution.timing,
        isolation: execution.isolation,
        host_calls: execution.host_calls,
    }
}

#[cfg(test)]
mod tests {
    use ordain_cell::InputFile;
    use ordain_cell::profile::Profile;

    use super::*;

    fn job(code: &str) -> Job {
        let verdict = verify(code, &Policy::for_contract(Contract::Exec), &Schema::default());
        Job::new(verdict.into_verified().unwrap(), Profile::Core)
    }

    #[tokio::test]
    async fn only_code_that_always_gives_the_same_has_a_key() {
        let cache = Cache::new(1 << 20);
        assert!(cache.key(&job("print(1 + 1)")).await.is_some());
        for code in ["import time\nprint(time.time())", "import random\nprint(random.random())"] {
            assert!(cache.key(&job(code)).await.is_none(), "{code}");
        }
        let with_helpers = Job { helpers: "def f():\n    pass\n".to_owned(), ..job("print(1)") };
        let with_tables = Job { tables: vec!["stock".to_owned()], ..job("print(1)") };
        let in_session = Job { session: Some("s".to_owned()), ..job("print(1)") };
        for job in [with_helpers, with_tables, in_session] {
            assert!(cache.key(&job).await.is_none());
        }
        assert!(Cache::new(0).key(&job("print(1)")).await.is_none());
    }

    #[tokio::test]
    async fn whatever_the_code_can_see_is_in_the_key() {
        let cache = Cache::new(1 << 20);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs_err::write(&path, "1").unwrap();
        let base =
            Job { files: vec![InputFile { name: "a".to_owned(), path: path.clone() }], ..job("print(1)") };
        let first = cache.key(&base).await.unwrap();
        assert_eq!(cache.key(&base).await.unwrap(), first);
        let mut others = vec![
            Job { code: job("print(2)").code, ..base.clone() },
            base.clone(),
            base.clone(),
            base.clone(),
        ];
        others[1].values.insert("x".to_owned(), 1.into());
        others[2].limits.memory_bytes += 1;
        others[3].files[0].name = "b".to_owned();
        for other in &others {
            assert_ne!(cache.key(other).await.unwrap(), first);
        }
        fs_err::write(&path, "2").unwrap();
        assert_ne!(cache.key(&base).await.unwrap(), first);
    }
}
