//! `/v1/tables`: the workspace's tables and their rows, as plans see them.

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use ordain_store::{BeginOptions, Call, Condition, Intent, Page as RowPage, Reply, Store, TableInfo};
use ordain_types::Row;
use serde::Serialize;
use utoipa::ToSchema;

use super::answer;
use super::body::{Path, Query};
use super::caller::{May, Read};
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

/// Rows of a table
#[utoipa::path(get, path = "/v1/tables/{table}/rows", tag = "tables", operation_id = "list_rows",
    params(("table" = String, Path, description = "the table's name"), Page),
    responses((status = 200, description = "A page of rows", body = Rows)))]
pub(crate) async fn rows(
    State(service): State<Service>,
    may: May<Read>,
    Path(table): Path<String>,
    page: Query<Page>,
) -> Result<Response, Problem> {
    let limit = page.limit()?;
    let after = match page.after()? {
        None => None,
        Some(mark) => Some(mark.parse::<i64>().map_err(|_| {
            Problem::new(axum::http::StatusCode::BAD_REQUEST, "bad_cursor", "`cursor` is not of this list")
        })?),
    };
    let found = read(service.engine_for(&may.caller).store(), &table, None, after, limit).await?;
    let next_cursor = found.last.filter(|_| found.more).map(|last| cursor::write(&last.to_string()));
    // The store has accepted the name, so it is one that can stand in a link.
    let headers = cursor::link(&format!("/v1/tables/{table}/rows"), next_cursor.as_deref());
    Ok((headers, answer::json(&Rows { rows: as_rows(found), next_cursor })).into_response())
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
