//! `/v1/tables`: the workspace's tables and their rows, as plans see them.

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use ordain_store::{
    BeginOptions, Call, Condition, Intent, Page as RowPage, Reply, RowEvent, RowHistory, Store, TableInfo,
};
use ordain_types::{Row, RunId};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::answer;
use super::body::{Path, Query};
use super::caller::{Caller, May, Read};
use super::cursor::{self, Page};
use super::problem::Problem;
use super::schema;
use super::service::Service;

/// The tables.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TableList {
    /// One for each table that plans may see.
    #[schema(value_type = Vec<schema::Table>)]
    tables: Vec<TableInfo>,
}

/// A page of rows, in the order in which they were added.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Rows {
    /// The rows.
    #[schema(value_type = Vec<schema::Row>)]
    rows: Vec<Row>,
    /// Where the next page begins, if there is one.
    next_cursor: Option<String>,
}

/// List tables
#[utoipa::path(get, path = "/v1/tables", tag = "tables", operation_id = "list_tables",
    responses((status = 200, description = "The tables", body = TableList)))]
pub(crate) async fn list(State(service): State<Service>, may: May<Read>) -> Result<Response, Problem> {
    let tables = shown(service.engine_for(&may.caller).store()).await?;
    Ok(answer::json(&TableList { tables }))
}

/// The tables, columns and references that plans may see.
pub(crate) async fn shown(store: &Store) -> Result<Vec<TableInfo>, Problem> {
    let mut tables = store.tables().await?;
    tables.retain(|info| !info.table.hidden);
    let shown: Vec<String> = tables.iter().map(|info| info.table.name.clone()).collect();
    for info in &mut tables {
        info.table.columns.retain(|column| !column.hidden);
        let columns: Vec<&str> = info.table.columns.iter().map(|column| column.name.as_str()).collect();
        let is_shown = |names: &[String]| names.iter().all(|name| columns.contains(&name.as_str()));
        info.indexes.retain(|index| is_shown(index));
        info.foreign_keys.retain(|key| is_shown(&key.columns) && shown.contains(&key.table));
    }
    Ok(tables)
}

/// Which rows of a table.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Wanted {
    /// Items on the page: 1 to 500, 50 if it is not given.
    #[param(minimum = 1, maximum = 500)]
    limit: Option<u64>,
    /// Where the page begins: the `next_cursor` of the page before.
    cursor: Option<String>,
    /// The condition that rows meet, as plans send it: `{"op": "gt", "path": ["price"], "value": 50}`. Values keep their
    /// types: `50` is a number and `"50"` a text.
    #[serde(rename = "where")]
    condition: Option<String>,
}

/// Rows of a table
#[utoipa::path(get, path = "/v1/tables/{table}/rows", tag = "tables", operation_id = "list_rows",
    params(("table" = String, Path, description = "the table's name"), Wanted),
    responses((status = 200, description = "A page of rows", body = Rows)))]
pub(crate) async fn rows(
    State(service): State<Service>,
    may: May<Read>,
    Path(table): Path<String>,
    wanted: Query<Wanted>,
) -> Result<Response, Problem> {
    let page = Page { limit: wanted.limit, cursor: wanted.cursor.clone() };
    let limit = page.limit()?;
    let after = match page.after()? {
        None => None,
        Some(mark) => Some(mark.parse::<i64>().map_err(|_| {
            Problem::new(axum::http::StatusCode::BAD_REQUEST, "bad_cursor", "`cursor` is not of this list")
        })?),
    };
    let condition = wanted.condition.as_deref().map(read_condition).transpose()?;
    let found = read(service.engine_for(&may.caller).store(), &table, condition, after, limit).await?;
    let next_cursor = found.last.filter(|_| found.more).map(|last| cursor::write(&last.to_string()));
    // The store has accepted the name, so it is one that can stand in a link.
    let headers = match &wanted.condition {
        None => cursor::link(&format!("/v1/tables/{table}/rows"), next_cursor.as_deref()),
        // What is asked for is the caller's to send again with `next_cursor`.
        Some(_) => axum::http::HeaderMap::new(),
    };
    Ok((headers, answer::json(&Rows { rows: as_rows(found), next_cursor })).into_response())
}

fn read_condition(text: &str) -> Result<Condition, Problem> {
    serde_json::from_str(text).map_err(|error| {
        let message = format!("`where` is no condition: {error}");
        Problem::new(axum::http::StatusCode::BAD_REQUEST, "bad_query", message.clone())
            .about("where", message)
            .hint("such as {\"op\": \"eq\", \"path\": [\"status\"], \"value\": \"open\"}")
    })
}

/// A page of what happened to a row, the newest first.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Events {
    /// What each run did to it.
    #[schema(value_type = Vec<schema::RowEvent>)]
    events: Vec<RowEvent>,
    /// Where the next page begins, if there is one.
    next_cursor: Option<String>,
}

/// What happened to a row
///
/// Runs that were committed, those taken back among them, as far as the key sees them.
#[utoipa::path(get, path = "/v1/tables/{table}/rows/{row}/history", tag = "tables", operation_id = "list_row_history",
    params(
        ("table" = String, Path, description = "the table's name"),
        ("row" = String, Path, description = "the row's key; several columns of a key have commas in between"),
        Page,
    ),
    responses((status = 200, description = "What happened to the row", body = Events)))]
pub(crate) async fn history(
    State(service): State<Service>,
    may: May<Read>,
    Path((table, row)): Path<(String, String)>,
    page: Query<Page>,
) -> Result<Response, Problem> {
    let before = page.after()?.map(RunId);
    let RowHistory { events, next } =
        history_seen_by(&service, &may.caller, [&table, &row], before.as_ref(), page.limit()?).await?;
    let next_cursor = next.map(|run| cursor::write(run.as_str()));
    Ok(answer::json(&Events { events, next_cursor }))
}

/// What happened to a row, without the columns and runs that a caller may not see.
pub(crate) async fn history_seen_by(
    service: &Service,
    caller: &Caller,
    [table, row]: [&str; 2],
    before: Option<&RunId>,
    limit: u64,
) -> Result<RowHistory, Problem> {
    let (store, seen_by) = (service.store_for(caller), caller.seen_by());
    Ok(store.row_history(table, row, seen_by.as_ref(), before, limit).await?)
}

/// A page of rows that meet a condition.
pub(crate) async fn read(
    store: &Store,
    table: &str,
    condition: Option<Condition>,
    after: Option<i64>,
    limit: u64,
) -> Result<RowPage, Problem> {
    let mut transaction =
        store.begin(BeginOptions { run_id: store.new_run_id()?, intent: Intent::Read }).await?;
    let call = Call::Search { table: table.to_owned(), condition, after, as_of: None, limit: Some(limit) };
    let reply = transaction.carry_out(call).await;
    transaction.roll_back().await?;
    match reply? {
        Reply::Rows(page) => Ok(page),
        _ => Err(Problem::internal("a search gave no rows")),
    }
}

/// The rows, with the names of their columns.
pub(crate) fn as_rows(page: RowPage) -> Vec<Row> {
    let columns = page.columns;
    let row = |row: ordain_store::PageRow| {
        let fields = std::iter::zip(columns.iter().cloned(), row.values);
        fields.filter_map(|(name, value)| Some((name, value?))).collect()
    };
    page.rows.into_iter().map(row).collect()
}
