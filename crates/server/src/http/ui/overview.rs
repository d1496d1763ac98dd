//! The start page: how everything stands.

use std::cmp::Reverse;

use axum::response::Response;
use ordain_checks::report::PastResult;
use ordain_checks::{Mark, Tone};
use ordain_store::RunFilter;
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
pub(super) async fn page(visit: Visit<Read>) -> Result<Response, Turned> {
    let service = &visit.service;
    let shell = visit.shell(None).await?;
    let (checks, failing) = of_checks(service, &visit.caller).await;
    let runs =
        |states| service.runs_seen_by(&visit.caller, RunFilter { states, ..RunFilter::newest(LISTED) });
    let overview = Overview {
        checks,
        failing,
        waiting: (runs(vec![RunState::Held]).await?, shell.waiting),
        newest: runs(Vec::new()).await?,
        running: service.inner.live.count(),
        queued: service.inner.options.local.as_ref().map_or(0, |local| local.load().waiting),
        model: service.inner.planner.model(),
        isolation: service.inner.options.isolation.clone(),
        // The figures are of everybody's runs.
        charts: if visit.caller.sees_all() { vec![runs_by_day(service).await?] } else { Vec::new() },
        examples: service.inner.options.examples.clone(),
    };
    Ok(reply::html(
        visit.headers(),
        shell.page(Place::Overview, "Overview", &ordain_ui::overview::page(&overview)),
    ))
}

/// Checks by their last status.
type OfChecks = (Vec<(Option<Mark>, usize)>, Vec<(Mark, String, String)>);

/// How the checks stand. A workspace whose checks cannot be read here has a page that says why.
async fn of_checks(service: &Service, caller: &Caller) -> OfChecks {
    if caller.must_see_every_table().is_err() {
        return OfChecks::default();
    }
    let Ok(grid) = look(service, rows).await else { return OfChecks::default() };
    let mut counts: Vec<(Option<Mark>, usize)> = Vec::new();
    let mut failing = Vec::new();
    for row in &grid.rows {
        let mark = row.history.last().map(PastResult::mark);
        match counts.iter_mut().find(|(known, _)| *known == mark) {
            Some((_, count)) => *count += 1,
            None => counts.push((mark, 1)),
        }
        let is_bad = |mark: &Mark| mark.is_open || mark.tone == Tone::Bad;
        if let Some(mark) = mark.filter(is_bad) {
            let check = &row.check;
            let weight = (Reverse(check.severity), !mark.is_open);
            failing.push((weight, (mark, check.check_id.clone(), check.check_name.clone())));
        }
    }
    // What weighs most is listed first, whatever its place in the file.
    failing.sort_by_key(|(weight, _)| *weight);
    (counts, failing.into_iter().map(|(_, one)| one).take(FAILING_LISTED).collect())
}

/// Runs of the last days, by what became of them.
async fn runs_by_day(service: &Service) -> Result<Chart, Problem> {
    let tomorrow = reply::unix_millis() / DAY_MS + 1;
    let midnights: Vec<u64> = (tomorrow.saturating_sub(DAYS)..=tomorrow).map(|day| day * DAY_MS).collect();
    let bounds: Vec<RunId> = midnights.iter().map(|midnight| RunId::from_parts(*midnight, [0; 10])).collect();
    let counts = service.inner.run_counts.get(service.engine().store(), &bounds).await?;
    let mut rows = Vec::new();
    for (midnight, counts) in midnights.iter().zip(counts.iter()) {
        let mut figures = vec![0.0; 4];
        for (state, runs) in counts {
            figures[place(*state)] += ordain_ui::chart::count(*runs);
        }
        rows.push((format_unix_millis(*midnight).get(..10).unwrap_or_default().to_owned(), figures));
    }
    let series =
        [("committed", "good"), ("answered", "calm"), ("waiting", "wait"), ("not carried out", "bad")];
    Ok(Chart {
        title: "Runs a day".to_owned(),
        series: series.map(|(name, class)| (name.to_owned(), class)).to_vec(),
        rows,
        is_stacked: true,
    })
}

fn place(state: RunState) -> usize {
    match state {
        RunState::Committed | RunState::Undone => 0,
        RunState::Answered => 1,
        RunState::Held | RunState::Waiting => 2,
        _ => 3,
    }
}
