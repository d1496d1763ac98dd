//! Sessions on SQLite.
//!
//! SQLite calls block, so each runs on a blocking thread that takes the connection with it. A caller that goes
//! away in the middle leaves the connection to that thread, where it is closed, and closing rolls back.
//!
//! Going to another thread and back costs more than most calls take. What is over in a moment is therefore done at once: a
//! read that turns out to take longer is broken off and begins again on a blocking thread. A row of calls that belong
//! together is made on one blocking thread ([`together`]).

mod file;
mod functions;
mod guarded;
mod linked;
mod watch;

use std::cell::Cell;
use std::fs::TryLockError;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use ordain_types::{Place, Places};
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode, InterruptHandle, OpenFlags, ffi};

use super::tally::Operations;
use super::{Found, Guarded, Intent, Manner, Rows, nothing_written, weight};
use crate::error::{StoreError, UNWRITABLE};
use crate::options::StoreLimits;
use crate::sql::{Datum, Sql};
use file::{FileId, OpenFiles, below_its_folder, unknown};
use linked::Linked;
use watch::INSTRUCTIONS_BETWEEN_CHECKS;

/// A link in the place of the database would lead what is written to somebody else's file.
const NO_LINK: OpenFlags = OpenFlags::SQLITE_OPEN_NOFOLLOW;
/// How often a process that waits looks whether its turn is next.
const AT_THE_DOOR: Duration = Duration::from_millis(5);
/// How long a read may take on the caller's thread.
const MOMENT: Duration = Duration::from_millis(1);
/// Rows that are written on the caller's thread.
const ROWS_AT_ONCE: usize = 4;

/// Connections to one file.
#[derive(Debug)]
pub(super) struct SqlitePool {
    path: PathBuf,
    medium: Medium,
    lock_wait: Duration,
    idle: Mutex<Vec<Linked>>,
    /// Connections go round by caller.
    places: Arc<Places>,
    /// The database that was opened first; no other one takes its place.
    database: OnceLock<FileId>,
    /// The database and the log as they are open.
    files: Mutex<Option<Arc<OpenFiles>>>,
    /// Whether the log was removed: all connections are closed, which brings what it held into the database, before one is
    /// opened again.
    has_lost_log: AtomicBool,
    /// Whether commits go to a log, which can be flushed after them.
    has_log: AtomicBool,
    /// Commits in the log, and how many of them are on the disk.
    logged: AtomicU64,
    flushed: tokio::sync::Mutex<u64>,
}

/// What can be done with the file and its folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Medium {
    Writable,
    /// The file can be read, and the log beside it is there.
    ReadOnly,
    /// The file can be read; there is no log that would have to be read with it.
    Fixed,
}

impl SqlitePool {
    pub(super) fn new(path: &Path, limits: &StoreLimits) -> Result<Self, StoreError> {
        let places = Places::new(limits.connections_max as usize);
        let path = below_its_folder(path)?;
        let medium = medium(&path)?;
        Ok(Self {
            path,
            medium,
            lock_wait: limits.lock_wait,
            idle: Mutex::default(),
            places,
            database: OnceLock::new(),
            files: Mutex::default(),
            has_lost_log: AtomicBool::default(),
            has_log: AtomicBool::default(),
            logged: AtomicU64::default(),
            flushed: tokio::sync::Mutex::default(),
        })
    }

    pub(super) fn is_read_only(&self) -> bool {
        self.medium != Medium::Writable
    }

    /// Whether another process, or another store of this one, waits for the lock of the file.
    pub(super) fn somebody_waits(&self) -> bool {
        let opened = std::fs::File::open(self.door());
        opened.is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
    }

    /// A file that the process locks whose turn to write is next. SQLite neither tells that somebody waits nor knows an
    /// order: without this door a process that writes again and again would always be faster than one that waits.
    fn door(&self) -> PathBuf {
        self.path.with_extension("waiting")
    }

