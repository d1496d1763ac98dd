//! The workspace as a model that chat clients know: `/v1/chat/completions` and `/v1/models`, also without `/v1`.
//!
//! A call is a request like any other, with the conversation before it. Its answer is the plan's own answer; plan,
//! code and findings are its reasoning. What these clients do by themselves is met here: they try calls again
//! ([`retries`]), ask for titles behind the user's back ([`background`]), and can say yes to a held change only in
//! words ([`approval`]). A client that goes away has cancelled its run.

mod approval;
mod background;
pub(crate) mod error;
pub(crate) mod models;
pub(crate) mod reply;
pub(crate) mod request;
mod retries;
mod stream;
mod work;

use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::Response;
use axum::routing::{get, post};
use axum::{Extension, Router};
use ordain_types::{RunRecord, RunState};

pub(crate) use approval::Questions;
pub(crate) use error::{OpenAiError, OpenAiErrorDetails};
pub(crate) use retries::Retries;

use super::answer;
use super::body::{self, wrong_media_type};
use super::caller::{Caller, May, Run};
use super::files;
use super::frame::Context;
use super::problem::Problem;
use super::service::Service;
use approval::Decision;
use reply::{Completion, Head, Reply};
use request::{Chat, NewCompletion};
use retries::{Call, CallRun, Watching};
use work::Work;

/// How long a stream waits for the run to be under way, so that what is refused at once has its own status.
const BEGIN_WAIT: Duration = Duration::from_secs(2);
/// Names the run, for clients that drop what they do not know of a body.
const RUN_ID: HeaderName = HeaderName::from_static("x-ordain-run-id");
const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");
/// How often a client library has sent a call before.
const RETRY_COUNT: &str = "x-stainless-retry-count";

/// Whether a route speaks this protocol, also one that is not served.
pub(crate) fn has_route(route: &str) -> bool {
    let route = route.strip_prefix("/v1").unwrap_or(route);
    let is_served = matches!(route, "/chat/completions" | "/models" | "/models/{model}");
    is_served || matches!(route, "/responses" | "/completions" | "/embeddings")
}

/// The same routes without `/v1`: people paste either address.
pub(crate) fn routes_without_version() -> Router<Service> {
    Router::new()
        .route("/chat/completions", post(create))
        .route("/models", get(models::list))
        .route("/models/{model}", get(models::get))
}

/// What a client wants of the outcome.
#[derive(Debug, Clone)]
struct Wanted {
    is_json: bool,
    /// Who asks, and in which conversation.
    who: String,
    asked: String,
    /// The client says that it has sent the call before, so it need not be told.
    is_retry: bool,
}

/// Ask as a chat client does
///
/// The last message is the request, the others are earlier turns. `message.content` is the answer,
/// `message.reasoning_content` plan, code and findings, and `ordain` the run with its diff. A change that waits for
/// approval is answered with its diff; the next message `approve` commits it, if the key has that scope, and
/// `approve <id>` another held run. The same call, sent again within a
/// minute of its end, is not carried out again if it changed rows.
#[utoipa::path(
    post,
    path = "/v1/chat/completions",
    tag = "openai",
    operation_id = "complete_chat",
    params(
        ("X-Agent-Type" = Option<String>, Header, description = "the strategy: `auto`, `direct`, `plan` or `react`"),
        ("Idempotency-Key" = Option<String>, Header, description = "the same key gives the first outcome again"),
    ),
    request_body = NewCompletion,
    responses(
        (status = 200, description = "The answer, whole or in chunks",
            content((Completion = "application/json"), (String = "text/event-stream"))),
        (status = 404, description = "There is no such model", body = OpenAiError),
    )
)]
pub(crate) async fn create(
    State(service): State<Service>,
    may: May<Run>,
    Extension(context): Extension<Context>,
    request: Request,
) -> Response {
    // The call is a large future, and the frame carries it on.
    let completed = Box::pin(complete(&service, &may.caller, &context, request)).await;
    completed.unwrap_or_else(error::answer)
}

async fn complete(
    service: &Service,
    caller: &Caller,
    context: &Context,
    request: Request,
) -> Result<Response, Problem> {
    let headers = request.headers().clone();
    if body::media_type(&headers) != "application/json" {
        return Err(wrong_media_type("application/json"));
    }
    let bytes = body::read(request.into_body(), files::UPLOAD_BYTES_MAX, service).await?;
    let chat = body::parse::<NewCompletion>(&bytes)?.read(&headers)?;
    if let Some(reply) = without_run(service, caller, &chat).await? {
        if let Some(run) = &reply.run_id {
            context.is_about(run.as_str());
        }
        return Ok(written(&chat, &reply));
    }
    let wanted = Wanted {
        is_json: chat.is_json,
        who: caller.id.clone(),
        asked: chat.asked.clone(),
        is_retry: is_retry(&headers),
    };
    let call = Call {
        given: answer::idempotency_key(&headers, &caller.id)?,
        fingerprint: chat.fingerprint.clone(),
        who: caller.id.clone(),
    };
    let work = Box::pin(Work::of(&chat, service, caller)).await?;
    let has_key = call.given.is_some();
    match service.join_or_begin(caller, call, &work).await? {
        CallRun::Record(record) => {
            context.is_about(record.run_id.as_str());
            let reply = reply_to(service, &wanted, &record).replayed(!wanted.is_retry && !has_key);
            Ok(written(&chat, &reply))
        }
        CallRun::Run(watching) => {
            context.is_about(watching.run.about.run_id.as_str());
            watched(&chat, watching, wanted).await
        }
    }
}

