//! A connection that counts what is written through it.

use std::collections::HashMap;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::Connection;

use crate::error::StoreError;
use crate::session::tally::{Operations, Tally};
use crate::sql::Sql;

/// What SQLite counts as changed without saying in which table: those without row numbers.
const UNNAMED: &str = "a table without row numbers";

/// A connection, and the account of its transaction.
#[derive(Debug)]
pub(super) struct Linked {
    connection: Connection,
    /// Counted by the update hook since the connection was opened.
    hooked: Arc<Mutex<HashMap<String, i64>>>,
    tally: Tally,
}

impl Linked {
    pub(super) fn new(mut connection: Connection) -> rusqlite::Result<Self> {
        let hooked = Arc::<Mutex<HashMap<String, i64>>>::default();
        let counts = Arc::clone(&hooked);
        connection.update_hook(Some(move |_, _: &str, table: &str, _| {
            let mut counts = counts.lock().unwrap_or_else(PoisonError::into_inner);
            match counts.get_mut(table) {
                Some(count) => *count += 1,
                None => drop(counts.insert(table.to_owned(), 1)),
            }
        }))?;
        Ok(Self { connection, hooked, tally: Tally::default() })
    }

    pub(super) fn begin_tally(&mut self) {
        self.tally.begin(self.counted());
    }

    /// Notes how many rows one of our statements wrote itself.
    pub(super) fn report(&mut self, sql: &Sql, rows: usize) {
        if let Some(table) = sql.target() {
            self.tally.report(table, rows);
        }
    }

    /// What was counted since the last time was rolled back.
    pub(super) fn forget(&mut self) {
        self.tally.excuse(self.counted());
    }

    /// Does what needs no account: it is rolled back, or defines tables.
    pub(super) fn excused<R>(&mut self, work: impl FnOnce(&mut Self) -> R) -> R {
        self.tally.count(self.counted());
        let done = work(self);
        self.tally.excuse(self.counted());
        done
    }

    pub(super) fn expect(&mut self, writes: &Operations, times: i64) {
        self.tally.expect(writes, times);
    }

    pub(super) fn account(&mut self) {
        self.tally.count(self.counted());
    }

    pub(super) fn allow(&mut self) {
        self.account();
        self.tally.allow();
    }

    pub(super) fn check(&mut self) -> Result<(), StoreError> {
        self.account();
        self.tally.check()
    }

    pub(super) fn by_triggers(&self) -> &Operations {
        self.tally.by_triggers()
    }

    fn counted(&self) -> Operations {
        let hooked = self.hooked.lock().unwrap_or_else(PoisonError::into_inner);
        let mut counted: Operations = hooked.iter().map(|(table, count)| (table.clone(), *count)).collect();
        let total = i64::try_from(self.connection.total_changes()).unwrap_or(i64::MAX);
        let unnamed = total - hooked.values().sum::<i64>();
        counted.insert(UNNAMED.to_owned(), unnamed);
        counted
    }
}

impl Deref for Linked {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.connection
    }
}

impl DerefMut for Linked {
    fn deref_mut(&mut self) -> &mut Connection {
        &mut self.connection
    }
}
