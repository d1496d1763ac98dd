//! Checks are added, changed and removed: tried first, and saved once the caller sends back the reading that it was shown.

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use ordain_checks::file::read_record;
use ordain_checks::{CheckOptions, CheckResult, CheckTask, Proposal, remove_check};
use ordain_planner::Quiet;
use ordain_store::EntryNote;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use super::run::{NewCheckRun, Wanted};
use super::{find, look, read, schema, served};
use crate::http::answer;
use crate::http::body::{self, Json, Path};
use crate::http::caller::{Admin, Caller, May, Run};
use crate::http::problem::Problem;
use crate::http::service::Service;

/// Bytes of a record.
const BODY_BYTES_MAX: usize = 256 << 10;
/// The field that says how a rule was understood.
const READING: &str = "accepted_reading";

/// A check that was tried.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TriedCheck {
    /// Whether it was saved: only where the body's `accepted_reading` is the reading that the trial gave.
    saved: bool,
    /// The rule as it is understood. Send it back as `accepted_reading` to save the check.
    reading: Option<String>,
    /// What the check gives today.
    #[schema(value_type = schema::CheckResult)]
    result: CheckResult,
    /// The file that holds it, or would.
    file: String,
}

/// Try a new check, and save it
///
/// The body is a record as `checks/*.json` has it; without `check_id` it gets the next free one, without `kind` it is a
/// rule in words (`calculation_hint`). Without `accepted_reading` the check is only tried. A saved change is an entry of the ledger.
#[utoipa::path(post, path = "/v1/checks", tag = "checks", operation_id = "add_check",
    request_body = Value,
    responses(
        (status = 200, description = "What it gives; nothing is saved", body = TriedCheck),
        (status = 201, description = "It is saved", body = TriedCheck),
    ))]
pub(crate) async fn add(
    State(service): State<Service>,
    may: May<Admin>,
    Json(mut record): Json<Map<String, Value>, BODY_BYTES_MAX>,
) -> Result<Response, Problem> {
    let accepted = take_reading(&mut record)?;
    let files = look(&service, read).await?;
    record.entry("check_id").or_insert_with(|| json!(files.free_id()));
    let check = read_record(&Value::Object(record)).map_err(|problem| {
        let told = Problem::unprocessable("bad_check", "", problem.message);
        problem.hint.into_iter().fold(told, Problem::hint)
    })?;
    if files.entries.iter().any(|entry| entry.check.check_id == check.check_id) {
        let detail = "there is a check of that id already";
        return Err(Problem::unprocessable("check_id_taken", "/check_id", detail).hint("choose another id"));
    }
    let _cell = service.inner.rates.cell(&may.caller, &service.inner.options)?;
    let proposal = served(&service)?.propose(check, &service.inner.planner, &note(&may.caller)).await?;
    settle(&service, &may.caller, proposal, accepted, StatusCode::CREATED).await
}

/// Try a changed check, and save it
///
/// The body has the fields to change; `null` takes one back. Without `accepted_reading` the check is only tried. With
/// nothing but `accepted_reading` a rule that is read otherwise than before is accepted again.
#[utoipa::path(patch, path = "/v1/checks/{check}", tag = "checks", operation_id = "change_check",
    params(("check" = String, Path, description = "the check's id")),
    request_body = Value,
    responses((status = 200, description = "What it gives, and whether it is saved", body = TriedCheck)))]
pub(crate) async fn change(
    State(service): State<Service>,
    may: May<Admin>,
    Path(check): Path<String>,
    Json(mut fields): Json<Map<String, Value>, BODY_BYTES_MAX>,
) -> Result<Response, Problem> {
    let accepted = take_reading(&mut fields)?;
    if fields.contains_key("check_id") {
        let detail = "the id names a check for ever and is not changed";
        return Err(Problem::unprocessable("bad_check", "/check_id", detail));
    }
    let id = check.clone();
    look(&service, move |checks| find(read(checks)?, &id)).await?;
    let _cell = service.inner.rates.cell(&may.caller, &service.inner.options)?;
    let (planner, note) = (&service.inner.planner, note(&may.caller));
    let proposal = served(&service)?.propose_change(&check, fields, planner, &note).await?;
    settle(&service, &may.caller, proposal, accepted, StatusCode::OK).await
}

/// Remove a check
#[utoipa::path(delete, path = "/v1/checks/{check}", tag = "checks", operation_id = "remove_check",
    params(("check" = String, Path, description = "the check's id")),
    responses((status = 204, description = "It is no longer in its file")))]
