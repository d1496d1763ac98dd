//! One transaction: the only way to read and write rows.
//!
//! A [`Transaction`] is used up by [`Transaction::commit`]; dropped before that, it rolls back. It keeps an image of
//! every row before and after, so that at any moment the diff is what the transaction did, on either database.

mod finish;
mod followers;
mod ids;
mod read;
mod write;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ordain_types::{Call as OutsideCall, Diff, RunId};
use serde_json::Value;

use crate::Answer;
use crate::access::Access;
use crate::catalog::{self, Catalog};
use crate::changes::Changes;
use crate::error::StoreError;
use crate::protocol::{Call, Reply, TableView};
use crate::query;
use crate::relation::Relation;
use crate::row_sums;
use crate::session::{Bounds, Intent, Session};
use crate::sql::Dialect;
use crate::store::{Inner, Seen};
pub(crate) use ids::note_of_seed;

/// How often a transaction begins again because the tables were changed meanwhile.
const BEGINS_MAX: usize = 5;

/// One open transaction of one run.
#[derive(Debug)]
pub struct Transaction {
    pub(crate) store: Arc<Inner>,
    /// The tables as they were when the transaction began.
    pub(crate) catalog: Arc<Catalog>,
    /// The same without the limits of the caller: what is kept of the run has them as little as the database.
    whole: Arc<Catalog>,
    /// What the schema was compared by then.
    schema_version: String,
    /// The tables that stay as they are until its end, by their names in SQL.
    locked: BTreeSet<String>,
    pub(crate) session: Session,
    pub(crate) changes: Changes,
    /// What the run calls outside of the tables.
    calls: Vec<OutsideCall>,
    pub(crate) run_id: RunId,
    /// Set by an error after which the database's own state is not certain. Nothing but a roll-back follows.
    broken: bool,
    /// What the caller may see and change, where it has limits of its own.
    pub(crate) access: Option<Arc<Access>>,
    /// Whether the calls are those of a verb that the caller was given.
    pub(crate) in_given_verb: bool,
    /// Undo and approval write what a plan may not.
    pub(crate) rules_lifted: bool,
    /// Rows of each table that runs of the same request changed before this one.
    pub(crate) rows_before: BTreeMap<String, u64>,
    /// The tables that queries may name, where they may not name all.
    queried: Option<Catalog>,
    /// The largest number of the keys that were given for new rows, by table.
    ids: BTreeMap<usize, i64>,
    /// How long it waited for others to write, until that was counted.
    waited: Duration,
}

/// A transaction, the tables as it sees them, and which of them it has locked.
struct Begun {
    session: Session,
    seen: Seen,
    locked: BTreeSet<String>,
}

/// Begins over some tables, or over all.
///
/// A transaction of PostgreSQL sees the rows of one moment, and tables as they are at any: so they are kept as they are
/// before that moment. Where they are others than those that were known, it begins again with these.
async fn begun(
    store: &Arc<Inner>,
    intent: Intent,
    tables: Option<&BTreeSet<String>>,
) -> Result<Begun, StoreError> {
    for _ in 0..BEGINS_MAX {
        let known = store.catalog();
        let locks = known.lockable(tables);
        let mut session = match store.pool.begin_over(intent, &locks).await {
            Ok(session) => session,
            // One of them may be gone.
            Err(error) => {
                store.refresh().await?;
                if Arc::ptr_eq(&known, &store.catalog()) {
                    return Err(error);
                }
                continue;
            }
        };
        let seen = store.catalog_of(&mut session).await?;
        if !store.pool.has_many_writers() || seen.catalog.lockable(tables) == locks {
            return Ok(Begun { session, seen, locked: locks.into_iter().collect() });
        }
        session.roll_back().await?;
    }
    Err(StoreError::Conflict)
}

impl Transaction {
    pub(crate) async fn begin(store: &Arc<Inner>, run_id: RunId, intent: Intent) -> Result<Self, StoreError> {
        Self::begin_on(store, run_id, intent, None).await
    }

