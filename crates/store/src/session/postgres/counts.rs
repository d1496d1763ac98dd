//! What the server counts in a transaction.

use futures_util::future::try_join;

use super::{Deferred, PostgresSession, Prepared, run_one, store_error};
use crate::error::StoreError;
use crate::session::Rows;
use crate::session::tally::Operations;
use crate::sql::{Datum, Sql};

/// Rows that were inserted, updated or deleted, by table, those of the server's own tables too: a table that was made,
/// changed or truncated changes rows there. Partitions count as the table that they are parts of. What earlier transactions of this connection did may still be in it.
const COUNTS: &str = "
SELECT n.nspname || '.' || w.relname, t.operations::text, current_setting('track_counts')
FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_class w ON w.oid = CASE WHEN c.relispartition THEN pg_catalog.pg_partition_root(c.oid) ELSE c.oid END
JOIN pg_catalog.pg_namespace n ON n.oid = w.relnamespace
CROSS JOIN LATERAL (SELECT pg_catalog.pg_stat_get_xact_tuples_inserted(c.oid)
  + pg_catalog.pg_stat_get_xact_tuples_updated(c.oid) + pg_catalog.pg_stat_get_xact_tuples_deleted(c.oid)) t (operations)
WHERE c.relkind IN ('r', 'm') AND (t.operations > 0 OR c.oid = 'pg_catalog.pg_class'::regclass)";

/// What statements report, statement by statement.
pub(super) struct Reported {
    tables: Vec<(usize, String, u64)>,
}

impl Reported {
    pub(super) fn of(statements: &[Sql]) -> Self {
        let tables = statements.iter().enumerate();
        let tables = tables.filter_map(|(index, sql)| Some((index, sql.target()?.to_owned(), 0)));
        Self { tables: tables.collect() }
    }

    /// Whether none of them writes.
    pub(super) fn is_empty(&self) -> bool {
        self.tables.is_empty()
    }

    /// Notes how many rows a statement wrote, if it writes.
    pub(super) fn rows(&mut self, statement: usize, rows: u64) {
        if let Some(found) = self.tables.iter_mut().find(|(index, ..)| *index == statement) {
            found.2 = rows;
        }
    }
}

impl PostgresSession {
    /// Begins a transaction, and notes what was counted before it.
    pub(super) async fn begin_counting(&mut self, begin: &str) -> Result<(), StoreError> {
        let counts = self.prepared_counts().await?;
        self.busy = true;
        let client = self.client()?;
        let opening = client.batch_execute(begin);
        let done = try_join(opening, run_one(client, &counts.0, &counts.1, u64::MAX));
        let done = self.pool.patiently(self.server_process(), done).await;
        self.busy = false;
        let ((), (rows, ..)) = done.map_err(|error| store_error(&error))?;
        self.tally.begin(operations(&rows));
        Ok(())
    }

    /// Carries out what the server puts off to the end of a transaction, and fails where it has written anything else than
    /// the statements of this session.
    pub(in crate::session) async fn check_writes(&mut self) -> Result<(), StoreError> {
        if matches!(self.deferred, Deferred::Perhaps | Deferred::Allowed) {
            let now = self.prepare("SET CONSTRAINTS ALL IMMEDIATE", 0).await?;
            let counts = self.prepared_counts().await?;
            self.busy = true;
            let client = self.client()?;
            let done = try_join(
                run_one(client, &now, &[], u64::MAX),
                run_one(client, &counts.0, &counts.1, u64::MAX),
            );
            let done = self.pool.patiently(self.server_process(), done).await;
            self.busy = false;
            let (_, (rows, ..)) = done.map_err(|error| store_error(&error))?;
            self.tally.count(operations(&rows));
            if self.deferred == Deferred::Allowed {
                self.tally.allow();
            }
            self.deferred = Deferred::Never;
        }
        self.tally.check()
    }

    pub(in crate::session) fn expect_writes(&mut self, writes: &Operations, times: i64) {
        self.tally.expect(writes, times);
    }

    pub(in crate::session) fn by_triggers(&self) -> Operations {
        self.tally.by_triggers().clone()
    }

    /// Puts what statements reported beside what the server has counted since.
    pub(super) fn account(
        &mut self,
        reported: Reported,
        counted: &Rows,
        triggers: bool,
    ) -> Result<(), StoreError> {
        for (_, table, rows) in reported.tables {
            self.tally.report(&table, usize::try_from(rows).unwrap_or(usize::MAX));
        }
        check_is_on(counted)?;
        self.tally.count(operations(counted));
        if triggers {
            self.tally.allow();
        }
        self.deferred = match self.deferred {
            Deferred::Nothing if !triggers => Deferred::Perhaps,
            Deferred::Nothing | Deferred::Perhaps if triggers => Deferred::Allowed,
            same => same,
        };
        Ok(())
    }

    pub(super) async fn counted(&mut self) -> Result<Operations, StoreError> {
        let (statement, params) = self.prepared_counts().await?;
        let counted = run_one(self.client()?, &statement, &params, u64::MAX).await;
        let (rows, ..) = counted.map_err(|error| store_error(&error))?;
        Ok(operations(&rows))
    }

    pub(super) async fn prepared_counts(&mut self) -> Result<Prepared, StoreError> {
        Ok((self.prepare(COUNTS, 0).await?, Vec::new()))
    }
}

/// What [`COUNTS`] gave.
pub(super) fn operations(rows: &Rows) -> Operations {
    let text = |datum: &Datum| datum.as_text().unwrap_or_default().to_owned();
    let mut operations = Operations::new();
    for row in rows {
        *operations.entry(text(&row[0])).or_default() += row[1].as_integer().unwrap_or_default();
    }
    operations
}

fn check_is_on(rows: &Rows) -> Result<(), StoreError> {
    if rows.iter().any(|row| row[2].as_text() != Some("on")) {
        return Err(StoreError::Declaration {
            what: "the store".to_owned(),
            message: "the server does not count what is written (`track_counts` is off), so that what a run changed could \
                      not be checked"
                .to_owned(),
            hint: Some("set `track_counts = on` in postgresql.conf, or for this role".to_owned()),
        });
    }
    Ok(())
}
