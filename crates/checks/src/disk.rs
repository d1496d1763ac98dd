//! Room on disk for DuckDB, which sorts and compares more rows than fit into a cell's memory.
//!
//! Invariant: only a program that Ordain wrote sees such a folder. Its executor runs nothing else, has one cell at a time, and is
//! ended with the folder.

use std::fs::{File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use ordain_cell::{
    CellError, Discard, Execution, Executor, InputFile, Job, LocalExecutor, NoHost, Scratch, Shared, Sharing,
};
use tempfile::TempDir;

/// The folder with all of them, below the cache.
const FOLDER: &str = "scratch";
/// What a cell is shown of one.
const SHOWN: &str = "files";

/// Where they are made, and what each may hold.
#[derive(Debug)]
pub(crate) struct Disk {
    pub(crate) below: PathBuf,
    pub(crate) bytes: u64,
}

/// An executor with a folder on disk.
pub(crate) struct OnDisk {
    executor: Box<LocalExecutor>,
    folder: Folder,
}

/// A folder that is removed when this is dropped, or by the next process that makes one if this one is killed.
struct Folder {
    folder: TempDir,
    /// Locked for as long as something below it is in use.
    _in_use: File,
}

impl Disk {
    /// An executor whose cell sees these files and a folder of its own. `None` where cells are elsewhere.
    pub(crate) fn executor(
        &self,
        executor: &dyn Executor,
        files: &[InputFile],
    ) -> Result<Option<OnDisk>, CellError> {
        let failed = |source| CellError::Host { action: "make a folder on disk", source };
        let folder = Folder::make(&self.below).map_err(failed)?;
        let scratch = Scratch { folder: folder.folder.path().join(SHOWN), bytes: self.bytes };
        let files = files.to_vec();
        let shared = Shared { files, running_max: 1, jobs: 1, cells: 1, scratch: Some(scratch) };
        match executor.sharing(shared)? {
            Sharing::Shown(executor) => Ok(Some(OnDisk { executor, folder })),
            Sharing::Copied | Sharing::Sent => Ok(None),
        }
    }
}

impl OnDisk {
    /// Runs a job in its cell.
    pub(crate) async fn run(&self, mut job: Job) -> Result<Execution, CellError> {
        job.session = Some("checks".to_owned());
        job.is_fresh = true;
        self.executor.run(job, &mut NoHost, &mut Discard).await
    }

    /// Ends its cell and removes the folder.
    pub(crate) async fn close(self) {
        self.executor.close().await;
        drop(self.folder);
    }
}

impl Folder {
    fn make(below: &Path) -> io::Result<Self> {
        let parent = below.join(FOLDER);
        fs_err::create_dir_all(&parent)?;
        fs_err::set_permissions(&parent, Permissions::from_mode(0o700))?;
        let in_use = File::open(&parent)?;
        // Nobody uses it, so that whatever lies there was left by a process that was killed.
        if in_use.try_lock().is_ok() {
            for entry in fs_err::read_dir(&parent)? {
                fs_err::remove_dir_all(entry?.path())?;
            }
        }
        in_use.lock_shared()?;
        let folder = tempfile::tempdir_in(&parent)?;
        let shown = folder.path().join(SHOWN);
        fs_err::create_dir(&shown)?;
        // The superuser's cells run as somebody else. Nobody gets here from outside: the folder above is closed.
        fs_err::set_permissions(&shown, Permissions::from_mode(0o777))?;
        Ok(Self { folder, _in_use: in_use })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_process_left_is_removed_and_what_is_in_use_stays() {
        let below = tempfile::tempdir().unwrap();
        let left = below.path().join(FOLDER).join("left/files");
        std::fs::create_dir_all(&left).unwrap();
        std::fs::write(left.join("duckdb_temp"), "rows").unwrap();
        let first = Folder::make(below.path()).unwrap();
        assert!(!left.exists());
        std::fs::write(first.folder.path().join(SHOWN).join("duckdb_temp"), "rows").unwrap();
        let second = Folder::make(below.path()).unwrap();
        assert!(first.folder.path().join(SHOWN).join("duckdb_temp").exists());
        drop((first, second));
        assert_eq!(std::fs::read_dir(below.path().join(FOLDER)).unwrap().count(), 0);
    }
}
