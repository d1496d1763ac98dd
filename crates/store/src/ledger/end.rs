//! Whether the ledger's end is the one that the checkpoint knows, and what is done when a person says that it may differ.
//!
//! A chain cannot show that its end was cut off, or that the whole database is an older copy. The checkpoint can: it is
//! kept outside the database, and a database that does not have its entry is refused until somebody accepts it, with a
//! reason that is recorded in the ledger.

use std::sync::PoisonError;

use serde_json::json;

use super::key::is_signed;
use super::{
    Checkpoint, EntryNote, Ledger, LedgerEntry, LedgerFinding, LedgerReport, NewEntry, chained,
    checkpoint_message, entries, entry_message, newest,
};
use crate::Answer;
use crate::error::StoreError;
use crate::keys;
use crate::relation::Relation;
use crate::row_sums;
use crate::runs;
use crate::session::{Intent, Session};
use crate::store::{Inner, Store};

impl Ledger {
    /// What is wrong with the end of the ledger, if anything is. The checkpoint is read first: it is written after its
    /// entry, so that the entry must be there.
    pub(crate) async fn check_end(&self, session: &mut Session) -> Result<Option<String>, StoreError> {
        let checkpoint = match self.remembered() {
            Ok(Some(checkpoint)) => checkpoint,
            Ok(None) => {
                let is_new = entries(session, 0, 1).await?.is_empty();
                return Ok((!is_new).then(|| "there is no checkpoint of the ledger any more".to_owned()));
            }
            Err(StoreError::Ledger { message, .. }) => return Ok(Some(message)),
            Err(error) => return Ok(Some(error.to_string())),
        };
        if !self.is_own(&checkpoint) {
            return Ok(Some(
                "the checkpoint of the ledger is signed with another key than `ledger.key`".to_owned(),
            ));
        }
        if checkpoint.seq == 0 && self.is_of_others(session).await? {
            let message = "the newest entry of the ledger is not signed with a key that is trusted here: the database \
                           belongs to another workspace";
            return Ok(Some(message.to_owned()));
        }
        if checkpoint.seq > 0 {
            let found = entries(session, checkpoint.seq - 1, 1).await?;
            let found = found.first().filter(|entry| entry.seq == checkpoint.seq);
            if found.is_none_or(|entry| entry.hash != checkpoint.hash)
                && let Some(accepted) = self.restored_from(session, &checkpoint).await?
            {
                self.remember(&accepted);
                return Ok(None);
            }
            let Some(found) = found else {
                let message = "the database is older than the checkpoint: entry";
                return Ok(Some(format!("{message} {} is not in its ledger", checkpoint.seq)));
            };
            if found.hash != checkpoint.hash {
                return Ok(Some(format!("entry {} is not the one of the checkpoint", checkpoint.seq)));
            }
        }
        let newest = newest(session, u64::MAX, 1).await?.into_iter().find(|entry| entry.seq > checkpoint.seq);
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = Some(checkpoint);
        // A process that was ended between a commit and its checkpoint left that to the next one.
        if let Some(newest) = newest.filter(|entry| self.is_own_entry(entry)) {
            self.remember(&self.sign(newest.seq, newest.hash));
        }
        Ok(None)
    }

    /// Whether the newest entry was signed by a key that is not trusted.
    async fn is_of_others(&self, session: &mut Session) -> Result<bool, StoreError> {
        let newest = newest(session, u64::MAX, 1).await?;
        Ok(newest.first().is_some_and(|entry| !self.is_own_entry(entry)))
    }

    /// The end of a ledger that goes on from a copy, if that was accepted at this very checkpoint: a restore that was
    /// interrupted before its checkpoint was written.
    async fn restored_from(
        &self,
        session: &mut Session,
        expected: &Checkpoint,
    ) -> Result<Option<Checkpoint>, StoreError> {
        let newest = newest(session, u64::MAX, 1).await?.into_iter().next();
        let accepted = newest.filter(|entry| entry.kind == ACCEPTED && self.is_own_entry(entry));
        let is_of_it = |entry: &LedgerEntry| {
            let body: serde_json::Value = serde_json::from_str(entry.body.get()).unwrap_or_default();
            body["content"]["expected"] == json!(expected)
        };
        Ok(accepted.filter(is_of_it).map(|entry| self.sign(entry.seq, entry.hash)))
    }

    /// Whether an entry is as a key signed it that is trusted.
    fn is_own_entry(&self, entry: &LedgerEntry) -> bool {
        let body: serde_json::Value = serde_json::from_str(entry.body.get()).unwrap_or_default();
        let signer = body["signer"].as_str().unwrap_or_default();
        chained(&entry.previous, entry.body.get()) == entry.hash
            && self.key.trusted().iter().any(|trusted| trusted == signer)
            && is_signed(signer, &entry_message(&entry.hash), &entry.signature)
    }

    /// Whether a checkpoint was signed by a key that is trusted.
    fn is_own(&self, checkpoint: &Checkpoint) -> bool {
        let message = checkpoint_message(checkpoint.seq, &checkpoint.hash);
        self.key.trusted().contains(&checkpoint.signer)
            && is_signed(&checkpoint.signer, &message, &checkpoint.signature)
    }

