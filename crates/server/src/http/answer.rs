//! A run as the answer to the request that began it: its record if it ends soon enough, else where to find it.

use std::sync::Arc;

use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use ordain_types::{RunId, RunRecord};
use serde::Serialize;
use serde_json::Value;
use utoipa::{IntoParams, IntoResponses};

use super::frame::Context;
use super::live::{Ended, LiveRun};
use super::problem::Problem;
use super::schema;
use super::wait::Wait;

/// Says that an answer is that of an earlier request with the same idempotency key.
const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");
/// Says which of the caller's preferences were followed.
const APPLIED: HeaderName = HeaderName::from_static("preference-applied");
/// The longest idempotency key that a caller may send.
const KEY_MAX: usize = 255;

/// How a run is begun.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "it describes the headers; they are read where they are needed")]
pub(crate) struct RunHeaders {
    /// `wait=N`: wait up to N seconds; `respond-async`: do not wait
    #[param(rename = "Prefer")]
    prefer: Option<String>,
    /// the same key gives the first outcome again
    #[param(rename = "Idempotency-Key")]
    idempotency_key: Option<String>,
}

/// How a run is answered.
#[derive(Debug, IntoResponses)]
#[expect(dead_code, reason = "it describes the answers; they are written below")]
pub(crate) enum RunAnswers {
    /// The run has ended; this is its record
    #[response(status = 200)]
    Ended(schema::RunRecord),
    /// The run goes on; `Location` is where it is
    #[response(status = 202)]
    GoesOn(schema::RunRecord),
}

/// Waits for a run as long as the caller likes, and answers with its record or with its place.
pub(crate) async fn of_run(
    run: Arc<LiveRun>,
    context: &Context,
    headers: &HeaderMap,
) -> Result<Response, Problem> {
    let wait = Wait::read(headers);
    match ended(&run, context, wait).await.as_deref() {
        None => Ok(place(&run, wait)),
        Some(Ok(record)) => Ok(finished(json(&record.told()), record, &run, wait)),
        Some(Err(problem)) => Err(problem.clone()),
    }
}

/// How a run ended, if it ends within the time.
pub(crate) async fn ended(run: &LiveRun, context: &Context, wait: Wait) -> Option<Arc<Ended>> {
    context.is_about(run.about.run_id.as_str());
    if let Ok(ended) = tokio::time::timeout(wait.time, run.ended()).await {
        return Some(ended);
    }
    // Only what will be carried out is called accepted.
    run.accepted().await;
    run.outcome()
}

/// Says where a run is that goes on.
pub(crate) fn place(run: &LiveRun, wait: Wait) -> Response {
    let mut response = (StatusCode::ACCEPTED, json(&running(run))).into_response();
    locate(&mut response, &run.about.run_id);
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    if wait.is_asked {
        response.headers_mut().insert(APPLIED, HeaderValue::from_static("respond-async"));
    }
    response
}

/// What is shown of a run that has ended, with where its record is.
pub(crate) fn finished(mut response: Response, record: &RunRecord, begun: &LiveRun, wait: Wait) -> Response {
    locate(&mut response, &record.run_id);
    if record.run_id != begun.about.run_id {
        response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
    }
    if wait.is_asked {
        let waited = HeaderValue::try_from(format!("wait={}", wait.time.as_secs()));
        response.headers_mut().insert(APPLIED, waited.unwrap_or(HeaderValue::from_static("wait")));
    }
    response
}

/// A run that goes on, as a record: everything that is known, and the state `running`. Who writes its plan and what the
/// verifier says is not known yet.
pub(crate) fn running(run: &LiveRun) -> Value {
    let mut record = serde_json::to_value(run.record()).unwrap_or_default();
    record["state"] = Value::from("running");
    for (part, unknown) in [("plan", "source"), ("verdict", "accepted")] {
        if let Some(fields) = record[part].as_object_mut() {
            fields.remove(unknown);
        }
    }
    record
}

/// A value as a JSON response. Serialising records cannot fail; if it did, the body would be empty.
pub(crate) fn json(value: &impl Serialize) -> Response {
    let body = serde_json::to_vec(value).unwrap_or_default();
    ([(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))], body).into_response()
}

/// The caller's idempotency key, made the caller's own, so that two callers never meet in one.
pub(crate) fn idempotency_key(headers: &HeaderMap, who: &str) -> Result<Option<String>, Problem> {
    let Some(value) = headers.get("idempotency-key") else { return Ok(None) };
    let key = value.to_str().unwrap_or_default();
    if key.is_empty() || key.len() > KEY_MAX || headers.get_all("idempotency-key").iter().count() > 1 {
        let detail = format!("`Idempotency-Key` is one key of 1 to {KEY_MAX} printable ASCII characters");
        return Err(Problem::new(StatusCode::BAD_REQUEST, "bad_idempotency_key", detail));
    }
    Ok(Some(format!("http:{who}:{key}")))
}

fn locate(response: &mut Response, run: &RunId) {
    if let Ok(location) = HeaderValue::from_str(&format!("/v1/runs/{run}")) {
        response.headers_mut().insert(header::LOCATION, location);
    }
}
