//! The ledger.

use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::Response;
use ordain_store::{LedgerEntry, LedgerReport, Store, StoreError};
use ordain_ui::{Pager, Place};
use serde::Deserialize;

use super::visit::{Nothing, Sent, Turned, Visit};
use crate::http::body::Query;
use crate::http::caller::Admin;
use crate::http::problem::Problem;

/// Entries on a page.
const ENTRIES_SHOWN: u64 = 50;

/// Which page.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Which {
    before: Option<u64>,
    /// The number of an entry, or a run.
    #[serde(default)]
    about: String,
}

/// The entries, newest first.
pub(super) async fn list(visit: Visit<Admin>, query: Query<Which>) -> Result<Response, Turned> {
    show(&visit, &query, None).await
}

/// The entry of that number, or those about a run; none where there is neither.
async fn entries_about(store: &Store, about: &str) -> Result<Vec<LedgerEntry>, StoreError> {
    if let Ok(seq) = about.parse::<u64>() {
        let found = store.ledger_entries(seq.saturating_sub(1), 1).await?;
        return Ok(found.into_iter().filter(|entry| entry.seq == seq).collect());
    }
    match store.run(about).await {
        Ok(record) => store.entries_of_run(&record.run_id).await,
        Err(StoreError::UnknownRun { .. } | StoreError::AmbiguousRun { .. }) => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// Looks at every link and signature, and shows what was found.
pub(super) async fn verify(sent: Sent<Admin, Nothing>) -> Result<Response, Turned> {
    let service = &sent.visit.service;
    let report = service.engine().store().verify_ledger().await?;
    show(&sent.visit, &Which::default(), Some(&report)).await
}

async fn show(
    visit: &Visit<Admin>,
    which: &Which,
    report: Option<&LedgerReport>,
) -> Result<Response, Turned> {
    let service = &visit.service;
    let (store, about) = (service.engine().store(), which.about.trim());
    let entries = match which.before {
        None if !about.is_empty() => entries_about(store, about).await?,
        before => store.newest_entries(before.unwrap_or(u64::MAX), ENTRIES_SHOWN).await?,
    };
    let last = entries.last().map(|entry| entry.seq).filter(|seq| *seq > 1);
    let next = last.filter(|_| entries.len() as u64 == ENTRIES_SHOWN);
    let pager = Pager {
        first: (which.before.is_some() || !about.is_empty()).then(|| "/ledger".to_owned()),
        next: next.map(|seq| format!("/ledger?before={seq}")),
    };
    let content = ordain_ui::ledger::list(&entries, report, about, &pager, &visit.viewer);
    visit.page(Place::Ledger, "Ledger", &content).await
}

/// One entry.
pub(super) async fn page(visit: Visit<Admin>, Path(seq): Path<u64>) -> Result<Response, Turned> {
    let service = &visit.service;
    let after = seq.saturating_sub(1);
    let found =
        service.engine().store().ledger_entries(after, 1).await?.into_iter().find(|entry| entry.seq == seq);
    let missing = || Problem::new(StatusCode::NOT_FOUND, "unknown_entry", format!("there is no entry {seq}"));
    let entry = found.ok_or_else(missing)?;
    visit.page(Place::Ledger, "Entry", &ordain_ui::ledger::page(&entry)).await
}
