//! `POST /chat`: a message, and what was thought, written and observed.
//!
//! The server keeps the conversation under its `session_id`, so that a message can refer to those before it.

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::Response;
use ordain_engine::Ask;
use ordain_types::{RunRecord, unmarked};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::answer;
use super::body::Json;
use super::caller::{May, Run};
use super::frame::Context;
use super::openai::reply::writer;
use super::problem::Problem;
use super::service::Service;

const BODY_MAX: usize = 4 << 20;
const SESSION_MAX: usize = 100;
const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

/// A message of a conversation.
#[derive(Debug, Clone, Deserialize, ToSchema)]
pub(crate) struct NewMessage {
    /// What is asked, in words.
    #[schema(example = "do you have round sunglasses under $100?", max_length = 1_048_576)]
    message: String,
    /// The conversation that it goes on with. Without it a new one begins.
    #[serde(default)]
    #[schema(min_length = 1, max_length = 100)]
    session_id: Option<String>,
}

/// What came of a message.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct Turned {
    /// What the plan is, and who wrote it.
    thought: String,
    /// Its Python.
    code: String,
    /// The receipt, which says what happened to the data; then the answer, or why there is none, and what was printed.
    observation: String,
    /// The conversation, for the next message.
    session_id: String,
    /// The run, for `/v1/runs`.
    run_id: String,
}

/// Talk to the workspace
///
/// One message, one run. Losing the connection before the answer cancels the run, unless it is committed already.
#[utoipa::path(
    post,
    path = "/chat",
    tag = "requests",
    operation_id = "chat",
    params(("Idempotency-Key" = Option<String>, Header, description = "the same key gives the first outcome again")),
    request_body = NewMessage,
    responses((status = 200, description = "What came of it", body = Turned))
)]
pub(crate) async fn create(
    State(service): State<Service>,
    may: May<Run>,
    Extension(context): Extension<Context>,
    headers: HeaderMap,
    Json(body): Json<NewMessage, BODY_MAX>,
) -> Result<Response, Problem> {
    let session_id = match body.session_id {
        Some(id) => checked(id)?,
        None => service.engine().store().new_run_id()?.to_string(),
    };
    let mut ask = Ask {
        planner: service.inner.planner.clone(),
        conversation: Some(may.caller.own(&session_id)),
        ..Ask::new(&body.message, &may.caller.id, "http")
    };
    ask.origin.idempotency_key = answer::idempotency_key(&headers, &may.caller.id)?;
    let run = service.begin(&may.caller, ask, ())?;
    context.is_about(run.about.run_id.as_str());
    let waiting = CancelOnDrop(&run);
    let ended = run.ended().await;
    drop(waiting);
    let record = ended.as_ref().as_ref().map_err(Problem::clone)?;
    let mut response = answer::json(&turned(record, session_id));
    if record.run_id != run.about.run_id {
        response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
    }
    Ok(response)
}

/// The one who waits for a run. Nobody else knows of it before the answer.
struct CancelOnDrop<'a>(&'a super::live::LiveRun);

impl Drop for CancelOnDrop<'_> {
    fn drop(&mut self) {
        // A run that has ended is not touched by it.
        self.0.cancel();
    }
}

fn checked(id: String) -> Result<String, Problem> {
    if id.is_empty() || id.len() > SESSION_MAX || id.contains(char::is_control) {
        let message = format!("a session's id has 1 to {SESSION_MAX} bytes of plain text");
        return Err(Problem::unprocessable("bad_body", "/session_id", message));
    }
    Ok(id)
}

fn turned(record: &RunRecord, session_id: String) -> Turned {
    let steps = &record.plan.steps;
    let titles: Vec<&str> =
        steps.iter().map(|step| step.title.as_str()).filter(|title| !title.is_empty()).collect();
    let thought = match titles.as_slice() {
        [] => format!("No plan was carried out ({}).", record.state),
        titles => format!("{} (plan {})", titles.join("; "), writer(record)),
    };
    let code = steps.iter().map(|step| step.code.as_str()).collect::<Vec<_>>().join("\n");
    let said = match (&record.error, record.said()) {
        (Some(error), _) => error.message.clone(),
        (None, Some(text)) => text,
        (None, None) => record.state.to_string(),
    };
    let printed = record.outcome.stdout.trim_end();
    let said = if printed.is_empty() { said } else { format!("{said}\n{printed}") };
    let observation = format!("{}\n{}", record.receipt.marked(), unmarked(&said));
    Turned { thought: unmarked(&thought), code, observation, session_id, run_id: record.run_id.to_string() }
}
