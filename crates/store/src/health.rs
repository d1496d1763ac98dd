//! Whether the database itself is sound, and how runs that write get on with each other.

use std::sync::atomic::Ordering;

use crate::Answer;
use crate::session::{COMMITTING, Intent};
use crate::sql::Dialect;
use crate::store::Store;

/// How runs that write get on with each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WriterFigures {
    /// Tries of this process that began because another run had got in the way of the one before.
    pub started_again: u64,
    /// Commits of all processes that are on their way to the disk; always none on SQLite, which has one writer.
    pub commits_in_flight: u64,
    /// The most commits of this process that were on their way to the disk at once. Every commit is counted, so that none is
    /// missed between two looks.
    pub commits_in_flight_max: u64,
}

impl Store {
    /// Counts a run that starts again because another one had got in its way.
    pub fn count_started_again(&self) {
        self.inner().started_again.fetch_add(1, Ordering::Relaxed);
    }

    /// Refuses where something committed now might not stay: its files are others, the disk took no flush, or the ledger's
    /// end cannot be written down. What failed before is tried again.
    pub fn check(&self) -> Answer<'_, ()> {
        Box::pin(async move {
            self.inner().pool.check().await?;
            self.inner().ledger.must_be_kept()
        })
    }

    /// How runs that write get on with each other.
    pub fn writers(&self) -> Answer<'_, WriterFigures> {
        Box::pin(async move {
            let started_again = self.inner().started_again.load(Ordering::Relaxed);
            let commits_in_flight_max = self.inner().pool.most_commits();
            let mut session = self.inner().pool.session().await?;
            if session.dialect() == Dialect::Sqlite {
                return Ok(WriterFigures { started_again, commits_in_flight: 0, commits_in_flight_max });
            }
            let mut sql = session.sql("SELECT ");
            sql.result("count(*)").push(" FROM pg_catalog.pg_stat_activity WHERE state = 'active' AND ");
            sql.push("datname = current_database() AND starts_with(query, ").text_param(COMMITTING).push(")");
            let rows = session.read(sql).await?;
            let count = rows.first().and_then(|row| row[0].as_integer()).unwrap_or_default();
            let commits_in_flight = u64::try_from(count).unwrap_or_default();
            Ok(WriterFigures { started_again, commits_in_flight, commits_in_flight_max })
        })
    }

    /// What the database says of its own pages; nothing, if they are sound. PostgreSQL has tools of its own for that.
    pub fn damaged_pages(&self) -> Answer<'_, Vec<String>> {
        Box::pin(async move {
            let mut session = self.inner().pool.begin(Intent::Read).await?;
            if session.dialect() == Dialect::Postgres {
                return Ok(Vec::new());
            }
            let sql = session.sql("SELECT integrity_check FROM pragma_integrity_check");
            let rows = session.read(sql).await?;
            session.roll_back().await?;
            let told = rows.iter().filter_map(|row| row[0].as_text()).filter(|told| *told != "ok");
            Ok(told.map(str::to_owned).collect())
        })
    }
}
