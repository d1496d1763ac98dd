//! Tables, their rows, and who changed one.

use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::Response;
use ordain_checks::{Check, TableState};
use ordain_store::{BeginOptions, Call, Intent, Reply, Store, TableInfo};
use ordain_types::{Column, Row, RunId, row_name};
use ordain_ui::tables::{FilePage, Order, RowsPage};
use ordain_ui::{Pager, Place};
use serde::Deserialize;
use serde_json::Value;

use super::visit::{Turned, Visit};
use crate::http::body::Query;
use crate::http::caller::Read;
use crate::http::checks::{look, read as read_checks, served};
use crate::http::cursor;
use crate::http::problem::Problem;
use crate::http::tables::{as_rows, history_seen_by, read, shown};

/// Rows on a page.
const ROWS_SHOWN: u64 = 50;
/// Changes of one row on a page.
const EVENTS_SHOWN: u64 = 50;

/// The list of tables.
pub(super) async fn list(visit: Visit<Read>) -> Result<Response, Turned> {
    let service = &visit.service;
    let tables = shown(service.engine_for(&visit.caller).store()).await?;
    let files = if visit.viewer.sees_every_table {
        look(service, |checks| Ok(checks.data_tables()?)).await.unwrap_or_default()
    } else {
        Vec::new()
    };
    let content = ordain_ui::tables::list(&tables, &files);
    visit.page(Place::Tables, "Tables", &content).await
}

/// A table of a file in `data`: how its columns are read, and which checks look at it.
async fn of_file(visit: &Visit<Read>, table: &str) -> Result<Response, Turned> {
    let service = &visit.service;
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
    visit.page(Place::Tables, table, &ordain_ui::tables::file(&page)).await
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
    sort: Option<String>,
    #[serde(default)]
    order: Order,
}

/// The rows of a table.
pub(super) async fn rows(
    visit: Visit<Read>,
    Path(table): Path<String>,
    query: Query<Which>,
) -> Result<Response, Turned> {
    let service = &visit.service;
    let engine = service.engine_for(&visit.caller);
    let Ok(info) = find(engine.store(), &table).await else {
        return of_file(&visit, &table).await;
    };
    let after = query.cursor.as_deref().map(cursor::read).transpose()?;
    let after = after.and_then(|mark| mark.parse::<u64>().ok());
    let filter = query.column.clone().map(|column| (column, query.value.clone()));
    let sort = query.sort.clone().map(|column| (column, query.order));
    let (rows, next) = match (&filter, &sort) {
        // In the store's own order a page goes on behind a row, however many there are.
        (None, None) => {
            let after = after.and_then(|after| i64::try_from(after).ok());
            let found = read(engine.store(), &table, None, after, ROWS_SHOWN).await?;
            let next = found.last.filter(|_| found.more).and_then(|last| u64::try_from(last).ok());
            (as_rows(found), next)
        }
        _ => chosen(engine.store(), &info, filter.as_ref(), sort.as_ref(), after.unwrap_or_default()).await?,
    };
    let address = format!("/tables/{}", ordain_ui::text::in_path(&table));
    let order = query.order.name();
    let mut fields: Vec<(&str, &str)> = Vec::new();
    fields.extend(filter.iter().flat_map(|(column, value)| [("column", column.as_str()), ("value", value)]));
    fields.extend(sort.iter().flat_map(|(column, _)| [("sort", column.as_str()), ("order", order)]));
    let next = next.map(|next| cursor::write(&next.to_string()));
    let pager = Pager::new(&address, &fields, after.is_none(), next.as_deref());
    let page = RowsPage { info, rows, filter, sort, pager };
    visit.page(Place::Tables, &table, &ordain_ui::tables::rows(&page)).await
}

async fn find(store: &Store, table: &str) -> Result<TableInfo, Problem> {
    let found = shown(store).await?.into_iter().find(|info| info.table.name == table);
    found.ok_or_else(unknown_table)
}

