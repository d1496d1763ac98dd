//! The grid of checks, the page of one, and the buttons that run them.

use std::collections::HashMap;

use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse as _, Redirect, Response};
use ordain_checks::file::CheckFiles;
use ordain_engine::checks::{Checks, Past};
use ordain_types::RunKind;
use ordain_ui::Place;
use ordain_ui::checks::{CheckPage, Filter, Grid, Row};
use serde::Deserialize;

use super::reply;
use super::visit::{Nothing, Sent, Turned, Visit};
use crate::http::body::Query;
use crate::http::caller::{Read, Run};
use crate::http::checks::run::{Wanted, begin};
use crate::http::checks::{find, look, read, served, stale};
use crate::http::problem::Problem;
use crate::http::service::Service;

/// Results of one check that a page is given.
const HISTORY_MAX: usize = 200;

/// Which checks are shown.
#[derive(Debug, Deserialize)]
pub(super) struct Which {
    status: Option<String>,
    #[serde(default)]
    text: String,
}

/// The grid.
pub(super) async fn grid(
    State(service): State<Service>,
    headers: HeaderMap,
    visit: Visit<Read>,
    query: Query<Which>,
) -> Result<Response, Turned> {
    visit.caller.must_see_every_table()?;
    let mut grid = look(&service, rows).await?;
    grid.filter = Filter { status: query.status.clone(), text: query.text.clone() };
    let live = service.inner.live.going_on();
    grid.running =
        live.iter().find(|run| run.about.kind == RunKind::Check).map(|run| run.about.run_id.to_string());
    let shell = visit.shell(&service, None).await?;
    let content = ordain_ui::checks::grid(&grid, &visit.viewer);
    Ok(reply::html(&headers, shell.page(Place::Checks, "Checks", &content)))
}

pub(super) fn rows(checks: &Checks) -> Result<Grid, Problem> {
    let CheckFiles { entries, problems } = read(checks)?;
    let mut history: HashMap<String, Vec<Past>> = HashMap::new();
    for past in checks.state()?.history()? {
        history.entry(past.result.check_id.clone()).or_default().push(past);
    }
    let row = |entry: ordain_checks::file::CheckEntry| {
        let past = history.remove(&entry.check.check_id).unwrap_or_default();
        Row {
            duration_ms: past.last().map(|last| last.duration_ms),
            history: newest(past),
            check: entry.check,
        }
    };
    let problems = problems.iter().map(ToString::to_string).collect();
    Ok(Grid { rows: entries.into_iter().map(row).collect(), problems, ..Grid::default() })
}

fn newest(mut past: Vec<Past>) -> Vec<ordain_checks::report::PastResult> {
    past.drain(..past.len().saturating_sub(HISTORY_MAX));
    past.into_iter().map(|past| past.result).collect()
}

/// One check.
pub(super) async fn page(
    State(service): State<Service>,
    headers: HeaderMap,
    visit: Visit<Read>,
    Path(check): Path<String>,
) -> Result<Response, Turned> {
    visit.caller.must_see_every_table()?;
    let (entry, mut shown) = look(&service, move |checks| {
        let entry = find(read(checks)?, &check)?;
        let state = checks.state()?;
        let past = state.history()?.into_iter().filter(|past| past.result.check_id == check).collect();
        let history = newest(past);
        let report = history.last().and_then(|last| state.report(&last.run_id));
        let results = report.into_iter().flat_map(|report| report.results);
        let shown = CheckPage {
            check: entry.check.clone(),
            file: entry.file.clone(),
            line: entry.line,
            compiled: None,
            stale: None,
            result: results.into_iter().find(|result| result.check_id == check),
            history,
        };
        Ok((entry, shown))
    })
    .await?;
    let kept = served(&service)?.kept_code(&entry.check.check_id).await.map_err(Problem::from)?;
    shown.compiled = kept.map(|kept| (kept.code, kept.code_from, kept.at, kept.plan));
    if shown.compiled.is_some() {
        shown.stale = stale(&service, &entry).await?;
    }
    let shell = visit.shell(&service, None).await?;
    let content = ordain_ui::checks::page(&shown, &visit.viewer);
    Ok(reply::html(&headers, shell.chart_page(Place::Checks, &shown.check.check_name, &content)))
}

/// Runs every check, and shows the run.
pub(super) async fn run_all(
    State(service): State<Service>,
    sent: Sent<Run, Nothing>,
) -> Result<Response, Turned> {
    sent.visit.caller.must_see_every_table()?;
    let run = begin(&service, &sent.visit.caller, Wanted::all(&service).await?, None)?;
    Ok(Redirect::to(&format!("/runs/{}", run.about.run_id)).into_response())
}

/// Runs one check, and shows the run.
pub(super) async fn run_one(
    State(service): State<Service>,
    Path(check): Path<String>,
    sent: Sent<Run, Nothing>,
) -> Result<Response, Turned> {
    sent.visit.caller.must_see_every_table()?;
    let run = begin(&service, &sent.visit.caller, Wanted::one(&service, &check).await?, None)?;
    Ok(Redirect::to(&format!("/runs/{}", run.about.run_id)).into_response())
}
