//! What is known besides the checks themselves: their history, changes, prompts and report, and the tables of data files.

use std::io::{Read as _, Seek as _, SeekFrom};

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{Html, IntoResponse as _, Response};
use ordain_checks::Past;
use serde_json::Value;

use super::{find, look, read, schema, served};
use crate::http::answer;
use crate::http::body::Path;
use crate::http::caller::{Admin, May, Read, Run};
use crate::http::problem::Problem;
use crate::http::service::Service;

/// The end of the prompt log that is read.
const LOG_BYTES_MAX: u64 = 4 << 20;

/// What a check gave in its runs
///
/// The oldest first, at most the newest few hundred.
#[utoipa::path(get, path = "/v1/checks/{check}/history", tag = "checks", operation_id = "get_check_history",
    params(("check" = String, Path, description = "the check's id")),
    responses((status = 200, description = "Its results", body = Vec<schema::PastResult>)))]
pub(crate) async fn history(
    State(service): State<Service>,
    may: May<Read>,
    Path(check): Path<String>,
) -> Result<Response, Problem> {
    may.caller.must_see_every_table()?;
    let past: Vec<Past> = look(&service, move |checks| {
        find(read(checks)?, &check)?;
        Ok(checks.history()?.get(&check).cloned().unwrap_or_default())
    })
    .await?;
    Ok(answer::json(&past))
}

/// What the next run of checks would compile or run anew, and why
#[utoipa::path(get, path = "/v1/check-changes", tag = "checks", operation_id = "list_check_changes",
    responses((status = 200, description = "A change for each check", body = Vec<Value>)))]
pub(crate) async fn changes(State(service): State<Service>, may: May<Read>) -> Result<Response, Problem> {
    may.caller.must_see_every_table()?;
    let files = look(&service, read).await?;
    Ok(answer::json(&served(&service)?.changes(&files, 1).await?))
}

/// The report of the last run of checks, as one HTML file
#[utoipa::path(get, path = "/v1/check-report", tag = "checks", operation_id = "get_check_report",
    responses((status = 200, description = "The page", body = String, content_type = "text/html")))]
pub(crate) async fn report(State(service): State<Service>, may: May<Read>) -> Result<Response, Problem> {
    may.caller.must_see_every_table()?;
    let page = look(&service, |checks| {
        let history = checks.history()?;
        let past = || history.values().flatten().map(|past| &past.result);
        let newest = past().max_by(|one, other| one.started_at.cmp(&other.started_at));
        let state = checks.state()?;
        let Some(report) = newest.and_then(|newest| state.report(&newest.run_id)) else {
            let problem = Problem::new(StatusCode::NOT_FOUND, "no_report", "no run of checks is kept");
            return Err(problem.hint("`POST /v1/checks/run` runs them"));
        };
        let earlier: Vec<_> = past().filter(|past| past.run_id != report.run_id).cloned().collect();
        Ok(ordain_ui::report::checks(&report, &earlier))
    })
    .await?;
    Ok(Html(page).into_response())
}

/// What planners were asked for checks, and what they replied
///
/// The newest first. Prompts hold values of all tables, so that a key with `admin` is needed.
#[utoipa::path(get, path = "/v1/check-prompts", tag = "checks", operation_id = "list_check_prompts",
    responses((status = 200, description = "Prompts and replies", body = Vec<Value>)))]
pub(crate) async fn prompts(State(service): State<Service>, _may: May<Admin>) -> Result<Response, Problem> {
    let lines = look(&service, |checks| {
        let path = checks.workspace().state().join("contracts/plan_prompt_log.jsonl");
        end_of(&path).map_err(|error| Problem::internal(format!("the prompt log cannot be read: {error}")))
    })
    .await?;
    Ok(answer::json(&lines))
}

/// The last lines of a log, the newest first. A first line that was cut does not read and is left out.
fn end_of(path: &std::path::Path) -> std::io::Result<Vec<Value>> {
    let mut file = match fs_err::File::open(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        opened => opened?,
    };
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(LOG_BYTES_MAX)))?;
    let mut text = Vec::new();
    file.take(LOG_BYTES_MAX).read_to_end(&mut text)?;
    let text = String::from_utf8_lossy(&text);
    Ok(text.lines().rev().filter_map(|line| serde_json::from_str(line).ok()).collect())
}

/// The tables that checks look at, how their columns are read, and a few words about each
#[utoipa::path(get, path = "/v1/data", tag = "checks", operation_id = "list_data",
    responses((status = 200, description = "The tables", body = Vec<Value>)))]
pub(crate) async fn data(State(service): State<Service>, may: May<Run>) -> Result<Response, Problem> {
    may.caller.must_see_every_table()?;
    let tables = served(&service)?.all_tables().await?;
    let told: Vec<Value> = tables.iter().map(|(name, state)| state.told(name)).collect();
    Ok(answer::json(&told))
}

/// Checks that a table's rows suggest, each with what was seen
#[utoipa::path(get, path = "/v1/data/{table}/suggestions", tag = "checks", operation_id = "list_suggestions",
    params(("table" = String, Path, description = "the table's name")),
    responses((status = 200, description = "Proposals; nothing is changed", body = Vec<Value>)))]
pub(crate) async fn suggestions(
    State(service): State<Service>,
    may: May<Run>,
    Path(table): Path<String>,
) -> Result<Response, Problem> {
    may.caller.must_see_every_table()?;
    Ok(answer::json(&served(&service)?.suggest(&table).await?))
}
