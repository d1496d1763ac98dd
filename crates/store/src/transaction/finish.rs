//! How a transaction ends: reviewed, committed, held.

use std::sync::Arc;

use ordain_types::{Diff, RunRecord, RunState};

use super::Transaction;
use crate::Answer;
use crate::changes::ChangeSet;
use crate::error::StoreError;
use crate::ledger::{self, EntryNote};
use crate::outbox;
use crate::review::{self, Review};
use crate::row_history;
use crate::row_sums;
use crate::runs;

impl Transaction {
    /// Checks the rules of the tables, then every invariant, against what was changed so far.
    pub fn review(&mut self) -> Answer<'_, Review> {
        Box::pin(async move {
            let mut review = Review { diff: Diff::default(), invariants: Vec::new(), violations: Vec::new() };
            if !self.has_changes() {
                return Ok(review);
            }
            self.see_triggers().await?;
            review.diff = self.diff();
            review.violations =
                review::rules(&self.catalog, &self.changes, self.rules_lifted, &self.rows_before);
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
                review.violations.extend(
                    access.violation(
                        self.rows_before.values().sum::<u64>().saturating_add(self.changes.rows()),
                    ),
                );
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
            let (store, seen) = (self.store.clone(), self.eyes());
            store.pool.together(Box::pin(self.commit_changes(record, note))).await.map(seen)
        })
    }

    async fn commit_changes(
        mut self,
        mut record: RunRecord,
        note: EntryNote,
    ) -> Result<RunRecord, StoreError> {
        self.session.check_writes().await?;
        let review = self.review().await?;
        if !review.violations.is_empty() {
            self.session.roll_back().await?;
            return Err(StoreError::Violated { violations: review.violations });
        }
        record.state = RunState::Committed;
        record.diff = self.changes.diff(&self.whole);
        record.calls.clone_from(&self.calls);
        record.invariants = review.invariants;
        Box::pin(self.commit_as(record.kind.as_str(), record, note)).await
    }

    /// Commits what was reviewed, with an entry of the given kind.
    pub(crate) async fn commit_as(
        self,
        kind: &str,
        record: RunRecord,
        note: EntryNote,
    ) -> Result<RunRecord, StoreError> {
        self.commit_all(kind, record, Vec::new(), note).await
    }

    /// Commits with the record of a run, whose entry says what was changed, and with those of others that it settles too.
    pub(crate) async fn commit_all(
        mut self,
        kind: &str,
        mut record: RunRecord,
        others: Vec<RunRecord>,
        note: EntryNote,
    ) -> Result<RunRecord, StoreError> {
        self.session.order().await?;
        self.note_ids().await?;
        let changes = self.change_set();
        self.session.check_writes().await?;
        let by_triggers = self.session.by_triggers();
        record.by_triggers =
            by_triggers.iter().map(|(table, rows)| (table.clone(), rows.unsigned_abs())).collect();
        let record = runs::with_receipt(record);
        let (store, session) = (&self.store, &mut self.session);
        runs::write(session, &record, Some(&changes), kind, &note).await?;
        if record.state == RunState::Committed {
            outbox::put(session, &record, 0, &store.clock.timestamp()).await?;
        }
        let tail = store.ledger.tail(session).await?;
        let (before, mut sums) = row_sums::advance(&store.ledger, &tail, &self.catalog, &changes);
        // What triggers wrote is not known row by row.
        sums.retain(|table, _| by_triggers.keys().all(|written| !names_table(written, table)));
        let plan = note.plan.clone();
        let (who, through) = (note.who.clone(), note.through.clone());
        let mut entry = runs::entry(kind, &record, Some(&changes), note);
        entry.content["rows_before"] = serde_json::json!(before);
        entry.content["rows"] = serde_json::json!(sums);
        let (entry, mut checkpoint) = store.ledger.next(&tail, session.dialect(), &store.clock, entry);
        let kept = row_sums::keep(&store.ledger, session.dialect(), checkpoint.seq, &sums);
        let touched = row_history::note(session.dialect(), &self.catalog, &record.run_id, &changes);
        ledger::write_entry(session, [entry, kept].into_iter().chain(touched).collect()).await?;
        for other in others {
            let (other, unchanged) = (runs::with_receipt(other), ChangeSet::default());
            let note = EntryNote::by(&who, &through);
            runs::write(session, &other, Some(&unchanged), kind, &note).await?;
            let tail = store.ledger.tail(session).await?;
            let entry = runs::entry(kind, &other, Some(&unchanged), note);
            let (entry, next) = store.ledger.next(&tail, session.dialect(), &store.clock, entry);
            ledger::write_entry(session, vec![entry]).await?;
            checkpoint = next;
        }
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
            self.session.check_writes().await?;
            let review = self.review().await?;
            let (changes, is_changed) = (self.change_set(), self.has_changes());
            let (store, seen) = (self.store.clone(), self.eyes());
            record.diff = self.changes.diff(&self.whole);
            self.session.roll_back().await?;
            if !review.violations.is_empty() {
                return Err(StoreError::Violated { violations: review.violations });
            }
            let unchanged = RunState::without_changes(record.status.as_deref());
            record.state = if is_changed { RunState::Held } else { unchanged };
            record.calls = self.calls;
            record.invariants = review.invariants;
            runs::record(&store, record, Some(changes), note).await.map(seen)
        })
    }

    /// What makes of a record what the caller sees of it.
    fn eyes(&self) -> impl FnOnce(RunRecord) -> RunRecord + Send + 'static {
        let (access, whole) = (self.access.clone(), Arc::clone(&self.whole));
        move |record| match access {
            None => record,
            Some(access) => access.seen(whole, record),
        }
    }

    /// Reads the rows again that were written, where triggers wrote after the run.
    async fn see_triggers(&mut self) -> Result<(), StoreError> {
        if self.session.by_triggers().is_empty() {
            return Ok(());
        }
        for (place, doc_ids) in self.changes.present() {
            let relation = Arc::clone(self.catalog.at(place));
            let images = self.images(place, &relation, doc_ids.clone()).await?;
            self.changes.refresh(place, &doc_ids, images);
        }
        Ok(())
    }

    fn change_set(&self) -> ChangeSet {
        self.changes.change_set(&self.catalog)
    }
}

/// Whether the database's name of a table, which may begin with its schema, is that of a kept table.
fn names_table(written: &str, table: &str) -> bool {
    written.rsplit('.').next() == Some(table)
}