    /// Makes every append fail until the end is accepted.
    pub(crate) fn refuse(&self, problem: String) {
        *self.refused.lock().unwrap_or_else(PoisonError::into_inner) = Some(problem);
    }

    pub(crate) fn refusal(&self) -> Option<StoreError> {
        let refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        refused.as_ref().map(|problem| not_accepted(problem))
    }

    /// Refuses to go on behind an end that this process knows not to be the end.
    pub(super) fn check_tail(&self, seq: u64, hash: &str) -> Result<(), StoreError> {
        if let Some(refusal) = self.refusal() {
            return Err(refusal);
        }
        self.must_be_kept()?;
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        match known.as_ref() {
            Some(known) if seq < known.seq || (seq == known.seq && hash != known.hash && seq > 0) => {
                let problem = format!("the ledger ends with entry {seq}, and it had entry {}", known.seq);
                Err(not_accepted(&problem))
            }
            _ => Ok(()),
        }
    }
}

/// Why a database is refused, and the recorded way to go on.
pub(crate) fn not_accepted(problem: &str) -> StoreError {
    StoreError::Ledger {
        message: problem.to_owned(),
        hint: Some(
            "put the newest database and the `ledger.key` that belongs to it back, or say `ordain ledger accept-restore --reason …` after a restore"
                .to_owned(),
        ),
    }
}

impl Store {
    /// Checks the whole ledger, then whether the rows of the tables that Ordain keeps are those of its last change, and
    /// every record and key the one of its entry.
    pub fn verify_rows(&self) -> Answer<'_, LedgerReport> {
        Box::pin(async move {
            let store = self.inner();
            // One snapshot for the ledger and the rows.
            let mut session = store.pool.begin(Intent::Read).await?;
            let mut sums = serde_json::Value::Null;
            let mut report = store.ledger.verify_with_sums(&mut session, &mut sums).await?;
            let catalog = store.catalog_of(&mut session).await?.catalog;
            for relation in catalog.relations().filter(|relation| relation.is_kept()) {
                let name = &relation.table.name;
                let message = match sums[name].as_str() {
                    Some(sum) if sum == row_sums::count(&mut session, relation).await? => continue,
                    Some(_) => format!("rows of table `{name}` were changed behind Ordain's back"),
                    None => format!(
                        "the rows of table `{name}` have no sum in the ledger; `ordain tables reseed` gives them one and replaces them by the seed, after a copy"
                    ),
                };
                report.findings.push(LedgerFinding { code: "rows", seq: None, message });
            }
            let altered = runs::altered(&store.ledger, &mut session).await?;
            let found =
                altered.into_iter().map(|message| LedgerFinding { code: "record", seq: None, message });
            report.findings.extend(found);
            let keys = keys::list(&store.ledger, &mut session).await?;
            report.findings.extend(keys.iter().filter(|key| key.altered).map(|key| {
                let message = format!("key `{}` is not the one of its ledger entry", key.key_id);
                LedgerFinding { code: "key", seq: None, message }
            }));
            session.roll_back().await?;
            Ok(report)
        })
    }

    /// Accepts the ledger's end as it is, with a reason that is recorded in it.
    pub fn accept_restore<'a>(&'a self, reason: &'a str, note: EntryNote) -> Answer<'a, Checkpoint> {
        Box::pin(async move {
            let checkpoint = accept(self.inner(), reason, note).await?;
            self.inner().ledger.write(&checkpoint);
            Ok(checkpoint)
        })
    }
}

/// Writes the entry that accepts the end as it is. Its checkpoint is left to the caller.
pub(crate) async fn accept(store: &Inner, reason: &str, note: EntryNote) -> Result<Checkpoint, StoreError> {
    if reason.trim().is_empty() {
        return Err(StoreError::BadCall { message: "a restore is accepted with a reason".to_owned() });
    }
    let ledger = &store.ledger;
    let mut session = store.pool.begin(Intent::Write).await?;
    let problem = ledger.refused.lock().unwrap_or_else(PoisonError::into_inner).take();
    *ledger.known.lock().unwrap_or_else(PoisonError::into_inner) = None;
    let catalog = store.catalog_of(&mut session).await?.catalog;
    let kept: Vec<&Relation> = catalog.relations().filter(|relation| relation.is_kept()).collect();
    let sums = row_sums::renew(ledger, &mut session, &kept).await?;
    let content = json!({
        "rows": sums,
        "reason": reason,
        "problem": problem,
        "expected": ledger.remembered().ok().flatten(),
    });
    let entry = NewEntry { kind: ACCEPTED.to_owned(), run_id: None, note, content };
    let checkpoint = ledger.append(&mut session, &store.clock, entry).await?;
    row_sums::forget(&mut session).await?;
    let kept = row_sums::keep(ledger, session.dialect(), checkpoint.seq, &sums);
    session.write(kept).await?;
    let committed = session.commit().await;
    store.settle(committed, &checkpoint, "").await?;
    Ok(checkpoint)
}

/// The kind of entry with which a person accepted another end of the ledger.
pub(crate) const ACCEPTED: &str = "accept-restore";
