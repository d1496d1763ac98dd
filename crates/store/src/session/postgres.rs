//! Sessions on PostgreSQL.

mod holders;
mod tls;

use std::collections::HashMap;
use std::fmt::Write as _;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::TryStreamExt as _;
use futures_util::future::try_join_all;
use ordain_types::Row;
use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Config, NoTls, Statement};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::{Access, COMMITTING, Guarded, Intent, Rows, in_the_way, weight};
use crate::error::StoreError;
use crate::options::{Secret, StoreLimits};
use crate::sql::{Datum, Dialect, Sql};

/// The lock that every commit with a ledger entry takes, so that the chain has an order. Any number will do as long as
/// every version of Ordain uses the same one. Who waits for it holds no row of Ordain's own tables.
const COMMIT_LOCK: i64 = 0x6f72_6461_696e;
/// The lock that runs share while they write side by side. A run that writes alone has it to itself. It is taken before
/// the snapshot, and before the other one.
const RUNS_LOCK: i64 = COMMIT_LOCK + 1;

/// A commit of its own, which returns when everything before it is on the disk.
pub(super) const FLUSH: &str = "SELECT pg_logical_emit_message(true, 'ordain', '')";

/// A role named `ordain` would find Ordain's own schema first, because a role's own schema comes before `public`.
const SEARCH_PATH: &str = "
    SELECT set_config('search_path', coalesce((
      SELECT string_agg(quote_ident(name), ', ' ORDER BY place)
      FROM unnest(current_schemas(false)) WITH ORDINALITY AS path(name, place) WHERE name <> 'ordain'), 'public'), false);";

/// How often a server is asked again that is just starting.
const STARTING_WAIT: Duration = Duration::from_millis(100);

/// Prepared statements that one connection keeps.
const STATEMENTS_MAX: usize = 256;

/// Connections to one database.
pub(super) struct PostgresPool {
    config: Config,
    /// Certificates that are trusted; nothing where the connection does not leave the machine.
    tls: Option<MakeRustlsConnect>,
    /// A role with rights on what plans may see and nothing else.
    plan_role: Option<String>,
    lock_wait: Duration,
    /// How long to wait for others before it is asked whether they stand still.
    patience: Duration,
    idle: Mutex<Vec<Kept>>,
    places: Arc<Semaphore>,
    /// A connection outside of transactions, for commits and for looking at locks. It is not counted against the pool, so it
    /// is always available.
    aside: tokio::sync::Mutex<Option<Kept>>,
    /// Holds the lock that says that this process is alive.
    alive: tokio::sync::Mutex<Option<Kept>>,
    /// Commits of this process that are on their way to the disk, and the most that there were at once.
    committing: AtomicU64,
    committing_most: AtomicU64,
}

/// One commit that is on its way to the disk, for as long as this is there.
struct Committing<'a>(&'a AtomicU64);

impl Drop for Committing<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl std::fmt::Debug for PostgresPool {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("PostgresPool").field("tls", &self.tls.is_some()).finish_non_exhaustive()
    }
}

/// A connection and the statements that it has prepared.
struct Kept {
    client: Client,
    /// Its number on the server.
    process: i32,
    statements: HashMap<String, Statement>,
}

impl std::fmt::Debug for Kept {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Kept").field("statements", &self.statements.len()).finish_non_exhaustive()
    }
}

impl PostgresPool {
    pub(super) fn new(
        url: &Secret,
        limits: &StoreLimits,
        plan_role: Option<String>,
    ) -> Result<Self, StoreError> {
        let (mut config, tls) = tls::configured(&url.0)?;
        config.application_name("ordain").connect_timeout(Duration::from_secs(10));
        let places = Arc::new(Semaphore::new(limits.connections_max as usize));
        Ok(Self {
            config,
            tls,
            plan_role,
            lock_wait: limits.lock_wait,
            patience: holders::patience(limits),
            idle: Mutex::default(),
            places,
            aside: tokio::sync::Mutex::default(),
            alive: tokio::sync::Mutex::default(),
            committing: AtomicU64::new(0),
            committing_most: AtomicU64::new(0),
        })
    }

