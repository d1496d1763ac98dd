//! The list of runs, the page of one, its diff and its files.

pub(super) mod decide;
pub(super) mod live;

use axum::extract::Path;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use ordain_checks::CheckResult;
use ordain_planner::cost_of;
use ordain_planner::provider::prices_as_of;
use ordain_store::{LedgerEntry, RunFilter};
use ordain_types::{RunId, RunKind, RunRecord, RunState};
use ordain_ui::live::LiveRun as LiveView;
use ordain_ui::run::{Details, Entry, RunCost};
use ordain_ui::runs::{RunList, SEARCHED_MAX};
use ordain_ui::{DIFF_ROWS_MAX, Pager, Place, Viewer};
use serde::Deserialize;
use serde_json::Value;

use super::reply;
use super::visit::{Turned, Visit};
use crate::http::artifacts;
use crate::http::body::Query;
use crate::http::caller::{Caller, Read};
use crate::http::checks::look;
use crate::http::cursor;
use crate::http::live::LiveRun;
use crate::http::problem::Problem;
use crate::http::runs::{page as runs_page, read_state};
use crate::http::service::Service;

/// Runs on a page.
const RUNS_SHOWN: u64 = 50;
/// Characters of a search.
const WORDS_CHARS_MAX: usize = 200;

/// Which runs.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Which {
    state: Option<String>,
    cursor: Option<String>,
    #[serde(default)]
    words: String,
}

/// The list of runs.
pub(super) async fn list(visit: Visit<Read>, query: Query<Which>) -> Result<Response, Turned> {
    let service = &visit.service;
    let list = found(service, &visit.caller, &query).await?;
    visit.page(Place::Runs, "Runs", &ordain_ui::runs::page(&list)).await
}

/// The runs of a page.
pub(super) async fn found(service: &Service, caller: &Caller, query: &Which) -> Result<RunList, Problem> {
    let before = query.cursor.as_deref().map(cursor::read).transpose()?.map(RunId);
    let state = query.state.as_deref().map(read_state).transpose()?;
    let words: String = query.words.trim().chars().take(WORDS_CHARS_MAX).collect();
    let mut list = RunList { state: query.state.clone(), words: words.clone(), ..RunList::default() };
    let mut next = None;
    if before.is_none() && state.is_none_or(|state| state.is_none()) {
        let mut going_on = service.going_on_seen_by(caller).await?;
        going_on.retain(|run| run.about.request.to_lowercase().contains(&words.to_lowercase()));
        list.live = going_on.iter().map(|run| live_view(run)).collect();
    }
    if state != Some(None) {
        let store = service.engine().store();
        let since =
            if words.is_empty() { None } else { store.run_behind(before.as_ref(), SEARCHED_MAX).await? };
        let filter = RunFilter {
            states: state.flatten().into_iter().collect(),
            before: before.clone(),
            since: since.clone(),
            words: words.clone(),
            limit: RUNS_SHOWN,
            seen_by: None,
        };
        let behind;
        (list.ended, behind) = runs_page(service, caller, filter).await?;
        next = behind.or_else(|| since.map(|run| cursor::write(run.as_str())));
    }
    let state = query.state.iter().map(|state| ("state", state.as_str()));
    let searched = Some(("words", words.as_str())).filter(|(_, words)| !words.is_empty());
    let filters: Vec<(&str, &str)> = state.chain(searched).collect();
    list.pager = Pager::new("/runs", &filters, before.is_none(), next.as_deref());
    Ok(list)
}

/// What was done a moment ago.
#[derive(Debug, Deserialize)]
pub(super) struct Said {
    pub(super) done: Option<String>,
}

/// One run.
pub(super) async fn page(
    visit: Visit<Read>,
    Path(run): Path<String>,
    query: Query<Said>,
) -> Result<Response, Turned> {
    let service = &visit.service;
    let shell = visit.shell(reply::notice(query.done.as_deref())).await?;
    if let Some(run) = service.live_seen_by(&visit.caller, &run).await.filter(|run| !run.is_over()) {
        let content = ordain_ui::live::page(&live_view(&run), &visit.viewer);
        return Ok(reply::html(visit.headers(), shell.live_page(Place::Runs, &run.about.request, &content)));
    }
    let record = service.run_seen_by(&visit.caller, &run).await?;
    let details = details(service, &record, &visit.caller, &visit.viewer).await?;
    let content = ordain_ui::run::page(&record, &details, &visit.viewer);
    Ok(reply::html(visit.headers(), shell.page(Place::Runs, &record.request, &content)))
}

