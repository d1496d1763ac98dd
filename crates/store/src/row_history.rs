//! What happened to one row: by which runs, asked by whom, and what it was before and after.
//!
//! A run that is committed notes the names of the rows that it touched, in the same transaction. So the history of a row
//! is found by an index, and costs as much as the runs that touched it, however many rows and runs there are. What the
//! row was stands in those runs alone, where the ledger vouches for it; the names only find them.

use std::collections::BTreeSet;

use ordain_types::{Row, RunId, RunRecord, RunState, row_name};
use serde::Serialize;
use serde_json::Value;

use crate::Answer;
use crate::bookkeeping::own;
use crate::catalog::Catalog;
use crate::changes::{ChangeSet, KeptChange};
use crate::error::StoreError;
use crate::ledger::LedgerEntry;
use crate::relation::Relation;
use crate::runs::{self, SeenBy};
use crate::sealed::People;
use crate::sql::{Dialect, Sql};
use crate::store::Store;

/// What a run did to one row.
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
pub struct RowEvent {
    /// When it was committed.
    pub at: String,
    /// Who asked for it.
    pub who: String,
    /// Who approved it, if it waited for that, or undid it.
    pub decided_by: Option<String>,
    /// Through what it was asked: `cli`, `http`, `mcp` …
    pub through: String,
    /// The run.
    pub run_id: RunId,
    /// What was asked.
    pub request: String,
    /// `committed`, or `undone` where it was taken back.
    pub state: RunState,
    /// When it was taken back, if it was.
    pub undone_at: Option<String>,
    /// The columns that tell the row apart, as they were then.
    pub key: Row,
    /// The row before; nothing if it was added.
    pub before: Option<Row>,
    /// The row after; nothing if it was removed.
    pub after: Option<Row>,
}

/// A page of what happened to one row, the newest first.
#[derive(Debug, Clone, Default, Serialize)]
pub struct RowHistory {
    /// What each run did to it.
    pub events: Vec<RowEvent>,
    /// The run before which the next page begins, if there may be one.
    pub next: Option<RunId>,
}

impl Store {
    /// What happened to the row of that name: at most so many runs, those before another one if that is said, and those
    /// alone that a caller sees. A row is named by its key; several columns of a key have commas in between.
    pub fn row_history<'a>(
        &'a self,
        table: &'a str,
        row: &'a str,
        seen_by: Option<&'a SeenBy>,
        before: Option<&'a RunId>,
        limit: u64,
    ) -> Answer<'a, RowHistory> {
        Box::pin(history(self, [table, row], seen_by, before, limit))
    }
}

async fn history(
    store: &Store,
    [table, row]: [&str; 2],
    seen_by: Option<&SeenBy>,
    before: Option<&RunId>,
    limit: u64,
) -> Result<RowHistory, StoreError> {
    let inner = store.inner();
    let catalog = store.catalog();
    let relation = catalog.at(catalog.visible_place(table)?);
    let mut session = inner.pool.session().await?;
    let noted = own(session.dialect(), "row_runs");
    let mut sql = session.sql(&format!("SELECT run_id FROM {noted} WHERE table_name = "));
    sql.text_param(&relation.table.name).push(" AND row_name = ").text_param(row);
    if let Some(before) = before {
        sql.push(" AND run_id < ").text_param(before.as_str());
    }
    sql.push(" ORDER BY run_id DESC LIMIT ").integer_param(i64::try_from(limit).unwrap_or(i64::MAX));
    let runs = session.read(sql).await?;
    let mut events = Vec::new();
    for run in runs.iter().filter_map(|found| found[0].as_text()) {
        let told = runs::told(&inner.ledger, &mut session, run).await?;
        if seen_by.is_some_and(|by| !by.sees_own(&told.people)) {
            continue;
        }
        // What is kept of a run that was undone is how it was undone.
        let is_undone = told.record.state == RunState::Undone;
        let changes = if is_undone { told.changes.inverse() } else { told.changes };
        events.extend(changes.tables.get(&relation.table.name).into_iter().flatten().filter_map(|change| {
            let key = names(relation, change).find(|key| row_name(key) == row)?;
            Some(event(
                &catalog,
                &relation.table.name,
                &told.record,
                &told.people,
                &told.entries,
                change,
                &key,
            ))
        }));
    }
    let is_full = runs.len() as u64 == limit;
    let last = runs.last().filter(|_| is_full).and_then(|found| found[0].as_text());
    Ok(RowHistory { events, next: last.map(|run| RunId(run.to_owned())) })
}

