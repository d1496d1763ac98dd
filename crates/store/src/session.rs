//! One connection, on either database, behind the same few operations.
//!
//! Everything above this module is written once: it makes [`Sql`] for a [`Dialect`] and gives it to a [`Session`].
//! Only what the two databases truly do differently — opening, locking, error codes, guarding foreign SQL — is in
//! the modules below.

mod guard;
mod postgres;
mod sqlite;
mod tally;
mod turns;

use std::sync::Arc;
use std::time::Duration;

pub(crate) use guard::PlanAccess;
use ordain_types::Row;

use crate::error::StoreError;
use crate::fault::Faults;
use crate::options::{Database, StoreLimits, StoreOptions};
use crate::sql::{Datum, Dialect, Sql};
pub(crate) use tally::Operations;
use turns::{Turn, Turns};

/// How the commit of a ledger entry begins on PostgreSQL.
pub(crate) const COMMITTING: &str = "SET LOCAL synchronous_commit = off; COMMIT";

/// What foreign SQL found.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) rows: Vec<Row>,
    /// The columns of decimals, which are numbers where those have the same digits, and else text.
    pub(crate) decimals: Vec<String>,
    /// The table and the column that each column of the result was read from, where the database says so. Of one that is
    /// calculated there is none; of several statements put together it is that of the first.
    pub(crate) origins: Vec<Option<(String, String)>>,
}

/// What a statement returns.
pub(crate) type Rows = Vec<Vec<Datum>>;

/// Whether a transaction is known to write, and who may write meanwhile.
///
/// SQLite has one writer at a time, so that the last three are the same there. On PostgreSQL runs write side by side; the
/// ledger is one chain, so that their commits follow one another. Two that got in each other's way are told apart at the
/// end: one is to start again ([`StoreError::Conflict`]), and does so with [`Intent::Write`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Intent {
    /// Reads, and perhaps writes.
    Read,
    /// Writes, while others do so too.
    Beside,
    /// Writes while nobody else does.
    Write,
    /// Writes Ordain's own tables only, while nobody commits. It is over in a moment.
    Own,
}

/// How rows are written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Manner {
    /// Each statement is about one row of a table that Ordain made, so that it is over in a moment.
    pub(crate) by_key: bool,
    /// The owner allows that triggers of the table write other rows.
    pub(crate) triggers: bool,
}

/// Why a statement that should write one row wrote none: a new row found one with the same key in its way; another one
/// was left alone by a trigger or a policy.
fn nothing_written(sql: &Sql) -> StoreError {
    if sql.text.starts_with("INSERT ") {
        return StoreError::DuplicateKey { table: String::new(), key: String::new() };
    }
    let message = "a trigger or policy of the database leaves the row as it is".to_owned();
    StoreError::Constraint { table: String::new(), message }
}

/// How many bytes a row takes, roughly.
fn weight(row: &[Datum]) -> u64 {
    row.iter().map(|datum| datum.as_text().map_or(8, str::len) as u64).sum()
}

/// Connections to one database.
#[derive(Debug)]
pub(crate) struct Pool {
    connections: Connections,
    /// Writers of this process wait here, in order, before they wait for the database's own lock.
    turns: Arc<Turns>,
    lock_wait: Duration,
    faults: Option<Arc<dyn Faults>>,
}

#[derive(Debug)]
enum Connections {
    Sqlite(Arc<sqlite::SqlitePool>),
    Postgres(Arc<postgres::PostgresPool>),
}

impl Pool {
    pub(crate) fn new(options: &StoreOptions) -> Result<Self, StoreError> {
        let limits = &options.limits;
        let connections =
            match &options.database {
                Database::Sqlite { path } => {
                    Connections::Sqlite(Arc::new(sqlite::SqlitePool::new(path, limits)?))
                }
                Database::Postgres { url, .. } => Connections::Postgres(Arc::new(
                    postgres::PostgresPool::new(url, limits, options.plan_role.clone())?,
                )),
            };
        let faults = options.faults.clone();
        Ok(Self {
            connections,
            turns: Arc::new(Turns::new(limits.lock_hold)),
            lock_wait: limits.lock_wait,
            faults,
        })
    }

    /// The most commits of this process that were on their way to the disk at once; SQLite has one writer.
    pub(crate) fn most_commits(&self) -> u64 {
        match &self.connections {
            Connections::Sqlite(_) => 0,
            Connections::Postgres(pool) => pool.most_commits(),
        }
    }

