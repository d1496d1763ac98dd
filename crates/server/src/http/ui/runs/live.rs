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

use super::{details, live_view};
use crate::http::body::Query;
use crate::http::caller::Read;
use crate::http::live::LiveRun;
use crate::http::problem::Problem;
use crate::http::service::Service;
use crate::http::ui::visit::{Turned, Visit};

/// A page is changed at most so often.
const EVERY: Duration = Duration::from_millis(100);

/// What stands on the page when the run has ended.
#[derive(Debug, Deserialize)]
pub(crate) struct Wanted {
    shape: Option<String>,
}

struct Watch {
    service: Service,
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
    let Some(run) = service.live_seen_by(&visit.caller, &run) else {
        let record = service.run_seen_by(&visit.caller, &run).await?;
        let shown = ended(&service, &record, &visit.viewer, is_card).await?;
        return Ok(Sse::new(stream::iter([Ok::<_, Infallible>(part(shown))])).into_response());
    };
    let watch = Watch { service, viewer: visit.viewer, run, is_card, place: 0, is_over: false };
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
            Ok(record) => ended(&self.service, record, &self.viewer, self.is_card).await,
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

async fn ended(
    service: &Service,
    record: &RunRecord,
    viewer: &Viewer,
    is_card: bool,
) -> Result<Markup, Problem> {
    if is_card {
        return Ok(ordain_ui::live::over(&ordain_ui::run::card(record, viewer)));
    }
    let details = details(service, record).await?;
    Ok(ordain_ui::live::over(&ordain_ui::run::body(record, &details, viewer)))
}

fn part(markup: Markup) -> Event {
    // A carriage return would end a line of the protocol; no page needs one.
    Event::default().data(markup.into_string().replace('\r', ""))
}
