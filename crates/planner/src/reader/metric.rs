//! Terms with a formula: `sum(units * unit_price)`.

use std::collections::BTreeMap;
use std::sync::Arc;

use ordain_types::{Catalog, Schema, Table};
use serde_json::Value;

use super::form::{Cond, Measure, Path};
use super::formula;
use super::index::Index;
use super::sql::{Params, Query};
use crate::brief::{Brief, TableBrief, Task};

/// Whether a condition on the columns of a table is understood.
pub fn is_condition(schema: &Schema, catalog: &Catalog, table: &str, text: &str) -> bool {
    // It names columns only, never what they hold.
    let index = Index::of_tables(&unseen(schema), &Arc::new(catalog.clone()));
    let table = index.tables.iter().position(|known| known.name == table);
    table.is_some_and(|table| formula::condition(&index, table, text).is_some())
}

/// A brief of tables whose rows were not looked at.
fn unseen(schema: &Schema) -> Brief {
    let known = |table: &Table| TableBrief {
        table: table.clone(),
        columns: Vec::new(),
        rows: 0,
        roles: BTreeMap::new(),
        references: Vec::new(),
        indexes: Vec::new(),
    };
    let tables = Arc::new(schema.tables.iter().map(known).collect());
    Brief { tables, ..Brief::new(Task::Ask, "") }
}

/// The SQL that computes a declared metric, and its values; `None` if formula or filter are not understood.
pub fn metric_query(schema: &Schema, catalog: &Catalog, which: usize) -> Option<(String, Vec<Value>)> {
    let index = Index::of(&unseen(schema), catalog);
    let table = index.tables.iter().position(|table| table.name == catalog.metrics[which].table)?;
    let (measure, filter) = measure(&index, table, which)?;
    let mut params = Params::default();
    let mut query = Query::new(&index, &mut params, table);
    let value = query.measure(&measure);
    let filter = filter.map(|filter| format!(" WHERE {}", query.condition(&filter))).unwrap_or_default();
    let (sql, used) = (format!("SELECT {value} AS value {}{filter}", query.from()), query.used);
    let values = params.values();
    Some((sql, used.iter().filter_map(|name| values.get(name).cloned()).collect()))
}

/// What a metric measures on a table, and the rows that count; `None` if it is about another table or not understood.
pub(crate) fn measure(index: &Index, table: usize, which: usize) -> Option<(Measure, Option<Cond>)> {
    let metric = &index.catalog.metrics[which];
    if index.tables[table].name != metric.table {
        return None;
    }
    let measure = figure(index, table, &metric.formula)?;
    let filter = match &metric.filter {
        Some(text) => Some(formula::condition(index, table, text)?),
        None => None,
    };
    Some((measure, filter))
}

/// `sum(units * unit_price)`, or two such figures with `/` or `-` between them.
fn figure(index: &Index, table: usize, formula: &str) -> Option<Measure> {
    let pair = formula.match_indices(['/', '-']).find(|(at, _)| formula[..*at].trim_end().ends_with(')'));
    match pair {
        Some((at, sign)) => {
            let both = (one(index, table, &formula[..at])?, one(index, table, &formula[at + 1..])?);
            Some(Measure::Pair(Box::new(both), sign.chars().next()?))
        }
        None => one(index, table, formula),
    }
}

fn one(index: &Index, table: usize, formula: &str) -> Option<Measure> {
    let (function, inner) = formula.trim().strip_suffix(')')?.split_once('(')?;
    let path = |name: &str| {
        let column = index.tables[table].columns.iter().position(|column| column.name == name.trim())?;
        Some(Path { hops: Vec::new(), table, column })
    };
    Some(match (function.trim(), inner.trim()) {
        ("count", _) => Measure::Count,
        ("sum", product) if product.contains('*') => {
            let (left, right) = product.split_once('*')?;
            Measure::Product("sum", path(left)?, path(right)?)
        }
        ("sum", column) => Measure::Of("sum", path(column)?),
        ("avg", column) => Measure::Of("avg", path(column)?),
        ("min", column) => Measure::Of("min", path(column)?),
        ("max", column) => Measure::Of("max", path(column)?),
        _ => return None,
    })
}