/// Rows in whose column a text occurs, in whatever case, in the order of a column; and where the next page begins.
async fn chosen(
    store: &Store,
    info: &TableInfo,
    filter: Option<&(String, String)>,
    sort: Option<&(String, Order)>,
    from: u64,
) -> Result<(Vec<Row>, Option<u64>), Problem> {
    let columns: Vec<&Column> = info.table.columns.iter().filter(|column| !column.hidden).collect();
    let quoted = |name: &str| match columns.iter().find(|column| column.name == name) {
        Some(_) => Ok(format!("\"{}\"", name.replace('"', "\"\""))),
        None => Err(Problem::new(StatusCode::NOT_FOUND, "unknown_column", "there is no column of that name")),
    };
    let names = columns.iter().map(|column| quoted(&column.name)).collect::<Result<Vec<_>, _>>()?;
    let mut params = Vec::new();
    let condition = match filter {
        Some((column, value)) if !value.is_empty() => {
            params.push(Value::from(value.to_lowercase()));
            let text = format!("lower(CAST({} AS TEXT))", quoted(column)?);
            // Both databases know this, and no sign of the value means anything to them.
            format!("replace({text}, ?, '') <> {text}")
        }
        _ => "TRUE".to_owned(),
    };
    let by = sort.map(|(column, order)| Ok::<_, Problem>(format!("{} {}", quoted(column)?, order.sql())));
    let keys = info.table.key.iter().map(|key| quoted(key));
    let order = by.into_iter().chain(keys).collect::<Result<Vec<_>, _>>()?;
    let order = if order.is_empty() { String::new() } else { format!("ORDER BY {}", order.join(", ")) };
    let sql = format!(
        "SELECT {} FROM \"{}\" WHERE {condition} {order} LIMIT {} OFFSET {from}",
        names.join(", "),
        info.table.name.replace('"', "\"\""),
        ROWS_SHOWN + 1
    );
    let mut rows = found(store, sql, params).await?;
    let more = rows.len() as u64 > ROWS_SHOWN;
    rows.truncate(usize::try_from(ROWS_SHOWN).unwrap_or(usize::MAX));
    Ok((rows, more.then_some(from + ROWS_SHOWN)))
}

/// What a query finds, as plans would see it.
async fn found(store: &Store, sql: String, params: Vec<Value>) -> Result<Vec<Row>, Problem> {
    let begin = BeginOptions { run_id: store.new_run_id()?, intent: Intent::Read };
    let mut transaction = store.begin(begin).await?;
    let reply = transaction.carry_out(Call::Query { sql, params: Value::Array(params) }).await;
    transaction.roll_back().await?;
    match reply? {
        Reply::Found { rows, .. } => Ok(rows),
        _ => Err(Problem::internal("a query gave no rows")),
    }
}

/// Which row.
#[derive(Debug, Deserialize)]
pub(super) struct OfRow {
    key: String,
    cursor: Option<String>,
}

/// Who changed a row, by which run.
pub(super) async fn history(
    visit: Visit<Read>,
    Path(table): Path<String>,
    query: Query<OfRow>,
) -> Result<Response, Turned> {
    let service = &visit.service;
    let key: Row = serde_json::from_str(&query.key)
        .map_err(|_| Problem::new(StatusCode::BAD_REQUEST, "bad_query", "`key` is not a row's key"))?;
    let before = query.cursor.as_deref().map(cursor::read).transpose()?.map(RunId);
    let row = [table.as_str(), &row_name(&key)];
    let found = history_seen_by(service, &visit.caller, row, before.as_ref(), EVENTS_SHOWN).await?;
    let address = format!("/tables/{}/history", ordain_ui::text::in_path(&table));
    let next = found.next.map(|run| cursor::write(run.as_str()));
    let pager = Pager::new(&address, &[("key", &query.key)], before.is_none(), next.as_deref());
    let content = ordain_ui::tables::history(&table, &key, &found.events, &pager);
    visit.page(Place::Tables, "History of a row", &content).await
}
