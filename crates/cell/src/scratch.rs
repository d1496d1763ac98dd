//! A folder on the host's disk in which the cells of an executor may write, for programs that sort more than fits into memory.
//!
//! Only an executor that runs nothing but Ordain's own code is given one: the folder is shown to its zygote, and so to each
//! of its cells. The kernel gives an ordinary user no quota for a folder, so the supervisor looks at it while a job runs.

use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::time::Duration;

/// How often the supervisor looks. What a disk takes in that time is how far a cell can get beyond its quota.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Files that a program may have there at once.
const FILES_MAX: usize = 10_000;
/// The unit in which the kernel counts what a file takes on disk.
const BLOCK_BYTES: u64 = 512;

/// A folder on disk and its quota.
#[derive(Debug, Clone)]
pub struct Scratch {
    /// An empty folder that every user may write to, below one that only its owner may enter: the superuser's cells run as
    /// somebody else.
    pub folder: PathBuf,
    /// What may lie there.
    pub bytes: u64,
}

impl Scratch {
    /// Its path on the host, free of links.
    pub(crate) fn source(&self) -> io::Result<CString> {
        Ok(CString::new(self.folder.canonicalize()?.as_os_str().as_bytes())?)
    }

    /// Waits until more lies there than may.
    pub(crate) async fn is_passed(&self) {
        // A folder that cannot be looked at may hold anything.
        while self.taken().is_ok_and(|bytes| bytes <= self.bytes) {
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// The bytes that its files take on disk.
    fn taken(&self) -> io::Result<u64> {
        let mut bytes = 0;
        for (count, entry) in self.folder.read_dir()?.enumerate() {
            if count >= FILES_MAX {
                return Ok(u64::MAX);
            }
            match entry?.metadata() {
                Ok(metadata) => bytes += metadata.blocks() * BLOCK_BYTES,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(bytes)
    }
}
