//! Rows that an undo would leave behind, naming what is no longer there.

use std::collections::BTreeSet;
use std::sync::Arc;

use ordain_types::Reference;
use serde_json::Value;

use crate::changes::Changes;
use crate::error::StoreError;
use crate::relation::{Kind, Relation};
use crate::sql::{Sql, quoted};
use crate::transaction::Transaction;
use crate::value;

/// Values that one statement asks for.
const VALUES_AT_ONCE: usize = 500;

/// A declared reference of which rows would be left behind, and how many: they name what the transaction took away. Only
/// rows with such values are looked at.
pub(super) async fn left_behind(
    transaction: &mut Transaction,
) -> Result<Option<([Reference; 2], usize)>, StoreError> {
    let (store, catalog) = (Arc::clone(&transaction.store), Arc::clone(&transaction.catalog));
    for [from, to] in &store.references {
        let (Ok(place), Ok(of)) = (catalog.place(&to.table), catalog.place(&from.table)) else { continue };
        let (named, naming) = (Arc::clone(catalog.at(place)), Arc::clone(catalog.at(of)));
        let (Some(at), Some(of)) = (named.position(&to.column), naming.position(&from.column)) else {
            continue;
        };
        let taken_away: Vec<String> = taken_away(&transaction.changes, place, at).into_iter().collect();
        let mut count = 0;
        for values in taken_away.chunks(VALUES_AT_ONCE) {
            let there: BTreeSet<String> =
                rows_with(transaction, &named, at, values).await?.into_iter().collect();
            let gone: Vec<String> = values.iter().filter(|value| !there.contains(*value)).cloned().collect();
            count += rows_with(transaction, &naming, of, &gone).await?.len();
        }
        if count > 0 {
            return Ok(Some(([from.clone(), to.clone()], count)));
        }
    }
    Ok(None)
}

/// The values of a column that rows had and do not have any more.
fn taken_away(changes: &Changes, table: usize, position: usize) -> BTreeSet<String> {
    let value = |image: &crate::relation::Image| text(image.values[position].as_ref()?);
    let rows = changes.touched().filter(|(touched, ..)| *touched == table);
    rows.filter_map(|(_, before, after)| {
        before.and_then(value).filter(|before| after.and_then(value).as_ref() != Some(before))
    })
    .collect()
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

/// What the rows that have one of these values have there. The two ends of a reference may have different types, as keys
/// have in a file and in a database.
async fn rows_with(
    transaction: &mut Transaction,
    relation: &Relation,
    position: usize,
    values: &[String],
) -> Result<Vec<String>, StoreError> {
    let storage = &relation.storage[position];
    let name = quoted(&relation.table.columns[position].name);
    let values: Vec<Value> = match storage.kind {
        Kind::Integer => values
            .iter()
            .filter_map(|value| value.parse::<i64>().ok())
            .map(|number| value::image(storage, Value::from(number)))
            .collect(),
        _ => values.iter().map(|value| Value::from(value.as_str())).collect(),
    };
    if values.is_empty() {
        return Ok(Vec::new());
    }
    let mut sql = transaction.session.sql("SELECT ");
    sql.result(&name).push(" FROM ").push(&relation.sql_rows()).push(" WHERE ");
    if matches!(storage.kind, Kind::Integer | Kind::Text) {
        sql.push(&name).push(" IN (");
        sql.list(", ", &values, |sql: &mut Sql, value| relation.push_value(sql, position, Some(value)));
    } else {
        sql.push(&format!("CAST({name} AS TEXT) IN ("));
        let texts = values.iter().filter_map(Value::as_str);
        sql.list(", ", texts, |sql: &mut Sql, text| {
            sql.text_param(text);
        });
    }
    sql.push(")");
    let rows = transaction.session.read(sql).await?;
    let texts = rows.iter().filter_map(|row| match (row[0].as_text(), row[0].as_integer()) {
        (Some(text), _) => Some(text.to_owned()),
        (None, number) => number.map(|number| number.to_string()),
    });
    Ok(texts.collect())
}
