//! Judges a rule where the rows are, in the store's own database.

use std::sync::Arc;

use ordain_types::{ColumnType, RuleSql, TableRule};
use serde_json::{Value, json};

use super::{Held, ROW, Writer};
use crate::Answer;
use crate::catalog::Catalog;
use crate::error::StoreError;
use crate::relation::{Kind, Relation};
use crate::session::Rows;
use crate::sql::{Datum, Dialect, Sql, quoted};
use crate::store::Store;
use crate::transaction::Transaction;
use crate::value;

/// Values that a list may have; with more of them a cell looks at the rows.
pub(super) const LIST_MAX: usize = 1000;

impl Store {
    /// Whether the database itself can judge a rule about tables of the store.
    pub fn can_judge(&self, rule: &TableRule) -> bool {
        written(&self.catalog(), self.inner.pool.dialect(), rule).is_some()
    }
}

impl Transaction {
    /// Counts what a rule asks, with at most so many failing rows, as a cell takes it up. `None`: the database cannot judge it.
    pub fn judge<'a>(&'a mut self, rule: &'a TableRule, rows_max: u64) -> Answer<'a, Option<Value>> {
        Box::pin(async move {
            let catalog = Arc::clone(&self.catalog);
            let Some((sql, params)) = written(&catalog, self.session.dialect(), rule) else {
                return Ok(None);
            };
            if !sql.marks_rows {
                return self.figures(&sql.found, params).await.map(Some);
            }
            let marks = ["judged", "failing"].map(|mark| format!("count(CASE WHEN {mark} THEN 1 END)"));
            let numbers = self.numbers(&marks, &sql.found, params.clone()).await?;
            let relation = Arc::clone(catalog.at(catalog.visible_place(&rule.table)?));
            let is_asked = rows_max > 0 && numbers[1] != json!(0);
            let (places, values): (Vec<i64>, Vec<Value>) = if is_asked {
                self.failing(&relation, &sql.found, params, rows_max).await?.into_iter().unzip()
            } else {
                Default::default()
            };
            let columns: Vec<&str> =
                relation.visible_columns().map(|(_, column)| column.name.as_str()).collect();
            let rows = json!({ "columns": columns, "places": places, "values": values });
            Ok(Some(json!({ "evaluated": numbers[0], "failed": numbers[1], "rows": rows })))
        })
    }

    async fn figures(&mut self, figures: &str, params: Vec<Datum>) -> Result<Value, StoreError> {
        let is_asked = |name: &&str| figures.contains(&format!(" AS \"{name}\""));
        let names: Vec<&str> = ["rows", "holds", "filled", "distinct"].into_iter().filter(is_asked).collect();
        let columns: Vec<String> = names.iter().map(|name| quoted(name)).collect();
        let numbers = self.numbers(&columns, figures, params).await?;
        let counted = names.iter().map(|name| (*name).to_owned()).zip(numbers);
        // A typed column holds nothing that cannot be read.
        Ok(counted.chain([("unread".to_owned(), json!(0))]).collect())
    }

    async fn numbers(
        &mut self,
        columns: &[String],
        from: &str,
        params: Vec<Datum>,
    ) -> Result<Vec<Value>, StoreError> {
        let mut sql = Sql { params, ..self.session.sql("SELECT ") };
        sql.list(", ", columns, |sql, column| {
            sql.result(column);
        });
        sql.push(" FROM (").push(from).push(") AS counted");
        let rows: Rows = self.session.read(sql).await?;
        let row = rows.into_iter().next().unwrap_or_default();
        Ok(row.iter().map(|datum| json!(datum.as_integer().unwrap_or_default())).collect())
    }

    /// The first failing rows, each with its place in the table.
    async fn failing(
        &mut self,
        relation: &Relation,
        marks: &str,
        params: Vec<Datum>,
        rows_max: u64,
    ) -> Result<Vec<(i64, Value)>, StoreError> {
        let mut sql = Sql { params, ..self.session.sql("SELECT ") };
        sql.result(&format!("m.{ROW}"));
        for (_, column) in relation.visible_columns() {
            sql.push(", ").result(&format!("t.{}", quoted(&column.name)));
        }
        sql.push(" FROM (").push(marks).push(") AS m JOIN ").push(&source(relation));
        sql.push(&format!(" AS t ON t.{ROW} = m.{ROW} WHERE m.failing ORDER BY m.{ROW} LIMIT "));
        sql.integer_param(i64::try_from(rows_max).unwrap_or(i64::MAX));
        let (rows, _) = self.session.read_page(sql, self.store.limits.page_bytes_max).await?;
        rows.into_iter().map(|row| failing_row(relation, row)).collect()
    }
}

/// A row's place in its table, from one, and its values.
fn failing_row(relation: &Relation, row: Vec<Datum>) -> Result<(i64, Value), StoreError> {
    let mut row = row.into_iter();
    let place = row.next().and_then(|datum| datum.as_integer()).unwrap_or_default();
    let values = relation.visible_columns().zip(row).map(|((position, column), datum)| {
        let value = value::decode(&relation.storage[position], column.column_type, datum);
        let value = value.map(|value| value::shown(&relation.storage[position], value));
        value.map_err(|message| relation.broken(&message))
    });
    Ok((place + 1, values.collect::<Result<_, _>>()?))
}

fn written(catalog: &Catalog, dialect: Dialect, rule: &TableRule) -> Option<(RuleSql, Vec<Datum>)> {
    let relation = |table: &str| catalog.visible_place(table).ok().map(|place| catalog.at(place));
    if rule.tables().any(|table| relation(table).is_none()) {
        return None;
    }
    let held = |table: &str, column: &str| {
        let relation = relation(table)?;
        held(relation, relation.visible(column).ok()?)
    };
    let source = |table: &str| relation(table).map(|relation| source(relation)).unwrap_or_default();
    let mut writer = Writer::new(rule, Some(dialect), &held, &source);
    let sql = writer.rule()?;
    Some((sql, writer.params))
}

/// What a column holds, where its values are the same to the database as to pandas.
fn held(relation: &Relation, position: usize) -> Option<Held> {
    let (storage, column) = (&relation.storage[position], &relation.table.columns[position]);
    Some(match (storage.kind, column.column_type) {
        (Kind::Json | Kind::Any, _) => return None,
        (Kind::Text, ColumnType::Text) => Held::Text,
        (Kind::Integer, ColumnType::Integer) => Held::Integer,
        // Where somebody else writes, there may be infinities and values that are no numbers.
        (Kind::Double, ColumnType::Real) if storage.native.is_none() => Held::Real,
        (Kind::Boolean, ColumnType::Boolean) => Held::Boolean,
        _ => Held::Opaque,
    })
}

/// A table's visible columns and the places of its rows.
fn source(relation: &Relation) -> String {
    let columns: Vec<String> = relation.visible_columns().map(|(_, column)| quoted(&column.name)).collect();
    let order = relation.order();
    let order = if order.is_empty() { "ctid".to_owned() } else { order.join(", ") };
    format!(
        "(SELECT {}, row_number() OVER (ORDER BY {order}) - 1 AS {ROW} FROM {})",
        columns.join(", "),
        relation.sql_rows()
    )
}
