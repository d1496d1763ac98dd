//! Tables, their rows, and who changed one.

use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use ordain_checks::Check;
use ordain_engine::checks::TableState;
use ordain_store::{Condition, RunFilter, Store, TableInfo};
use ordain_types::{Column, ColumnType, Row, RunId, RunRecord, RunState};
use ordain_ui::run::Entry;
use ordain_ui::tables::{FilePage, RowEvent, RowsPage};
use ordain_ui::{Pager, Place};
use serde::Deserialize;
use serde_json::Value;

use super::reply;
use super::visit::{Turned, Visit};
use crate::http::body::Query;
use crate::http::caller::Read;
use crate::http::checks::{look, read as read_checks, served};
use crate::http::cursor;
use crate::http::problem::Problem;
use crate::http::runs::page as runs_page;
use crate::http::service::Service;
use crate::http::tables::{as_rows, read, shown};

/// Rows on a page.
const ROWS_SHOWN: u64 = 50;
/// Runs that are looked through for the history of a row.
const RUNS_LOOKED: u64 = 50;

/// The list of tables.
pub(super) async fn list(
    State(service): State<Service>,
    headers: HeaderMap,
    visit: Visit<Read>,
) -> Result<Response, Turned> {
    let tables = shown(service.engine_for(&visit.caller).store()).await?;
    let files = if visit.viewer.sees_every_table {
        look(&service, |checks| Ok(checks.data_tables()?)).await.unwrap_or_default()
    } else {
        Vec::new()
    };
    let shell = visit.shell(&service, None).await?;
    let content = ordain_ui::tables::list(&tables, &files);
    Ok(reply::html(&headers, shell.page(Place::Tables, "Tables", &content)))
}

/// A table of a file in `data`: how its columns are read, and which checks look at it.
async fn of_file(
    service: &Service,
    headers: &HeaderMap,
    visit: &Visit<Read>,
    table: &str,
) -> Result<Response, Turned> {
    visit.caller.must_see_every_table()?;
    let mut states = served(service)?.all_tables().await?;
    let state = states.remove(table).ok_or_else(unknown_table)?;
    let files = look(service, read_checks).await?;
    let looks = |check: &Check| check.target_table.iter().any(|target| target == table);
    let checks = files.entries.into_iter().map(|entry| entry.check).filter(looks);
    let mut page = FilePage {
        name: table.to_owned(),
        checks: checks.map(|check| (check.check_id, check.check_name)).collect(),
        ..FilePage::default()
    };
    match state {
        TableState::Broken { reason } => page.problem = Some(reason),
        TableState::Ready(facts) => {
            page.columns = facts.readings();
            (page.source, page.rows, page.notes) = (facts.source, facts.rows, facts.notes);
        }
    }
    let shell = visit.shell(service, None).await?;
    Ok(reply::html(headers, shell.page(Place::Tables, table, &ordain_ui::tables::file(&page))))
}

fn unknown_table() -> Problem {
    Problem::new(StatusCode::NOT_FOUND, "unknown_table", "there is no table of that name")
}

/// Which rows.
#[derive(Debug, Deserialize)]
pub(super) struct Which {
    cursor: Option<String>,
    column: Option<String>,
    #[serde(default)]
    value: String,
}

/// The rows of a table.
pub(super) async fn rows(
    State(service): State<Service>,
    headers: HeaderMap,
    visit: Visit<Read>,
    Path(table): Path<String>,
    query: Query<Which>,
) -> Result<Response, Turned> {
    let engine = service.engine_for(&visit.caller);
    let Ok(info) = find(engine.store(), &table).await else {
        return of_file(&service, &headers, &visit, &table).await;
    };
    let after = query.cursor.as_deref().map(cursor::read).transpose()?;
    let after = after.and_then(|mark| mark.parse::<i64>().ok());
    let filter = query.column.clone().map(|column| (column, query.value.clone()));
    let condition = filter.as_ref().map(|(column, value)| equals(&info, column, value)).transpose()?;
    let found = read(engine.store(), &table, condition, after, ROWS_SHOWN).await?;
    let next = found.last.filter(|_| found.more).map(|last| cursor::write(&last.to_string()));
    let address = format!("/tables/{}", ordain_ui::text::in_path(&table));
    let filters = filter.as_ref().map(|(column, value)| [("column", column.as_str()), ("value", value)]);
    let pager = Pager::new(
        &address,
        filters.as_ref().map_or(&[], |both| &both[..]),
        after.is_none(),
        next.as_deref(),
    );
    let mismatch = filter.as_ref().and_then(|(column, value)| mismatch(&info, column, value));
    let page = RowsPage { info, rows: as_rows(found), filter, mismatch, pager };
    let shell = visit.shell(&service, None).await?;
    Ok(reply::html(&headers, shell.page(Place::Tables, &table, &ordain_ui::tables::rows(&page))))
}

