//! Applies a kept diff: for approval as it is, for undo the other way round.
//!
//! Nothing is written unless every row that the diff touches is still what it expects, so that a change made
//! meanwhile is never overwritten.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use ordain_types::Row;
use serde_json::Value;

use crate::changes::{ChangeSet, KeptChange};
use crate::error::{RowConflict, StoreError};
use crate::relation::{Identity, Image, Relation};
use crate::sql::Sql;
use crate::transaction::Transaction;

/// Rows that are looked up at once.
const ROWS_AT_ONCE: usize = 500;

/// What a diff is applied for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// A new row may get another `doc_id` than when the diff was made.
    Approve,
    /// A row that comes back has the `doc_id` that it had.
    Undo,
}

/// One change, with images of the table as it is now.
struct Step {
    before: Option<Image>,
    after: Option<Image>,
}

/// Applies the changes, or gives back which rows are in the way; then nothing was written.
pub(crate) async fn apply(
    transaction: &mut Transaction,
    changes: ChangeSet,
    purpose: Purpose,
) -> Result<Vec<RowConflict>, StoreError> {
    let catalog = Arc::clone(&transaction.catalog);
    let mut conflicts = Vec::new();
    let mut steps = BTreeMap::new();
    for (table, rows) in changes.tables {
        let place = catalog.place(&table)?;
        let relation = Arc::clone(catalog.at(place));
        let table_steps =
            rows.into_iter().map(|change| Step::new(&relation, change)).collect::<Result<Vec<_>, _>>()?;
        conflicts.extend(check(transaction, &relation, &table_steps, purpose).await?);
        steps.insert(place, (relation, table_steps));
    }
    if !conflicts.is_empty() {
        return Ok(conflicts);
    }
    // Removals make room for keys that rows of another table, or of the same, take over.
    let mut additions = Vec::new();
    for (place, (relation, table_steps)) in steps {
        let (mut removals, mut updates, mut added) = (Vec::new(), Vec::new(), Vec::new());
        for step in table_steps {
            match (step.before, step.after) {
                (Some(before), Some(after)) if takes_new_key(&relation, &before, &after) => {
                    removals.push(before);
                    added.push(after);
                }
                (Some(before), Some(after)) => updates.push((before, after.values)),
                (Some(before), None) => removals.push(before),
                (None, Some(after)) => added.push(after),
                (None, None) => {}
            }
        }
        transaction.remove_images(place, &relation, removals).await?;
        transaction.write_images(place, &relation, updates).await?;
        additions.push((place, relation, added));
    }
    for (place, relation, added) in additions {
        let taken = taken_ids(transaction, &relation, &added).await?;
        let rows = added
            .into_iter()
            .map(|image| {
                let free = relation.is_kept() && !taken.contains(&image.doc_id);
                (image.values, free.then_some(image.doc_id))
            })
            .collect();
        transaction.insert_values(place, &relation, rows).await?;
    }
    Ok(Vec::new())
}

impl Step {
    fn new(relation: &Relation, change: KeptChange) -> Result<Self, StoreError> {
        let image = |row: Option<Row>| row.map(|row| relation.image_of(change.doc_id, row)).transpose();
        Ok(Self { before: image(change.before)?, after: image(change.after)? })
    }
}

/// A row of a kept table whose key changes is taken out and put back, so that two rows can swap their keys.
fn takes_new_key(relation: &Relation, before: &Image, after: &Image) -> bool {
    relation.is_kept()
        && relation.key_positions().any(|position| before.values[position] != after.values[position])
}

