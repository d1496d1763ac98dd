//! The ledger.

use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use ordain_store::LedgerReport;
use ordain_ui::{Pager, Place};
use serde::Deserialize;

use super::reply;
use super::visit::{Nothing, Sent, Turned, Visit};
use crate::http::body::Query;
use crate::http::caller::Admin;
use crate::http::problem::Problem;
use crate::http::service::Service;

/// Entries on a page.
const ENTRIES_SHOWN: u64 = 50;

/// Which page.
#[derive(Debug, Deserialize)]
pub(super) struct Which {
    before: Option<u64>,
}

/// The entries, newest first.
pub(super) async fn list(
    State(service): State<Service>,
    headers: HeaderMap,
    visit: Visit<Admin>,
    query: Query<Which>,
) -> Result<Response, Turned> {
    show(&service, &headers, &visit, query.before, None).await
}

/// Looks at every link and signature, and shows what was found.
pub(super) async fn verify(
    State(service): State<Service>,
    headers: HeaderMap,
    sent: Sent<Admin, Nothing>,
) -> Result<Response, Turned> {
    let report = service.engine().store().verify_ledger().await?;
    show(&service, &headers, &sent.visit, None, Some(&report)).await
}

async fn show(
    service: &Service,
    headers: &HeaderMap,
    visit: &Visit<Admin>,
    before: Option<u64>,
    report: Option<&LedgerReport>,
) -> Result<Response, Turned> {
    let entries = service.engine().store().newest_entries(before.unwrap_or(u64::MAX), ENTRIES_SHOWN).await?;
    let last = entries.last().map(|entry| entry.seq).filter(|seq| *seq > 1);
    let next = last.filter(|_| entries.len() as u64 == ENTRIES_SHOWN);
    let pager = Pager {
        first: before.map(|_| "/ledger".to_owned()),
        next: next.map(|seq| format!("/ledger?before={seq}")),
    };
    let shell = visit.shell(service, None).await?;
    let content = ordain_ui::ledger::list(&entries, report, &pager, &visit.viewer);
    Ok(reply::html(headers, shell.page(Place::Ledger, "Ledger", &content)))
}

/// One entry.
pub(super) async fn page(
    State(service): State<Service>,
    headers: HeaderMap,
    visit: Visit<Admin>,
    Path(seq): Path<u64>,
) -> Result<Response, Turned> {
    let after = seq.saturating_sub(1);
    let found =
        service.engine().store().ledger_entries(after, 1).await?.into_iter().find(|entry| entry.seq == seq);
    let missing = || Problem::new(StatusCode::NOT_FOUND, "unknown_entry", format!("there is no entry {seq}"));
    let entry = found.ok_or_else(missing)?;
    let shell = visit.shell(&service, None).await?;
    Ok(reply::html(&headers, shell.page(Place::Ledger, "Entry", &ordain_ui::ledger::page(&entry))))
}
