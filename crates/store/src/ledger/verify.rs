//! Finds entries that were edited, removed, moved or cut off.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::end::ACCEPTED;
use super::key::is_signed;
use super::{
    Checkpoint, Ledger, LedgerEntry, NOTHING, chained, checkpoint_message, entries, entry_message,
    seal_message,
};
use crate::error::StoreError;
use crate::sealed::altered;
use crate::session::Session;

/// Entries that are read at once.
const PAGE: u64 = 200;
/// Once the chain is broken everything behind it is; the first findings tell where.
const FINDINGS_MAX: usize = 100;

/// What a check of the ledger found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct LedgerReport {
    /// How many entries there are.
    pub entries: u64,
    /// The hash of the newest one.
    pub head: Option<String>,
    /// The newest checkpoint outside the database.
    pub checkpoint: Option<Checkpoint>,
    /// The entries with which a person accepted another end of the ledger, as after a restore.
    pub accepted: Vec<u64>,
    /// What is wrong; nothing, if the ledger is whole.
    pub findings: Vec<LedgerFinding>,
}

/// One thing that is wrong with the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct LedgerFinding {
    /// A stable name: `edited`, `missing`, `moved`, `truncated`, `unsigned`, `unknown-signer`, `no-checkpoint`, `rows`,
    /// `record`, `key`.
    pub code: &'static str,
    /// The entry.
    pub seq: Option<u64>,
    /// What is wrong.
    pub message: String,
}

impl LedgerReport {
    /// Whether the ledger is whole.
    pub fn is_whole(&self) -> bool {
        self.findings.is_empty()
    }
}

impl Ledger {
    /// The text of an entry, if it is as it was hashed and signed by a trusted key.
    pub(crate) fn genuine(&self, entry: &LedgerEntry) -> Option<Value> {
        let mut chain = Chain {
            trusted: self.key.trusted(),
            seq: entry.seq - 1,
            previous: entry.previous.clone(),
            ..Chain::default()
        };
        chain.link(entry);
        chain.findings.is_empty().then(|| serde_json::from_str(entry.body.get()).ok())?
    }

    /// Whether something outside the chain was signed by a trusted key.
    pub(crate) fn is_sealed(&self, message: &str, seal: &str) -> bool {
        let Some((signer, signature)) = seal.split_once(':') else { return false };
        if signer == self.key.public() {
            // The same key always signs the same text in the same way, and signing is quicker than checking.
            return self.seal(message) == seal;
        }
        self.key.trusted().iter().any(|trusted| trusted == signer)
            && is_signed(signer, &seal_message(message), signature)
    }

    /// Refuses if something was edited, removed or put in behind an entry.
    pub(crate) async fn check_since(&self, session: &mut Session, seq: u64) -> Result<(), StoreError> {
        let mut chain = Chain { trusted: self.key.trusted(), seq, ..Chain::default() };
        let start = entries(session, seq.saturating_sub(1), 1).await?;
        chain.previous = start.first().map(|entry| entry.hash.clone()).unwrap_or_default();
        loop {
            let page = entries(session, chain.seq, PAGE).await?;
            for entry in &page {
                chain.link(entry);
            }
            if let Some(finding) = chain.findings.first() {
                let seq = finding.seq.unwrap_or_default();
                return Err(altered(format!("entry {seq} of the ledger: {}", finding.message)));
            }
            if page.is_empty() {
                return Ok(());
            }
        }
    }

    /// Reads the whole chain and checks every link.
    pub(crate) async fn verify(&self, session: &mut Session) -> Result<LedgerReport, StoreError> {
        self.verify_with_sums(session, &mut Value::Null).await
    }

    /// The same; `sums` are then the sums of the tables' rows that the newest entry with any has.
    pub(crate) async fn verify_with_sums(
        &self,
        session: &mut Session,
        sums: &mut Value,
    ) -> Result<LedgerReport, StoreError> {
        let mut chain = Chain { trusted: self.key.trusted(), ..Chain::default() };
        // What must be there, found at its place on the way.
        let (checkpoint, unreadable) = match self.remembered() {
            Ok(checkpoint) => (checkpoint, None),
            Err(error) => (None, Some(error.to_string())),
        };
        let mut remembered =
            Some(NOTHING.to_owned()).filter(|_| checkpoint.as_ref().is_some_and(|own| own.seq == 0));
        loop {
            let page = entries(session, chain.seq, PAGE).await?;
            if page.is_empty() {
                break;
            }
            for entry in &page {
                if checkpoint.as_ref().is_some_and(|checkpoint| checkpoint.seq == entry.seq) {
                    remembered = Some(entry.hash.clone());
                }
                chain.link(entry);
            }
        }
        for (table, seq) in std::mem::take(&mut chain.gaps) {
            let message =
                format!("the rows of table `{table}` do not follow from those of the change before");
            chain.find("rows", Some(seq), message);
        }
        chain.end(checkpoint.as_ref(), remembered.as_deref(), unreadable);
        let head = (chain.entries > 0).then_some(chain.previous);
        *sums = chain.sums;
        let (accepted, findings) = (chain.accepted, chain.findings);
        Ok(LedgerReport { entries: chain.entries, head, checkpoint, accepted, findings })
    }
}

