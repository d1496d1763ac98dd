//! The start page: how everything stands.

use std::collections::BTreeMap;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use ordain_checks::CheckStatus;
use ordain_store::{RunCount, RunFilter};
use ordain_types::{RunId, RunState, format_unix_millis};
use ordain_ui::Place;
use ordain_ui::chart::Chart;
use ordain_ui::overview::Overview;

use super::checks::rows;
use super::reply;
use super::visit::{Turned, Visit};
use crate::http::caller::{Caller, Read};
use crate::http::checks::look;
use crate::http::problem::Problem;
use crate::http::service::Service;

/// Days that the charts show.
const DAYS: u64 = 30;
const DAY_MS: u64 = 86_400_000;
/// Runs that wait, failing checks and newest runs that the page lists.
const LISTED: u64 = 5;
const FAILING_LISTED: usize = 5;

/// The start page.
pub(super) async fn page(
    State(service): State<Service>,
    headers: HeaderMap,
    visit: Visit<Read>,
) -> Result<Response, Turned> {
    let store = service.engine().store();
    let shell = visit.shell(&service, None).await?;
    let (checks, failing) = of_checks(&service, &visit.caller).await;
    let runs = |state| RunFilter { state, seen_by: visit.caller.seen_by(), before: None, limit: LISTED };
    let overview = Overview {
        checks,
        failing,
        waiting: (store.find_runs(runs(Some(RunState::Held))).await?, shell.waiting),
        newest: store.find_runs(runs(None)).await?,
        running: service.inner.live.count(),
        cells: cells(&service).await,
        planner: service.inner.planner.name(),
        isolation: service.inner.options.isolation.clone(),
        // The figures are of everybody's runs.
        charts: if visit.caller.sees_all() { vec![runs_by_day(&service).await?] } else { Vec::new() },
        examples: service.inner.options.examples.clone(),
    };
    Ok(reply::html(&headers, shell.page(Place::Overview, "Overview", &ordain_ui::overview::page(&overview))))
}

/// Checks by their last status.
type OfChecks = (Vec<(Option<CheckStatus>, usize)>, Vec<(CheckStatus, String, String)>);

/// How the checks stand. A workspace whose checks cannot be read here has a page that says why.
async fn of_checks(service: &Service, caller: &Caller) -> OfChecks {
    if caller.must_see_every_table().is_err() {
        return OfChecks::default();
    }
    let Ok(grid) = look(service, rows).await else { return OfChecks::default() };
    let last = |row: &ordain_ui::checks::Row| row.history.last().map(|last| last.status);
    let statuses = CheckStatus::ALL.into_iter().map(Some).chain([None]);
    let count = |status| grid.rows.iter().filter(|row| last(row) == status).count();
    let counts = statuses.map(|status| (status, count(status))).collect();
    let is_bad = |status: &CheckStatus| matches!(status, CheckStatus::Fail | CheckStatus::Error);
    let failing = grid.rows.iter().filter_map(|row| {
        let status = last(row).filter(is_bad)?;
        Some((status, row.check.check_id.clone(), row.check.check_name.clone()))
    });
    (counts, failing.take(FAILING_LISTED).collect())
}

async fn cells(service: &Service) -> Option<(usize, usize, usize)> {
    let local = service.inner.options.local.as_ref()?;
    let load = local.load();
    Some((local.idle_cells().await, load.running, load.waiting))
}

/// Runs of the last days, by what became of them.
async fn runs_by_day(service: &Service) -> Result<Chart, Problem> {
    let counts = service.inner.run_counts.get(service.engine().store(), DAYS).await?;
    let now = reply::unix_millis();
    let mut days: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for back in (0..DAYS).rev() {
        let day = format_unix_millis(now.saturating_sub(back * DAY_MS));
        days.insert(day.get(..10).unwrap_or_default().to_owned(), vec![0.0; 4]);
    }
    for RunCount { day, state, runs } in counts.iter() {
        if let Some(figures) = days.get_mut(day) {
            figures[place(state)] += ordain_ui::chart::count(*runs);
        }
    }
    let series =
        [("committed", "good"), ("answered", "calm"), ("waiting", "wait"), ("not carried out", "bad")];
    Ok(Chart {
        title: "Runs a day".to_owned(),
        series: series.map(|(name, class)| (name.to_owned(), class)).to_vec(),
        rows: days.into_iter().collect(),
        is_stacked: true,
    })
}

fn place(state: &str) -> usize {
    match state {
        "committed" | "undone" => 0,
        "answered" => 1,
        "held" => 2,
        _ => 3,
    }
}

/// The oldest id that a run of the last days can have.
pub(super) fn since(days: u64) -> RunId {
    RunId::from_parts(reply::unix_millis().saturating_sub(days * DAY_MS), [0; 10])
}