    /// Begins to write: goes through the door, waits so long for the one who writes, and lets the next one come to the door.
    fn begin_writing(&self, connection: &Connection, wait: Duration) -> Result<(), StoreError> {
        let until = Instant::now() + wait;
        // Where the file cannot be made, SQLite's own lock has to do.
        let door = std::fs::OpenOptions::new().create(true).append(true).open(self.door()).ok();
        while let Some(Err(TryLockError::WouldBlock)) = door.as_ref().map(std::fs::File::try_lock) {
            if Instant::now() >= until {
                return Err(StoreError::Busy);
            }
            std::thread::sleep(AT_THE_DOOR);
        }
        let wait = until.saturating_duration_since(Instant::now());
        // The log is flushed after the commit, when the next one writes already.
        let statements = if self.has_log.load(Ordering::Relaxed) {
            "PRAGMA synchronous = NORMAL; BEGIN IMMEDIATE"
        } else {
            "BEGIN IMMEDIATE"
        };
        let begun = connection.busy_timeout(wait).and_then(|()| connection.execute_batch(statements));
        let begun = begun.and_then(|()| connection.busy_timeout(self.lock_wait));
        begun.map_err(|error| match store_error(&error) {
            StoreError::Conflict => StoreError::Busy,
            other => other,
        })
    }

    pub(super) async fn session(pool: &Arc<Self>) -> Result<SqliteSession, StoreError> {
        let place = pool.places.place().await;
        if pool.has_lost_log.load(Ordering::Acquire) {
            pool.let_go()?;
        }
        let idle = pool.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let connection = if let Some(connection) = idle {
            connection
        } else {
            let opener = Arc::clone(pool);
            blocking(move || opener.open()).await??
        };
        let interrupt = connection.get_interrupt_handle();
        Ok(SqliteSession {
            pool: Arc::clone(pool),
            connection: Some(connection),
            interrupt,
            abandoned: Arc::default(),
            writes: false,
            _place: place,
        })
    }

    fn connect(&self) -> Result<Linked, StoreError> {
        let unreachable = |error: rusqlite::Error| match store_error(&error) {
            StoreError::Database { message } => StoreError::Unreachable { message },
            other => other,
        };
        let connection = match self.medium {
            // A database that was there is not made anew.
            Medium::Writable if self.database.get().is_some() => {
                let flags = OpenFlags::default() - OpenFlags::SQLITE_OPEN_CREATE;
                Connection::open_with_flags(&self.path, flags | NO_LINK)
            }
            Medium::Writable => Connection::open_with_flags(&self.path, OpenFlags::default() | NO_LINK),
            Medium::ReadOnly => {
                Connection::open_with_flags(&self.path, OpenFlags::SQLITE_OPEN_READ_ONLY | NO_LINK)
            }
            Medium::Fixed => {
                let path =
                    self.path.to_string_lossy().replace('%', "%25").replace('?', "%3f").replace('#', "%23");
                let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | NO_LINK;
                Connection::open_with_flags(format!("file:{path}?immutable=1"), flags)
            }
        };
        let mut connection = connection.map_err(unreachable)?;
        // A kept statement is compiled once, not anew for the values that are given to it.
        let plan_stays = rusqlite::config::DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG;
        connection.set_db_config(plan_stays, true).map_err(unreachable)?;
        connection.busy_timeout(self.lock_wait).map_err(unreachable)?;
        connection.set_prepared_statement_cache_capacity(128);
        // A commit must survive a power failure: the ledger's checkpoint is written after it and may not run ahead. A
        // transaction that begins in order to write flushes the log itself.
        // What a statement sorts or keeps aside goes to a file once it is large: memory is the supervisor's.
        let pragmas = "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF;
             PRAGMA cache_size = -16384; PRAGMA temp_store = FILE;";
        if !self.is_read_only() {
            let journal: String = connection
                .query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))
                .map_err(unreachable)?;
            self.has_log.store(journal == "wal", Ordering::Relaxed);
        }
        connection.execute_batch(pragmas).map_err(unreachable)?;
        functions::replace_unbounded(&connection).map_err(unreachable)?;
        connection.authorizer(Some(guarded::judge)).map_err(unreachable)?;
        Linked::new(connection).map_err(unreachable)
    }
}

