//! Files that callers name by their digests, kept between jobs: a table that thousands of checks read comes once.
//!
//! A file belongs to the caller that sent it, so that knowing a digest gives nobody else its content. Kept files have no
//! name in any folder: nothing is left of them when the process ends, however it ends.

use std::collections::HashMap;
use std::fs::File;
use std::os::fd::AsRawFd as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::OwnedMutexGuard;
use tokio::time::Instant;

use super::caller::Caller;

/// Kept files, however small: each takes a descriptor.
const FILES_MAX: usize = 256;

/// The SHA-256 of a file's content.
pub(crate) type Digest = [u8; 32];

/// Bounded by bytes; what was not used for longest goes first.
#[derive(Debug)]
pub(crate) struct Kept {
    bytes_max: u64,
    idle_max: Duration,
    slots: Mutex<HashMap<Key, Slot>>,
}

type Key = (Caller, Digest);

/// Locked while the file is on its way, so that others who want it wait for it and do not send it too.
type Place = Arc<tokio::sync::Mutex<Option<Arc<KeptFile>>>>;

#[derive(Debug)]
struct Slot {
    place: Place,
    /// 0 until the file is there.
    bytes: u64,
    last_used: Instant,
}

/// A file without a name. It lives as long as somebody uses it.
#[derive(Debug)]
pub(crate) struct KeptFile(File);

impl KeptFile {
    /// Its size.
    pub(crate) fn bytes(&self) -> u64 {
        self.0.metadata().map_or(0, |metadata| metadata.len())
    }

    /// Where this process finds it.
    pub(crate) fn path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.0.as_raw_fd()))
    }
}

/// What is known of a file.
pub(crate) enum Found<'a> {
    Here(Arc<KeptFile>),
    /// Nobody else asks for it while this claim lives.
    Lacking(Claim<'a>),
}

/// The right to bring a file.
#[derive(Debug)]
pub(crate) struct Claim<'a> {
    kept: &'a Kept,
    key: Key,
    place: OwnedMutexGuard<Option<Arc<KeptFile>>>,
}

impl Kept {
    pub(crate) fn new(bytes_max: u64, idle_max: Duration) -> Self {
        Self { bytes_max, idle_max, slots: Mutex::default() }
    }

    pub(crate) fn bytes_max(&self) -> u64 {
        self.bytes_max
    }

    /// Looks for a file of this caller, and waits for it if another job is sending it now. A job that needs several files
    /// must look for them in the order of their digests; otherwise two jobs could wait for each other for ever.
    pub(crate) async fn find(&self, caller: &Caller, digest: Digest) -> Found<'_> {
        let key = (caller.clone(), digest);
        let place = {
            let mut slots = self.lock();
            // What was claimed and never came.
            slots.retain(|_, slot| slot.bytes > 0 || Arc::strong_count(&slot.place) > 1);
            let slot = slots.entry(key.clone()).or_insert_with(|| Slot {
                place: Place::default(),
                bytes: 0,
                last_used: Instant::now(),
            });
            slot.last_used = Instant::now();
            Arc::clone(&slot.place)
        };
        let place = place.lock_owned().await;
        match &*place {
            Some(file) => Found::Here(Arc::clone(file)),
            None => Found::Lacking(Claim { kept: self, key, place }),
        }
    }

    /// Forgets files that nobody has used for a while.
    pub(crate) fn forget_idle(&self) {
        self.lock().retain(|_, slot| slot.bytes == 0 || slot.last_used.elapsed() <= self.idle_max);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Key, Slot>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Claim<'_> {
    pub(crate) fn digest(&self) -> &Digest {
        &self.key.1
    }

    /// Keeps the file that was claimed, if there is room for it at all.
    pub(crate) fn fill(mut self, content: File, bytes: u64) -> Arc<KeptFile> {
        let file = Arc::new(KeptFile(content));
        if bytes > self.kept.bytes_max {
            return file;
        }
        *self.place = Some(Arc::clone(&file));
        let place = Arc::clone(OwnedMutexGuard::mutex(&self.place));
        let mut slots = self.kept.lock();
        // An empty file takes room too.
        slots.insert(self.key.clone(), Slot { place, bytes: bytes.max(1), last_used: Instant::now() });
        loop {
            let there = || slots.iter().filter(|(_, slot)| slot.bytes > 0);
            let bytes: u64 = there().map(|(_, slot)| slot.bytes).sum();
            if bytes <= self.kept.bytes_max && there().count() <= FILES_MAX {
                return file;
            }
            let oldest = there().min_by_key(|(_, slot)| slot.last_used).map(|(key, _)| key.clone());
            let Some(oldest) = oldest else { return file };
            slots.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn caller(name: &str) -> Caller {
        Caller(name.to_owned())
    }

    async fn put(kept: &Kept, owner: &str, digest: u8, content: &[u8]) {
        let Found::Lacking(claim) = kept.find(&caller(owner), [digest; 32]).await else {
            panic!("it is there already")
        };
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(content).unwrap();
        let file = claim.fill(file, content.len() as u64);
        assert_eq!(fs_err::read(file.path()).unwrap(), content);
    }

    async fn has(kept: &Kept, owner: &str, digest: u8) -> bool {
        matches!(kept.find(&caller(owner), [digest; 32]).await, Found::Here(_))
    }

    #[tokio::test]
    async fn what_was_not_used_for_longest_goes_first() {
        let kept = Kept::new(10, Duration::from_mins(1));
        put(&kept, "ann", 1, b"1234").await;
        put(&kept, "ann", 2, b"1234").await;
        assert!(has(&kept, "ann", 1).await);
        put(&kept, "ann", 3, b"1234").await;
        assert!(has(&kept, "ann", 1).await && !has(&kept, "ann", 2).await && has(&kept, "ann", 3).await);
        put(&kept, "ann", 4, b"larger than all of it").await;
        assert!(has(&kept, "ann", 1).await && !has(&kept, "ann", 4).await);
    }

    #[tokio::test]
    async fn a_digest_gives_nobody_the_file_of_another_caller() {
        let kept = Kept::new(10, Duration::from_mins(1));
        put(&kept, "ann", 1, b"hers").await;
        assert!(has(&kept, "ann", 1).await && !has(&kept, "bob", 1).await);
    }

    #[tokio::test]
    async fn a_file_on_its_way_is_waited_for_and_one_that_never_comes_is_not() {
        let kept = Arc::new(Kept::new(10, Duration::from_mins(1)));
        let Found::Lacking(claim) = kept.find(&caller("ann"), [1; 32]).await else {
            panic!("nobody sent it")
        };
        let second = {
            let kept = Arc::clone(&kept);
            tokio::spawn(async move { has(&kept, "ann", 1).await })
        };
        tokio::task::yield_now().await;
        assert!(!second.is_finished());
        drop(claim);
        assert!(!second.await.unwrap(), "it may bring the file itself");
        put(&kept, "ann", 1, b"now").await;
        assert!(has(&kept, "ann", 1).await);
    }

    #[tokio::test]
    async fn nothing_is_kept_for_longer_than_it_is_used() {
        let kept = Kept::new(10, Duration::ZERO);
        put(&kept, "ann", 1, b"1").await;
        tokio::time::sleep(Duration::from_millis(2)).await;
        kept.forget_idle();
        assert!(!has(&kept, "ann", 1).await);
    }
}
