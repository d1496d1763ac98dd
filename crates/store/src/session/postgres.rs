//! Sessions on PostgreSQL.

mod counts;
mod ending;
mod errors;
mod holders;
mod tls;

use std::collections::HashMap;
use std::fmt::Write as _;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::TryStreamExt as _;
use futures_util::future::{try_join, try_join_all};
use ordain_types::{Place, Places, Row};
use serde_json::Value;
use tokio::time::Instant;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Config, NoTls, Statement};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::tally::Tally;
use super::{Access, Found, Guarded, Intent, Manner, Rows, nothing_written, weight};
use crate::error::StoreError;
use crate::options::{Secret, StoreLimits};
use crate::relation::{Filled, Kind, Storage};
use crate::sql::{Datum, Dialect, Sql};
use crate::value;
use counts::Reported;
use errors::{chain, lost, query_error, store_error};

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
    /// Connections go round by caller.
    places: Arc<Places>,
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
    /// What the schema was compared by for which they were prepared.
    schema: String,
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
        let places = Places::new(limits.connections_max as usize);
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
        let place = pool.places.place().await;
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
        Ok(Kept { process: row.get(0), client, statements: HashMap::new(), schema: String::new() })
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
    tally: Tally,
    deferred: Deferred,
    place: Option<Place>,
}

