//! The files that are open, held against those that the store's path leads to.
//!
//! A store is a database and the log beside it. Whoever removes, moves or replaces one of them under a process that has
//! them open leaves it with files that nobody will find again: what was committed to them would be acknowledged and
//! gone. So device and inode of both are compared whenever something is committed.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::linked::Linked;
use super::{SqlitePool, blocking, store_error};
use crate::error::StoreError;

/// What would help where the files are others.
const OTHERS: &str = "put back the files that were opened, or start the server again; nothing was changed";

/// A file, whatever it is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileId {
    device: u64,
    inode: u64,
}

impl FileId {
    fn at(path: &Path) -> Option<Self> {
        let metadata = std::fs::symlink_metadata(path).ok()?;
        Some(Self { device: metadata.dev(), inode: metadata.ino() })
    }
}

/// What has become of the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gone {
    /// The path leads to another database, or to none.
    Database,
    /// The path leads to another log.
    Log,
    /// There is no log; what was in it is still read by who has it open.
    LogRemoved,
}

impl Gone {
    pub(super) fn error(self) -> StoreError {
        let message = match self {
            Self::Database => "the database is not the file any more that was opened",
            Self::Log => "the log beside the database is not the file any more that was opened",
            Self::LogRemoved => "the log beside the database was removed",
        };
        StoreError::File { message: message.to_owned(), hint: OTHERS }
    }
}

/// The open files. The connection keeps the log in its place for as long as the store is open.
#[derive(Debug)]
pub(super) struct OpenFiles {
    paths: [PathBuf; 2],
    database: FileId,
    log: FileId,
    log_file: File,
    connection: Mutex<Linked>,
    /// Whether a flush failed. The system may have forgotten what it could not write, so that another flush of the log
    /// proves nothing: everything is then written to the database.
    in_doubt: AtomicBool,
}

impl OpenFiles {
    /// Takes hold of the files of a connection that nobody else uses; `None` if there is no log.
    pub(super) fn of(connection: Linked, paths: [PathBuf; 2]) -> Result<Option<Self>, StoreError> {
        let failed = |error: rusqlite::Error| store_error(&error);
        // The log is opened by the first read.
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(())).map_err(failed)?;
        let Ok(log_file) = File::open(&paths[1]) else { return Ok(None) };
        let [database, log] = [&paths[0], &paths[1]].map(|path| FileId::at(path));
        let (Some(database), Some(log)) = (database, log) else { return Err(Gone::Database.error()) };
        let in_doubt = AtomicBool::default();
        Ok(Some(Self { paths, database, log, log_file, connection: Mutex::new(connection), in_doubt }))
    }

    pub(super) fn database(&self) -> FileId {
        self.database
    }

    /// What has become of the files, if the path does not lead to them any more.
    pub(super) fn gone(&self) -> Option<Gone> {
        if FileId::at(&self.paths[0]) != Some(self.database) {
            return Some(Gone::Database);
        }
        match FileId::at(&self.paths[1]) {
            Some(log) if log == self.log => None,
            Some(_) => Some(Gone::Log),
            None => Some(Gone::LogRemoved),
        }
    }

    /// Brings everything that was committed to the disk.
    pub(super) fn flush(&self) -> io::Result<()> {
        if !self.in_doubt.load(Ordering::Acquire) && self.log_file.sync_data().is_ok() {
            return Ok(());
        }
        self.in_doubt.store(true, Ordering::Release);
        let connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let written = connection.query_row("PRAGMA wal_checkpoint(FULL)", [], |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, row.get::<_, i64>(2)?))
        });
        let (busy, frames, done) = written.map_err(|error| io::Error::other(error.to_string()))?;
        if busy != 0 || frames != done {
            return Err(io::Error::other("others are in the way of writing everything to the database"));
        }
        self.in_doubt.store(false, Ordering::Release);
        Ok(())
    }

    /// Whether the last flush failed.
    pub(super) fn is_in_doubt(&self) -> bool {
        self.in_doubt.load(Ordering::Acquire)
    }

    /// Refuses if the path leads elsewhere, after a commit: whether that is found by whoever opens the store next is not
    /// known.
    pub(super) fn must_still_be_there(&self) -> Result<(), StoreError> {
        if self.gone().is_some() { Err(unknown()) } else { Ok(()) }
    }
}