    fn begin_commit(&self) -> Committing<'_> {
        let now = self.committing.fetch_add(1, Ordering::Relaxed) + 1;
        self.committing_most.fetch_max(now, Ordering::Relaxed);
        Committing(&self.committing)
    }

    /// The most commits of this process that were on their way to the disk at once.
    pub(super) fn most_commits(&self) -> u64 {
        self.committing_most.load(Ordering::Relaxed)
    }

    pub(super) async fn session(pool: &Arc<Self>) -> Result<PostgresSession, StoreError> {
        let place = Arc::clone(&pool.places).acquire_owned().await.expect("the semaphore is never closed");
        let idle = loop {
            let kept = pool.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            match kept {
                Some(kept) if kept.client.is_closed() => {}
                other => break other,
            }
        };
        let kept = match idle {
            Some(kept) => kept,
            None => pool.connect().await?,
        };
        Ok(PostgresSession::over(pool, kept, Some(place)))
    }

    /// Holds a lock by the process's number. The server gives it back when the process has ended.
    pub(super) async fn say_alive(&self, process: i64) -> Result<(), StoreError> {
        let mut alive = self.alive.lock().await;
        if alive.as_ref().is_some_and(|kept| !kept.client.is_closed()) {
            return Ok(());
        }
        let kept = self.connect().await?;
        let lock = format!("SELECT pg_advisory_lock({process})");
        kept.client.batch_execute(&lock).await.map_err(|error| store_error(&error))?;
        *alive = Some(kept);
        Ok(())
    }

    /// Connects. A server that is just starting, also after a crash, is waited for.
    async fn connect(&self) -> Result<Kept, StoreError> {
        let deadline = Instant::now() + self.lock_wait;
        loop {
            match self.try_connect().await {
                Err(error)
                    if error.code() == Some(&SqlState::CANNOT_CONNECT_NOW) && Instant::now() < deadline =>
                {
                    tokio::time::sleep(STARTING_WAIT).await;
                }
                connected => {
                    return connected.map_err(|error| StoreError::Unreachable { message: chain(&error) });
                }
            }
        }
    }

    async fn try_connect(&self) -> Result<Kept, tokio_postgres::Error> {
        // The task ends by itself when the client is dropped; the client reports what went wrong.
        let client = if let Some(tls) = &self.tls {
            let (client, connection) = self.config.connect(tls.clone()).await?;
            tokio::spawn(async move { drop(connection.await) });
            client
        } else {
            let (client, connection) = self.config.connect(NoTls).await?;
            tokio::spawn(async move { drop(connection.await) });
            client
        };
        let lock_wait_ms = self.lock_wait.as_millis();
        let settings = format!(
            "SET TIME ZONE 'UTC'; SET DateStyle = 'ISO, YMD'; SET IntervalStyle = 'iso_8601';
             SET standard_conforming_strings = on; SET bytea_output = 'hex'; SET extra_float_digits = 1;
             SET client_min_messages = 'error'; SET lock_timeout = '{lock_wait_ms}ms'; {SEARCH_PATH}"
        );
        client.batch_execute(&settings).await?;
        let row = client.query_one("SELECT pg_backend_pid()", &[]).await?;
        Ok(Kept { process: row.get(0), client, statements: HashMap::new() })
    }
}

/// One connection.
#[derive(Debug)]
pub(super) struct PostgresSession {
    pool: Arc<PostgresPool>,
    kept: Option<Kept>,
    phase: Phase,
    /// Whether any lock may be held that outlives the transaction.
    locked: bool,
    commit_lock: CommitLock,
    /// Whether a statement was sent whose result was not read.
    busy: bool,
    place: Option<OwnedSemaphorePermit>,
}