/// What can be done with a database that is there; one that is not is going to be made.
fn medium(path: &Path) -> Result<Medium, StoreError> {
    use rustix::fs::{Access, access};

    let folder = path.parent().unwrap_or(Path::new("."));
    let is_writable = |path: &Path| access(path, Access::WRITE_OK).is_ok();
    if !path.exists() || (is_writable(path) && is_writable(folder)) {
        return Ok(Medium::Writable);
    }
    let beside = |end: &str| PathBuf::from(format!("{}{end}", path.display()));
    let log = std::fs::metadata(beside("-wal")).map(|log| log.len()).unwrap_or_default();
    if log == 0 {
        return Ok(Medium::Fixed);
    }
    if beside("-shm").exists() {
        return Ok(Medium::ReadOnly);
    }
    Err(StoreError::Unreachable {
        message: format!(
            "{} cannot be written, and its newest changes are still in a log beside it; copy both to where you may write",
            path.display()
        ),
    })
}

/// One connection.
pub(super) struct SqliteSession {
    pool: Arc<SqlitePool>,
    /// Absent while a blocking thread has it, and for good if the caller did not wait for that thread.
    connection: Option<Linked>,
    /// Ends what a blocking thread is doing.
    interrupt: InterruptHandle,
    /// Set when the caller no longer waits for the blocking thread; long functions look at it.
    abandoned: Arc<AtomicBool>,
    /// Whether a transaction began in order to write, which leaves the log to be flushed.
    writes: bool,
    _place: Place,
}

impl std::fmt::Debug for SqliteSession {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("SqliteSession").field("connection", &self.connection).finish_non_exhaustive()
    }
}

/// Lets other tasks go on now and then, and lets this one be stopped, where what is done on its thread never waits.
async fn give_way() {
    tokio::task::coop::consume_budget().await;
}

impl SqliteSession {
    pub(super) fn pool(&self) -> Arc<SqlitePool> {
        Arc::clone(&self.pool)
    }

    pub(super) async fn begin(&mut self, intent: Intent) -> Result<(), StoreError> {
        self.connection.as_mut().ok_or_else(lost)?.begin_tally();
        match intent {
            // This only notes that a transaction is to begin; nothing is read or locked yet.
            Intent::Read => self.at_once(|connection| execute(connection, "BEGIN DEFERRED")),
            Intent::Beside | Intent::Write | Intent::Own => {
                let pool = Arc::clone(&self.pool);
                self.writes = true;
                let connection = self.connection.as_ref().ok_or_else(lost)?;
                match pool.begin_writing(connection, Duration::ZERO) {
                    Err(StoreError::Busy) => {
                        self.take(move |connection| pool.begin_writing(connection, pool.lock_wait)).await
                    }
                    begun => begun,
                }
            }
        }
    }

    pub(super) async fn commit(&mut self) -> Result<(), StoreError> {
        self.pool.must_lead_to_its_files()?;
        self.with(|connection| execute(connection, "COMMIT")).await.map_err(|error| match error {
            // It may be in the log all the same.
            StoreError::File { hint: FAULTY, .. } => unknown(),
            other => other,
        })
    }

    /// Waits until the commit is on the disk. Others may write meanwhile, and read what it changed: what they commit
    /// comes behind it in the log, so that it is not kept without it.
    pub(super) async fn flush(&mut self) -> Result<(), StoreError> {
        if self.writes { self.pool.flush().await } else { Ok(()) }
    }

    /// Forgets what was written, which takes no time: nothing of it has left the log. A connection that a blocking
    /// thread still has is closed there, which rolls back as well.
    pub(super) fn roll_back(&mut self) -> Result<(), StoreError> {
        if self.connection.is_none() {
            return Ok(());
        }
        self.at_once(
            |connection| {
                if connection.is_autocommit() { Ok(()) } else { execute(connection, "ROLLBACK") }
            },
        )
    }

