//! `/v1/runs`: what was carried out, and what a person decides on it.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use ordain_engine::{Decision as Waited, Engine, EngineError, Planner};
use ordain_store::{EntryNote, RunFilter, StoreError};
use ordain_types::{Grade, RunId, RunRecord, RunState};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use super::answer::{self, RunAnswers};
use super::body::{self, Json, Path, Query};
use super::caller::{Approve, Caller, May, Read, Run};
use super::cursor;
use super::frame::Context;
use super::live::LiveRun;
use super::order::WorkOrder;
use super::problem::Problem;
use super::requests::outline_of;
use super::schema;
use super::service::Service;

/// The largest answer or edited outline.
const ANSWER_BODY_MAX: usize = 256 << 10;

/// Bytes of a body that says how to approve.
const BODY_BYTES_MAX: usize = 64 << 10;

/// Which runs, and which page of them.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Which {
    /// Only runs in this state.
    #[param(value_type = Option<schema::RunState>)]
    state: Option<String>,
    /// Items on the page: 1 to 500, 50 if it is not given.
    #[param(minimum = 1, maximum = 500)]
    limit: Option<u64>,
    /// Where the page begins: the `next_cursor` of the page before.
    cursor: Option<String>,
}

/// A page of runs, newest first.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RunPage {
    /// The runs.
    #[schema(value_type = Vec<schema::RunRecord>)]
    runs: Vec<Listed>,
    /// Where the next page begins, if there is one.
    next_cursor: Option<String>,
}

/// A run that has a record, or one that goes on.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Listed {
    Ended(Box<RunRecord>),
    GoingOn(Value),
}

/// List runs, newest first
#[utoipa::path(get, path = "/v1/runs", tag = "runs", operation_id = "list_runs", params(Which),
    responses((status = 200, description = "A page of runs", body = RunPage)))]
pub(crate) async fn list(
    State(service): State<Service>,
    may: May<Read>,
    query: Query<Which>,
) -> Result<Response, Problem> {
    let limit = cursor::limit(query.limit)?;
    let before = query.cursor.as_deref().map(cursor::read).transpose()?.map(RunId);
    let state = query.state.as_deref().map(read_state).transpose()?;
    let mut runs = Vec::new();
    // Runs that go on are shown on the first page, before those that have a record.
    if before.is_none() && state.is_none_or(|state| state.is_none()) {
        let going_on = service.going_on_seen_by(&may.caller).await?;
        runs.extend(going_on.iter().map(|run| Listed::GoingOn(answer::running(run))));
    }
    let mut next_cursor = None;
    if state != Some(None) {
        let states = state.flatten().into_iter().collect();
        let filter = RunFilter { states, before, ..RunFilter::newest(limit) };
        let (found, next) = page(&service, &may.caller, filter).await?;
        next_cursor = next;
        runs.extend(found.into_iter().map(|record| Listed::Ended(Box::new(record.told().into_owned()))));
    }
    let headers = cursor::link("/v1/runs", next_cursor.as_deref());
    Ok((headers, answer::json(&RunPage { runs, next_cursor })).into_response())
}

/// A page of records, and where the next one begins, if there is one.
pub(crate) async fn page(
    service: &Service,
    caller: &Caller,
    filter: RunFilter,
) -> Result<(Vec<RunRecord>, Option<String>), StoreError> {
    let found = service.runs_seen_by(caller, filter.clone()).await?;
    let Some(last) = found.last().map(|record| record.run_id.clone()) else { return Ok((found, None)) };
    // A page with large records is short, so only a look behind the last one tells whether there are more.
    let behind = RunFilter { before: Some(last.clone()), limit: 1, ..filter };
    let more = !service.runs_seen_by(caller, behind).await?.is_empty();
    Ok((found, more.then(|| cursor::write(last.as_str()))))
}

/// A state that records have, or `None` for runs that go on.
pub(crate) fn read_state(name: &str) -> Result<Option<RunState>, Problem> {
    if name == "running" {
        return Ok(None);
    }
    serde_json::from_value(Value::from(name)).map(Some).map_err(|_| {
        let message = "there is no such state";
        Problem::new(StatusCode::BAD_REQUEST, "bad_query", message).about("state", message).hint(
            "there are running, committed, answered, declined, held, rejected, rolled_back, failed, undone, conflicted",
        )
    })
}

/// One run
///
/// A run that goes on has the state `running` and what is known of it so far.
#[utoipa::path(get, path = "/v1/runs/{run}", tag = "runs", operation_id = "get_run",
    params(("run" = String, Path, description = "the run's id, or a beginning of it that no other run has")),
    responses((status = 200, description = "The run's record", body = schema::RunRecord)))]
pub(crate) async fn get(
    State(service): State<Service>,
    may: May<Read>,
    Extension(context): Extension<Context>,
    Path(run): Path<String>,
) -> Result<Response, Problem> {
    if let Some(live) = service.live_seen_by(&may.caller, &run).await.filter(|live| !live.is_over()) {
        context.is_about(&run);
        return Ok(answer::json(&answer::running(&live)));
    }
    let record = service.run_seen_by(&may.caller, &run).await?;
    context.is_about(record.run_id.as_str());
    Ok(answer::json(&record.told()))
}