/// Whether a session holds the commit lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CommitLock {
    Free,
    /// Since before its transaction began: nothing was committed since.
    FromBegin,
    /// Since its transaction is about to be committed: others may have committed meanwhile.
    Late,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Idle,
    Open,
    /// Something is under way, or the connection is not to be used again.
    Unknown,
}

impl PostgresSession {
    fn over(pool: &Arc<PostgresPool>, kept: Kept, place: Option<OwnedSemaphorePermit>) -> Self {
        let (pool, kept) = (Arc::clone(pool), Some(kept));
        Self {
            pool,
            kept,
            phase: Phase::Idle,
            locked: false,
            commit_lock: CommitLock::Free,
            busy: false,
            place,
        }
    }

    pub(super) fn pool(&self) -> Arc<PostgresPool> {
        Arc::clone(&self.pool)
    }

    /// The connection's number on the server; 0, which none has, if it is lost.
    pub(super) fn server_process(&self) -> i32 {
        self.kept.as_ref().map_or(0, |kept| kept.process)
    }

    pub(super) async fn begin(&mut self, intent: Intent) -> Result<(), StoreError> {
        // Before `BEGIN`, because a transaction keeps the snapshot of its first statement.
        let lock = match intent {
            Intent::Read | Intent::Own => None,
            Intent::Beside => Some(format!("SELECT pg_advisory_lock_shared({RUNS_LOCK})")),
            Intent::Write => {
                Some(format!("SELECT pg_advisory_lock({RUNS_LOCK}); SELECT pg_advisory_lock({COMMIT_LOCK})"))
            }
        };
        self.locked = intent != Intent::Read;
        if let Some(lock) = lock {
            self.wait_for(&lock).await?;
        }
        if matches!(intent, Intent::Own | Intent::Write) {
            self.commit_lock = CommitLock::FromBegin;
        }
        self.phase = Phase::Unknown;
        let begin = match intent {
            Intent::Read | Intent::Write => "BEGIN ISOLATION LEVEL SERIALIZABLE".to_owned(),
            // A small table would be scanned, and a scan depends on every row, so on everybody who writes one. A scan that
            // cannot be avoided then counts as so costly that it would be compiled first.
            Intent::Beside => {
                "BEGIN ISOLATION LEVEL SERIALIZABLE; SET LOCAL enable_seqscan = off; SET LOCAL jit = off"
                    .to_owned()
            }
            // Nobody else commits meanwhile, so that there is nothing to tell apart, and every statement sees its own moment.
            Intent::Own => {
                format!("BEGIN ISOLATION LEVEL READ COMMITTED; SELECT pg_advisory_lock({COMMIT_LOCK})")
            }
        };
        self.wait_for(&begin).await?;
        self.phase = Phase::Open;
        Ok(())
    }

    /// Runs statements that may wait for others.
    async fn wait_for(&mut self, statements: &str) -> Result<(), StoreError> {
        self.busy = true;
        let done = self.client()?.batch_execute(statements);
        let done = self.pool.patiently(self.server_process(), done).await;
        self.busy = false;
        done.map_err(|error| store_error(&error))
    }

    /// Before its first write, a transaction that did not say that it writes joins those who write side by side. If
    /// somebody writes alone, it must not make that one start again.
    pub(super) async fn about_to_write(&mut self) -> Result<(), StoreError> {
        if self.locked || self.phase != Phase::Open {
            return Ok(());
        }
        let try_lock = format!("SELECT pg_try_advisory_lock_shared({RUNS_LOCK})::text");
        // Until the answer is there the lock may be held, so that it is given back in any case.
        self.locked = true;
        let rows = self.run(vec![Sql::new(Dialect::Postgres, &try_lock)]).await?.pop().unwrap_or_default();
        self.locked = rows.first().and_then(|row| row[0].as_text()) == Some("true");
        if self.locked { Ok(()) } else { Err(StoreError::Conflict) }
    }