    pub(super) async fn script(&mut self, script: String) -> Result<(), StoreError> {
        self.with(move |connection| connection.excused(|connection| connection.execute_batch(&script))).await
    }

    pub(super) async fn savepoint(&mut self, statement: &'static str) -> Result<(), StoreError> {
        self.with(move |connection| connection.execute_batch(statement)).await
    }

    pub(super) async fn copy_to(&mut self, path: PathBuf) -> Result<(), StoreError> {
        self.with(move |connection| connection.backup("main", path, None::<fn(rusqlite::backup::Progress)>))
            .await
    }

    pub(super) async fn run(&mut self, statements: Vec<Sql>) -> Result<Vec<Rows>, StoreError> {
        let write = move |connection: &mut Linked| {
            let run = statements.iter().map(|sql| {
                let (rows, _) = run_one(connection, sql, u64::MAX)?;
                let written = usize::try_from(connection.changes()).unwrap_or(usize::MAX);
                connection.report(sql, written);
                Ok(rows)
            });
            run.collect()
        };
        self.with(write).await
    }

    /// Fails where the database wrote anything else than our statements reported.
    pub(super) fn check_writes(&mut self) -> Result<(), StoreError> {
        self.connection.as_mut().ok_or_else(lost)?.check()
    }

    pub(super) fn expect_writes(&mut self, writes: &Operations, times: i64) {
        if let Some(connection) = &mut self.connection {
            connection.expect(writes, times);
        }
    }

    /// What triggers wrote whose owner allows it.
    pub(super) fn by_triggers(&self) -> Operations {
        self.connection.as_ref().map(|connection| connection.by_triggers().clone()).unwrap_or_default()
    }

    pub(super) async fn read(&mut self, statements: Vec<Sql>) -> Result<Vec<Rows>, StoreError> {
        self.soon(move |connection| run_all(connection, &statements)).await
    }

    pub(super) async fn page(&mut self, sql: Sql, bytes_max: u64) -> Result<(Rows, bool), StoreError> {
        self.soon(move |connection| run_one(connection, &sql, bytes_max)).await
    }

    /// Writes rows, all or none.
    pub(super) async fn write_all(
        &mut self,
        statements: Vec<Sql>,
        manner: Manner,
    ) -> Result<Vec<Rows>, (usize, StoreError)> {
        give_way().await;
        // A transaction that began in order to write waits for nobody.
        let is_soon = manner.by_key && self.writes && self.may_be_soon() && statements.len() <= ROWS_AT_ONCE;
        let write = move |connection: &mut Linked| Ok(write_rows(connection, &statements, manner));
        let written = if is_soon { self.at_once(write) } else { self.with(write).await };
        written.map_err(|error| (0, error))?
    }

    pub(super) async fn guarded(&mut self, guarded: Guarded) -> Result<Found, StoreError> {
        give_way().await;
        let abandoned = Arc::clone(&self.abandoned);
        if self.may_be_soon() && guarded.bounds.wall > MOMENT {
            let connection = self.connection.as_mut().ok_or_else(lost)?;
            match guarded::run(connection, &guarded, MOMENT, &abandoned) {
                Err(StoreError::Timeout { .. }) => {}
                done => return done,
            }
        }
        self.take(move |connection| guarded::run(connection, &guarded, guarded.bounds.wall, &abandoned)).await
    }

    /// Whether what is over in a moment is done on this thread. Without a log even a read may have to wait for a writer.
    fn may_be_soon(&self) -> bool {
        self.pool.has_log.load(Ordering::Relaxed) && !IS_TOGETHER.get()
    }