    /// Begins a transaction that touches these tables and hardly any other.
    pub(crate) async fn begin_on(
        store: &Arc<Inner>,
        run_id: RunId,
        intent: Intent,
        tables: Option<&BTreeSet<String>>,
    ) -> Result<Self, StoreError> {
        let waiting = Instant::now();
        let Begun { session, seen, locked } = begun(store, intent, tables).await?;
        Ok(Self {
            waited: waiting.elapsed(),
            whole: Arc::clone(&seen.catalog),
            catalog: seen.catalog,
            schema_version: seen.version,
            locked,
            store: Arc::clone(store),
            session,
            changes: Changes::default(),
            calls: Vec::new(),
            run_id,
            broken: false,
            access: None,
            in_given_verb: false,
            rules_lifted: false,
            rows_before: BTreeMap::new(),
            queried: None,
            ids: BTreeMap::new(),
        })
    }

    /// The run that this transaction belongs to.
    pub fn run_id(&self) -> &RunId {
        &self.run_id
    }

    /// The name of the database whose SQL queries are written in.
    pub fn database(&self) -> &'static str {
        match self.session.dialect() {
            Dialect::Sqlite => "SQLite",
            Dialect::Postgres => "PostgreSQL",
        }
    }

    /// How long it waited for others to write. It is given once: the first program that runs in it counts it.
    pub fn take_waited(&mut self) -> Duration {
        std::mem::take(&mut self.waited)
    }

    /// Ends when this transaction has kept other writers waiting for longer than it may. The run is to be given up then.
    pub fn overdue(&self) -> Answer<'static, std::convert::Infallible> {
        let overdue = self.session.overdue();
        Box::pin(async move { Err(overdue.await) })
    }

    /// What was changed so far.
    pub fn diff(&self) -> Diff {
        self.changes.diff(&self.catalog)
    }

    /// Whether anything was changed so far, or is to be called after the commit.
    pub fn has_changes(&self) -> bool {
        self.changes.touched().next().is_some() || self.calls.iter().any(OutsideCall::is_later)
    }

    /// Counts what runs of the same request changed before: limits hold for all of them together.
    pub fn count_before(&mut self, rows: BTreeMap<String, u64>) {
        self.rows_before = rows;
    }

    /// Notes a call: one that was made, or one that is sent after the commit. Its place in the run is set here.
    pub fn note_call(&mut self, mut call: OutsideCall) -> u32 {
        call.n = u32::try_from(self.calls.len() + 1).unwrap_or(u32::MAX);
        let n = call.n;
        self.calls.push(call);
        n
    }

    /// The calls that were noted.
    pub fn calls(&self) -> &[OutsideCall] {
        &self.calls
    }

    /// Lets `db.query` see these tables and no others; `None`: every table that plans see.
    pub fn let_queries_see(&mut self, tables: Option<&BTreeSet<String>>) {
        self.queried = tables.map(|tables| self.catalog.only(tables));
    }

    /// Carries out a call that a cell sent: an operation's name and its arguments.
    ///
    /// An error that [`StoreError::is_callers`] leaves the transaction as it was before the call, and usable. After
    /// any other error it can only be rolled back.
    pub fn call<'a>(&'a mut self, op: &'a str, args: Value) -> Answer<'a, Value> {
        Box::pin(async move {
            let call = Call::parse(op, args)?;
            self.carry_out(call).await.map(Reply::into_value)
        })
    }

    /// Carries out one call of the table interface.
    pub fn carry_out(&mut self, call: Call) -> Answer<'_, Reply> {
        Box::pin(async move {
            if self.broken {
                return Err(StoreError::Database {
                    message: "the transaction was given up after an error".to_owned(),
                });
            }
            // If the caller goes away in the middle, what was written may not have been noted.
            self.broken = true;
            let result = self.dispatch(call).await;
            self.broken = result.as_ref().is_err_and(|error| !error.is_callers());
            result
        })
    }

    /// The version of the rows that this transaction sees, as [`crate::Store::data_version`] gives that of the newest.
    pub fn data_version(&mut self) -> Answer<'_, u64> {
        Box::pin(row_sums::version(&mut self.session))
    }

    /// Rolls back and waits until that is done.
    pub fn roll_back(self) -> Answer<'static, ()> {
        Box::pin(async move { self.session.roll_back().await })
    }

    async fn dispatch(&mut self, call: Call) -> Result<Reply, StoreError> {
        if let Some(access) = self.access.as_ref().filter(|_| !self.in_given_verb) {
            access.allows(&call)?;
        }
        match call {
            Call::Tables {} => Ok(self.tables()),
            Call::Search { table, condition, after, as_of, limit } => {
                let search = read::Search { condition, after, as_of, limit };
                self.search(&table, search).await.map(Reply::Rows)
            }
            Call::Get { table, doc_ids } => self.get(&table, doc_ids).await.map(Reply::Rows),
            Call::Count { table, condition } => self.count(&table, condition).await,
            Call::Insert { table, rows, doc_ids } => self.insert(&table, rows, doc_ids).await,
            Call::Update { table, target, set, unset } => self.update(&table, target, set, unset).await,
            Call::UpdateRows { table, rows } => self.update_rows(&table, rows).await,
            Call::Upsert { table, condition, row } => self.upsert(&table, condition, row).await,
            Call::Remove { table, target } => self.remove(&table, target).await,
            Call::NextId { table } => self.next_id(&table).await,
            Call::Query { sql, params } => self.query(&sql, &params).await,
        }
    }

    fn tables(&self) -> Reply {
        let view = |relation: &Relation| TableView {
            name: relation.table.name.clone(),
            columns: relation
                .visible_columns()
                .map(|(_, column)| (column.name.clone(), column.column_type))
                .collect(),
            key: relation.table.key.clone(),
            read_only: relation.table.read_only || relation.read_only_reason.is_some(),
            append_only: relation.table.append_only,
        };
        let visible = self.catalog.relations().filter(|relation| !relation.table.hidden);
        Reply::Tables { tables: visible.map(view).collect() }
    }

    async fn query(&mut self, sql: &str, params: &Value) -> Result<Reply, StoreError> {
        if let Some(queried) = &self.queried {
            let names = queried.relations().map(|relation| relation.table.name.clone()).collect();
            self.lock(&names).await?;
        }
        let bounds = Bounds::query(&self.store.limits);
        let catalog = self.queried.as_ref().unwrap_or(&self.catalog);
        let prepared = query::prepare(catalog, self.session.dialect(), sql, params, bounds)?;
        let found = self.session.guarded(prepared).await?;
        Ok(Reply::Found { rows: found.rows, decimals: found.decimals })
    }

    async fn place(&mut self, table: &str) -> Result<(usize, Arc<Relation>), StoreError> {
        let place = self.catalog.visible_place(table)?;
        self.lock(&BTreeSet::from([table.to_owned()])).await?;
        Ok((place, Arc::clone(self.catalog.at(place))))
    }

    /// Has tables stay as they are until the end, if they do not since the beginning. They may have become others since:
    /// then the run is to start again.
    pub(crate) async fn lock(&mut self, tables: &BTreeSet<String>) -> Result<(), StoreError> {
        if !self.store.pool.has_many_writers() {
            return Ok(());
        }
        let mut more = self.catalog.lockable(Some(tables));
        more.retain(|table| !self.locked.contains(table));
        if more.is_empty() {
            return Ok(());
        }
        self.session.lock_tables(&more).await?;
        if catalog::newest_version(&mut self.session).await? != self.schema_version {
            return Err(StoreError::Conflict);
        }
        self.locked.extend(more);
        Ok(())
    }
}
