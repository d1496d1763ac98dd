//! `/v1/checks`: standing rules about data, where each stands, and what it last gave.
//!
//! The files are read for every request: an edit of `checks/*.json` needs no restart.

pub(crate) mod edit;
pub(crate) mod look;
pub(crate) mod run;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use ordain_checks::file::{CheckEntry, CheckFiles};
use ordain_checks::{Check, CheckResult, Checks, ChecksError, CodeFrom, KeptCode, Past, read_checks};
use ordain_types::nearest;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::answer;
use super::body::{Path, Query};
use super::caller::{May, Read};
use super::cursor::{self, Page};
use super::problem::Problem;
use super::requests::shortened;
use super::schema;
use super::service::Service;

/// A page of checks, by their ids.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CheckPage {
    /// The checks.
    checks: Vec<CheckSummary>,
    /// What is wrong with the check files; while anything is, no check runs.
    problems: Vec<String>,
    /// Where the next page begins, if there is one.
    next_cursor: Option<String>,
}

/// A check in a list.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CheckSummary {
    /// The check as its owner wrote it.
    #[schema(value_type = schema::Check)]
    check: Check,
    /// The file that holds it.
    file: String,
    /// The line at which it begins.
    line: u32,
    /// When its code was compiled, if it was.
    compiled_at: Option<String>,
    /// What its last run gave, if it ever ran.
    #[schema(value_type = Option<schema::PastResult>)]
    last: Option<Past>,
}

/// A check, its code and its last result.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CheckDetails {
    /// The check as its owner wrote it.
    #[schema(value_type = schema::Check)]
    check: Check,
    /// The file that holds it.
    file: String,
    /// The line at which it begins.
    line: u32,
    /// Its code, if it was compiled.
    compiled: Option<Compiled>,
    /// Why the next run compiles it anew; null if it does not.
    stale: Option<String>,
    /// What its last run gave, if it ever ran.
    #[schema(value_type = Option<schema::PastResult>)]
    last: Option<Past>,
    /// The same in full, while the report of that run is kept.
    #[schema(value_type = Option<schema::CheckResult>)]
    result: Option<CheckResult>,
}

/// The code of a check.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Compiled {
    /// When it was compiled.
    at: String,
    /// Its Python.
    code: String,
    /// Who wrote it.
    #[schema(value_type = schema::CodeFrom)]
    code_from: CodeFrom,
    /// The plan behind it.
    plan: Value,
}

/// List checks
#[utoipa::path(get, path = "/v1/checks", tag = "checks", operation_id = "list_checks", params(Page),
    responses((status = 200, description = "A page of checks", body = CheckPage)))]
pub(crate) async fn list(
    State(service): State<Service>,
    may: May<Read>,
    page: Query<Page>,
) -> Result<Response, Problem> {
    may.caller.must_see_every_table()?;
    let limit = usize::try_from(page.limit()?).unwrap_or(usize::MAX);
    let after = page.after()?;
    let mut shown = look(&service, move |checks| page_of(checks, after.as_deref(), limit)).await?;
    let ids = shown.checks.iter().map(|shown| shown.check.check_id.clone()).collect();
    let mut compiled_at = served(&service)?.compiled_at(ids).await?;
    for summary in &mut shown.checks {
        summary.compiled_at = compiled_at.remove(&summary.check.check_id);
    }
    let headers = cursor::link("/v1/checks", shown.next_cursor.as_deref());
    Ok((headers, answer::json(&shown)).into_response())
}

/// One check
///
/// Its record, its code, whether that still fits the tables, and what the last run gave.
#[utoipa::path(get, path = "/v1/checks/{check}", tag = "checks", operation_id = "get_check",
    params(("check" = String, Path, description = "the check's id")),
    responses((status = 200, description = "The check", body = CheckDetails)))]