    /// Reads on this thread, or on a blocking one if that takes longer than a moment.
    async fn soon<R: Send + 'static>(
        &mut self,
        read: impl Fn(&Connection) -> rusqlite::Result<R> + Send + 'static,
    ) -> Result<R, StoreError> {
        give_way().await;
        if self.may_be_soon() {
            let done = self.at_once(|connection| within(connection, MOMENT, &read))?;
            if let Some(done) = done {
                return Ok(done);
            }
        }
        self.with(move |connection| read(connection)).await
    }

    /// Reads a single row of Ordain's own by its key, which takes a few microseconds and waits for nobody.
    pub(super) fn glance(&mut self, sql: &Sql) -> Result<Rows, StoreError> {
        self.at_once(|connection| run_one(connection, sql, u64::MAX)).map(|(rows, _)| rows)
    }

    /// Does what can't wait for anything on this very thread.
    fn at_once<R>(&mut self, work: impl FnOnce(&mut Linked) -> rusqlite::Result<R>) -> Result<R, StoreError> {
        let connection = self.connection.as_mut().ok_or_else(lost)?;
        work(connection).map_err(|error| store_error(&error))
    }

    async fn with<R: Send + 'static>(
        &mut self,
        work: impl FnOnce(&mut Linked) -> rusqlite::Result<R> + Send + 'static,
    ) -> Result<R, StoreError> {
        self.take(|connection| work(connection).map_err(|error| store_error(&error))).await
    }

    async fn take<R: Send + 'static>(
        &mut self,
        work: impl FnOnce(&mut Linked) -> Result<R, StoreError> + Send + 'static,
    ) -> Result<R, StoreError> {
        let mut connection = self.connection.take().ok_or_else(lost)?;
        let (connection, result) = blocking(move || {
            let result = work(&mut connection);
            (connection, result)
        })
        .await?;
        self.connection = Some(connection);
        result
    }
}

impl Drop for SqliteSession {
    fn drop(&mut self) {
        let Some(connection) = self.connection.take() else {
            // The caller is gone; going on with the scan would only delay others.
            self.abandoned.store(true, Ordering::Relaxed);
            self.interrupt.interrupt();
            return;
        };
        // A connection that cannot roll back is closed instead, which does the same.
        let is_over = connection.is_autocommit() || execute(&connection, "ROLLBACK").is_ok();
        let is_over = is_over && !self.pool.has_lost_log.load(Ordering::Acquire);
        if is_over && (!self.writes || connection.execute_batch("PRAGMA synchronous = FULL").is_ok()) {
            self.pool.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
        }
    }
}

fn lost() -> StoreError {
    StoreError::Database { message: "the connection was given up".to_owned() }
}

thread_local! {
    /// Whether this is a blocking thread that has a row of calls to make.
    static IS_TOGETHER: Cell<bool> = const { Cell::new(false) };
}

/// Marks the thread for as long as it lives; the thread serves others afterwards, also after a panic.
struct Together;

impl Together {
    fn begin() -> Self {
        IS_TOGETHER.set(true);
        Self
    }
}

impl Drop for Together {
    fn drop(&mut self) {
        IS_TOGETHER.set(false);
    }
}

/// Does a row of calls on one blocking thread. A caller that gives up waiting does not stop it.
pub(super) async fn together<R: Send + 'static>(
    work: impl Future<Output = Result<R, StoreError>> + Send + 'static,
) -> Result<R, StoreError> {
    let runtime = tokio::runtime::Handle::current();
    let done = blocking(move || {
        let _alone = Together::begin();
        runtime.block_on(work)
    });
    done.await?
}

async fn blocking<R: Send + 'static>(work: impl FnOnce() -> R + Send + 'static) -> Result<R, StoreError> {
    if IS_TOGETHER.get() {
        return Ok(work());
    }
    let joined = tokio::task::spawn_blocking(work).await;
    joined.map_err(|error| StoreError::Database { message: error.to_string() })
}

/// What a read comes to that is over in time; `None` if it is not. A read that is broken off changes nothing.
fn within<R>(
    connection: &mut Connection,
    time: Duration,
    read: impl Fn(&Connection) -> rusqlite::Result<R>,
) -> rusqlite::Result<Option<R>> {
    let until = Instant::now() + time;
    connection.progress_handler(INSTRUCTIONS_BETWEEN_CHECKS, Some(move || Instant::now() > until))?;
    let done = read(connection);
    connection.progress_handler(0, None::<fn() -> bool>)?;
    match done {
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted) => Ok(None),
        done => done.map(Some),
    }
}