async fn find(store: &Store, table: &str) -> Result<TableInfo, Problem> {
    let found = shown(store).await?.into_iter().find(|info| info.table.name == table);
    found.ok_or_else(unknown_table)
}

/// A filter as a condition: the written value as the column has values.
fn equals(info: &TableInfo, column: &str, value: &str) -> Result<Condition, Problem> {
    let found = info.table.columns.iter().find(|known| known.name == column);
    let Some(Column { column_type, .. }) = found else {
        return Err(Problem::new(StatusCode::NOT_FOUND, "unknown_column", "there is no column of that name"));
    };
    let value = match column_type {
        ColumnType::Text => Value::from(value),
        _ => serde_json::from_str(value).unwrap_or_else(|_| Value::from(value)),
    };
    Ok(Condition::Eq { path: vec![column.to_owned()], value })
}

/// Why a column can hold no such value.
fn mismatch(info: &TableInfo, column: &str, value: &str) -> Option<String> {
    let kind = info.table.columns.iter().find(|known| known.name == column)?.column_type;
    let is_figure = matches!(kind, ColumnType::Integer | ColumnType::Real);
    (is_figure && value.parse::<f64>().is_err())
        .then(|| format!("`{column}` holds numbers, and `{value}` is none."))
}

/// Which row.
#[derive(Debug, Deserialize)]
pub(super) struct OfRow {
    key: String,
    cursor: Option<String>,
}

/// Who changed a row, by which run.
pub(super) async fn history(
    State(service): State<Service>,
    headers: HeaderMap,
    visit: Visit<Read>,
    Path(table): Path<String>,
    query: Query<OfRow>,
) -> Result<Response, Turned> {
    find(service.engine_for(&visit.caller).store(), &table).await?;
    let key: Row = serde_json::from_str(&query.key)
        .map_err(|_| Problem::new(StatusCode::BAD_REQUEST, "bad_query", "`key` is not a row's key"))?;
    let before = query.cursor.as_deref().map(cursor::read).transpose()?.map(RunId);
    let filter = RunFilter {
        // Other runs changed nothing, whatever their diffs say.
        states: vec![RunState::Committed, RunState::Undone],
        seen_by: visit.caller.seen_by(),
        before: before.clone(),
        limit: RUNS_LOOKED,
    };
    let store = service.engine().store();
    let (runs, next) = runs_page(store, filter).await?;
    let looked = runs.len();
    let mut events: Vec<RowEvent> = runs.into_iter().filter_map(|run| event(run, &table, &key)).collect();
    for event in &mut events {
        let entries = store.entries_of_run(&event.run.run_id).await?;
        event.who = entries.first().map(|entry| Entry::of(entry).who).unwrap_or_default();
    }
    let address = format!("/tables/{}/history", ordain_ui::text::in_path(&table));
    let pager = Pager::new(&address, &[("key", &query.key)], before.is_none(), next.as_deref());
    let content = ordain_ui::tables::history(&table, &key, &events, looked, &pager);
    let shell = visit.shell(&service, None).await?;
    Ok(reply::html(&headers, shell.page(Place::Tables, "History of a row", &content)))
}

/// What a run did to a row, if it did something.
fn event(run: RunRecord, table: &str, key: &Row) -> Option<RowEvent> {
    let is_it = |row: &Row| key.fields.iter().all(|(name, value)| row.get(name) == Some(value));
    let diff = run.diff.tables.get(table)?;
    let changed = diff.changed.iter().find(|change| is_it(&change.before) || is_it(&change.after));
    let (before, after) = match changed {
        Some(change) => (Some(change.before.clone()), Some(change.after.clone())),
        None => (
            diff.removed.iter().find(|row| is_it(row)).cloned(),
            diff.added.iter().find(|row| is_it(row)).cloned(),
        ),
    };
    (before.is_some() || after.is_some()).then(|| RowEvent { before, after, run, who: String::new() })
}