/// What the server and the ledger have of a run besides its record.
pub(super) async fn details(
    service: &Service,
    record: &RunRecord,
    caller: &Caller,
    viewer: &Viewer,
) -> Result<Details, Problem> {
    let live = service.inner.live.find(record.run_id.as_str());
    let events = live.map(|run| run.events_after(0).0).unwrap_or_default();
    let store = service.store_for(caller);
    let entries = store.entries_of_run(&record.run_id).await?;
    let conflicts = match record.state {
        RunState::Held => store.conflicts(std::slice::from_ref(&record.run_id)).await?,
        _ => Vec::new(),
    };
    Ok(Details {
        events: events.into_iter().map(|event| (event.name.into_owned(), event.data)).collect(),
        entries: entries.iter().map(Entry::of).collect(),
        // What a prompt holds may be more than a key may see: samples of tables, and other callers' words.
        exchange: if viewer.is_admin { entries.iter().flat_map(exchange).collect() } else { Vec::new() },
        conflicts: conflicts.iter().flatten().map(super::approvals::shown).collect(),
        checks: if record.kind == RunKind::Check { results(service, record).await } else { Vec::new() },
        cost: cost_of(record).map(|usd| RunCost { usd, prices_as_of: prices_as_of() }),
        server: Some(service.inner.options.listen.to_string()),
    })
}

/// What was said to a model and what it said, as an entry of the ledger has it.
fn exchange(entry: &LedgerEntry) -> Vec<(String, String)> {
    let body: Value = serde_json::from_str(entry.body.get()).unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let messages = body["detail"]["exchange"].as_array().into_iter().flatten();
    messages.map(|message| (text(&message["speaker"]), text(&message["text"]))).collect()
}

/// What each check of a run gave; nothing where its report is no longer kept.
async fn results(service: &Service, record: &RunRecord) -> Vec<CheckResult> {
    let run = record.run_id.clone();
    let report = look(service, move |checks| Ok(checks.state()?.report(run.as_str()))).await;
    report.ok().flatten().map(|report| report.results).unwrap_or_default()
}

/// Where a page of a table's diff begins.
#[derive(Debug, Deserialize)]
pub(super) struct From {
    #[serde(default)]
    from: usize,
}

/// The diff of one table, in pages.
pub(super) async fn diff(
    visit: Visit<Read>,
    Path((run, table)): Path<(String, String)>,
    query: Query<From>,
) -> Result<Response, Turned> {
    let service = &visit.service;
    let record = service.run_seen_by(&visit.caller, &run).await?;
    let found = record.diff.tables.get(&table).ok_or_else(|| {
        Problem::new(StatusCode::NOT_FOUND, "unknown_table", "the run touched no table of that name")
    })?;
    let from = query.from / DIFF_ROWS_MAX * DIFF_ROWS_MAX;
    let content = ordain_ui::table_page(&record, &table, found, from);
    visit.page(Place::Runs, &format!("Diff of {table}"), &content).await
}

/// How a file is wanted.
#[derive(Debug, Deserialize)]
pub(super) struct How {
    show: Option<String>,
}

/// A file that a run left: a download, or a picture on a page.
pub(super) async fn file(
    visit: Visit<Read>,
    Path((run, name)): Path<(String, String)>,
    query: Query<How>,
) -> Result<Response, Turned> {
    let service = &visit.service;
    let mut response = artifacts::of_run(service, &visit.caller, &run, &name).await?;
    // The kind is found out from the content, and a bitmap can do nothing but be seen.
    let is_picture = response.headers().get(header::CONTENT_TYPE).is_some_and(|kind| kind == "image/png");
    if query.show.is_some() && is_picture {
        response.headers_mut().insert(header::CONTENT_DISPOSITION, HeaderValue::from_static("inline"));
    }
    Ok(response)
}

/// A run that goes on, as pages show it.
pub(super) fn live_view(run: &LiveRun) -> LiveView {
    let events = run.events_after(0).0;
    LiveView {
        run_id: run.about.run_id.to_string(),
        kind: run.about.kind.to_string(),
        request: run.about.request.clone(),
        started_at: run.started_at.clone(),
        events: events
            .into_iter()
            .map(|event| (event.name.into_owned(), serde_json::from_str(&event.data).unwrap_or_default()))
            .collect(),
    }
}