/// Carries out a statement without rows, which is compiled once.
fn execute(connection: &Connection, statement: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(statement)?.execute([]).map(drop)
}

/// Writes a row by each statement, all or none; the error names which of them was refused.
fn write_rows(
    connection: &mut Linked,
    statements: &[Sql],
    manner: Manner,
) -> Result<Vec<Rows>, (usize, StoreError)> {
    let marked = |connection: &Linked, statement: &str| {
        execute(connection, statement).map_err(|error| (0, store_error(&error)))
    };
    marked(connection, "SAVEPOINT ordain_call")?;
    connection.account();
    let results = statements.iter().enumerate().map(|(index, sql)| {
        let (rows, _) = run_one(connection, sql, u64::MAX).map_err(|error| (index, store_error(&error)))?;
        if rows.is_empty() { Err((index, nothing_written(sql))) } else { Ok(rows) }
    });
    let results: Result<Vec<Rows>, _> = results.collect();
    // Some errors make SQLite roll back the whole transaction, and the savepoint with it.
    let savepoint = !connection.is_autocommit();
    if results.is_err() && savepoint {
        marked(connection, "ROLLBACK TO ordain_call")?;
        connection.forget();
    }
    if savepoint {
        marked(connection, "RELEASE ordain_call")?;
    }
    if let Ok(written) = &results {
        for (sql, rows) in std::iter::zip(statements, written) {
            connection.report(sql, rows.len());
        }
        if manner.triggers {
            connection.allow();
        }
    }
    results
}

fn run_all(connection: &Connection, statements: &[Sql]) -> rusqlite::Result<Vec<Rows>> {
    statements.iter().map(|sql| Ok(run_one(connection, sql, u64::MAX)?.0)).collect()
}

fn run_one(connection: &Connection, sql: &Sql, bytes_max: u64) -> rusqlite::Result<(Rows, bool)> {
    let mut statement = connection.prepare_cached(&sql.text)?;
    let width = statement.column_count();
    let mut rows = statement.query(rusqlite::params_from_iter(sql.params.iter().map(bound)))?;
    let (mut found, mut bytes) = (Rows::new(), 0);
    while let Some(row) = rows.next()? {
        if bytes >= bytes_max {
            return Ok((found, true));
        }
        let row = (0..width).map(|index| Ok(datum(row.get_ref(index)?)));
        let row = row.collect::<rusqlite::Result<Vec<Datum>>>()?;
        bytes += weight(&row);
        found.push(row);
    }
    drop(rows);
    #[cfg(test)]
    crate::cost::note(connection, &statement);
    Ok((found, false))
}

/// A value as it is given to a statement.
fn bound(datum: &Datum) -> ToSqlOutput<'_> {
    ToSqlOutput::Borrowed(match datum {
        Datum::Null => ValueRef::Null,
        Datum::Integer(value) => ValueRef::Integer(*value),
        Datum::Real(value) => ValueRef::Real(*value),
        Datum::Boolean(value) => ValueRef::Integer(i64::from(*value)),
        Datum::Text(value) => ValueRef::Text(value.as_bytes()),
    })
}

fn datum(value: ValueRef<'_>) -> Datum {
    match value {
        ValueRef::Null => Datum::Null,
        ValueRef::Integer(value) => Datum::Integer(value),
        ValueRef::Real(value) => Datum::Real(value),
        ValueRef::Text(bytes) => Datum::Text(String::from_utf8_lossy(bytes).into_owned()),
        // As PostgreSQL writes them, so that both databases show the same.
        ValueRef::Blob(bytes) => Datum::Text(format!("\\x{}", ordain_types::hex(bytes))),
    }
}

const DAMAGED: &str = "`ordain tables restore FILE` puts back a copy that `ordain tables backup` made";
const FAULTY: &str = "make room on the disk if it is full, and look whether it fails; nothing was changed";

