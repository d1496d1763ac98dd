//! A run as it goes on, as parts of a page that replace one another, and at last the run as it ended.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Path, State};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use ordain_types::RunRecord;
use ordain_ui::{Markup, Viewer};
use serde::Deserialize;
use tokio::sync::watch;

use super::{Which, details, found, live_view};
use crate::http::body::Query;
use crate::http::caller::{Caller, Read};
use crate::http::live::LiveRun;
use crate::http::problem::Problem;
use crate::http::service::Service;
use crate::http::ui::visit::{Turned, Visit};

/// A page is changed at most so often.
const EVERY: Duration = Duration::from_millis(100);

/// A list is changed at most so often.
const LIST_EVERY: Duration = Duration::from_millis(300);
/// How often a quiet list looks whether the server stops.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// The part of the page that is shown when the run has ended.
#[derive(Debug, Deserialize)]
pub(crate) struct Wanted {
    shape: Option<String>,
}

struct Watch {
    service: Service,
    caller: Caller,
    viewer: Viewer,
    run: Arc<LiveRun>,
    is_card: bool,
    place: u64,
    is_over: bool,
}

/// Follows a run.
pub(crate) async fn stream(
    State(service): State<Service>,
    visit: Visit<Read>,
    Path(run): Path<String>,
    query: Query<Wanted>,
) -> Result<Response, Turned> {
    let is_card = query.shape.as_deref() == Some("card");
    let ping_every = service.inner.options.ping_every;
    let Some(run) = service.live_seen_by(&visit.caller, &run).await else {
        let record = service.run_seen_by(&visit.caller, &run).await?;
        let shown = ended(&service, &record, (&visit.caller, &visit.viewer), is_card).await?;
        return Ok(Sse::new(stream::iter([Ok::<_, Infallible>(part(shown))])).into_response());
    };
    let watch =
        Watch { service, caller: visit.caller, viewer: visit.viewer, run, is_card, place: 0, is_over: false };
    let events = stream::unfold(watch, |mut watch| async move {
        let event = watch.next().await?;
        Some((Ok::<_, Infallible>(event), watch))
    });
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(ping_every).text("ping")).into_response())
}

impl Watch {
    async fn next(&mut self) -> Option<Event> {
        if self.is_over {
            return None;
        }
        self.run.more_than(self.place).await;
        tokio::time::sleep(EVERY).await;
        let (news, is_over) = self.run.events_after(self.place);
        self.place = news.last().map_or(self.place, |event| event.id);
        self.is_over = is_over;
        if is_over {
            return Some(part(self.end().await));
        }
        Some(part(ordain_ui::live::progress(&live_view(&self.run), &self.viewer)))
    }

    /// The run as it ended, or why it has no record.
    async fn end(&self) -> Markup {
        let ended_run = self.run.ended().await;
        let shown = match &*ended_run {
            Ok(record) => ended(&self.service, record, (&self.caller, &self.viewer), self.is_card).await,
            Err(problem) => Err(problem.clone()),
        };
        shown.unwrap_or_else(|problem| {
            let shown = ordain_ui::problem::Problem {
                title: &problem.title,
                detail: &problem.detail,
                hint: problem.hint.as_deref(),
                request_id: self.run.about.run_id.as_str(),
            };
            ordain_ui::live::over(&ordain_ui::problem::part(shown))
        })
    }
}

/// A list of runs, as often as one begins or ends.
pub(crate) async fn list(
    State(service): State<Service>,
    visit: Visit<Read>,
    query: Query<Which>,
) -> Result<Response, Turned> {
    let ping_every = service.inner.options.ping_every;
    let watch =
        ListWatch { changes: service.inner.live.changes(), service, caller: visit.caller, which: query.0 };
    let events = stream::unfold(watch, |mut watch| async move {
        let event = watch.next().await?;
        Some((Ok::<_, Infallible>(event), watch))
    });
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(ping_every).text("ping")).into_response())
}

struct ListWatch {
    service: Service,
    caller: Caller,
    which: Which,
    changes: watch::Receiver<u64>,
}

impl ListWatch {
    async fn next(&mut self) -> Option<Event> {
        loop {
            // A server that stops does not wait for those who only watch.
            if self.service.is_draining() {
                return None;
            }
            match tokio::time::timeout(LOOK_EVERY, self.changes.changed()).await {
                Err(_elapsed) => {}
                Ok(Err(_)) => return None,
                Ok(Ok(())) => break,
            }
        }
        tokio::time::sleep(LIST_EVERY).await;
        self.changes.mark_unchanged();
        let list = found(&self.service, &self.caller, &self.which).await.ok()?;
        Some(part(ordain_ui::runs::rows(&list)))
    }
}

async fn ended(
    service: &Service,
    record: &RunRecord,
    (caller, viewer): (&Caller, &Viewer),
    is_card: bool,
) -> Result<Markup, Problem> {
    if is_card {
        return Ok(ordain_ui::live::over(&ordain_ui::run::card(record, viewer)));
    }
    let details = details(service, record, caller, viewer).await?;
    Ok(ordain_ui::live::over(&ordain_ui::run::body(record, &details, viewer)))
}

fn part(markup: Markup) -> Event {
    // A carriage return would end a line of the protocol; no page needs one.
    Event::default().data(markup.into_string().replace('\r', ""))
}
