//! Applies a kept diff: for approval as it is, for undo the other way round.
//!
//! Nothing is written unless every row that the diff touches is still what it expects, so that a change made
//! meanwhile is never overwritten.

use std::collections::HashSet;
use std::sync::Arc;

use ordain_types::Row;
use serde_json::Value;

use crate::changes::{ChangeSet, Changes, KeptChange};
use crate::error::{RowConflict, StoreError};
use crate::relation::{Filled, Identity, Image, Relation};
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
    let (mut conflicts, mut tables) = (Vec::new(), Vec::new());
    for (table, rows) in changes.tables {
        let place = catalog.place(&table)?;
        let relation = Arc::clone(catalog.at(place));
        let steps =
            rows.into_iter().map(|change| Step::new(&relation, change)).collect::<Result<Vec<_>, _>>()?;
        conflicts.extend(check(transaction, &relation, &steps, purpose).await?);
        tables.push(Work::new(place, relation, steps));
    }
    if !conflicts.is_empty() {
        return Ok(conflicts);
    }
    sort_by_references(&mut tables);
    // Removing first frees what must be unique; adding first gives rows something to refer to. Which of the two a
    // database in place insists on cannot be told from outside.
    transaction.session.script("SAVEPOINT ordain_apply".to_owned()).await?;
    match write(transaction, &tables, false).await {
        Err(StoreError::Constraint { .. } | StoreError::DuplicateKey { .. }) => {
            transaction.session.script("ROLLBACK TO ordain_apply".to_owned()).await?;
            transaction.changes = Changes::default();
            write(transaction, &tables, true).await?;
        }
        other => other?,
    }
    transaction.session.script("RELEASE ordain_apply".to_owned()).await?;
    Ok(Vec::new())
}

/// Which rows are in the way of changes that wait. Nothing is written.
pub(crate) async fn conflicts(
    transaction: &mut Transaction,
    changes: ChangeSet,
) -> Result<Vec<RowConflict>, StoreError> {
    let catalog = Arc::clone(&transaction.catalog);
    let mut conflicts = Vec::new();
    for (table, rows) in changes.tables {
        let relation = Arc::clone(catalog.at(catalog.place(&table)?));
        let steps =
            rows.into_iter().map(|change| Step::new(&relation, change)).collect::<Result<Vec<_>, _>>()?;
        conflicts.extend(check(transaction, &relation, &steps, Purpose::Approve).await?);
    }
    Ok(conflicts)
}

/// What is to be written to one table.
struct Work {
    place: usize,
    relation: Arc<Relation>,
    removals: Vec<Image>,
    updates: Vec<(Image, Vec<Option<Value>>)>,
    additions: Vec<Image>,
}

impl Work {
    fn new(place: usize, relation: Arc<Relation>, steps: Vec<Step>) -> Self {
        let (removals, updates, additions) = (Vec::new(), Vec::new(), Vec::new());
        let mut work = Self { place, relation, removals, updates, additions };
        for step in steps {
            match (step.before, step.after) {
                (Some(before), Some(after)) if takes_new_key(&work.relation, &before, &after) => {
                    work.removals.push(before);
                    work.additions.push(after);
                }
                (Some(before), Some(after)) => work.updates.push((before, after.values)),
                (Some(before), None) => work.removals.push(before),
                (None, Some(after)) => work.additions.push(after),
                (None, None) => {}
            }
        }
        work
    }

    async fn remove(&self, transaction: &mut Transaction) -> Result<(), StoreError> {
        let removals = self.removals.iter().rev().cloned().collect();
        transaction.remove_images(self.place, &self.relation, removals).await
    }

    async fn add(&self, transaction: &mut Transaction) -> Result<(), StoreError> {
        let taken = taken_ids(transaction, &self.relation, &self.additions).await?;
        let rows = self.additions.iter().map(|image| {
            let is_free = self.relation.is_kept() && !taken.contains(&image.doc_id);
            (writable(&self.relation, &image.values), is_free.then_some(image.doc_id))
        });
        let rows = rows.collect();
        transaction.insert_values(self.place, &self.relation, rows).await.map(drop)
    }
}

/// Writes everything: removals from the referring tables on, additions from the referred ones on.
async fn write(transaction: &mut Transaction, tables: &[Work], adding_first: bool) -> Result<(), StoreError> {
    if adding_first {
        for work in tables {
            work.add(transaction).await?;
        }
    } else {
        for work in tables.iter().rev() {
            work.remove(transaction).await?;
        }
    }
    for work in tables {
        let updates = work.updates.clone();
        transaction.write_images(work.place, &work.relation, updates).await?;
    }
    if adding_first {
        for work in tables.iter().rev() {
            work.remove(transaction).await?;
        }
    } else {
        for work in tables {
            work.add(transaction).await?;
        }
    }
    Ok(())
}

/// Puts tables that are referred to before those that refer to them, as far as that is possible.
fn sort_by_references(tables: &mut Vec<Work>) {
    let mut sorted: Vec<Work> = Vec::with_capacity(tables.len());
    while !tables.is_empty() {
        let names: HashSet<String> = tables.iter().map(|work| work.relation.table.name.clone()).collect();
        let free = tables.iter().position(|work| {
            let own = &work.relation.table.name;
            work.relation.foreign_keys.iter().all(|key| key.table == *own || !names.contains(&key.table))
        });
        // Tables that refer to each other stay in the order of their names.
        sorted.push(tables.remove(free.unwrap_or(0)));
    }
    *tables = sorted;
}

/// The database calculates its own columns again, and comes to what they had.
fn writable(relation: &Relation, values: &[Option<Value>]) -> Vec<Option<Value>> {
    let own = |(position, value): (usize, &Option<Value>)| {
        if relation.storage[position].filled == Filled::Calculated { None } else { value.clone() }
    };
    values.iter().enumerate().map(own).collect()
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