pub(super) fn store_error(error: &rusqlite::Error) -> StoreError {
    let message = || first_line(&error.to_string());
    let Some(inner) = error.sqlite_error() else { return StoreError::Database { message: message() } };
    match (inner.code, inner.extended_code) {
        (ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked, _) => StoreError::Conflict,
        (ErrorCode::DiskFull, _) => StoreError::DiskFull,
        (ErrorCode::SystemIoFailure, _) => StoreError::File { message: message(), hint: FAULTY },
        (ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt, _) => {
            StoreError::File { message: message(), hint: DAMAGED }
        }
        (ErrorCode::CannotOpen | ErrorCode::PermissionDenied | ErrorCode::ReadOnly, _) => {
            StoreError::File { message: message(), hint: UNWRITABLE }
        }
        (
            ErrorCode::ConstraintViolation,
            ffi::SQLITE_CONSTRAINT_UNIQUE | ffi::SQLITE_CONSTRAINT_PRIMARYKEY,
        ) => StoreError::DuplicateKey { table: String::new(), key: message() },
        (ErrorCode::ConstraintViolation, _) => {
            StoreError::Constraint { table: String::new(), message: message() }
        }
        _ => StoreError::Database { message: message() },
    }
}

fn first_line(message: &str) -> String {
    message.lines().next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn others_write_while_a_commit_goes_to_the_disk_and_nobody_is_told_before() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        let pool = Arc::new(SqlitePool::new(&path, &StoreLimits::default()).unwrap());
        let mut session = SqlitePool::session(&pool).await.unwrap();
        session.script("CREATE TABLE t (a)".to_owned()).await.unwrap();
        // The disk is busy with somebody else's flush.
        let disk = pool.flushed.lock().await;
        let write = async |pool: Arc<SqlitePool>| {
            let mut session = SqlitePool::session(&pool).await.unwrap();
            session.begin(Intent::Write).await.unwrap();
            session.script("INSERT INTO t VALUES (1)".to_owned()).await.unwrap();
            session.commit().await.unwrap();
            session.flush().await.unwrap();
        };
        let writers: Vec<_> = (0..3).map(|_| tokio::spawn(write(Arc::clone(&pool)))).collect();
        while pool.logged.load(Ordering::SeqCst) < 3 {
            tokio::task::yield_now().await;
        }
        assert!(writers.iter().all(|writer| !writer.is_finished()), "nothing is on the disk yet");
        drop(disk);
        for writer in writers {
            writer.await.unwrap();
        }
        assert_eq!(*pool.flushed.lock().await, 3);
        let (rows, _) =
            session.page(Sql::new(crate::sql::Dialect::Sqlite, "SELECT a FROM t"), u64::MAX).await.unwrap();
        assert_eq!(rows.len(), 3);
    }

    #[tokio::test]
    async fn a_read_that_is_broken_off_begins_again_and_keeps_what_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        let pool = Arc::new(SqlitePool::new(&path, &StoreLimits::default()).unwrap());
        let mut session = SqlitePool::session(&pool).await.unwrap();
        session.script("CREATE TABLE t (a)".to_owned()).await.unwrap();
        session.begin(Intent::Write).await.unwrap();
        let sql = |text: &str| Sql::new(crate::sql::Dialect::Sqlite, text);
        let written = session
            .write_all(
                vec![sql("INSERT INTO t VALUES (1) RETURNING a")],
                Manner { by_key: true, triggers: false },
            )
            .await
            .unwrap();
        assert_eq!(written, [[[Datum::Integer(1)]]]);
        let long = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500000) \
                    SELECT count(*) + (SELECT count(*) FROM t) FROM n";
        let is_over = |connection: &mut Linked| within(connection, MOMENT, |at| run_all(at, &[sql(long)]));
        assert!(session.at_once(is_over).unwrap().is_none(), "it takes longer than a moment");
        let rows = session.read(vec![sql(long)]).await.unwrap();
        assert_eq!(rows, [[[Datum::Integer(500_001)]]]);
        session.commit().await.unwrap();
        let rows = session.read(vec![sql("SELECT a FROM t")]).await.unwrap();
        assert_eq!(rows, [[[Datum::Integer(1)]]]);
    }
}