    /// Takes the commit lock.
    pub(super) async fn order(&mut self) -> Result<(), StoreError> {
        if self.commit_lock != CommitLock::Free {
            return Ok(());
        }
        self.locked = true;
        let lock = format!("SELECT pg_advisory_lock({COMMIT_LOCK})");
        self.wait_for(&lock).await?;
        self.commit_lock = CommitLock::Late;
        Ok(())
    }

    /// Reads in the transaction if that sees everything, its own writes too, else on the connection beside transactions.
    pub(super) async fn read_newest(&mut self, sql: Sql) -> Result<Rows, StoreError> {
        if self.commit_lock == CommitLock::FromBegin {
            return Ok(self.run(vec![sql]).await?.pop().unwrap_or_default());
        }
        self.pool.run_aside(sql).await
    }

    /// Commits. Who holds the commit lock gives it back before the commit is on the disk, so that the next one need not wait
    /// for that, and many reach the disk at once. The log of the database has an order: a commit is never on the disk without
    /// those before it.
    pub(super) async fn commit(&mut self) -> Result<(), StoreError> {
        self.phase = Phase::Unknown;
        let end = match self.commit_lock {
            CommitLock::Free => format!("COMMIT; {}", self.unlocking()),
            CommitLock::FromBegin | CommitLock::Late => {
                format!("{COMMITTING}; {}; {FLUSH}", self.unlocking())
            }
        };
        let committing = self.pool.begin_commit();
        let committed = self.client()?.batch_execute(&end).await;
        drop(committing);
        committed.map_err(|error| match store_error(&error) {
            StoreError::Unreachable { .. } | StoreError::Database { .. } | StoreError::DiskFull => {
                StoreError::CommitUnknown { run: String::new() }
            }
            other => other,
        })?;
        self.ended();
        Ok(())
    }

    /// Rolls back. A connection that is lost, or on which a statement still runs, is given up, and the server rolls back.
    pub(super) async fn roll_back(&mut self) -> Result<(), StoreError> {
        let is_lost = self.kept.as_ref().is_none_or(|kept| kept.client.is_closed());
        if self.busy || is_lost {
            return Ok(());
        }
        self.phase = Phase::Unknown;
        let end = format!("ROLLBACK; {}", self.unlocking());
        self.client()?.batch_execute(&end).await.map_err(|error| store_error(&error))?;
        self.ended();
        Ok(())
    }

    pub(super) async fn script(&mut self, script: &str) -> Result<(), StoreError> {
        self.client()?.batch_execute(script).await.map_err(|error| store_error(&error))
    }

    /// Runs statements in one pipeline.
    pub(super) async fn run(&mut self, statements: Vec<Sql>) -> Result<Vec<Rows>, StoreError> {
        let (pool, process) = (self.pool(), self.server_process());
        pool.patiently(process, self.run_at_once(statements)).await
    }

    async fn run_at_once(&mut self, statements: Vec<Sql>) -> Result<Vec<Rows>, StoreError> {
        let prepared = self.prepare_all(statements).await?;
        self.busy = true;
        let client = self.client()?;
        let all = prepared.iter().map(|(statement, params)| run_one(client, statement, params, u64::MAX));
        let results = try_join_all(all).await.map_err(|error| store_error(&error));
        self.busy = false;
        Ok(results?.into_iter().map(|(rows, _)| rows).collect())
    }

    pub(super) async fn page(&mut self, sql: Sql, bytes_max: u64) -> Result<(Rows, bool), StoreError> {
        let prepared = self.prepare_all(vec![sql]).await?;
        self.busy = true;
        let client = self.client()?;
        let (statement, params) = &prepared[0];
        let page = run_one(client, statement, params, bytes_max).await.map_err(|error| store_error(&error));
        self.busy = false;
        page
    }

    pub(super) async fn write_all(&mut self, statements: Vec<Sql>) -> Result<Vec<Rows>, (usize, StoreError)> {
        let prepared = self.prepare_all(statements).await.map_err(|error| (0, error))?;
        self.busy = true;
        let written = self.write_prepared(&prepared).await;
        self.busy = false;
        written
    }