/// The answer to what needs no plan: prompts of front ends, and decisions on held runs.
async fn without_run(service: &Service, caller: &Caller, chat: &Chat) -> Result<Option<Reply>, Problem> {
    let first = chat.turns.first().map(|turn| turn.request.as_str());
    if let Some(text) = background::answer(&chat.request, first, &service.inner.options.workspace) {
        return Ok(Some(Reply::plain(text)));
    }
    let Some(decision) = Decision::read(&chat.request) else { return Ok(None) };
    let (record, text) = decision.carry_out(service, caller, chat).await?;
    Ok(Some(match record {
        Some(record) => Reply::about(&record, text),
        None => Reply::plain(text),
    }))
}

/// The answer about a run. One that is held is a question, which the caller may answer in this conversation.
fn reply_to(service: &Service, wanted: &Wanted, record: &RunRecord) -> Reply {
    if record.state == RunState::Held {
        service.inner.questions.ask(&wanted.who, &wanted.asked, &record.run_id);
    }
    Reply::of_run(record, wanted.is_json)
}

/// Waits for a run, or streams it.
async fn watched(chat: &Chat, watching: Watching, wanted: Wanted) -> Result<Response, Problem> {
    let Some(stream) = chat.stream else {
        let (_, reply) = settled(&watching, &wanted).await?;
        return Ok(written(chat, &reply));
    };
    // The first event tells only that the run began; with the second one its key is claimed, or it has ended.
    let run = &watching.run;
    let _ = tokio::time::timeout(BEGIN_WAIT, run.more_than(1)).await;
    if run.is_over() {
        let (_, reply) = settled(&watching, &wanted).await?;
        return Ok(written(chat, &reply));
    }
    let run_id = run.about.run_id.clone();
    let response = stream::of_run(Head::new(Some(&run_id), &chat.model), stream, watching, wanted);
    Ok(with_headers(response, Some(run_id.as_str()), false))
}

/// Waits for the end of a run, and makes the answer.
async fn settled(watching: &Watching, wanted: &Wanted) -> Result<(RunRecord, Reply), Problem> {
    let (run, store) = (&watching.run, watching.service.engine().store());
    let begun = &run.about.run_id;
    let record = match &*run.ended().await {
        Ok(record) => record.clone(),
        Err(problem) => match store.run(begun.as_str()).await {
            // Something failed behind the commit; the answer reports what was committed.
            Ok(record) if retries::changed(&record) => {
                watching.service.as_asked(&run.about.who, record).await
            }
            _ => return Err(problem.clone()),
        },
    };
    let reply = reply_to(&watching.service, wanted, &record);
    // Behind a milestone the last run of several answers.
    let is_of_key = record.run_id != *begun && record.continues.is_none();
    if watching.is_joined || is_of_key {
        return Ok((record, reply.replayed(!wanted.is_retry && !is_of_key)));
    }
    Ok((record, reply))
}

/// An answer that is there, as the client wants it.
fn written(chat: &Chat, reply: &Reply) -> Response {
    let head = Head::new(reply.run_id.as_ref(), &chat.model);
    let response = match chat.stream {
        Some(stream) => stream::of_reply(head, stream, reply),
        None => answer::json(&reply.whole(&head)),
    };
    with_headers(response, reply.run_id.as_ref().map(ordain_types::RunId::as_str), reply.is_replayed)
}

fn with_headers(mut response: Response, run: Option<&str>, is_replayed: bool) -> Response {
    let headers = response.headers_mut();
    if let Some(run) = run.and_then(|run| HeaderValue::from_str(run).ok()) {
        headers.insert(RUN_ID, run);
    }
    if is_replayed {
        headers.insert(REPLAYED, HeaderValue::from_static("true"));
    }
    // Proxies that gather answers would hold a stream back.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

fn is_retry(headers: &HeaderMap) -> bool {
    let count = headers.get(RETRY_COUNT).and_then(|value| value.to_str().ok());
    count.and_then(|count| count.parse::<u32>().ok()).is_some_and(|count| count > 0)
}
