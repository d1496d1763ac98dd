//! Runs that were accepted and have not ended: any node of a cluster may carry them out.
//!
//! A run is accepted in one transaction with its claim. The claim decides which node ends the run: it can be finished
//! once, so that a second node which carries out the same run rolls back.

use ordain_types::{RunId, RunKind};

use crate::Answer;
use crate::bookkeeping::own;
use crate::claims::{Claim, Taking};
use crate::error::StoreError;
use crate::session::Session;
use crate::sql::{Datum, Dialect, Sql};
use crate::store::Store;

/// Begins the claim of a run whose caller gave no idempotency key.
const OWN_CLAIM: &str = "run:";
/// Begins the owner of the files that came with a run.
const UPLOADS: &str = "upload:";
const COLUMNS: &str = "run_id, claim, kind, who, request, work, workspace, accepted_at, conversation";

/// A run that was accepted and has not ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueuedRun {
    /// Its id.
    pub run_id: RunId,
    /// The idempotency key that it holds.
    pub claim: String,
    /// What it is: `ask`, `code` …
    pub kind: RunKind,
    /// Who asked.
    pub who: String,
    /// What was asked.
    pub request: String,
    /// Everything that a node needs to carry it out; the server's own format.
    pub work: String,
    /// The fingerprint of the workspace that it was accepted for.
    pub workspace: String,
    /// When it was accepted.
    pub accepted_at: String,
    /// The conversation that it is a turn of. Its turns are carried out one after the other.
    pub conversation: Option<String>,
}

impl QueuedRun {
    /// The claim of a run whose caller gave no idempotency key.
    pub fn own_claim(run: &RunId) -> String {
        format!("{OWN_CLAIM}{run}")
    }

    /// The owner, in the store, of the files that came with a run.
    pub fn uploads(run: &RunId) -> String {
        format!("{UPLOADS}{run}")
    }
}