    async fn write_prepared(&self, prepared: &[Prepared]) -> Result<Vec<Rows>, (usize, StoreError)> {
        let first = |error: &tokio_postgres::Error| (0, store_error(error));
        let client = self.client().map_err(|error| (0, error))?;
        client.batch_execute("SAVEPOINT ordain_call").await.map_err(|error| first(&error))?;
        let all = prepared.iter().enumerate().map(|(index, (statement, params))| async move {
            match run_one(client, statement, params, u64::MAX).await {
                Ok((rows, _)) if rows.is_empty() => Err((index, in_the_way())),
                Ok((rows, _)) => Ok(rows),
                Err(error) => Err((index, store_error(&error))),
            }
        });
        let results = self.pool.patiently(self.server_process(), try_join_all(all)).await;
        let end = match &results {
            Ok(_) => "RELEASE ordain_call",
            Err(_) => "ROLLBACK TO ordain_call; RELEASE ordain_call",
        };
        let ended = client.batch_execute(end).await.map_err(|error| first(&error));
        // What went wrong first is what matters.
        results.and_then(|results| ended.map(|()| results))
    }

    pub(super) async fn guarded(&mut self, guarded: Guarded) -> Result<Vec<Row>, StoreError> {
        let wall_ms = guarded.bounds.wall.as_millis().max(1);
        // A savepoint gives back the transaction's own settings when it is rolled back, `READ ONLY` among them.
        let mut opening = format!(
            "SAVEPOINT ordain_query; SET LOCAL transaction_read_only = on;
             SET LOCAL statement_timeout = '{wall_ms}ms';"
        );
        if matches!(guarded.access, Access::Plan(_)) {
            // Nothing but the tables that are put before the statement can be named without a schema.
            opening.push_str(" SET LOCAL search_path = pg_catalog; SET LOCAL enable_seqscan = on;");
            if let Some(role) = &self.pool.plan_role {
                let _ = write!(opening, " SET LOCAL ROLE {};", crate::sql::quoted(role));
            }
        }
        self.busy = true;
        let client = self.client()?;
        client.batch_execute(&opening).await.map_err(|error| store_error(&error))?;
        let rows = guarded_rows(client, &guarded).await;
        let closing = "ROLLBACK TO ordain_query; RELEASE ordain_query";
        client.batch_execute(closing).await.map_err(|error| store_error(&error))?;
        self.busy = false;
        rows
    }

    async fn prepare_all(&mut self, statements: Vec<Sql>) -> Result<Vec<Prepared>, StoreError> {
        let mut prepared = Vec::with_capacity(statements.len());
        for sql in statements {
            let params = sql.params.into_iter().map(Datum::into_text).collect::<Vec<_>>();
            prepared.push((self.prepare(&sql.text, params.len()).await?, params));
        }
        Ok(prepared)
    }

    async fn prepare(&mut self, text: &str, params: usize) -> Result<Statement, StoreError> {
        let kept = self.kept.as_mut().ok_or_else(lost)?;
        if let Some(statement) = kept.statements.get(text) {
            return Ok(statement.clone());
        }
        let types = vec![Type::TEXT; params];
        let prepared = kept.client.prepare_typed(text, &types).await;
        let statement = prepared.map_err(|error| store_error(&error))?;
        if kept.statements.len() >= STATEMENTS_MAX {
            kept.statements.clear();
        }
        kept.statements.insert(text.to_owned(), statement.clone());
        Ok(statement)
    }

    /// Gives back every lock that outlives a transaction.
    fn unlocking(&self) -> &'static str {
        if self.locked { "SELECT pg_advisory_unlock_all()" } else { "" }
    }

    fn ended(&mut self) {
        (self.phase, self.locked, self.commit_lock) = (Phase::Idle, false, CommitLock::Free);
    }

    fn client(&self) -> Result<&Client, StoreError> {
        self.kept.as_ref().map(|kept| &kept.client).ok_or_else(lost)
    }
}

