//! How a transaction ends: reviewed, committed, held.

use ordain_types::{RunRecord, RunState};

use super::Transaction;
use crate::Answer;
use crate::changes::ChangeSet;
use crate::error::StoreError;
use crate::ledger::{self, EntryNote};
use crate::outbox;
use crate::review::{self, Review};
use crate::row_sums;
use crate::runs;

impl Transaction {
    /// Checks the rules of the tables, then every invariant, against what was changed so far.
    pub fn review(&mut self) -> Answer<'_, Review> {
        Box::pin(async move {
            let mut review = Review { diff: self.diff(), invariants: Vec::new(), violations: Vec::new() };
            if !self.has_changes() {
                return Ok(review);
            }
            review.violations = review::rules(&self.catalog, &self.changes, self.rules_lifted);
            let (store, catalog) = (&self.store, &self.catalog);
            let (results, broken) = review::invariants(
                &mut self.session,
                catalog,
                &store.invariants,
                Some((&self.changes, &store.row_wise)),
                &store.limits,
            )
            .await?;
            review.invariants = results;
            review.violations.extend(broken);
            if let Some(access) = &self.access {
                review.violations.extend(access.violation(self.changes.rows()));
                // An invariant is the owner's, and may show rows that this caller may not see.
                review.invariants.iter_mut().for_each(|result| result.rows.clear());
                review.violations.iter_mut().for_each(|violation| violation.rows.clear());
            }
            Ok(review)
        })
    }

    /// Commits the changes, the run's record and its ledger entry together. Before that everything is reviewed, and
    /// a violation rolls back.
    ///
    /// A run that changed nothing is recorded as answered, after its transaction has ended, so that a reader never
    /// waits for a writer.
    pub fn commit(self, mut record: RunRecord, note: EntryNote) -> Answer<'static, RunRecord> {
        Box::pin(async move {
            if !self.has_changes() {
                let store = self.store.clone();
                self.session.roll_back().await?;
                record.state = RunState::without_changes(record.status.as_deref());
                record.calls = self.calls;
                return runs::record(&store, record, None, note).await;
            }
            let store = self.store.clone();
            store.pool.together(Box::pin(self.commit_changes(record, note))).await
        })
    }

    async fn commit_changes(
        mut self,
        mut record: RunRecord,
        note: EntryNote,
    ) -> Result<RunRecord, StoreError> {
        let review = self.review().await?;
        if !review.violations.is_empty() {
            self.session.roll_back().await?;
            return Err(StoreError::Violated { violations: review.violations });
        }
        record.state = RunState::Committed;
        record.diff = review.diff;
        record.calls.clone_from(&self.calls);
        record.invariants = review.invariants;
        self.commit_as(record.kind.as_str(), record, note).await
    }

    /// Commits what was reviewed, with an entry of the given kind.
    pub(crate) async fn commit_as(
        mut self,
        kind: &str,
        record: RunRecord,
        note: EntryNote,
    ) -> Result<RunRecord, StoreError> {
        let touched = self.changes.touched().map(|(table, ..)| self.catalog.at(table).table.name.as_str());
        self.store.check_schema(&mut self.session, &touched.collect()).await?;
        self.session.order().await?;
        self.note_ids().await?;
        let changes = self.change_set();
        let record = runs::with_receipt(record);
        let (store, session) = (&self.store, &mut self.session);
        runs::write(session, &record, Some(&changes), kind, &note).await?;
        if record.state == RunState::Committed {
            outbox::put(session, &record, 0, &store.clock.timestamp()).await?;
        }
        let tail = store.ledger.tail(session).await?;
        let (before, sums) = row_sums::advance(&store.ledger, &tail, &self.catalog, &changes);
        let plan = note.plan.clone();
        let mut entry = runs::entry(kind, &record, Some(&changes), note);
        entry.content["rows_before"] = serde_json::json!(before);
        entry.content["rows"] = serde_json::json!(sums);
        let (entry, checkpoint) = store.ledger.next(&tail, session.dialect(), &store.clock, entry);
        let kept = row_sums::keep(&store.ledger, session.dialect(), checkpoint.seq, &sums);
        ledger::write_entry(session, vec![entry, kept]).await?;
        let upkeep = runs::Upkeep { plan, changed: Some(checkpoint.seq) };
        upkeep.with_run(session, &store.clock).await?;
        let committed = self.session.commit().await;
        store.settle(committed, &checkpoint, record.run_id.as_str()).await?;
        store.ledger.remember(&checkpoint);
        upkeep.after_run(store).await;
        Ok(record)
    }

    /// Rolls back and keeps the diff for approval.
    pub fn hold(mut self, mut record: RunRecord, note: EntryNote) -> Answer<'static, RunRecord> {
        Box::pin(async move {
            let review = self.review().await?;
            let (changes, is_changed) = (self.change_set(), self.has_changes());
            let store = self.store.clone();
            self.session.roll_back().await?;
            if !review.violations.is_empty() {
                return Err(StoreError::Violated { violations: review.violations });
            }
            let unchanged = RunState::without_changes(record.status.as_deref());
            record.state = if is_changed { RunState::Held } else { unchanged };
            record.diff = review.diff;
            record.calls = self.calls;
            record.invariants = review.invariants;
            runs::record(&store, record, Some(changes), note).await
        })
    }

    fn change_set(&self) -> ChangeSet {
        self.changes.change_set(&self.catalog)
    }
}