    pub(crate) fn dialect(&self) -> Dialect {
        match &self.connections {
            Connections::Sqlite(_) => Dialect::Sqlite,
            Connections::Postgres(_) => Dialect::Postgres,
        }
    }

    /// Takes a connection that is in no transaction.
    pub(crate) async fn session(&self) -> Result<Session, StoreError> {
        let connection = match &self.connections {
            Connections::Sqlite(pool) => Connection::Sqlite(sqlite::SqlitePool::session(pool).await?),
            Connections::Postgres(pool) => Connection::Postgres(postgres::PostgresPool::session(pool).await?),
        };
        Ok(Session { connection, faults: self.faults.clone(), turn: None, beside: None })
    }

    /// Takes a connection and begins a transaction on it.
    pub(crate) async fn begin(&self, intent: Intent) -> Result<Session, StoreError> {
        self.begin_over(intent, &[]).await
    }

    /// The same, and on PostgreSQL these tables stay as they are until its end.
    pub(crate) async fn begin_over(&self, intent: Intent, tables: &[String]) -> Result<Session, StoreError> {
        let mut session = self.line_up(intent).await?;
        session.begin_over(intent, tables).await?;
        Ok(session)
    }

    /// Takes a connection for a transaction that is about to begin; a writer when its turn has come.
    pub(crate) async fn line_up(&self, intent: Intent) -> Result<Session, StoreError> {
        let turn = match intent {
            Intent::Read => None,
            // PostgreSQL has fair locks for these, of which one that waits to write alone holds none.
            Intent::Beside | Intent::Own if self.has_many_writers() => None,
            Intent::Beside | Intent::Write | Intent::Own => Some(self.turn().await?),
        };
        let mut session = self.session().await?;
        session.beside = (intent == Intent::Beside).then(|| Arc::clone(&self.turns));
        session.turn = turn;
        Ok(session)
    }

    /// Does a row of operations that belong together, on SQLite without a change of threads between them. They are
    /// carried through even if the caller gives up waiting. They may not wait for a turn, which its holder may need
    /// a thread to give up.
    pub(crate) async fn together<R: Send + 'static>(
        &self,
        work: impl Future<Output = Result<R, StoreError>> + Send + 'static,
    ) -> Result<R, StoreError> {
        match &self.connections {
            Connections::Sqlite(_) => sqlite::together(work).await,
            Connections::Postgres(_) => work.await,
        }
    }

    /// Lets processes on other machines see that this one is alive, for as long as it is.
    pub(crate) async fn say_alive(&self, process: i64) -> Result<(), StoreError> {
        match &self.connections {
            // Those that share the file share its folder too, where they see it.
            Connections::Sqlite(_) => Ok(()),
            Connections::Postgres(pool) => pool.say_alive(process).await,
        }
    }

    /// Whether something committed now would stay. What failed before is tried again.
    pub(crate) async fn check(&self) -> Result<(), StoreError> {
        match &self.connections {
            Connections::Sqlite(pool) => sqlite::SqlitePool::check(pool).await,
            Connections::Postgres(_) => Ok(()),
        }
    }

    /// Whether runs write side by side.
    pub(crate) fn has_many_writers(&self) -> bool {
        matches!(self.connections, Connections::Postgres(_))
    }

    /// Whether the database can be read and not written.
    pub(crate) fn is_read_only(&self) -> bool {
        matches!(&self.connections, Connections::Sqlite(pool) if pool.is_read_only())
    }

    async fn turn(&self) -> Result<Turn, StoreError> {
        tokio::time::timeout(self.lock_wait, Turns::take(&self.turns)).await.map_err(|_| StoreError::Busy)
    }
}

/// What an error of SQLite means.
pub(crate) fn of_sqlite(error: &rusqlite::Error) -> StoreError {
    match sqlite::store_error(error) {
        StoreError::Conflict => StoreError::Busy,
        other => other,
    }
}

/// One connection. Dropping it in the middle of a transaction rolls the transaction back.
#[derive(Debug)]
pub(crate) struct Session {
    connection: Connection,
    faults: Option<Arc<dyn Faults>>,
    /// Held by a writer until its transaction has ended.
    turn: Option<Turn>,
    /// Set for a writer beside others, who may wait for its rows.
    beside: Option<Arc<Turns>>,
}

#[derive(Debug)]
enum Connection {
    Sqlite(sqlite::SqliteSession),
    Postgres(postgres::PostgresSession),
}

