//! `/v1/ledger`: the record of everything, and whether it is whole.

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use ordain_store::{LedgerEntry, LedgerReport};
use serde::Serialize;
use utoipa::ToSchema;

use super::answer;
use super::body::Query;
use super::caller::{Admin, May};
use super::cursor::{self, Page};
use super::problem::Problem;
use super::schema;
use super::service::Service;

/// A page of entries, newest first.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EntryPage {
    /// The entries.
    #[schema(value_type = Vec<schema::Entry>)]
    entries: Vec<LedgerEntry>,
    /// Where the next page begins, if there is one.
    next_cursor: Option<String>,
}

/// Whether the ledger is whole.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[schemars(rename = "LedgerReport")]
pub(crate) struct Verified {
    /// Whether it is.
    whole: bool,
    #[serde(flatten)]
    report: LedgerReport,
}

/// List ledger entries, newest first
#[utoipa::path(get, path = "/v1/ledger", tag = "ledger", operation_id = "list_entries", params(Page),
    responses((status = 200, description = "A page of entries", body = EntryPage)))]
pub(crate) async fn list(
    State(service): State<Service>,
    _may: May<Admin>,
    page: Query<Page>,
) -> Result<Response, Problem> {
    let limit = page.limit()?;
    let before = match page.after()? {
        None => u64::MAX,
        Some(mark) => mark.parse().map_err(|_| {
            Problem::new(axum::http::StatusCode::BAD_REQUEST, "bad_cursor", "`cursor` is not of this list")
        })?,
    };
    let entries = service.engine().store().newest_entries(before, limit).await?;
    let last = entries.last().map(|entry| entry.seq).filter(|seq| *seq > 1);
    let next_cursor =
        last.filter(|_| entries.len() as u64 == limit).map(|seq| cursor::write(&seq.to_string()));
    let headers = cursor::link("/v1/ledger", next_cursor.as_deref());
    Ok((headers, answer::json(&EntryPage { entries, next_cursor })).into_response())
}

/// Check every link and signature of the ledger
#[utoipa::path(get, path = "/v1/ledger/verify", tag = "ledger", operation_id = "verify_ledger",
    responses((status = 200, description = "What was found", body = schema::LedgerReport)))]
pub(crate) async fn verify(State(service): State<Service>, _may: May<Admin>) -> Result<Response, Problem> {
    let report = service.engine().store().verify_ledger().await?;
    let whole = report.is_whole();
    if !whole {
        service.inner.metrics.count("ordain_ledger_verify_failures_total", "");
    }
    Ok(answer::json(&Verified { whole, report }))
}
