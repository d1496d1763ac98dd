//! `GET /v1/runs/{run}/events`: what happens in a run, as server-sent events.
//!
//! Every event has a number. A watcher that lost its connection comes back with `Last-Event-ID` and gets what it
//! missed. The log of a run is kept while it goes on and a little longer; of older runs the end is made from the
//! record.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use serde_json::json;

use super::body::Path;
use super::caller::{May, Read};
use super::frame::Context;
use super::live::{LiveRun, RunEvent};
use super::problem::Problem;
use super::service::Service;

/// The id of the end event, when it is made from a record.
const END: &str = "end";

/// Where a watcher is.
struct Watch {
    run: Arc<LiveRun>,
    place: u64,
    waiting: VecDeque<RunEvent>,
    is_over: bool,
}

/// Watch a run
///
/// Events: `started`, `stage`, `text` (of a model), `stdout`, `stderr`, `cut` and, last, `finished`. The data of each is
/// JSON. After `finished` the stream ends; coming back after it gives 204.
#[utoipa::path(get, path = "/v1/runs/{run}/events", tag = "runs", operation_id = "watch_run",
    params(
        ("run" = String, Path, description = "the run's id"),
        ("Last-Event-ID" = Option<String>, Header, description = "the last event that was seen"),
    ),
    responses(
        (status = 200, description = "A stream of events", body = String, content_type = "text/event-stream"),
        (status = 204, description = "Everything was seen"),
    ))]
pub(crate) async fn stream(
    State(service): State<Service>,
    may: May<Read>,
    Extension(context): Extension<Context>,
    Path(run): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let last = last_seen(&headers)?;
    if let Some(live) = service.live_seen_by(&may.caller, &run).await {
        context.is_about(&run);
        return Ok(watch(live, last, service.inner.options.ping_every));
    }
    let record = service.run_seen_by(&may.caller, &run).await?;
    context.is_about(record.run_id.as_str());
    if matches!(last, Last::End) {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let data = json!({ "run_id": record.run_id, "state": record.state, "status": record.status,
        "answer": record.answer.text, "error": record.error });
    let end = Event::default().id(END).event("finished").data(data.to_string());
    Ok(Sse::new(stream::iter([Ok::<_, Infallible>(end)])).into_response())
}

/// What a watcher has seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Last {
    Place(u64),
    End,
}

fn last_seen(headers: &HeaderMap) -> Result<Last, Problem> {
    let Some(value) = headers.get("last-event-id") else { return Ok(Last::Place(0)) };
    let text = value.to_str().unwrap_or("?").trim();
    match (text, text.parse()) {
        ("", _) => Ok(Last::Place(0)),
        (END, _) => Ok(Last::End),
        (_, Ok(place)) => Ok(Last::Place(place)),
        _ => {
            let detail = "`Last-Event-ID` is not one that this server gave";
            Err(Problem::new(StatusCode::BAD_REQUEST, "bad_event_id", detail))
        }
    }
}

fn watch(run: Arc<LiveRun>, last: Last, ping_every: Duration) -> Response {
    let place = match last {
        Last::Place(place) => place,
        Last::End => u64::MAX,
    };
    let (missed, is_over) = run.events_after(place);
    if missed.is_empty() && is_over {
        return StatusCode::NO_CONTENT.into_response();
    }
    let watch = Watch { run, place, waiting: missed.into(), is_over };
    let events = stream::unfold(watch, |mut watch| async move {
        let event = watch.next().await?;
        let event = Event::default().id(event.id.to_string()).event(event.name).data(event.data);
        Some((Ok::<_, Infallible>(event), watch))
    });
    Sse::new(events).keep_alive(KeepAlive::new().interval(ping_every).text("ping")).into_response()
}

impl Watch {
    async fn next(&mut self) -> Option<RunEvent> {
        loop {
            if let Some(event) = self.waiting.pop_front() {
                self.place = event.id;
                return Some(event);
            }
            if self.is_over {
                return None;
            }
            self.run.more_than(self.place).await;
            let (more, is_over) = self.run.events_after(self.place);
            self.waiting = more.into();
            self.is_over = is_over;
        }
    }
}
