//! The versions of a workspace's files that were published for all nodes of a cluster.
//!
//! A version is a ledger entry with the digest of a list of files; the list and the files are kept beside all others
//! (`files`). So it is signed, has its place in the chain, and an older list cannot be put in the place of a newer one.

use serde::Serialize;
use serde_json::json;

use crate::Answer;
use crate::error::StoreError;
use crate::ledger::{self, EntryNote, Ledger, LedgerEntry};
use crate::session::{Intent, Session};
use crate::store::Store;

/// The kind of its entries.
const KIND: &str = "workspace";

/// A version of the workspace's files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Published {
    /// Counts the versions, from one.
    pub version: u64,
    /// The digest of the list of its files, in hexadecimal digits.
    pub list: String,
    /// Who published it.
    pub who: String,
    /// When.
    pub at: String,
}

impl Store {
    /// The versions that were published, newest first.
    pub fn published(&self, limit: u64) -> Answer<'_, Vec<Published>> {
        Box::pin(async move {
            let mut session = self.inner().pool.session().await?;
            published(&self.inner().ledger, &mut session, limit).await
        })
    }

    /// Publishes a list of files as the version behind `after`; `None` if another one was published meanwhile.
    pub fn publish<'a>(
        &'a self,
        list: &'a str,
        after: u64,
        note: EntryNote,
    ) -> Answer<'a, Option<Published>> {
        Box::pin(async move {
            let store = self.inner();
            let mut session = store.pool.begin(Intent::Write).await?;
            let newest = published(&store.ledger, &mut session, 1).await?.pop();
            if newest.map_or(0, |newest| newest.version) != after {
                session.roll_back().await?;
                return Ok(None);
            }
            let content = json!({ "version": after + 1, "list": list });
            store.commit_with_entry(session, KIND, content, note).await?;
            Ok(self.published(1).await?.pop())
        })
    }
}

async fn published(ledger: &Ledger, session: &mut Session, limit: u64) -> Result<Vec<Published>, StoreError> {
    let entries = ledger::newest_of_kind(session, KIND, limit).await?;
    entries.iter().map(|entry| read(ledger, entry).ok_or_else(not_trusted)).collect()
}

fn read(ledger: &Ledger, entry: &LedgerEntry) -> Option<Published> {
    let body = ledger.genuine(entry)?;
    Some(Published {
        version: body["content"]["version"].as_u64()?,
        list: body["content"]["list"].as_str()?.to_owned(),
        who: body["who"].as_str()?.to_owned(),
        at: entry.at.clone(),
    })
}

fn not_trusted() -> StoreError {
    StoreError::Ledger {
        message: "the published version of the workspace is not signed with a key that is trusted here".to_owned(),
        hint: Some(
            "copy `.ordain/ledger.key` and `.ordain/ledger.checkpoint` from the node that published it, or list its public key in `.ordain/ledger.trusted`"
                .to_owned(),
        ),
    }
}