impl Drop for PostgresSession {
    fn drop(&mut self) {
        let Some(kept) = self.kept.take() else { return };
        let (pool, locked, unlock) = (Arc::clone(&self.pool), self.locked, self.unlocking());
        let place = self.place.take();
        if self.busy {
            // The caller no longer waits for the statement. The server is asked to end it; the connection is closed, and
            // with it the transaction rolled back and the lock given back.
            let token = kept.client.cancel_token();
            if let Ok(runtime) = tokio::runtime::Handle::try_current() {
                runtime.spawn(async move {
                    let _ = match &pool.tls {
                        Some(tls) => token.cancel_query(tls.clone()).await,
                        None => token.cancel_query(NoTls).await,
                    };
                    drop((kept, place));
                });
            }
            return;
        }
        match self.phase {
            Phase::Idle if !locked => pool.idle.lock().unwrap_or_else(PoisonError::into_inner).push(kept),
            // An open transaction is rolled back in the background; without a runtime the connection is closed,
            // and the server rolls back.
            Phase::Open | Phase::Idle => {
                let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
                runtime.spawn(async move {
                    let end = format!("ROLLBACK; {unlock}");
                    if kept.client.batch_execute(&end).await.is_ok() {
                        pool.idle.lock().unwrap_or_else(PoisonError::into_inner).push(kept);
                    }
                    drop(place);
                });
            }
            Phase::Unknown => {}
        }
    }
}

/// A statement and its parameters.
type Prepared = (Statement, Vec<Option<String>>);

/// What is not read of a reply is thrown away by the connection as it arrives.
async fn run_one(
    client: &Client,
    statement: &Statement,
    params: &[Option<String>],
    bytes_max: u64,
) -> Result<(Rows, bool), tokio_postgres::Error> {
    let params = params.iter().map(|param| param as &(dyn ToSql + Sync));
    let mut rows = pin!(client.query_raw(statement, params).await?);
    let (mut found, mut bytes) = (Rows::new(), 0);
    while let Some(row) = rows.try_next().await? {
        if bytes >= bytes_max {
            return Ok((found, true));
        }
        let datum =
            |index| row.try_get::<_, Option<String>>(index).map(|text| text.map_or(Datum::Null, Datum::Text));
        let row = (0..row.len()).map(datum).collect::<Result<Vec<Datum>, _>>()?;
        bytes += weight(&row);
        found.push(row);
    }
    Ok((found, false))
}

/// Rows travel as JSON, which has a form for every type. The types are asked for first, because a real number
/// without a fraction looks like a whole one.
async fn guarded_rows(client: &Client, guarded: &Guarded) -> Result<Vec<Row>, StoreError> {
    let bounds = guarded.bounds;
    let query_error = |error: tokio_postgres::Error| query_error(&error, bounds.wall);
    // The line break ends a comment in the last line.
    let Guarded { before, sql, .. } = guarded;
    let plain = format!("{before}SELECT * FROM ({sql}\n) AS ordain_result");
    let described = client.prepare(&plain).await.map_err(query_error)?;
    let is_real = |column: &tokio_postgres::Column| [Type::FLOAT4, Type::FLOAT8].contains(column.type_());
    let reals: Vec<bool> = described.columns().iter().map(is_real).collect();
    // One more than allowed, so that too many are noticed.
    let limit = bounds.rows_max.saturating_add(1);
    let encoded = format!(
        "{before}SELECT row_to_json(ordain_result)::text FROM ({sql}\n) AS ordain_result LIMIT {limit}"
    );
    let none: [&(dyn ToSql + Sync); 0] = [];
    let mut rows = pin!(client.query_raw(&encoded, none).await.map_err(query_error)?);
    let (mut found, mut bytes) = (Vec::new(), 0_u64);
    while let Some(row) = rows.try_next().await.map_err(query_error)? {
        if found.len() as u64 == bounds.rows_max {
            if bounds.cut {
                break;
            }
            return Err(StoreError::Limit { limit: "query_rows_max", value: bounds.rows_max });
        }
        let text: String = row.try_get(0).map_err(query_error)?;
        bytes += text.len() as u64;
        if bytes > bounds.bytes_max {
            return Err(StoreError::Limit { limit: "query_bytes_max", value: bounds.bytes_max });
        }
        found.push(row_of(&text, &reals)?);
    }
    Ok(found)
}