fn event(
    catalog: &Catalog,
    table: &str,
    record: &RunRecord,
    people: &People,
    entries: &[LedgerEntry],
    change: &KeptChange,
    key: &Row,
) -> RowEvent {
    let at = |wanted: fn(&str) -> bool| entries.iter().rfind(|entry| wanted(&entry.kind));
    let body: Value =
        entries.first().and_then(|entry| serde_json::from_str(entry.body.get()).ok()).unwrap_or_default();
    let begun = at(|kind| kind == "approve").or(entries.first());
    RowEvent {
        at: begun.map(|entry| entry.at.clone()).unwrap_or_default(),
        who: people.asked_by.clone().unwrap_or_default(),
        decided_by: people.decided_by.clone(),
        through: body["through"].as_str().unwrap_or_default().to_owned(),
        run_id: record.run_id.clone(),
        request: record.request.clone(),
        state: record.state,
        undone_at: at(|kind| kind == "undo").map(|entry| entry.at.clone()),
        key: shown(catalog, table, key),
        before: change.before.as_ref().map(|row| shown(catalog, table, row)),
        after: change.after.as_ref().map(|row| shown(catalog, table, row)),
    }
}

/// A kept row without what plans may not see. Of a column that is gone nobody knows whether it was hidden.
fn shown(catalog: &Catalog, table: &str, row: &Row) -> Row {
    row.fields.iter().filter(|(name, _)| catalog.shows(table, name)).cloned().collect()
}

/// What the row of a change was called before and after it.
fn names(relation: &Relation, change: &KeptChange) -> impl Iterator<Item = Row> {
    let key = |row: &Row| -> Row {
        if relation.table.key.is_empty() {
            return [(crate::relation::DOC_ID.to_owned(), Value::from(change.doc_id))].into_iter().collect();
        }
        let value = |name: &String| (name.clone(), row.get(name).cloned().unwrap_or_default());
        relation.table.key.iter().map(value).collect()
    };
    [&change.after, &change.before].into_iter().flatten().map(key).collect::<Vec<_>>().into_iter()
}

/// Notes the rows that a run touched. What is noted already stays.
pub(crate) fn note(dialect: Dialect, catalog: &Catalog, run: &RunId, changes: &ChangeSet) -> Vec<Sql> {
    let noted = own(dialect, "row_runs");
    let of_table = |(table, rows): (&String, &Vec<KeptChange>)| {
        let relation = catalog.at(catalog.place(table).ok()?);
        let rows: BTreeSet<String> =
            rows.iter().flat_map(|change| names(relation, change)).map(|key| row_name(&key)).collect();
        let rows = serde_json::to_string(&rows).ok()?;
        let mut sql =
            Sql::new(dialect, &format!("INSERT INTO {noted} (table_name, row_name, run_id) SELECT "));
        sql.text_param(table).push(", value, ").text_param(run.as_str()).push(" FROM ");
        match dialect {
            Dialect::Sqlite => sql.push("json_each(").text_param(&rows).push(")"),
            Dialect::Postgres => {
                sql.push("json_array_elements_text(").bind(crate::sql::Datum::Text(rows), "json").push(")")
            }
        };
        // SQLite takes `ON` for a join's without the condition.
        sql.push(" WHERE TRUE ON CONFLICT DO NOTHING");
        Some(sql)
    };
    changes.tables.iter().filter_map(of_table).collect()
}