pub(crate) async fn remove(
    State(service): State<Service>,
    may: May<Admin>,
    Path(check): Path<String>,
) -> Result<Response, Problem> {
    let id = check.clone();
    let change = look(&service, move |checks| {
        find(read(checks)?, &id)?;
        Ok(remove_check(&checks.workspace().root, &id)?)
    })
    .await?;
    if let Some(problem) = change.files.problems.first() {
        return Err(Problem::new(StatusCode::CONFLICT, "check_not_changed", problem.to_string()));
    }
    served(&service)?.save(&change, Some(&check), note(&may.caller)).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// Compile checks, and try them
///
/// The answer has each rule as it is understood and what it finds today. No run is recorded, and no result is kept.
#[utoipa::path(post, path = "/v1/checks/compile", tag = "checks", operation_id = "compile_checks",
    request_body = NewCheckRun,
    responses((status = 200, description = "A result for each check", body = schema::CheckReport)))]
pub(crate) async fn compile(
    State(service): State<Service>,
    may: May<Run>,
    request: Request,
) -> Result<Response, Problem> {
    may.caller.must_see_every_table()?;
    let (parts, body) = request.into_parts();
    let new: NewCheckRun = body::read_optional(body, &parts.headers, BODY_BYTES_MAX, &service).await?;
    let wanted = Wanted::selected(&service, new).await?;
    let _cell = service.inner.rates.cell(&may.caller, &service.inner.options)?;
    let checks = served(&service)?;
    let planner = service.inner.planner.clone();
    let task = CheckTask {
        request: wanted.words,
        options: CheckOptions { planner, is_trial: true, ..wanted.options },
        ..checks.task(wanted.files, &may.caller.id, &wanted.through)
    };
    let (_, tried) = checks.run(task, &mut Quiet).await?;
    let report = tried.ok_or_else(|| Problem::internal("the checks were not tried".to_owned()))?.report;
    Ok(answer::json(&report))
}

/// Which run.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AcceptedRun {
    /// Its id, the beginning of it, or `latest`.
    run: String,
}

/// Accept the figures of a run as usual
///
/// `anomaly` learns from them although it failed.
#[utoipa::path(post, path = "/v1/checks/accept", tag = "checks", operation_id = "accept_check_run",
    request_body = AcceptedRun,
    responses((status = 200, description = "The run's id", body = AcceptedRun)))]
pub(crate) async fn accept(
    State(service): State<Service>,
    _may: May<Admin>,
    Json(wanted): Json<AcceptedRun, BODY_BYTES_MAX>,
) -> Result<Response, Problem> {
    let run = served(&service)?.accept_run(&wanted.run).await?;
    let run = run.ok_or_else(|| {
        let problem =
            Problem::new(StatusCode::NOT_FOUND, "no_report", "no single run of checks is called so");
        problem.hint("`GET /v1/checks/ID/history` has the ids of runs")
    })?;
    Ok(answer::json(&json!({ "run": run })))
}

fn note(caller: &Caller) -> EntryNote {
    EntryNote::by(&caller.id, "http")
}

/// The reading that the caller accepts, which is no field to be set.
fn take_reading(record: &mut Map<String, Value>) -> Result<Option<String>, Problem> {
    match record.remove(READING) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(reading)) => Ok(Some(reading)),
        Some(_) => {
            Err(Problem::unprocessable("bad_check", "/accepted_reading", "`accepted_reading` is a text"))
        }
    }
}

/// Saves what was tried, if the caller accepts how it is read.
async fn settle(
    service: &Service,
    caller: &Caller,
    proposal: Proposal,
    accepted: Option<String>,
    saved: StatusCode,
) -> Result<Response, Problem> {
    let Proposal { change, result } = proposal;
    let Some(result) = result else {
        let told = Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "bad_check", "the check does not read");
        return Err(change.files.problems.iter().fold(told, |told, problem| {
            told.about(problem.check_id.as_deref().unwrap_or_default(), problem.message.clone())
        }));
    };
    let reading = result.understood.clone();
    let is_saved = accepted.is_some();
    if let Some(accepted) = accepted {
        if let Some(reason) = &change.unread {
            let problem = Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "not_understood", reason.clone());
            return Err(problem.hint("say the rule in other words, or send `enabled`: false with it"));
        }
        if reading.as_ref() != Some(&accepted) {
            let now = result.reason.clone().or(reading).unwrap_or_default();
            let detail = format!("the rule is not read so: {now}");
            let problem = Problem::new(StatusCode::CONFLICT, "read_otherwise", detail);
            return Err(
                problem.hint("try it without `accepted_reading`, and send back the `reading` of the answer")
            );
        }
        served(service)?.save(&change, Some(&result.check_id), note(caller)).await?;
    }
    let status = if is_saved { saved } else { StatusCode::OK };
    let tried = TriedCheck { saved: is_saved, reading, result, file: change.file };
    Ok((status, answer::json(&tried)).into_response())
}
