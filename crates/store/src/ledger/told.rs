//! The end of the ledger as nodes of a cluster tell it to each other.
//!
//! A checkpoint is written by the node that commits, so that another one's may be old: it would take an older copy of the
//! database for the newest. What a node is told is sealed with the ledger's key, and names the restores that people
//! accepted up to there. A database without that end is refused, unless somebody accepted a restore since.

use std::sync::PoisonError;

use serde::{Deserialize, Serialize};

use super::end::{ACCEPTED, not_accepted};
use super::{Ledger, entries, newest_of_kind};
use crate::Answer;
use crate::error::StoreError;
use crate::store::{Inner, Store};

/// Accepted restores that are looked at.
const RESTORES_MAX: u64 = 1000;

#[derive(Debug, Serialize, Deserialize)]
struct ToldEnd {
    seq: u64,
    hash: String,
    /// The hashes of the entries with which restores were accepted.
    accepted: Vec<String>,
}

impl ToldEnd {
    fn sealed(&self, ledger: &Ledger) -> String {
        let text = serde_json::json!(self).to_string();
        format!("{}\n{text}", ledger.seal(&message(&text)))
    }

    /// Nothing, if it is not genuine: whoever can write where nodes meet can also remove it.
    fn read(ledger: &Ledger, sealed: &str) -> Option<Self> {
        let (seal, text) = sealed.split_once('\n')?;
        ledger.is_sealed(&message(text), seal).then(|| serde_json::from_str(text).ok())?
    }
}

fn message(text: &str) -> String {
    format!("ledger end {text}")
}

impl Store {
    /// Holds the ledger against the end that another node told, and remembers that end if it is newer than the one that is
    /// known here, or none is. Gives the end to tell to other nodes, if it is another one.
    pub fn meet_end<'a>(&'a self, told: Option<&'a str>) -> Answer<'a, Option<String>> {
        Box::pin(meet(self.inner(), told))
    }
}

async fn meet(store: &Inner, told: Option<&str>) -> Result<Option<String>, StoreError> {
    let ledger = &store.ledger;
    let refuse = |problem: String| {
        let error = not_accepted(&problem);
        ledger.refuse(problem);
        Err(error)
    };
    let mut session = store.pool.session().await?;
    let restores = newest_of_kind(&mut session, ACCEPTED, RESTORES_MAX).await?;
    let genuine = restores.into_iter().filter(|entry| ledger.genuine(entry).is_some());
    let accepted: Vec<String> = genuine.map(|entry| entry.hash).collect();
    let mut told = told.and_then(|told| ToldEnd::read(ledger, told)).filter(|told| told.seq > 0);
    if let Some(end) = &told {
        let found = entries(&mut session, end.seq - 1, 1).await?;
        if found.first().is_some_and(|entry| entry.seq == end.seq && entry.hash == end.hash) {
            if ledger.remembered()?.is_none_or(|known| known.seq < end.seq) {
                ledger.remember(&ledger.sign(end.seq, end.hash.clone()));
            }
        } else if accepted.iter().all(|restore| end.accepted.contains(restore)) {
            return refuse(format!(
                "the database is older than a node of the cluster knows: entry {} is not in its ledger",
                end.seq
            ));
        } else {
            // A restore was accepted since it was told.
            told = None;
        }
    }
    if let Some(problem) = ledger.check_end(&mut session).await? {
        if told.is_none() && ledger.remembered().is_ok_and(|known| known.is_none()) {
            return Err(no_end_known());
        }
        return refuse(problem);
    }
    *ledger.refused.lock().unwrap_or_else(PoisonError::into_inner) = None;
    let known = ledger.known.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let newer = known.filter(|known| known.seq > told.as_ref().map_or(0, |told| told.seq));
    Ok(newer.map(|known| ToldEnd { seq: known.seq, hash: known.hash, accepted }.sealed(ledger)))
}

fn no_end_known() -> StoreError {
    StoreError::Ledger {
        message: "this folder has no checkpoint of the ledger, and no node of the cluster told one"
            .to_owned(),
        hint: Some("copy `.ordain/ledger.checkpoint` of the folder that has the newest one".to_owned()),
    }
}
