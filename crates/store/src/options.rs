//! How a store is opened: where the data lies, what the workspace declares, what may not be passed.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use ordain_types::{ColumnType, Reference};

use crate::fault::Faults;
use crate::seed::SeedReader;

/// Everything that [`crate::Store::open`] needs to know.
#[derive(Debug, Clone)]
pub struct StoreOptions {
    /// Where the rows are.
    pub database: Database,
    /// Folder for the ledger's key and checkpoint: the workspace's `.ordain`.
    pub state: PathBuf,
    /// Where the ledger's checkpoint is kept; in `state` if it is not said. Best on another disk than the database.
    pub checkpoint: Option<PathBuf>,
    /// The folder of all nodes where the content of files is; in the database if it is not said.
    pub files: Option<PathBuf>,
    /// Open a database whose ledger does not end as its checkpoint says, to look at it or to accept it. Nothing else can
    /// be written then.
    pub allow_older: bool,
    /// The role under which plan SQL runs on PostgreSQL, where the owner made one.
    pub plan_role: Option<String>,
    /// The tables that the workspace declares.
    pub tables: Vec<TableDeclaration>,
    /// Reads the seeds that are not JSON.
    pub seeds: Option<Arc<dyn SeedReader>>,
    /// Queries that must return no row before a commit.
    pub invariants: Vec<Invariant>,
    /// Columns that name rows of another table, and the columns that they name them by.
    pub references: Vec<[Reference; 2]>,
    /// What may not be passed.
    pub limits: StoreLimits,
    /// Where the time comes from.
    pub clock: Clock,
    /// Makes operations fail, in tests.
    pub faults: Option<Arc<dyn Faults>>,
}

impl StoreOptions {
    /// A store over an SQLite file in `state`, without tables.
    pub fn sqlite(state: impl Into<PathBuf>) -> Self {
        let state = state.into();
        Self::new(Database::Sqlite { path: state.join("store.db") }, state)
    }

    /// A store over a PostgreSQL database, without declarations.
    pub fn postgres(url: &str, state: impl Into<PathBuf>) -> Self {
        Self::new(Database::Postgres { url: Secret(url.to_owned()), only: None }, state.into())
    }

    fn new(database: Database, state: PathBuf) -> Self {
        Self {
            database,
            state,
            checkpoint: None,
            files: None,
            allow_older: false,
            plan_role: None,
            tables: Vec::new(),
            seeds: None,
            invariants: Vec::new(),
            references: Vec::new(),
            limits: StoreLimits::default(),
            clock: Clock::default(),
            faults: None,
        }
    }
}

/// Where the rows are.
#[derive(Debug, Clone)]
pub enum Database {
    /// A file; it is made when it is missing.
    Sqlite {
        /// The file.
        path: PathBuf,
    },
    /// A database whose tables are used in place. Ordain's own tables are in its schema `ordain`.
    Postgres {
        /// A connection string, with its password.
        url: Secret,
        /// The tables that plans may see; all of the current schema when absent.
        only: Option<Vec<String>>,
    },
}

/// Text that is never printed.
#[derive(Clone)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret(…)")
    }
}

/// What a workspace says of one table.
#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "one for each rule that the owner may write down")]
pub struct TableDeclaration {
    /// The table's name.
    pub name: String,
    /// The file with its first rows.
    pub seed: Option<PathBuf>,
    /// The columns that identify a row.
    pub key: Vec<String>,
    /// Columns whose type is declared; the others are inferred from the seed.
    pub columns: BTreeMap<String, ColumnDeclaration>,
    /// Column lists to index, besides the key.
    pub indexes: Vec<Vec<String>>,
    /// Rows may be added, never changed or removed.
    pub append_only: bool,
    /// Nothing may be written.
    pub read_only: bool,
    /// Plans may neither see nor write it; invariants may read it.
    pub hidden: bool,
    /// Columns that plans may not see.
    pub hidden_columns: Vec<String>,
    /// How many rows of this table one run may touch.
    pub max_rows_changed: Option<u64>,
    /// What triggers of the table write besides is counted, and not a reason to refuse the run.
    pub allows_triggers: bool,
}

/// What a workspace says of one column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColumnDeclaration {
    /// What it holds.
    pub column_type: ColumnType,
    /// Whether a row may leave it out.
    pub nullable: bool,
}

/// A query that must return no row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invariant {
    /// What it promises, in words.
    pub name: String,
    /// The query.
    pub sql: String,
}

/// What one transaction may not pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoreLimits {
    /// Rows touched by one transaction, over all tables.
    pub rows_changed_max: u64,
    /// Bytes of one row.
    pub row_bytes_max: u64,
    /// Bytes of all before and after images of one transaction.
    pub images_bytes_max: u64,
    /// Rows in one page of a scan.
    pub page_rows_max: u64,
    /// Bytes in one page of a scan; a single larger row still makes a page.
    pub page_bytes_max: u64,
    /// Rows that one `db.query` may return.
    pub query_rows_max: u64,
    /// Bytes that one `db.query` may return.
    pub query_bytes_max: u64,
    /// Bytes of one value in a `db.query`, those in between included. Longer ones are read through the tables.
    pub query_value_bytes_max: u64,
    /// How long one `db.query` or one invariant may take.
    pub query_wall: Duration,
    /// Parts of one condition.
    pub condition_parts_max: u64,
    /// How long to wait for another writer.
    pub lock_wait: Duration,
    /// How long one run may keep others from writing; for a moment if that is another caller.
    pub lock_hold: Duration,
    /// Connections of this process.
    pub connections_max: u32,
    /// How long an idempotency key stays with a run that does not finish.
    pub claim_lease: Duration,
}

impl Default for StoreLimits {
    fn default() -> Self {
        const MIB: u64 = 1024 * 1024;
        Self {
            rows_changed_max: 1_000_000,
            row_bytes_max: 16 * MIB,
            images_bytes_max: 1024 * MIB,
            page_rows_max: 1000,
            page_bytes_max: MIB,
            query_rows_max: 100_000,
            query_bytes_max: 32 * MIB,
            query_value_bytes_max: 2 * MIB,
            query_wall: Duration::from_secs(10),
            condition_parts_max: 2000,
            lock_wait: Duration::from_secs(15),
            lock_hold: Duration::from_secs(5),
            connections_max: 16,
            claim_lease: Duration::from_mins(10),
        }
    }
}

/// Where the time comes from, so that a test can set it.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> u64 + Send + Sync>);

impl Clock {
    /// A clock that reads milliseconds since 1970 from a function.
    pub fn new(unix_millis: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        Self(Arc::new(unix_millis))
    }

    /// Milliseconds since 1970.
    pub fn unix_millis(&self) -> u64 {
        (self.0)()
    }

    /// The time as it is written in records.
    pub fn timestamp(&self) -> String {
        ordain_types::format_unix_millis(self.unix_millis())
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::new(|| {
            let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
            u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
        })
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Clock")
    }
}
