//! The conversation: its page, and a new turn of it.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Path, Request};
use axum::http::{HeaderMap, Uri, header};
use axum::response::{IntoResponse as _, Redirect, Response};
use ordain_engine::{Ask, CodeTask, Mode, Origin};
use ordain_ui::ask::{Conversation, Earlier, Turn, Words};
use ordain_ui::{Notice, Place};
use serde::Deserialize;

use super::reply;
use super::runs::{Said, live_view};
use super::visit::{Turned, Visit, same_site};
use crate::http::body::Query;
use crate::http::caller::{Caller, Read, Run};
use crate::http::files::{self, NewFile, Uploads, WithFiles};
use crate::http::live::LiveRun;
use crate::http::order::WorkOrder;
use crate::http::problem::Problem;
use crate::http::read::read_typed;
use crate::http::requests::strategy_named;
use crate::http::service::Service;

/// How long a browser without scripts waits for an answer.
const WAIT: Duration = Duration::from_secs(10);
/// Turns that the page shows.
const TURNS_MAX: u64 = 50;
/// Earlier conversations that the page lists.
const EARLIER_MAX: usize = 20;
/// Words that are offered to go on with.
const NEXT_MAX: usize = 8;
/// Conversations that are looked through for those of one caller.
const LOOKED_MAX: u64 = 200;

/// The initial text of the box.
#[derive(Debug, Deserialize)]
pub(super) struct Draft {
    #[serde(default)]
    draft: String,
}

/// A new conversation.
pub(super) async fn new(visit: Visit<Read>, query: Query<Draft>) -> Result<Response, Turned> {
    let service = &visit.service;
    let name = service.engine().store().new_run_id()?.to_string();
    show(&visit, name, query.draft.clone(), None).await
}

/// A conversation that was begun.
pub(super) async fn page(
    visit: Visit<Read>,
    Path(name): Path<String>,
    query: Query<Said>,
) -> Result<Response, Turned> {
    check_name(&name)?;
    let notice = reply::notice(query.done.as_deref());
    show(&visit, name, String::new(), notice).await
}

/// The conversation on whose page a form was, if it was on one.
pub(super) fn conversation_of(headers: &HeaderMap) -> Option<String> {
    let page = headers.get(header::REFERER)?.to_str().ok()?.parse::<Uri>().ok()?;
    let name = page.path().strip_prefix("/ask/")?;
    check_name(name).is_ok().then(|| name.to_owned())
}

async fn show(
    visit: &Visit<Read>,
    name: String,
    draft: String,
    notice: Option<Notice>,
) -> Result<Response, Turned> {
    let service = &visit.service;
    let turns = turns(service, &visit.caller, &visit.caller.own(&name)).await?;
    let is_live = turns.iter().any(|turn| matches!(turn, Turn::Live(_)));
    let conversation = Conversation {
        earlier: earlier(service, &visit.caller, &name).await?,
        model: service.inner.planner.model(),
        examples: if turns.is_empty() { service.inner.options.examples.clone() } else { Vec::new() },
        once: service.engine().store().new_run_id()?.to_string(),
        name,
        turns,
        draft,
    };
    let shell = visit.shell(notice).await?;
    let content = ordain_ui::ask::page(&conversation, &visit.viewer);
    let page = if is_live {
        shell.live_page(Place::Ask, "Ask", &content)
    } else {
        shell.page(Place::Ask, "Ask", &content)
    };
    Ok(reply::html(visit.headers(), page))
}

/// The turns that have a record, and those that go on.
async fn turns(service: &Service, caller: &Caller, conversation: &str) -> Result<Vec<Turn>, Problem> {
    let store = service.engine().store();
    let mut turns = Vec::new();
    for turn in store.turns(conversation, TURNS_MAX).await? {
        // A run whose record is gone has nothing to show.
        if let Ok(record) = service.run_seen_by(caller, &turn.run_id).await {
            turns.push(Turn::Ended(Box::new(record)));
        }
    }
    let mut live: Vec<Arc<LiveRun>> = service.inner.live.going_on();
    live.retain(|run| run.about.conversation.as_deref() == Some(conversation));
    turns.extend(live.iter().rev().map(|run| Turn::Live(live_view(run))));
    Ok(turns)
}

/// The caller's other conversations.
async fn earlier(service: &Service, caller: &Caller, but: &str) -> Result<Vec<Earlier>, Problem> {
    let store = service.engine().store();
    let prefix = caller.own("");
    let beginnings: Vec<String> = (!prefix.is_empty()).then(|| prefix.clone()).into_iter().collect();
    let mut earlier = Vec::new();
    for found in store.conversations(&beginnings, None, LOOKED_MAX).await? {
        let name = found.conversation.strip_prefix(&prefix);
        let Some(name) = name.filter(|name| *name != but && check_name(name).is_ok()) else {
            continue;
        };
        earlier.push(Earlier { name: name.to_owned(), title: found.title, last_at: found.last_at });
        if earlier.len() == EARLIER_MAX {
            break;
        }
    }
    Ok(earlier)
}

fn check_name(name: &str) -> Result<(), Problem> {
    let is_plain =
        !name.is_empty() && name.len() <= 100 && name.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if is_plain {
        return Ok(());
    }
    let detail = "there is no such conversation";
    Err(Problem::new(axum::http::StatusCode::NOT_FOUND, "unknown_conversation", detail))
}

/// What somebody has typed so far.
#[derive(Debug, Deserialize)]
pub(super) struct Typed {
    text: String,
}

