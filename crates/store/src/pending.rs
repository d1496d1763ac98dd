//! What a run of several steps has changed so far, kept outside of the database while a planner thinks.
//!
//! Between two steps nothing is locked and no transaction is open. The next step begins a transaction, lays the pending
//! changes over the rows, works, and rolls back; the last one lays them and commits. Before images show whether somebody
//! else wrote to the same rows meanwhile; digests of what was read show whether a decision rests on rows that are
//! different now.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::Answer;
use crate::apply::{self, Purpose};
use crate::changes::{ChangeSet, Changes};
use crate::error::StoreError;
use crate::transaction::Transaction;

/// Changes that wait: images of rows before and after. Nothing of them is in the database.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Pending {
    changes: ChangeSet,
}

impl Pending {
    /// Whether nothing is changed.
    pub fn is_empty(&self) -> bool {
        self.changes.tables.is_empty()
    }
}

/// One call that read something, and the digest of what it gave.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReadDigest {
    operation: String,
    arguments: Value,
    digest: [u8; 32],
}

impl ReadDigest {
    /// The digest of a call's reply; `None` if the operation writes.
    pub fn of(operation: &str, arguments: &Value, reply: &Value) -> Option<Self> {
        let is_read = ["search", "get", "count", "query"].contains(&operation);
        is_read.then(|| Self {
            operation: operation.to_owned(),
            arguments: arguments.clone(),
            digest: digest(reply),
        })
    }

    /// About how much memory it takes.
    pub fn bytes(&self) -> usize {
        self.operation.len() + self.arguments.to_string().len() + self.digest.len()
    }

    fn about(&self) -> String {
        match (self.arguments["table"].as_str(), self.arguments["sql"].as_str()) {
            (Some(table), _) => format!("what was read from `{table}`"),
            (None, Some(sql)) => format!("the result of `{}`", sql.chars().take(200).collect::<String>()),
            (None, None) => "what was read".to_owned(),
        }
    }
}

/// The hash of a reply, without the mark of the transaction's own writes.
fn digest(reply: &Value) -> [u8; 32] {
    let mut reply = reply.clone();
    if let Some(members) = reply.as_object_mut() {
        members.remove("as_of");
    }
    Sha256::digest(reply.to_string().as_bytes()).into()
}

impl Transaction {
    /// What was changed so far, laid changes included, in the form in which it can wait.
    pub fn pending(&self) -> Pending {
        Pending { changes: self.changes.change_set(&self.catalog) }
    }

    /// Lays changes that wait over the rows of a transaction that has changed nothing yet. Where a row is no longer what
    /// they expect, nothing is written and the error names the rows.
    pub fn lay<'a>(&'a mut self, pending: &'a Pending) -> Answer<'a, ()> {
        Box::pin(async move {
            if pending.is_empty() {
                return Ok(());
            }
            let conflicts = apply::apply(self, pending.changes.clone(), Purpose::Approve).await?;
            if !conflicts.is_empty() {
                return Err(StoreError::RowsConflict { conflicts });
            }
            for (table, kept) in &pending.changes.tables {
                let place = self.catalog.place(table)?;
                self.changes.belong(place, self.catalog.at(place), kept)?;
            }
            Ok(())
        })
    }

    /// Reads again what was read over pending changes, and says what differs now. The transaction, which has changed
    /// nothing yet, is afterwards as it was.
    pub fn compare<'a>(
        &'a mut self,
        pending: &'a Pending,
        reads: &'a [ReadDigest],
    ) -> Answer<'a, Option<String>> {
        Box::pin(async move {
            if reads.is_empty() {
                return Ok(None);
            }
            self.session.savepoint("SAVEPOINT ordain_compare").await?;
            self.lay(pending).await?;
            let mut differs = None;
            for read in reads {
                let reply = self.call(&read.operation, read.arguments.clone()).await;
                // A table or column that is gone is a difference too.
                let is_same = match reply {
                    Ok(reply) => digest(&reply) == read.digest,
                    Err(error) if error.is_callers() => false,
                    Err(error) => return Err(error),
                };
                if !is_same {
                    differs = Some(read.about());
                    break;
                }
            }
            self.session.savepoint("ROLLBACK TO ordain_compare; RELEASE ordain_compare").await?;
            self.changes = Changes::default();
            Ok(differs)
        })
    }
}