/// A row from PostgreSQL's JSON, in column order. A name that occurs twice is numbered, as SQLite does it.
fn row_of(text: &str, reals: &[bool]) -> Result<Row, StoreError> {
    let broken = |error: serde_json::Error| StoreError::Query { message: error.to_string(), hint: None };
    let fields: Fields = serde_json::from_str(text).map_err(broken)?;
    let mut row = Row::default();
    for (position, (mut name, value)) in fields.0.into_iter().enumerate() {
        let is_real = reals.get(position) == Some(&true);
        let value = value.as_f64().filter(|_| is_real).map_or(value, Value::from);
        let mut number = 0;
        let plain = name.len();
        while row.get(&name).is_some() {
            number += 1;
            name.truncate(plain);
            let _ = write!(name, ":{number}");
        }
        row.fields.push((name, value));
    }
    Ok(row)
}

/// The members of a JSON object as they come, twice named ones too.
struct Fields(Vec<(String, Value)>);

impl<'de> serde::Deserialize<'de> for Fields {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Fields;

            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
                let mut fields = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    fields.push(entry);
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(Visitor)
    }
}

fn lost() -> StoreError {
    StoreError::Unreachable { message: "the connection was given up".to_owned() }
}

fn query_error(error: &tokio_postgres::Error, wall: Duration) -> StoreError {
    let Some(inner) = error.as_db_error() else { return store_error(error) };
    let state = inner.code().code();
    match (state, &state[..2]) {
        ("57014", _) => StoreError::Timeout { wall_ms: u64::try_from(wall.as_millis()).unwrap_or(u64::MAX) },
        ("25006", _) => StoreError::Query {
            message: "it would write".to_owned(),
            hint: Some("every write goes through the tables, so that the diff is complete".to_owned()),
        },
        (_, "22" | "42" | "0A" | "21" | "2F" | "54") => {
            StoreError::Query { message: inner.message().to_owned(), hint: inner.hint().map(str::to_owned) }
        }
        _ => store_error(error),
    }
}

fn store_error(error: &tokio_postgres::Error) -> StoreError {
    let Some(inner) = error.as_db_error() else {
        return StoreError::Unreachable { message: chain(error) };
    };
    let message = inner.message().to_owned();
    let table = inner.table().unwrap_or_default().to_owned();
    let state = inner.code().code();
    match (state, &state[..2]) {
        ("40001" | "40P01", _) => StoreError::Conflict,
        ("55P03", _) => StoreError::Busy,
        ("53100", _) => StoreError::DiskFull,
        ("23505", _) => {
            StoreError::DuplicateKey { table, key: inner.detail().unwrap_or(&message).to_owned() }
        }
        (_, "23") => StoreError::Constraint { table, message },
        (_, "22") => StoreError::BadValue { table, column: String::new(), message },
        // `25P03` and `25P04`: the server was told to end sessions that are quiet, or transactions that go on, for so long.
        (_, "08" | "57" | "28" | "3D") | ("25P03" | "25P04", _) => StoreError::Unreachable { message },
        _ => StoreError::Database { message },
    }
}

/// An error and all its causes; the driver keeps what the system said in the source.
fn chain(error: &tokio_postgres::Error) -> String {
    let mut message = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        let _ = write!(message, ": {cause}");
        source = cause.source();
    }
    message
}