/// What a person decides.
#[derive(Debug, Clone)]
pub(crate) enum Decision {
    Approve(HowToApprove),
    Reject,
    Undo,
}

/// How a held diff is approved. Without a body the whole diff is committed, as it was shown.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct HowToApprove {
    /// Where rows have moved on: run the same code on the rows of today.
    pub(crate) rebase: bool,
    /// Rows that are left out, each as `table/key`, with those that the same action wrote.
    #[schema(example = json!(["inventory/SUNG01"]))]
    pub(crate) except: Vec<String>,
}

/// Commit the diff of a held run
///
/// The diff that was shown is applied; the code does not run again. If a row changed meanwhile the run is conflicted, and
/// the answer names the cells. With `rebase` the same code then runs on the rows of today, as a run of its own, which is
/// the answer: committed if its diff differs in derived columns alone, held otherwise.
#[utoipa::path(post, path = "/v1/runs/{run}/approve", tag = "runs", operation_id = "approve_run",
    params(("run" = String, Path, description = "the run's id")),
    request_body = HowToApprove,
    responses((status = 200, description = "The run is committed", body = schema::RunRecord)))]
pub(crate) async fn approve(
    State(service): State<Service>,
    may: May<Approve>,
    Extension(context): Extension<Context>,
    Path(run): Path<String>,
    request: Request,
) -> Result<Response, Problem> {
    let (parts, body) = request.into_parts();
    let how = body::read_optional(body, &parts.headers, BODY_BYTES_MAX, &service).await?;
    decide(&service, &may.caller, &context, &run, Decision::Approve(how)).await
}

/// Say no to a held run
#[utoipa::path(post, path = "/v1/runs/{run}/reject", tag = "runs", operation_id = "reject_run",
    params(("run" = String, Path, description = "the run's id")),
    responses((status = 200, description = "The run is rejected", body = schema::RunRecord)))]
pub(crate) async fn reject(
    State(service): State<Service>,
    may: May<Approve>,
    Extension(context): Extension<Context>,
    Path(run): Path<String>,
) -> Result<Response, Problem> {
    decide(&service, &may.caller, &context, &run, Decision::Reject).await
}

/// Take back a committed run
///
/// The inverse diff is applied, if no row that it touches has changed since.
#[utoipa::path(post, path = "/v1/runs/{run}/undo", tag = "runs", operation_id = "undo_run",
    params(("run" = String, Path, description = "the run's id")),
    responses((status = 200, description = "The run is undone", body = schema::RunRecord)))]
pub(crate) async fn undo(
    State(service): State<Service>,
    may: May<Approve>,
    Extension(context): Extension<Context>,
    Path(run): Path<String>,
) -> Result<Response, Problem> {
    decide(&service, &may.caller, &context, &run, Decision::Undo).await
}

/// Cancel a run that goes on
///
/// Its cell is ended and its transaction rolled back. Of a run of checks, what those gave that had finished is kept. A
/// run that has ended meanwhile is a 409.
#[utoipa::path(post, path = "/v1/runs/{run}/cancel", tag = "runs", operation_id = "cancel_run",
    params(("run" = String, Path, description = "the run's id")),
    responses((status = 200, description = "The run is cancelled", body = schema::RunRecord)))]
pub(crate) async fn cancel(
    State(service): State<Service>,
    may: May<Run>,
    Extension(context): Extension<Context>,
    Path(run): Path<String>,
) -> Result<Response, Problem> {
    context.is_about(&run);
    Ok(answer::json(&service.cancel_run(&may.caller, &run).await?))
}

/// What a person answers.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewAnswer {
    /// The answer to the run's question, or a remark about its outline. Without it the outline is carried out.
    #[serde(default)]
    #[schema(example = "for the owner", max_length = 16_384)]
    answer: Option<String>,
    /// The outline as it was edited: `goal` and `steps`.
    #[serde(default)]
    outline: Option<Value>,
    /// Who writes what is left: `auto` is whom the server was started with.
    #[serde(default)]
    model: Option<String>,
}

/// Answer the question of a run that waits
///
/// The run goes on under its own id. Without an answer the outline that it shows is carried out, as it stands or as it
/// was edited.
#[utoipa::path(post, path = "/v1/runs/{run}/answer", tag = "runs", operation_id = "answer_run",
    params(("run" = String, Path, description = "the run's id")),
    request_body = NewAnswer,
    responses(RunAnswers))]
pub(crate) async fn answer_question(
    State(service): State<Service>,
    may: May<Run>,
    Extension(context): Extension<Context>,
    Path(run): Path<String>,
    headers: HeaderMap,
    Json(body): Json<NewAnswer, ANSWER_BODY_MAX>,
) -> Result<Response, Problem> {
    let record = service.run_seen_by(&may.caller, &run).await?;
    let decision = match (body.answer, body.outline) {
        (Some(_), Some(_)) => {
            let message = "answer in words, or give an outline, not both";
            return Err(Problem::unprocessable("bad_body", "/outline", message));
        }
        (Some(answer), None) => Waited::Respond(answer),
        (None, Some(outline)) => Waited::Edit(outline_of(outline)?),
        (None, None) => Waited::Approve,
    };
    let planner = service.planner(body.model.as_deref()).await?;
    let run = service.begin_resume(&may.caller, &record, decision, planner)?;
    answer::of_run(run, &context, &headers).await
}

