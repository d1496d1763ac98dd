//! Whether the process that began a run is still there.
//!
//! A process that claims idempotency keys holds a locked file in the workspace's state for as long as it lives. A lock
//! ends with its process, however that ends, so that a file which can be locked belongs to a dead one.
//!
//! Processes on other machines do not see the file. On PostgreSQL the process holds a lock of the database as well, so
//! that its keys are free for the others as soon as it is gone.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::StoreError;
use crate::session::Session;
use crate::sql::Dialect;

/// Says that this process is alive, until it is not.
#[derive(Debug)]
pub(crate) struct Alive {
    pub(crate) id: String,
    _locked: File,
}

impl Alive {
    pub(crate) fn begin(state: &Path) -> io::Result<Self> {
        let mut random = [0; 8];
        getrandom::fill(&mut random).map_err(io::Error::other)?;
        let id = ordain_types::hex(&random);
        let folder = folder(state);
        fs_err::create_dir_all(&folder)?;
        let locked = File::create_new(folder.join(&id))?;
        locked.try_lock()?;
        Ok(Self { id, _locked: locked })
    }
}

/// The number of a process's lock in the database.
pub(crate) fn number(process: &str) -> i64 {
    u64::from_str_radix(process, 16).unwrap_or_default().cast_signed()
}

/// Whether a process holds its lock in the database. SQLite has no such locks: there only files tell.
pub(crate) async fn may_be_alive(session: &mut Session, process: &str) -> Result<bool, StoreError> {
    if session.dialect() == Dialect::Sqlite {
        return Ok(true);
    }
    // A lock by one number is shown in two halves.
    let mut sql = session.sql(
        "SELECT '1' FROM pg_catalog.pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1
         AND database = (SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database())
         AND (classid::bigint << 32 | objid::bigint) = ",
    );
    sql.integer_param(number(process));
    Ok(!session.read(sql).await?.is_empty())
}

/// A process that is not there any more. Its file is locked meanwhile, so that only one process cleans up after it.
#[derive(Debug)]
pub(crate) struct Dead {
    pub(crate) id: String,
    path: PathBuf,
    _locked: File,
}

impl Dead {
    /// Forgets it: nothing is left to clean up.
    pub(crate) fn forget(self) {
        let _ = fs_err::remove_file(self.path);
    }
}

/// The processes that have died since the last look.
pub(crate) fn dead(state: &Path) -> Vec<Dead> {
    let Ok(files) = std::fs::read_dir(folder(state)) else { return Vec::new() };
    let locked = files.flatten().filter_map(|file| {
        let path = file.path();
        // Opening anything but an ordinary file may wait.
        file.file_type().ok().filter(std::fs::FileType::is_file)?;
        let opened = File::open(&path).ok()?;
        opened.try_lock().ok()?;
        Some(Dead { id: file.file_name().to_str()?.to_owned(), path, _locked: opened })
    });
    locked.collect()
}

fn folder(state: &Path) -> PathBuf {
    state.join("running")
}