/// What the reader understands of a text while it is typed. With a model, a word that the reader does not know is none
/// to warn of.
pub(super) async fn words(visit: Visit<Read>, query: Query<Typed>) -> Result<Response, Turned> {
    let service = &visit.service;
    let read = read_typed(service, &visit.caller, &query.text).await?;
    let warns = service.inner.planner.model().is_none();
    let unknown = read.not_understood.filter(|_| warns);
    let mut pieces = Vec::new();
    let mut end = 0;
    for token in &read.tokens {
        let (from, to) = token.at;
        let is_unknown = unknown.as_ref().is_some_and(|unknown| unknown.at == token.at);
        pieces.push((query.text.get(end..from).unwrap_or_default().to_owned(), None));
        let kind = if is_unknown { "unknown" } else { token.kind };
        let kind = (is_unknown || kind != "unknown").then_some(kind);
        pieces.push((query.text.get(from..to).unwrap_or_default().to_owned(), kind));
        end = to;
    }
    pieces.push((query.text.get(end..).unwrap_or_default().to_owned(), None));
    let next = read.next.into_iter().filter(|next| !next.text.is_empty()).take(NEXT_MAX);
    let words = Words {
        pieces,
        readings: read.readings.into_iter().map(|reading| reading.reading).collect(),
        unknown: unknown.map(|unknown| (unknown.text, unknown.nearest)),
        next: next.map(|next| (next.text, next.kind)).collect(),
    };
    Ok(reply::html(visit.headers(), ordain_ui::ask::words(&words).into_string()))
}

/// The form of a new turn.
#[derive(Debug, Clone, Default, Deserialize)]
struct NewTurn {
    token: String,
    once: String,
    request: String,
    mode: String,
    model: String,
    strategy: String,
}

impl WithFiles for NewTurn {
    const NEEDED: &'static str = "request";
    const KNOWN: &'static str = "token, once, request, mode, model and strategy";

    fn take_files(&mut self) -> Vec<NewFile> {
        Vec::new()
    }

    fn set(&mut self, part: &str, text: String) -> Result<bool, Problem> {
        let place = match part {
            "token" => &mut self.token,
            "once" => &mut self.once,
            "request" => &mut self.request,
            "mode" => &mut self.mode,
            "model" => &mut self.model,
            "strategy" => &mut self.strategy,
            _ => return Ok(false),
        };
        *place = text;
        Ok(true)
    }
}

impl NewTurn {
    fn mode(&self) -> Result<Mode, Problem> {
        match self.mode.as_str() {
            "" | "commit" => Ok(Mode::Commit),
            "hold" => Ok(Mode::Hold),
            "dry_run" => Ok(Mode::DryRun),
            _ => Err(Problem::unprocessable("bad_form", "/mode", "there are commit, hold and dry_run")),
        }
    }

    fn model(&self) -> Option<&str> {
        Some(self.model.as_str()).filter(|model| !model.is_empty())
    }

    /// A form that is sent twice is carried out once.
    fn idempotency_key(&self, caller: &Caller) -> Option<String> {
        let is_plain = !self.once.is_empty() && self.once.len() <= 100 && self.once.is_ascii();
        is_plain.then(|| format!("ui:{}:{}", caller.id, self.once))
    }
}

/// Asks something, as a turn of the conversation.
pub(super) async fn create(
    Path(name): Path<String>,
    visit: Visit<Run>,
    request: Request,
) -> Result<Response, Turned> {
    let service = &visit.service;
    check_name(&name)?;
    let headers = request.headers().clone();
    same_site(&headers)?;
    let (new, uploads) = files::read::<NewTurn>(request, service).await?;
    visit.check(&new.token)?;
    let run = begin(service, &visit.caller, &name, new, uploads).await?;
    if !reply::is_part(&headers) {
        // Without scripts nothing follows the run, so most of them are waited for.
        let _ = tokio::time::timeout(WAIT, run.ended()).await;
        let place = if run.is_over() { format!("#run-{}", run.about.run_id) } else { String::new() };
        return Ok(Redirect::to(&format!("/ask/{name}{place}")).into_response());
    }
    let turn = Turn::Live(live_view(&run));
    let next = service.engine().store().new_run_id()?.to_string();
    let added = ordain_ui::ask::added(&turn, &visit.viewer, &next);
    Ok(reply::html(&headers, added.into_string()))
}

/// A request with files is answered by code over them; one without is a request to the workspace's data.
async fn begin(
    service: &Service,
    caller: &Caller,
    name: &str,
    new: NewTurn,
    uploads: Uploads,
) -> Result<Arc<LiveRun>, Problem> {
    let strategy = strategy_named(Some(new.strategy.as_str()).filter(|strategy| !strategy.is_empty()))?;
    let planner = service.planner(new.model()).await?;
    let origin = Origin { idempotency_key: new.idempotency_key(caller), ..Origin::new(&caller.id, "ui") };
    let files = uploads.named()?;
    if files.is_empty() {
        let ask = Ask {
            planner,
            strategy,
            mode: new.mode()?,
            conversation: Some(caller.own(name)),
            origin,
            ..Ask::new(&new.request, "", "")
        };
        return service.begin(caller, ask, ());
    }
    service.must_take_code()?;
    let conversation = Some(caller.own(name));
    let task = CodeTask { files, planner, conversation, origin, ..CodeTask::new(&new.request, "", "") };
    service.begin(caller, WorkOrder::Code(Box::new(task)), uploads)
}