pub(crate) async fn get(
    State(service): State<Service>,
    may: May<Read>,
    Path(check): Path<String>,
) -> Result<Response, Problem> {
    may.caller.must_see_every_table()?;
    let kept = served(&service)?.kept_code(&check).await?;
    let (entry, last, result) = look(&service, move |checks| {
        let entry = find(read(checks)?, &check)?;
        let state = checks.state()?;
        let last = checks.history()?.get(&check).and_then(|past| past.last().cloned());
        let report = last.as_ref().and_then(|past| state.report(&past.result.run_id));
        let results = report.into_iter().flat_map(|report| report.results);
        let result = results.into_iter().find(|result| result.check_id == check);
        Ok((entry, last, result))
    })
    .await?;
    let stale = if kept.is_some() { stale(&service, &entry).await? } else { None };
    let CheckEntry { check, file, line } = entry;
    let compiled = kept.map(Compiled::from);
    Ok(answer::json(&CheckDetails { check, file, line, compiled, stale, last, result }))
}

impl From<KeptCode> for Compiled {
    fn from(kept: KeptCode) -> Self {
        Self { at: kept.at, code: kept.code, code_from: kept.code_from, plan: kept.plan }
    }
}

/// Why a compiled check's code would not be kept as it is.
pub(crate) async fn stale(service: &Service, entry: &CheckEntry) -> Result<Option<String>, Problem> {
    let files = CheckFiles { entries: vec![entry.clone()], ..CheckFiles::default() };
    let changes = served(service)?.changes(&files, 1).await?;
    Ok(changes.into_iter().find(|change| change.code != "keep").map(|change| change.why))
}

fn page_of(checks: &Checks, after: Option<&str>, limit: usize) -> Result<CheckPage, Problem> {
    let CheckFiles { mut entries, problems } = read(checks)?;
    entries.sort_by(|one, other| one.check.check_id.cmp(&other.check.check_id));
    // Hexadecimal digits sort as the texts do.
    entries.retain(|entry| {
        after.is_none_or(|after| ordain_types::hex(entry.check.check_id.as_bytes()).as_str() > after)
    });
    let more = entries.len() > limit;
    entries.truncate(limit);
    let last_id = entries.last().map(|entry| ordain_types::hex(entry.check.check_id.as_bytes()));
    let next_cursor = last_id.filter(|_| more).map(|mark| cursor::write(&mark));
    let history = checks.history()?;
    let summary = |CheckEntry { check, file, line }| CheckSummary {
        compiled_at: None,
        last: history.get(&check.check_id).and_then(|past| past.last().cloned()),
        check,
        file,
        line,
    };
    let checks = entries.into_iter().map(summary).collect();
    let problems = problems.iter().map(ToString::to_string).collect();
    Ok(CheckPage { checks, problems, next_cursor })
}

/// The check files; none at all are no checks.
pub(crate) fn read(checks: &Checks) -> Result<CheckFiles, Problem> {
    match read_checks(&checks.workspace().root) {
        Err(ChecksError::NoFiles) => Ok(CheckFiles::default()),
        read => Ok(read?),
    }
}

pub(crate) fn find(files: CheckFiles, id: &str) -> Result<CheckEntry, Problem> {
    let ids = files.entries.iter().map(|entry| entry.check.check_id.as_str());
    let near = nearest(id, ids).map(|near| format!("did you mean `{near}`?"));
    let found = files.entries.into_iter().find(|entry| entry.check.check_id == id);
    found.ok_or_else(|| {
        let detail = format!("there is no check `{}`", shortened(id));
        let problem = Problem::new(StatusCode::NOT_FOUND, "unknown_check", detail);
        problem.hint(near.unwrap_or_else(|| "`GET /v1/checks` lists them".to_owned()))
    })
}

/// The workspace's checks.
pub(crate) fn served(service: &Service) -> Result<&Checks, Problem> {
    service.inner.options.checks.as_ref().ok_or_else(|| {
        let detail = "this server runs no checks";
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, "no_checks_here", detail)
    })
}

/// Reads files where that holds up nobody.
pub(crate) async fn look<T: Send + 'static>(
    service: &Service,
    read: impl FnOnce(&Checks) -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let checks = served(service)?.clone();
    checks.catch_up().await?;
    let looked = tokio::task::spawn_blocking(move || read(&checks)).await;
    looked.unwrap_or_else(|error| Err(Problem::internal(format!("reading checks failed: {error}"))))
}
