//! The grid of checks, the page of one, and the buttons that run them.

pub(super) mod edit;

use std::collections::HashMap;

use axum::extract::Path;
use axum::response::{IntoResponse as _, Redirect, Response};
use ordain_checks::file::CheckFiles;
use ordain_checks::report::{PastResult, differences};
use ordain_checks::{Checks, ChecksError, Past};
use ordain_types::RunKind;
use ordain_ui::Place;
use ordain_ui::checks::{CheckPage, Comparison, Filter, Grid, Row, SPARK_MAX};
use serde::Deserialize;

use super::runs::Said;
use super::visit::{Nothing, Sent, Turned, Visit};
use crate::http::body::Query;
use crate::http::caller::{Read, Run};
use crate::http::checks::run::{Wanted, begin};
use crate::http::checks::{find, look, read, served, stale};
use crate::http::problem::Problem;

/// Results of one check that a page is given.
const HISTORY_MAX: usize = 200;

/// Which checks are shown.
#[derive(Debug, Deserialize)]
pub(super) struct Which {
    status: Option<String>,
    #[serde(default)]
    severity: String,
    #[serde(default)]
    owner: String,
    #[serde(default)]
    tag: String,
    #[serde(default)]
    table: String,
    #[serde(default)]
    text: String,
    done: Option<String>,
}

/// The grid.
pub(super) async fn grid(visit: Visit<Read>, query: Query<Which>) -> Result<Response, Turned> {
    let service = &visit.service;
    visit.caller.must_see_every_table()?;
    let mut grid = look(service, rows).await?;
    let Which { status, severity, owner, tag, table, text, done } = query.0;
    grid.filter = Filter { status, severity, owner, tag, table, text };
    let live = service.inner.live.going_on();
    grid.running =
        live.iter().find(|run| run.about.kind == RunKind::Check).map(|run| run.about.run_id.to_string());
    let content = ordain_ui::checks::grid(&grid, &visit.viewer);
    visit.page_after(done.as_deref(), Place::Checks, "Checks", &content).await
}

pub(super) fn rows(checks: &Checks) -> Result<Grid, Problem> {
    let CheckFiles { entries, problems } = read(checks)?;
    let history = checks.history()?;
    let row = |entry: ordain_checks::file::CheckEntry| {
        let past = history.get(&entry.check.check_id).map_or(&[][..], Vec::as_slice);
        Row {
            duration_ms: past.last().map(|last| last.duration_ms),
            history: newest(past, SPARK_MAX),
            check: entry.check,
        }
    };
    let problems = problems.iter().map(ToString::to_string).collect();
    Ok(Grid { rows: entries.into_iter().map(row).collect(), problems, ..Grid::default() })
}

fn newest(past: &[Past], most: usize) -> Vec<PastResult> {
    past[past.len().saturating_sub(most)..].iter().map(|past| past.result.clone()).collect()
}

/// One check.
pub(super) async fn page(
    visit: Visit<Read>,
    Path(check): Path<String>,
    query: Query<Said>,
) -> Result<Response, Turned> {
    let service = &visit.service;
    visit.caller.must_see_every_table()?;
    let (entry, mut shown) = look(service, move |checks| {
        let entry = find(read(checks)?, &check)?;
        let state = checks.state()?;
        let history = checks.history()?;
        let history = newest(history.get(&check).map_or(&[][..], Vec::as_slice), HISTORY_MAX);
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
    let kept = served(service)?.kept_code(&entry.check.check_id).await.map_err(Problem::from)?;
    shown.compiled = kept.map(|kept| (kept.code, kept.code_from, kept.at, kept.plan));
    if shown.compiled.is_some() {
        shown.stale = stale(service, &entry).await?;
    }
    let content = ordain_ui::checks::page(&shown, &visit.viewer);
    visit.page_after(query.done.as_deref(), Place::Checks, &shown.check.check_name, &content).await
}

/// Two runs.
#[derive(Debug, Deserialize)]
pub(super) struct Two {
    before: Option<String>,
    after: Option<String>,
}

/// Two runs side by side: the last ones, unless others are chosen.
pub(super) async fn compare(visit: Visit<Read>, query: Query<Two>) -> Result<Response, Turned> {
    let service = &visit.service;
    visit.caller.must_see_every_table()?;
    let Two { before, after } = query.0;
    let shown = look(service, move |checks| Ok(compared(checks, before, after)?)).await?;
    visit.page(Place::Checks, "Runs compared", &ordain_ui::checks::compare(&shown)).await
}

fn compared(
    checks: &Checks,
    before: Option<String>,
    after: Option<String>,
) -> Result<Comparison, ChecksError> {
    let state = checks.state()?;
    let kept = state.runs();
    let one_before = |back: usize| kept.iter().rev().nth(back).cloned().unwrap_or_default();
    let (before, after) = (before.unwrap_or_else(|| one_before(1)), after.unwrap_or_else(|| one_before(0)));
    let reports = state.report(&before).zip(state.report(&after));
    let differences = reports.map(|(before, after)| differences(&before, &after)).unwrap_or_default();
    let history = checks.history()?;
    let past = history.values().flatten().map(|past| &past.result);
    let began: HashMap<&str, &str> =
        past.map(|past| (past.run_id.as_str(), past.started_at.as_str())).collect();
    let at = |run: &String| began.get(run.as_str()).copied().unwrap_or_default().to_owned();
    let runs = kept.iter().rev().map(|run| (run.clone(), at(run))).collect();
    Ok(Comparison { runs, before, after, differences })
}

/// Runs every check, and shows the run.
pub(super) async fn run_all(sent: Sent<Run, Nothing>) -> Result<Response, Turned> {
    let service = &sent.visit.service;
    sent.visit.caller.must_see_every_table()?;
    let run = begin(service, &sent.visit.caller, Wanted::all(service).await?, None)?;
    Ok(Redirect::to(&format!("/runs/{}", run.about.run_id)).into_response())
}

/// Runs one check, and shows the run.
pub(super) async fn run_one(Path(check): Path<String>, sent: Sent<Run, Nothing>) -> Result<Response, Turned> {
    let service = &sent.visit.service;
    sent.visit.caller.must_see_every_table()?;
    let run = begin(service, &sent.visit.caller, Wanted::one(service, &check).await?, None)?;
    Ok(Redirect::to(&format!("/runs/{}", run.about.run_id)).into_response())
}