/// Where a transaction stands with what the database puts off to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Deferred {
    /// Nothing was written.
    Nothing,
    /// Something was written.
    Perhaps,
    /// The same, by a table whose owner allows that triggers write.
    Allowed,
    /// Nothing is put off.
    Never,
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
    fn over(pool: &Arc<PostgresPool>, kept: Kept, place: Option<Place>) -> Self {
        let (pool, kept) = (Arc::clone(pool), Some(kept));
        Self {
            pool,
            kept,
            phase: Phase::Idle,
            locked: false,
            commit_lock: CommitLock::Free,
            busy: false,
            tally: Tally::default(),
            deferred: Deferred::Nothing,
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

    pub(super) async fn begin(&mut self, intent: Intent, tables: &[String]) -> Result<(), StoreError> {
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
                format!(
                    "BEGIN ISOLATION LEVEL READ COMMITTED; SELECT pg_advisory_lock({COMMIT_LOCK});
                     SET CONSTRAINTS ALL IMMEDIATE"
                )
            }
        };
        self.deferred = if intent == Intent::Own { Deferred::Never } else { Deferred::Nothing };
        let mut begin = begin;
        // A lock takes no snapshot, so that what is read afterwards is as it is under the lock.
        if !tables.is_empty() {
            let _ = write!(begin, "; {}", locking(tables));
        }
        self.begin_counting(&begin).await?;
        self.phase = Phase::Open;
        Ok(())
    }

    pub(super) async fn lock_tables(&mut self, tables: &[String]) -> Result<(), StoreError> {
        self.wait_for(&locking(tables)).await
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

    pub(super) async fn script(&mut self, script: &str) -> Result<(), StoreError> {
        self.client()?.batch_execute(script).await.map_err(|error| store_error(&error))?;
        if self.phase == Phase::Open {
            // It defines tables.
            let counted = self.counted().await?;
            self.tally.excuse(counted);
        }
        Ok(())
    }

    pub(super) async fn savepoint(&mut self, statement: &str) -> Result<(), StoreError> {
        self.client()?.batch_execute(statement).await.map_err(|error| store_error(&error))
    }

    /// Runs statements in one pipeline.
    pub(super) async fn run(&mut self, statements: Vec<Sql>) -> Result<Vec<Rows>, StoreError> {
        let (pool, process) = (self.pool(), self.server_process());
        pool.patiently(process, self.run_at_once(statements)).await
    }

    async fn run_at_once(&mut self, statements: Vec<Sql>) -> Result<Vec<Rows>, StoreError> {
        let mut reported = Reported::of(&statements);
        let counts = self.phase == Phase::Open && !reported.is_empty();
        let mut prepared = self.prepare_all(statements).await?;
        if counts {
            prepared.push(self.prepared_counts().await?);
        }
        self.busy = true;
        let client = self.client()?;
        let all = prepared.iter().map(|(statement, params)| run_one(client, statement, params, u64::MAX));
        let results = try_join_all(all).await.map_err(|error| store_error(&error));
        self.busy = false;
        let mut results = results?;
        let counted = if counts { results.pop() } else { None };
        for (index, (.., written)) in results.iter().enumerate() {
            reported.rows(index, *written);
        }
        if let Some((rows, ..)) = counted {
            self.account(reported, &rows, false)?;
        }
        Ok(results.into_iter().map(|(rows, ..)| rows).collect())
    }

    pub(super) async fn page(&mut self, sql: Sql, bytes_max: u64) -> Result<(Rows, bool), StoreError> {
        let prepared = self.prepare_all(vec![sql]).await?;
        self.busy = true;
        let client = self.client()?;
        let (statement, params) = &prepared[0];
        let page = run_one(client, statement, params, bytes_max).await.map_err(|error| store_error(&error));
        self.busy = false;
        page.map(|(rows, more, _)| (rows, more))
    }

    pub(super) async fn write_all(
        &mut self,
        statements: Vec<Sql>,
        manner: Manner,
    ) -> Result<Vec<Rows>, (usize, StoreError)> {
        let at_first = |error| (0, error);
        let refusals: Vec<StoreError> = statements.iter().map(nothing_written).collect();
        let mut reported = Reported::of(&statements);
        let prepared = self.prepare_all(statements).await.map_err(at_first)?;
        let counts = self.prepared_counts().await.map_err(at_first)?;
        self.busy = true;
        let written = self.write_prepared(&prepared, refusals, &counts).await;
        self.busy = false;
        match written? {
            (Ok(results), counted) => {
                for (index, rows) in results.iter().enumerate() {
                    reported.rows(index, rows.len() as u64);
                }
                self.account(reported, &counted, manner.triggers).map_err(at_first)?;
                Ok(results)
            }
            (Err(error), counted) => {
                // What was written was rolled back, and is counted none the less.
                self.tally.excuse(counts::operations(&counted));
                Err(error)
            }
        }
    }

    /// Writes rows in a savepoint: what came of it, and what the server has counted afterwards.
    async fn write_prepared(
        &self,
        prepared: &[Prepared],
        refusals: Vec<StoreError>,
        counts: &Prepared,
    ) -> Result<(Result<Vec<Rows>, (usize, StoreError)>, Rows), (usize, StoreError)> {
        let first = |error: &tokio_postgres::Error| (0, store_error(error));
        let client = self.client().map_err(|error| (0, error))?;
        client.batch_execute("SAVEPOINT ordain_call").await.map_err(|error| first(&error))?;
        let all = prepared.iter().zip(refusals).enumerate();
        let all = all.map(|(index, ((statement, params), refusal))| async move {
            match run_one(client, statement, params, u64::MAX).await {
                Ok((rows, ..)) if rows.is_empty() => Err((index, refusal)),
                Ok((rows, ..)) => Ok(rows),
                Err(error) => Err((index, store_error(&error))),
            }
        });
        let results = self.pool.patiently(self.server_process(), try_join_all(all)).await;
        let end = match &results {
            Ok(_) => "RELEASE ordain_call",
            Err(_) => "ROLLBACK TO ordain_call; RELEASE ordain_call",
        };
        let ended = client.batch_execute(end);
        let counted = run_one(client, &counts.0, &counts.1, u64::MAX);
        match try_join(ended, counted).await {
            Ok(((), (counted, ..))) => Ok((results, counted)),
            // What went wrong first is what matters.
            Err(error) => Err(results.err().unwrap_or_else(|| first(&error))),
        }
    }

    pub(super) async fn guarded(&mut self, guarded: Guarded) -> Result<Found, StoreError> {
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

    pub(super) fn keep_statements_of(&mut self, version: &str) {
        if let Some(kept) = self.kept.as_mut().filter(|kept| kept.schema != version) {
            kept.statements.clear();
            version.clone_into(&mut kept.schema);
        }
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

    fn client(&self) -> Result<&Client, StoreError> {
        self.kept.as_ref().map(|kept| &kept.client).ok_or_else(lost)
    }
}

/// A statement and its parameters.
type Prepared = (Statement, Vec<Option<String>>);

/// The rows, whether there are more, and how many it found or wrote. What is not read of a reply is thrown away by the
/// connection as it arrives.
async fn run_one(
    client: &Client,
    statement: &Statement,
    params: &[Option<String>],
    bytes_max: u64,
) -> Result<(Rows, bool, u64), tokio_postgres::Error> {
    let params = params.iter().map(|param| param as &(dyn ToSql + Sync));
    let mut rows = pin!(client.query_raw(statement, params).await?);
    let (mut found, mut bytes) = (Rows::new(), 0);
    while let Some(row) = rows.try_next().await? {
        if bytes >= bytes_max {
            return Ok((found, true, 0));
        }
        let datum =
            |index| row.try_get::<_, Option<String>>(index).map(|text| text.map_or(Datum::Null, Datum::Text));
        let row = (0..row.len()).map(datum).collect::<Result<Vec<Datum>, _>>()?;
        bytes += weight(&row);
        found.push(row);
    }
    let written = rows.rows_affected().unwrap_or_default();
    Ok((found, false, written))
}

/// Rows travel as text: plain values in their own, everything else as JSON. The types are asked for first.
async fn guarded_rows(client: &Client, guarded: &Guarded) -> Result<Found, StoreError> {
    let bounds = guarded.bounds;
    let query_error = |error: tokio_postgres::Error| query_error(&error, bounds.wall);
    // The line break ends a comment in the last line.
    let Guarded { before, sql, .. } = guarded;
    let plain = format!("{before}SELECT * FROM ({sql}\n) AS ordain_result");
    let described = client.prepare(&plain).await.map_err(query_error)?;
    let columns: Vec<(String, Storage)> = described
        .columns()
        .iter()
        .map(|column| (column.name().to_owned(), storage(column.type_())))
        .collect();
    let own: Vec<String> = (0..columns.len()).map(|at| format!("c{at}")).collect();
    let texts = std::iter::zip(&own, &columns).map(|(name, (_, storage))| match storage.kind {
        // Its own JSON is the same whatever the type.
        Kind::Other => format!("to_json({name})::text"),
        _ => format!("{name}::text"),
    });
    let texts = texts.collect::<Vec<_>>().join(", ");
    let names = if own.is_empty() { String::new() } else { format!("({})", own.join(", ")) };
    // One more than allowed, so that too many are noticed.
    let limit = bounds.rows_max.saturating_add(1);
    let encoded = format!("{before}SELECT {texts} FROM ({sql}\n) AS ordain_result{names} LIMIT {limit}");
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
        let mut values = Row::default();
        for (place, (name, storage)) in columns.iter().enumerate() {
            let text: Option<String> = row.try_get(place).map_err(query_error)?;
            bytes += text.as_ref().map_or(4, String::len) as u64 + name.len() as u64;
            let value = text.map_or(Value::Null, |text| match storage.kind {
                Kind::Other => serde_json::from_str(&text).unwrap_or(Value::String(text)),
                _ => value::shown(storage, Value::String(text)),
            });
            values.fields.push((free_name(&values, name), value));
        }
        if bytes > bounds.bytes_max {
            return Err(StoreError::Limit { limit: "query_bytes_max", value: bounds.bytes_max });
        }
        found.push(values);
    }
    let mut header = Row::default();
    let mut decimals = Vec::new();
    for (name, storage) in columns {
        let name = free_name(&header, &name);
        if storage.kind == Kind::Numeric {
            decimals.push(name.clone());
        }
        header.fields.push((name, Value::Null));
    }
    let origins = match guarded.access {
        Access::Owner if !found.is_empty() => {
            origins(client, described.columns()).await.map_err(query_error)?
        }
        _ => Vec::new(),
    };
    Ok(Found { rows: found, decimals, origins })
}

/// The tables of the current schema and their columns that the columns of a result were read from.
async fn origins(
    client: &Client,
    columns: &[tokio_postgres::Column],
) -> Result<Vec<Option<(String, String)>>, tokio_postgres::Error> {
    let places = columns.iter().map(|column| column.table_oid().zip(column.column_id()));
    let places: Vec<Option<(u32, i16)>> = places.collect();
    let tables: Vec<u32> = places.iter().flatten().map(|(table, _)| *table).collect();
    let query = "SELECT c.oid, a.attnum, c.relname::text, a.attname::text FROM pg_catalog.pg_class c
        JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace AND n.nspname = current_schema()
        JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid WHERE c.oid = ANY($1)";
    let mut names = HashMap::new();
    for row in client.query(query, &[&tables]).await? {
        let place: (u32, i16) = (row.try_get(0)?, row.try_get(1)?);
        names.insert(place, (row.try_get(2)?, row.try_get(3)?));
    }
    Ok(places.into_iter().map(|place| names.get(&place?).cloned()).collect())
}

fn locking(tables: &[String]) -> String {
    format!("LOCK TABLE ONLY {} IN ACCESS SHARE MODE", tables.join(", ONLY "))
}

/// How the values of a result's column are read.
fn storage(column_type: &Type) -> Storage {
    let kind = match *column_type {
        Type::INT2 | Type::INT4 | Type::INT8 => Kind::Integer,
        Type::FLOAT4 | Type::FLOAT8 => Kind::Double,
        Type::NUMERIC => Kind::Numeric,
        Type::BOOL => Kind::Boolean,
        Type::JSON | Type::JSONB => Kind::Json,
        Type::TEXT | Type::VARCHAR => Kind::Text,
        _ => Kind::Other,
    };
    Storage { kind, native: Some(column_type.name().to_owned()), filled: Filled::No }
}

/// A name that the row does not have: one that occurs twice is numbered, as SQLite does it.
fn free_name(row: &Row, name: &str) -> String {
    let mut free = name.to_owned();
    let mut number = 0;
    while row.get(&free).is_some() {
        number += 1;
        free = format!("{name}:{number}");
    }
    free
}