impl Store {
    /// The store's name, which no other store has.
    pub fn id(&self) -> Answer<'_, String> {
        Box::pin(async move {
            let mut session = self.inner().pool.session().await?;
            let meta = own(session.dialect(), "meta");
            let sql = session.sql(&format!("SELECT value FROM {meta} WHERE name = 'id'"));
            let rows = session.read(sql).await?;
            Ok(rows.first().and_then(|row| row[0].as_text()).unwrap_or_default().to_owned())
        })
    }

    /// Accepts a run, together with its claim. It is queued if, and only if, the claim is [`Claim::Taken`]. Every node
    /// sees it at once; that it outlives a crash of the database is certain after [`Self::flush`], or with any commit.
    pub fn enqueue<'a>(&'a self, run: &'a QueuedRun, fingerprint: &'a str) -> Answer<'a, Claim> {
        let (key, fingerprint) = (run.claim.as_str(), Some(fingerprint));
        let (run_id, queued) = (&run.run_id, Some(run));
        let store = self.inner();
        Box::pin(
            async move { Taking { store, key, fingerprint, run: run_id, owner: None, queued }.take().await },
        )
    }

    /// Waits until everything that was accepted before is on the disk.
    pub fn flush(&self) -> Answer<'_, ()> {
        Box::pin(async move { self.inner().pool.session().await?.flush().await })
    }

    /// An accepted run that has not ended.
    pub fn queued<'a>(&'a self, run: &'a RunId) -> Answer<'a, Option<QueuedRun>> {
        Box::pin(async move {
            let mut session = self.inner().pool.session().await?;
            let queue = own(session.dialect(), "queue");
            let mut sql = session.sql(&format!("SELECT {COLUMNS} FROM {queue} WHERE run_id = "));
            sql.text_param(run.as_str());
            Ok(session.read(sql).await?.first().map(|row| read(row)))
        })
    }

    /// The same for the node that takes it, with whether the run still holds its claim.
    pub fn taken<'a>(&'a self, run: &'a RunId) -> Answer<'a, Option<(QueuedRun, bool)>> {
        Box::pin(async move {
            let mut session = self.inner().pool.session().await?;
            let [queue, claims] = ["queue", "claims"].map(|table| own(session.dialect(), table));
            let mut sql = session.sql(&format!(
                "SELECT {COLUMNS}, (SELECT held.run_id FROM {claims} AS held WHERE held.claim = {queue}.claim \
                 AND held.run_id = {queue}.run_id AND held.finished = 0) FROM {queue} WHERE run_id = "
            ));
            sql.text_param(run.as_str());
            Ok(session.read(sql).await?.first().map(|row| (read(row), row[9].as_text().is_some())))
        })
    }

    /// Accepted runs that have not ended, the oldest first.
    pub fn queue(&self, limit: u64) -> Answer<'_, Vec<QueuedRun>> {
        Box::pin(async move {
            let mut session = self.inner().pool.session().await?;
            let queue = own(session.dialect(), "queue");
            let mut sql = session.sql(&format!("SELECT {COLUMNS} FROM {queue} ORDER BY run_id LIMIT "));
            sql.integer_param(i64::try_from(limit).unwrap_or(i64::MAX));
            Ok(session.read(sql).await?.iter().map(|row| read(row)).collect())
        })
    }

    /// How many accepted runs of a caller have not ended, on all nodes together.
    pub fn queued_by<'a>(&'a self, who: &'a str) -> Answer<'a, u64> {
        Box::pin(async move {
            let mut session = self.inner().pool.session().await?;
            let queue = own(session.dialect(), "queue");
            let mut sql = session.sql("SELECT ");
            sql.result("count(*)").push(&format!(" FROM {queue} WHERE who = ")).text_param(who);
            let rows = session.read(sql).await?;
            Ok(rows.first().and_then(|row| row[0].as_integer()).unwrap_or_default().unsigned_abs())
        })
    }

    /// The turn of a conversation that is to be carried out now: the one that was accepted first.
    pub fn next_turn<'a>(&'a self, conversation: &'a str) -> Answer<'a, Option<QueuedRun>> {
        Box::pin(async move {
            let mut session = self.inner().pool.session().await?;
            let queue = own(session.dialect(), "queue");
            let mut sql = session.sql(&format!("SELECT {COLUMNS} FROM {queue} WHERE conversation = "));
            // Clocks of nodes differ; the database counts rows as they come.
            let place = if session.dialect() == Dialect::Postgres { "place" } else { "rowid" };
            sql.text_param(conversation).push(&format!(" ORDER BY {place} LIMIT 1"));
            Ok(session.read(sql).await?.first().map(|row| read(row)))
        })
    }

    /// Removes files that came with runs which were never accepted, or have ended, so many milliseconds ago.
    pub fn forget_uploads(&self, older_than_ms: u64) -> Answer<'_, ()> {
        Box::pin(async move {
            let owners = {
                let mut session = self.inner().pool.session().await?;
                let [queue, files] = ["queue", "files"].map(|table| own(session.dialect(), table));
                let until = self.inner().clock.unix_millis().saturating_sub(older_than_ms);
                let mut sql = session.sql(&format!(
                    "SELECT DISTINCT owner FROM {files} WHERE owner LIKE '{UPLOADS}%' AND made_ms <= "
                ));
                sql.integer_param(i64::try_from(until).unwrap_or(i64::MAX));
                sql.push(&format!(
                    " AND NOT EXISTS (SELECT 1 FROM {queue} WHERE '{UPLOADS}' || run_id = owner)"
                ));
                session.read(sql).await?
            };
            for owner in owners {
                self.remove_files(owner[0].as_text().unwrap_or_default()).await?;
            }
            Ok(())
        })
    }

    /// Takes a run off that ends without a record. Its claim is given back.
    pub fn dequeue<'a>(&'a self, run: &'a RunId) -> Answer<'a, ()> {
        Box::pin(async move {
            // The rows are this run's alone, so that nobody has to wait meanwhile.
            let mut session = self.inner().pool.session().await?;
            let [queue, claims] = ["queue", "claims"].map(|table| own(session.dialect(), table));
            let mut sql = session.sql(&format!("DELETE FROM {queue} WHERE run_id = "));
            sql.text_param(run.as_str());
            session.write(sql).await?;
            // The run's own claim cannot be sent again, and an unfinished claim belongs to no process any more.
            let mut sql = session.sql(&format!("DELETE FROM {claims} WHERE run_id = "));
            sql.text_param(run.as_str()).push(" AND (finished = 0 OR claim = ");
            sql.text_param(&QueuedRun::own_claim(run)).push(")");
            session.write(sql).await.map(drop)
        })
    }
}

/// Adds to a statement that it queues a run.
pub(crate) fn insert(sql: &mut Sql, run: &QueuedRun, now: u64) {
    let queue = own(sql.dialect, "queue");
    sql.push(&format!("INSERT INTO {queue} ({COLUMNS}, accepted_ms) SELECT "));
    for text in [run.run_id.as_str(), &run.claim, run.kind.as_str(), &run.who, &run.request, &run.work] {
        sql.text_param(text).push(", ");
    }
    sql.text_param(&run.workspace).push(", ").text_param(&run.accepted_at).push(", ");
    sql.bind(run.conversation.clone().map_or(Datum::Null, Datum::Text), "text").push(", ");
    sql.integer_param(i64::try_from(now).unwrap_or(i64::MAX));
}

/// Whether a run was accepted and has not ended.
pub(crate) async fn is_queued(session: &mut Session, run: &RunId) -> Result<bool, StoreError> {
    let queue = own(session.dialect(), "queue");
    let mut sql = session.sql(&format!("SELECT run_id FROM {queue} WHERE run_id = "));
    sql.text_param(run.as_str());
    Ok(!session.read(sql).await?.is_empty())
}

fn read(row: &[Datum]) -> QueuedRun {
    let text = |at: usize| row[at].as_text().unwrap_or_default().to_owned();
    QueuedRun {
        run_id: RunId(text(0)),
        claim: text(1),
        kind: serde_json::from_value(serde_json::Value::from(text(2))).unwrap_or(RunKind::Ask),
        who: text(3),
        request: text(4),
        work: text(5),
        workspace: text(6),
        accepted_at: text(7),
        conversation: row[8].as_text().map(str::to_owned),
    }
}