/// What a person thinks of a run.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewRating {
    /// Whether it did what was wanted.
    #[schema(value_type = schema::Grade)]
    rating: Grade,
    /// Why.
    #[serde(default)]
    #[schema(example = "it took the wrong customer", max_length = 2000)]
    note: Option<String>,
}

/// Say whether a run did what was wanted
///
/// The rating is part of the run's record and of the ledger. A later one replaces it in the record; the ledger keeps both.
#[utoipa::path(post, path = "/v1/runs/{run}/feedback", tag = "runs", operation_id = "rate_run",
    params(("run" = String, Path, description = "the run's id")),
    request_body = NewRating,
    responses((status = 200, description = "The run with its rating", body = schema::RunRecord)))]
pub(crate) async fn rate(
    State(service): State<Service>,
    may: May<Run>,
    Extension(context): Extension<Context>,
    Path(run): Path<String>,
    Json(body): Json<NewRating, ANSWER_BODY_MAX>,
) -> Result<Response, Problem> {
    let record = service.rate_run(&may.caller, &run, body.rating, body.note.as_deref(), "http").await?;
    context.is_about(record.run_id.as_str());
    Ok(answer::json(&record.told()))
}

impl Service {
    /// Notes what a caller thinks of a run that it sees.
    pub(crate) async fn rate_run(
        &self,
        caller: &Caller,
        run: &str,
        grade: Grade,
        why: Option<&str>,
        through: &str,
    ) -> Result<RunRecord, Problem> {
        let seen = self.run_seen_by(caller, run).await?;
        let note = EntryNote::by(&caller.id, through);
        self.engine().store().rate(seen.run_id.as_str(), grade, why, note).await?;
        let record = self.run_seen_by(caller, seen.run_id.as_str()).await?;
        self.inner.metrics.count("ordain_ratings_total", &format!("rating=\"{}\"", grade.as_str()));
        Ok(record)
    }

    /// Begins to go on with a run that waits.
    pub(crate) fn begin_resume(
        &self,
        caller: &Caller,
        record: &RunRecord,
        decision: Waited,
        planner: Planner,
    ) -> Result<Arc<LiveRun>, Problem> {
        if record.state != RunState::Waiting {
            let (run, state, operation) = (record.run_id.to_string(), record.state, "resumed");
            return Err(StoreError::WrongState { run, state, operation }.into());
        }
        let (run, kind, request) = (record.run_id.clone(), record.kind, record.request.clone());
        let claim = Engine::resume_key(record);
        self.begin(
            caller,
            WorkOrder::Resume { run, kind, request, claim, decision, planner: Box::new(planner) },
            (),
        )
    }
}

async fn decide(
    service: &Service,
    caller: &Caller,
    context: &Context,
    run: &str,
    decision: Decision,
) -> Result<Response, Problem> {
    let note = EntryNote::by(&caller.id, "http");
    let seen = service.run_seen_by(caller, run).await?;
    let record = service.decide(seen.run_id.as_str(), decision, note).await?;
    context.is_about(record.run_id.as_str());
    Ok((HeaderMap::new(), answer::json(&record.told())).into_response())
}

impl Service {
    /// Carries out what a person decided.
    pub(crate) async fn decide(
        &self,
        run: &str,
        decision: Decision,
        note: EntryNote,
    ) -> Result<RunRecord, EngineError> {
        let store = self.engine().store();
        match decision {
            Decision::Approve(how) if how.rebase => {
                let record = self.engine().approve_rebased(run, note).await?;
                // What ran again for its asker is shown to who decides.
                Ok(store.run(record.run_id.as_str()).await?)
            }
            Decision::Approve(how) => Ok(store.approve_except(run, &how.except, note).await?),
            Decision::Reject => Ok(store.reject(run, note).await?),
            Decision::Undo => {
                ordain_engine::settle_unknown(store, &self.engine().settings().tools, run).await?;
                Ok(store.undo(run, note).await?)
            }
        }
    }

    /// Ends a run that goes on, and waits for its record.
    pub(crate) async fn cancel_run(&self, caller: &Caller, run: &str) -> Result<RunRecord, Problem> {
        let over = |run: &str| {
            let detail = format!("run `{run}` has already ended");
            Problem::new(StatusCode::CONFLICT, "already_ended", detail).of_run(run)
        };
        let Some(live) = self.live_seen_by(caller, run).await.filter(|live| !live.is_over()) else {
            let record = self.run_seen_by(caller, run).await?;
            return Err(over(record.run_id.as_str()));
        };
        live.cancel();
        match &*live.ended().await {
            Ok(record) if record.error.as_ref().is_some_and(|error| error.code == "cancelled") => {
                Ok(record.clone())
            }
            Ok(record) => Err(over(record.run_id.as_str())),
            Err(problem) => Err(problem.clone()),
        }
    }
}