impl Connection {
    fn elsewhere(&self) -> Elsewhere {
        match self {
            Self::Sqlite(session) => Elsewhere::Sqlite(session.pool()),
            Self::Postgres(session) => Elsewhere::Postgres(session.pool(), session.server_process()),
        }
    }
}

/// Asks the database whether somebody waits for a connection's locks.
#[derive(Debug)]
enum Elsewhere {
    Sqlite(Arc<sqlite::SqlitePool>),
    /// The pool, and the connection's number on the server.
    Postgres(Arc<postgres::PostgresPool>, i32),
}

impl Elsewhere {
    async fn somebody_waits(&self) -> bool {
        match self {
            Self::Sqlite(pool) => pool.somebody_waits(),
            Self::Postgres(pool, process) => pool.somebody_waits(*process).await,
        }
    }
}

/// Foreign SQL: a plan's `db.query` or an invariant of the workspace.
#[derive(Debug, Clone)]
pub(crate) struct Guarded {
    /// What comes before it: tables under the names that it knows them by.
    pub(crate) before: String,
    /// One `SELECT`, without parameters on PostgreSQL (they are written in as literals).
    pub(crate) sql: String,
    /// Parameters, on SQLite.
    pub(crate) params: Vec<Datum>,
    /// What it may read.
    pub(crate) access: Access,
    /// How much it may return and how long it may take.
    pub(crate) bounds: Bounds,
}

/// What foreign SQL may read.
#[derive(Debug, Clone)]
pub(crate) enum Access {
    /// What plans see.
    Plan(Arc<PlanAccess>),
    /// Everything: the workspace's owner wrote it.
    Owner,
}

/// How much foreign SQL may return and how long it may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    pub(crate) rows_max: u64,
    pub(crate) bytes_max: u64,
    /// The longest single value, also in between.
    pub(crate) value_bytes_max: u64,
    pub(crate) wall: Duration,
    /// Whether more rows than `rows_max` are an error, or are left out.
    pub(crate) cut: bool,
}

impl Bounds {
    pub(crate) fn query(limits: &StoreLimits) -> Self {
        Self {
            rows_max: limits.query_rows_max,
            bytes_max: limits.query_bytes_max,
            value_bytes_max: limits.query_value_bytes_max,
            wall: limits.query_wall,
            cut: false,
        }
    }
}

impl Session {
    pub(crate) fn dialect(&self) -> Dialect {
        match self.connection {
            Connection::Sqlite(_) => Dialect::Sqlite,
            Connection::Postgres(_) => Dialect::Postgres,
        }
    }