async fn check(
    transaction: &mut Transaction,
    relation: &Arc<Relation>,
    steps: &[Step],
    purpose: Purpose,
) -> Result<Vec<RowConflict>, StoreError> {
    let expected: Vec<&Image> = steps.iter().filter_map(|step| step.before.as_ref()).collect();
    let current = lookup(transaction, relation, &expected, |relation, sql, image| {
        relation.push_row_condition(sql, image);
    })
    .await?;
    let mut conflicts = Vec::new();
    for (expected, found) in std::iter::zip(&expected, current) {
        if found.as_ref().is_none_or(|found| found.values != expected.values) {
            conflicts.push(conflict(relation, expected, Some(expected), found.as_ref()));
        }
    }
    // Keys that the diff itself gives up are free for its own new rows.
    let given_up: HashSet<String> = expected.iter().map(|image| key_text(relation, image)).collect();
    let added: Vec<&Image> = steps
        .iter()
        .filter(|step| match (&step.before, &step.after) {
            (None, Some(_)) => true,
            (Some(before), Some(after)) => key_text(relation, before) != key_text(relation, after),
            _ => false,
        })
        .filter_map(|step| step.after.as_ref())
        .filter(|image| !given_up.contains(&key_text(relation, image)))
        .collect();
    let by_key = !relation.table.key.is_empty();
    if !by_key && purpose == Purpose::Approve {
        return Ok(conflicts);
    }
    let in_the_way = lookup(transaction, relation, &added, |relation, sql, image| {
        if by_key { push_key(relation, sql, image) } else { relation.push_row_condition(sql, image) }
    })
    .await?;
    for (image, found) in std::iter::zip(added, in_the_way) {
        if let Some(found) = found {
            conflicts.push(conflict(relation, image, None, Some(&found)));
        }
    }
    Ok(conflicts)
}

fn conflict(
    relation: &Relation,
    image: &Image,
    expected: Option<&Image>,
    found: Option<&Image>,
) -> RowConflict {
    let row = |image: &Image| relation.row(image, false);
    RowConflict {
        table: relation.table.name.clone(),
        key: relation.key_row(image),
        expected: expected.map(row),
        found: found.map(row),
    }
}

fn push_key(relation: &Relation, sql: &mut Sql, image: &Image) {
    let positions: Vec<usize> = relation.key_positions().collect();
    sql.list(" AND ", positions, |sql, position| {
        sql.name(&relation.table.columns[position].name).push(" = ");
        relation.push_value(sql, position, image.values[position].as_ref());
    });
}

/// The key as text, or the id where there is none.
fn key_text(relation: &Relation, image: &Image) -> String {
    if relation.table.key.is_empty() {
        return image.doc_id.to_string();
    }
    let parts = relation.key_positions().map(|position| image.values[position].clone().unwrap_or_default());
    Value::Array(parts.collect()).to_string()
}

/// Looks up one row for each image.
async fn lookup(
    transaction: &mut Transaction,
    relation: &Arc<Relation>,
    images: &[&Image],
    condition: impl Fn(&Relation, &mut Sql, &Image),
) -> Result<Vec<Option<Image>>, StoreError> {
    let mut found = Vec::with_capacity(images.len());
    for images in images.chunks(ROWS_AT_ONCE) {
        let statements = images.iter().map(|image| {
            let mut sql = transaction.session.sql("SELECT ");
            relation.push_image(&mut sql);
            sql.push(" FROM ").push(&relation.sql_name()).push(" WHERE ");
            condition(relation, &mut sql, image);
            sql
        });
        let statements = statements.collect();
        for mut rows in transaction.session.read_all(statements).await? {
            found.push(rows.pop().map(|row| relation.image(row)).transpose()?);
        }
    }
    Ok(found)
}

/// Ids of new rows that other rows have taken meanwhile.
async fn taken_ids(
    transaction: &mut Transaction,
    relation: &Arc<Relation>,
    added: &[Image],
) -> Result<HashSet<i64>, StoreError> {
    if relation.identity != Identity::DocId {
        return Ok(HashSet::new());
    }
    let added: Vec<&Image> = added.iter().collect();
    let found = lookup(transaction, relation, &added, |relation, sql, image| {
        relation.push_row_condition(sql, image);
    })
    .await?;
    Ok(found.into_iter().flatten().map(|image| image.doc_id).collect())
}