/// The chain as far as it was read.
struct Chain {
    trusted: Vec<String>,
    seq: u64,
    previous: String,
    entries: u64,
    accepted: Vec<u64>,
    sums: Value,
    /// The first change of each table before which its rows were not those of the change before.
    gaps: BTreeMap<String, u64>,
    findings: Vec<LedgerFinding>,
}

impl Default for Chain {
    fn default() -> Self {
        let (trusted, accepted, findings) = (Vec::new(), Vec::new(), Vec::new());
        Self {
            trusted,
            seq: 0,
            previous: NOTHING.to_owned(),
            entries: 0,
            accepted,
            sums: Value::Null,
            gaps: BTreeMap::new(),
            findings,
        }
    }
}

impl Chain {
    fn link(&mut self, entry: &LedgerEntry) {
        let seq = Some(entry.seq);
        self.entries += 1;
        if entry.kind == ACCEPTED {
            self.accepted.push(entry.seq);
        }
        if entry.seq != self.seq + 1 {
            let gone = if entry.seq == self.seq + 2 {
                format!("entry {} is missing", self.seq + 1)
            } else {
                format!("entries {} to {} are missing", self.seq + 1, entry.seq - 1)
            };
            self.find("missing", seq, gone);
        } else if entry.previous != self.previous {
            self.find("moved", seq, "it does not follow the entry before it".to_owned());
        }
        let body: Value = serde_json::from_str(entry.body.get()).unwrap_or_default();
        let is_its_own = body["seq"].as_u64() == seq
            && body["kind"].as_str() == Some(&entry.kind)
            && body["at"].as_str() == Some(&entry.at)
            && body["run_id"].as_str() == entry.run_id.as_deref();
        if chained(&entry.previous, entry.body.get()) != entry.hash {
            self.find("edited", seq, "its text is not what was hashed".to_owned());
        } else if !is_its_own {
            self.find("edited", seq, "its columns do not say what its text says".to_owned());
        }
        let signer = body["signer"].as_str().unwrap_or_default();
        if !is_signed(signer, &entry_message(&entry.hash), &entry.signature) {
            self.find("unsigned", seq, "its signature is not good".to_owned());
        } else if !self.trusted.iter().any(|trusted| trusted == signer) {
            self.find(
                "unknown-signer",
                seq,
                format!("it was signed by the key {signer}, which is not trusted here"),
            );
        }
        self.rows(entry, &body["content"]);
        self.seq = entry.seq;
        self.previous.clone_from(&entry.hash);
    }

    /// Follows the sums of the tables' rows from change to change. Behind an entry that is missing nothing follows.
    fn rows(&mut self, entry: &LedgerEntry, content: &Value) {
        let Some(after) = content["rows"].as_object() else { return };
        if entry.seq == self.seq + 1 {
            for (table, sum) in self.sums.as_object().into_iter().flatten() {
                if content["rows_before"].get(table).is_some_and(|before| before != sum) {
                    self.gaps.entry(table.clone()).or_insert(entry.seq);
                }
            }
        }
        // Rows that the owner had counted anew need not follow from anything.
        let counted = content["tables"].as_array().into_iter().flatten();
        for table in counted.filter_map(|filled| filled["table"].as_str()) {
            self.gaps.remove(table);
        }
        if entry.kind == ACCEPTED {
            self.gaps.clear();
        }
        self.sums = after.clone().into();
    }

    fn end(&mut self, checkpoint: Option<&Checkpoint>, remembered: Option<&str>, unreadable: Option<String>) {
        if let Some(message) = unreadable {
            return self.find("no-checkpoint", None, message);
        }
        let Some(checkpoint) = checkpoint else {
            if self.entries > 0 {
                let message = "there is no checkpoint outside the database, so a cut-off end would not show";
                self.find("no-checkpoint", None, message.to_owned());
            }
            return;
        };
        let message = checkpoint_message(checkpoint.seq, &checkpoint.hash);
        let trusted = self.trusted.contains(&checkpoint.signer);
        if !trusted || !is_signed(&checkpoint.signer, &message, &checkpoint.signature) {
            return self.find("unsigned", None, "the checkpoint's signature is not good".to_owned());
        }
        if checkpoint.seq > self.seq {
            let message =
                format!("the ledger had {} entries, and ends with {} now", checkpoint.seq, self.seq);
            return self.find("truncated", Some(self.seq), message);
        }
        if remembered != Some(&checkpoint.hash) {
            let message = "the entry is not the one that was there when the checkpoint was made";
            self.find("edited", Some(checkpoint.seq), message.to_owned());
        }
    }

    fn find(&mut self, code: &'static str, seq: Option<u64>, message: String) {
        if self.findings.len() < FINDINGS_MAX {
            self.findings.push(LedgerFinding { code, seq, message });
        }
    }
}