    /// Ends when this session has kept other writers waiting for longer than it may, in this process or in another;
    /// never, if it does not write.
    pub(crate) fn overdue(&self) -> impl Future<Output = StoreError> + Send + 'static + use<> {
        let watched = match (&self.turn, &self.beside) {
            (Some(turn), _) => Some(turn.watched()),
            (None, beside) => beside.as_ref().map(Turns::watched_from_now),
        };
        let elsewhere = self.connection.elsewhere();
        async move {
            match watched {
                Some(watched) => watched.overdue(&elsewhere).await,
                None => std::future::pending().await,
            }
        }
    }

    /// Waits until nobody else commits. From here to the end of this transaction nobody does.
    pub(crate) async fn order(&mut self) -> Result<(), StoreError> {
        match &mut self.connection {
            // SQLite has one writer from its first write to its end.
            Connection::Sqlite(_) => Ok(()),
            Connection::Postgres(connection) => connection.order().await,
        }
    }

    /// Reads what is committed by now, whatever the moment is that this transaction sees. After [`Self::order`] it stays so.
    pub(crate) async fn read_newest(&mut self, sql: Sql) -> Result<Rows, StoreError> {
        self.strike("read")?;
        match &mut self.connection {
            Connection::Sqlite(connection) => Ok(connection.read(vec![sql]).await?.pop().unwrap_or_default()),
            Connection::Postgres(connection) => connection.read_newest(sql).await,
        }
    }

    /// Reads outside of the transaction what is committed by now.
    pub(crate) async fn read_aside(&mut self, sql: Sql) -> Result<Rows, StoreError> {
        match &mut self.connection {
            Connection::Sqlite(_) => Ok(Rows::new()),
            Connection::Postgres(connection) => connection.pool().run_aside(sql).await,
        }
    }

    /// Has tables stay as they are until the transaction's end. What SQLite reads is of one moment, its schema too.
    pub(crate) async fn lock_tables(&mut self, tables: &[String]) -> Result<(), StoreError> {
        match &mut self.connection {
            Connection::Sqlite(_) => Ok(()),
            Connection::Postgres(connection) => connection.lock_tables(tables).await,
        }
    }

    /// Runs statements that write, in one go. When one fails the transaction must be given up.
    pub(crate) async fn write_batch(&mut self, statements: Vec<Sql>) -> Result<Vec<Rows>, StoreError> {
        self.about_to_write().await?;
        self.run(statements).await
    }

    /// A statement of this session's dialect.
    pub(crate) fn sql(&self, text: &str) -> Sql {
        Sql::new(self.dialect(), text)
    }

    /// Begins a transaction.
    pub(crate) async fn begin(&mut self, intent: Intent) -> Result<(), StoreError> {
        self.begin_over(intent, &[]).await
    }

    async fn begin_over(&mut self, intent: Intent, tables: &[String]) -> Result<(), StoreError> {
        self.strike("begin")?;
        match &mut self.connection {
            // What SQLite reads is of one moment, its schema too.
            Connection::Sqlite(connection) => connection.begin(intent).await,
            Connection::Postgres(connection) => connection.begin(intent, tables).await,
        }
    }

    /// Runs one statement that reads.
    pub(crate) async fn read(&mut self, sql: Sql) -> Result<Rows, StoreError> {
        Ok(self.read_all(vec![sql]).await?.pop().unwrap_or_default())
    }

    /// Reads a single row of Ordain's own by its key.
    pub(crate) async fn glance(&mut self, sql: Sql) -> Result<Rows, StoreError> {
        self.strike("read")?;
        match &mut self.connection {
            Connection::Sqlite(connection) => connection.glance(&sql),
            Connection::Postgres(connection) => {
                Ok(connection.run(vec![sql]).await?.pop().unwrap_or_default())
            }
        }
    }

    /// Runs one statement that writes. When it fails the transaction must be given up.
    pub(crate) async fn write(&mut self, sql: Sql) -> Result<Rows, StoreError> {
        Ok(self.write_batch(vec![sql]).await?.pop().unwrap_or_default())
    }

    /// Runs statements that read, in one go.
    pub(crate) async fn read_all(&mut self, statements: Vec<Sql>) -> Result<Vec<Rows>, StoreError> {
        self.strike("read")?;
        match &mut self.connection {
            Connection::Sqlite(connection) => connection.read(statements).await,
            Connection::Postgres(connection) => connection.run(statements).await,
        }
    }

    /// Runs one statement that reads, and stops after the row with which `bytes_max` is reached; the flag says
    /// whether there was more.
    pub(crate) async fn read_page(&mut self, sql: Sql, bytes_max: u64) -> Result<(Rows, bool), StoreError> {
        self.strike("read")?;
        match &mut self.connection {
            Connection::Sqlite(connection) => connection.page(sql, bytes_max).await,
            Connection::Postgres(connection) => connection.page(sql, bytes_max).await,
        }
    }

    /// Runs statements that write a row each: all of them or none. The transaction stays usable when one of them is
    /// refused, and the error names which.
    pub(crate) async fn write_all(
        &mut self,
        statements: Vec<Sql>,
        manner: Manner,
    ) -> Result<Vec<Rows>, (usize, StoreError)> {
        self.about_to_write().await.map_err(|error| (0, error))?;
        match &mut self.connection {
            Connection::Sqlite(connection) => connection.write_all(statements, manner).await,
            Connection::Postgres(connection) => connection.write_all(statements, manner).await,
        }
    }

    /// Copies the database into a new file.
    pub(crate) async fn copy_to(&mut self, path: std::path::PathBuf) -> Result<(), StoreError> {
        match &mut self.connection {
            Connection::Sqlite(connection) => connection.copy_to(path).await,
            Connection::Postgres(_) => Err(crate::backup::not_sqlite()),
        }
    }

    /// Runs a script of this crate, such as the definition of a table.
    pub(crate) async fn script(&mut self, script: String) -> Result<(), StoreError> {
        self.about_to_write().await?;
        match &mut self.connection {
            Connection::Sqlite(connection) => connection.script(script).await,
            Connection::Postgres(connection) => connection.script(&script).await,
        }
    }

    /// Runs foreign SQL, which can neither write, nor see more than it may, nor run on for ever.
    pub(crate) async fn guarded(&mut self, guarded: Guarded) -> Result<Found, StoreError> {
        self.strike("read")?;
        match &mut self.connection {
            Connection::Sqlite(connection) => connection.guarded(guarded).await,
            Connection::Postgres(connection) => connection.guarded(guarded).await,
        }
    }

    /// Expects writes of the database that follow from statements of ours, or no longer, with -1.
    pub(crate) fn expect_writes(&mut self, writes: &Operations, times: i64) {
        match &mut self.connection {
            Connection::Sqlite(connection) => connection.expect_writes(writes, times),
            Connection::Postgres(connection) => connection.expect_writes(writes, times),
        }
    }

    /// Forgets the statements that were prepared for another schema.
    pub(crate) fn keep_statements_of(&mut self, version: &str) {
        match &mut self.connection {
            // SQLite looks by itself.
            Connection::Sqlite(_) => {}
            Connection::Postgres(connection) => connection.keep_statements_of(version),
        }
    }

    /// Carries out what the database puts off to the end of a transaction, and fails where it has written anything else
    /// than the statements of this session.
    pub(crate) async fn check_writes(&mut self) -> Result<(), StoreError> {
        match &mut self.connection {
            Connection::Sqlite(connection) => connection.check_writes(),
            Connection::Postgres(connection) => connection.check_writes().await,
        }
    }

    /// What triggers wrote in this transaction whose owner allows it: operations by table.
    pub(crate) fn by_triggers(&self) -> Operations {
        match &self.connection {
            Connection::Sqlite(connection) => connection.by_triggers(),
            Connection::Postgres(connection) => connection.by_triggers(),
        }
    }

    /// Lets rows of this transaction refer to others that come later, where the database allows it.
    pub(crate) async fn defer_constraints(&mut self) -> Result<(), StoreError> {
        match &mut self.connection {
            Connection::Sqlite(connection) => connection.savepoint("PRAGMA defer_foreign_keys = ON").await,
            Connection::Postgres(connection) => connection.savepoint("SET CONSTRAINTS ALL DEFERRED").await,
        }
    }

    /// Sets, gives back or ends a savepoint of a row of calls.
    pub(crate) async fn savepoint(&mut self, statement: &'static str) -> Result<(), StoreError> {
        match &mut self.connection {
            Connection::Sqlite(connection) => connection.savepoint(statement).await,
            Connection::Postgres(connection) => connection.savepoint(statement).await,
        }
    }

    /// Commits, if the database wrote what the statements of this session wrote and nothing else. After an error the
    /// transaction is rolled back, or, if the error is [`StoreError::CommitUnknown`], its fate is not known.
    pub(crate) async fn commit(mut self) -> Result<(), StoreError> {
        self.strike("commit")?;
        if let Err(error) = self.check_writes().await {
            self.roll_back().await?;
            return Err(error);
        }
        match &mut self.connection {
            Connection::Sqlite(connection) => {
                connection.commit().await?;
                self.turn = None;
                connection.flush().await?;
            }
            Connection::Postgres(connection) => connection.commit().await?,
        }
        if self.strike("committed").is_err() {
            return Err(StoreError::CommitUnknown { run: String::new() });
        }
        Ok(())
    }

    /// Waits until everything that was committed before is on the disk.
    pub(crate) async fn flush(&mut self) -> Result<(), StoreError> {
        match &mut self.connection {
            // A commit of SQLite is.
            Connection::Sqlite(_) => Ok(()),
            Connection::Postgres(connection) => connection.script(postgres::FLUSH).await,
        }
    }

    /// Rolls back, and waits until that is done.
    pub(crate) async fn roll_back(mut self) -> Result<(), StoreError> {
        match &mut self.connection {
            Connection::Sqlite(connection) => connection.roll_back(),
            Connection::Postgres(connection) => connection.roll_back().await,
        }
    }

    async fn run(&mut self, statements: Vec<Sql>) -> Result<Vec<Rows>, StoreError> {
        match &mut self.connection {
            Connection::Sqlite(connection) => connection.run(statements).await,
            Connection::Postgres(connection) => connection.run(statements).await,
        }
    }

    async fn about_to_write(&mut self) -> Result<(), StoreError> {
        self.strike("write")?;
        match &mut self.connection {
            // SQLite takes its lock by itself, on the first statement that writes.
            Connection::Sqlite(_) => Ok(()),
            Connection::Postgres(connection) => connection.about_to_write().await,
        }
    }

    fn strike(&self, operation: &'static str) -> Result<(), StoreError> {
        match &self.faults {
            Some(faults) if faults.strike(operation) => Err(StoreError::Injected { operation }),
            _ => Ok(()),
        }
    }
}
