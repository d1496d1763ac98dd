//! `/v1/sessions`: conversations, and the cells that some of them keep.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use ordain_store::{Conversation, ConversationTurn};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::answer;
use super::body::{Path, Query};
use super::caller::{Caller, May, Read, Run};
use super::cursor::{self, Page};
use super::problem::Problem;
use super::schema;
use super::service::Service;

/// How many turns.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Which {
    /// How many: 1 to 500, 50 if it is not given.
    #[param(minimum = 1, maximum = 500)]
    limit: Option<u64>,
}

/// Conversations, the latest first.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SessionList {
    /// The conversations.
    #[schema(value_type = Vec<schema::Conversation>)]
    sessions: Vec<Conversation>,
    /// Where the next page begins, if there is one.
    next_cursor: Option<String>,
}

/// The last turns of a conversation, oldest first.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Turns {
    /// The conversation's name.
    session: String,
    /// The turns.
    #[schema(value_type = Vec<schema::Turn>)]
    turns: Vec<ConversationTurn>,
}

/// Whether a session's cell was ended.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EndedSession {
    /// Whether there was one.
    ended: bool,
}

/// List conversations, the latest first
#[utoipa::path(get, path = "/v1/sessions", tag = "sessions", operation_id = "list_sessions", params(Page),
    responses((status = 200, description = "A page of conversations", body = SessionList)))]
pub(crate) async fn list(
    State(service): State<Service>,
    may: May<Read>,
    page: Query<Page>,
) -> Result<Response, Problem> {
    let limit = page.limit()?;
    let after = page.cursor.as_deref().map(cursor::read_texts::<2>).transpose()?;
    let after = after.as_ref().map(|[name, at]| (name.as_str(), at.as_str()));
    let whose = beginnings(&may.caller);
    let mut sessions = service.engine().store().conversations(&whose, after, limit + 1).await?;
    let more = sessions.len() as u64 > limit;
    sessions.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    let last = sessions.last().filter(|_| more);
    let next_cursor = last.map(|last| cursor::write_texts([&last.conversation, &last.last_at]));
    for session in &mut sessions {
        session.conversation = shown(&may.caller, &session.conversation);
    }
    let headers = cursor::link("/v1/sessions", next_cursor.as_deref());
    Ok((headers, answer::json(&SessionList { sessions, next_cursor })).into_response())
}

/// The turns of a conversation
#[utoipa::path(get, path = "/v1/sessions/{session}", tag = "sessions", operation_id = "get_session",
    params(("session" = String, Path, description = "the conversation's name"), Which),
    responses((status = 200, description = "Its last turns, oldest first", body = Turns)))]
pub(crate) async fn get(
    State(service): State<Service>,
    may: May<Read>,
    Path(session): Path<String>,
    query: Query<Which>,
) -> Result<Response, Problem> {
    let limit = cursor::limit(query.limit)?;
    if session.contains('\0') {
        return Err(unknown());
    }
    for name in kept_as(&may.caller, &session) {
        let turns = service.engine().store().turns(&name, limit).await?;
        if !turns.is_empty() {
            return Ok(answer::json(&Turns { session, turns }));
        }
    }
    Err(unknown())
}

/// End the cell of a session
///
/// Sessions are those that `POST /v1/exec` was given by name. The variables are gone; conversations stay.
#[utoipa::path(delete, path = "/v1/sessions/{session}", tag = "sessions", operation_id = "end_session",
    params(("session" = String, Path, description = "the session's name")),
    responses((status = 200, description = "Whether there was a cell to end", body = EndedSession)))]
pub(crate) async fn end(
    State(service): State<Service>,
    may: May<Run>,
    Path(session): Path<String>,
) -> Result<Response, Problem> {
    // A caller can name its own sessions only.
    let name = format!("{}:{session}", may.caller.id);
    let ended_here = service.end_cells(&name).await;
    // Elsewhere the node that holds it ends it within seconds; from now on the name begins a new session.
    let ended =
        service.inner.options.cluster.let_go(&may.caller.id, &name).await.unwrap_or_default() || ended_here;
    Ok(answer::json(&EndedSession { ended }))
}

/// What conversations of code tasks are kept under, before the name of their session.
const CODE: &str = "code:";

/// How the names of the conversations begin that a caller sees; all, if none is given.
fn beginnings(caller: &Caller) -> Vec<String> {
    match caller.whose() {
        None => Vec::new(),
        Some(who) => vec![format!("{who}:"), format!("{CODE}{who}:")],
    }
}

/// A conversation's name as its caller gave it. A caller that sees all of them also sees whose each is.
fn shown(caller: &Caller, kept: &str) -> String {
    let Some(who) = caller.whose() else { return kept.to_owned() };
    let own = format!("{who}:");
    match (kept.strip_prefix(&own), kept.strip_prefix(CODE).and_then(|rest| rest.strip_prefix(&own))) {
        (Some(name), _) => name.to_owned(),
        (None, Some(name)) => format!("{CODE}{name}"),
        (None, None) => kept.to_owned(),
    }
}

/// What a conversation that a caller names may be kept as.
fn kept_as(caller: &Caller, name: &str) -> Vec<String> {
    match caller.whose() {
        None => vec![name.to_owned(), caller.own(name)],
        Some(who) => {
            let code = name.strip_prefix(CODE).map(|name| format!("{CODE}{who}:{name}"));
            [Some(caller.own(name)), code].into_iter().flatten().collect()
        }
    }
}

fn unknown() -> Problem {
    Problem::new(StatusCode::NOT_FOUND, "unknown_session", "there is no conversation of that name")
}