impl SqlitePool {
    /// A file that SQLite keeps beside the database.
    pub(super) fn beside(&self, end: &str) -> PathBuf {
        let mut path = self.path.clone().into_os_string();
        path.push(end);
        path.into()
    }

    pub(super) fn open(&self) -> Result<Linked, StoreError> {
        let connection = self.connect()?;
        if self.has_log.load(Ordering::Relaxed) {
            let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
            if files.is_none() {
                let opened = OpenFiles::of(self.connect()?, [self.path.clone(), self.beside("-wal")])?;
                if opened.as_ref().is_some_and(|opened| {
                    *self.database.get_or_init(|| opened.database()) != opened.database()
                }) {
                    return Err(Gone::Database.error());
                }
                *files = opened.map(Arc::new);
            }
        }
        self.must_lead_to_its_files()?;
        Ok(connection)
    }

    /// Waits until everything that was committed before is on the disk. Those who come while the disk works are served
    /// together by the next flush.
    pub(super) async fn flush(&self) -> Result<(), StoreError> {
        let own = self.logged.fetch_add(1, Ordering::SeqCst) + 1;
        let mut flushed = self.flushed.lock().await;
        if *flushed >= own {
            return Ok(());
        }
        let newest = self.logged.load(Ordering::SeqCst);
        let Some(files) = self.files() else { return Ok(()) };
        let open = Arc::clone(&files);
        // What is not on the disk may still be there, and may be lost.
        blocking(move || open.flush()).await?.map_err(|_| unknown())?;
        files.must_still_be_there()?;
        *flushed = newest;
        Ok(())
    }

    pub(super) fn files(&self) -> Option<Arc<OpenFiles>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Refuses to go on where the path does not lead to the files any more that are open.
    pub(super) fn must_lead_to_its_files(&self) -> Result<(), StoreError> {
        let Some(gone) = self.files().and_then(|files| files.gone()) else { return Ok(()) };
        if gone == Gone::LogRemoved {
            self.has_lost_log.store(true, Ordering::Release);
        }
        Err(gone.error())
    }

    /// Whether something committed now would stay. What failed before is tried again.
    pub(in crate::session) async fn check(pool: &Arc<Self>) -> Result<(), StoreError> {
        // This finds a log that was removed, and begins anew if nobody uses what was in it.
        drop(Self::session(pool).await?);
        pool.must_lead_to_its_files()?;
        if pool.files().is_some_and(|files| files.is_in_doubt()) { pool.flush().await } else { Ok(()) }
    }

    /// Lets go of a log that was removed, once nobody uses it.
    pub(super) fn let_go(&self) -> Result<(), StoreError> {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        if self.places.taken() > 1 {
            return Err(Gone::LogRemoved.error());
        }
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
        *files = None;
        self.has_lost_log.store(false, Ordering::Release);
        Ok(())
    }
}

/// The database's path with the links of its folder resolved: how the folder is reached is its owner's business, and the
/// database in it is no link.
pub(super) fn below_its_folder(path: &Path) -> Result<PathBuf, StoreError> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return Ok(path.to_owned()) };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let folder = std::fs::canonicalize(folder)
        .map_err(|error| StoreError::Unreachable { message: format!("{}: {error}", folder.display()) })?;
    Ok(folder.join(name))
}

/// What is said of a commit that failed in its last step. Whoever knows the run adds it.
pub(super) fn unknown() -> StoreError {
    StoreError::CommitUnknown { run: String::new() }
}
