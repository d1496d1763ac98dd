//! Applies a kept diff: for approval as it is, for undo the other way round.
//!
//! Nothing is written unless every row that the diff touches is still what it expects, so that a change made
//! meanwhile is never overwritten.

mod exchange;

use std::collections::HashSet;
use std::sync::Arc;

use ordain_types::Row;
use serde_json::Value;

use crate::changes::{ChangeSet, KeptChange};
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
    /// A row that comes back has the `doc_id` that it had, and every value.
    Undo,
    /// The same, without the values of columns that came after the run.
    UndoRest,
}

/// One change, with images of the table as it is now.
struct Step {
    before: Option<Image>,
    after: Option<Image>,
    /// What the row was when the diff was made, where it was there.
    expected: Option<Image>,
}

/// Applies the changes, or gives back which rows are in the way; then nothing was written.
pub(crate) async fn apply(
    transaction: &mut Transaction,
    changes: ChangeSet,
    purpose: Purpose,
) -> Result<Vec<RowConflict>, StoreError> {
    let catalog = Arc::clone(&transaction.catalog);
    let (mut conflicts, mut tables) = (Vec::new(), Vec::new());
    transaction.lock(&changes.tables.keys().cloned().collect()).await?;
    for (table, rows) in changes.tables {
        let place = catalog.place(&table)?;
        let relation = Arc::clone(catalog.at(place));
        let mut steps =
            rows.into_iter().map(|change| Step::new(&relation, change)).collect::<Result<Vec<_>, _>>()?;
        conflicts.extend(check(transaction, &relation, &mut steps, purpose).await?);
        if conflicts.is_empty() {
            check_later_columns(&relation, &steps, purpose)?;
        }
        tables.push(Work::new(place, relation, steps));
    }
    if !conflicts.is_empty() {
        return Ok(conflicts);
    }
    sort_by_references(&mut tables);
    // Which order a database in place insists on cannot be told from outside.
    transaction.session.defer_constraints().await?;
    transaction.session.savepoint("SAVEPOINT ordain_apply").await?;
    let earlier = transaction.changes.clone();
    let mut written = write(transaction, &tables, Order::RemovingFirst).await;
    for order in [Order::AddingFirst, Order::OneByOne] {
        if !matches!(written, Err(StoreError::Constraint { .. } | StoreError::DuplicateKey { .. })) {
            break;
        }
        transaction.session.savepoint("ROLLBACK TO ordain_apply").await?;
        transaction.changes = earlier.clone();
        written = write(transaction, &tables, order).await;
    }
    written?;
    transaction.session.savepoint("RELEASE ordain_apply").await?;
    read_back(transaction, &tables).await?;
    Ok(Vec::new())
}

/// Reads the rows that were written, after everything that the database does with them, and fails where they are not what
/// they should be: a trigger wrote again, or a column holds less than it did.
async fn read_back(transaction: &mut Transaction, tables: &[Work]) -> Result<(), StoreError> {
    transaction.session.check_writes().await?;
    let mut conflicts = Vec::new();
    for work in tables {
        let relation = &work.relation;
        if relation.is_kept() && relation.table.key.is_empty() {
            // A new row may have another number now, by which alone it could be found.
            continue;
        }
        let updated =
            work.updates.iter().map(|(before, after)| Image { doc_id: before.doc_id, values: after.clone() });
        let expected: Vec<Image> = updated.chain(work.additions.iter().cloned()).collect();
        let expected: Vec<&Image> = expected.iter().collect();
        let found = lookup(transaction, relation, &expected, push_key).await?;
        for (expected, found) in std::iter::zip(expected, found) {
            if found.as_ref().is_none_or(|found| !agrees(relation, expected, found)) {
                conflicts.push(conflict(relation, expected, Some(expected), found.as_ref()));
            }
        }
    }
    if conflicts.is_empty() { Ok(()) } else { Err(StoreError::NotAsShown { conflicts }) }
}

/// Refuses to lose the value of a column that came after the run, or to make one up.
fn check_later_columns(relation: &Relation, steps: &[Step], purpose: Purpose) -> Result<(), StoreError> {
    if relation.is_kept() || purpose == Purpose::UndoRest {
        return Ok(());
    }
    for step in steps {
        let later = match step {
            Step { before: None, after: Some(after), .. } if purpose == Purpose::Undo => (0..after
                .values
                .len())
                .find(|at| after.values[*at].is_none() && relation.storage[*at].filled != Filled::Calculated),
            // What the row has there goes with it.
            Step { before: Some(before), after: None, expected: Some(expected) } => (0..before.values.len())
                .find(|at| {
                    let has_value = before.values[*at].as_ref().is_some_and(|value| !value.is_null());
                    expected.values[*at].is_none()
                        && has_value
                        && relation.storage[*at].filled != Filled::Calculated
                }),
            _ => None,
        };
        if let Some(at) = later {
            return Err(StoreError::LaterColumn {
                table: relation.table.name.clone(),
                column: relation.table.columns[at].name.clone(),
            });
        }
    }
    Ok(())
}

/// Whether a row is what is expected, in the columns that it is known for.
fn agrees(relation: &Relation, expected: &Image, found: &Image) -> bool {
    if relation.is_kept() {
        return expected.values == found.values;
    }
    std::iter::zip(&expected.values, &found.values)
        .all(|(expected, found)| expected.is_none() || expected == found)
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
        let mut steps =
            rows.into_iter().map(|change| Step::new(&relation, change)).collect::<Result<Vec<_>, _>>()?;
        conflicts.extend(check(transaction, &relation, &mut steps, Purpose::Approve).await?);
    }
    Ok(conflicts)
}

/// The order in which changes are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    /// Frees what must be unique.
    RemovingFirst,
    /// Gives rows something to refer to.
    AddingFirst,
    /// Adds rows that refer to nothing yet, and lets rows exchange what must be unique.
    OneByOne,
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

    /// The updates without those of rows that have followed others to which they refer.
    fn updates_to_do(&self, transaction: &Transaction) -> Vec<(Image, Vec<Option<Value>>)> {
        let has_followed = |before: &Image, after: &Vec<Option<Value>>| {
            transaction.changes.last_image(self.place, before.doc_id).is_some_and(|now| now.values == *after)
        };
        let updates = self.updates.iter().filter(|(before, after)| !has_followed(before, after));
        updates.cloned().collect()
    }

    async fn remove(&self, transaction: &mut Transaction) -> Result<(), StoreError> {
        // Some are gone with rows that they referred to.
        let removals = self.removals.iter().rev();
        let removals = removals
            .filter(|image| !transaction.changes.is_gone(self.place, image.doc_id))
            .cloned()
            .collect();
        transaction.remove_images(self.place, &self.relation, removals).await
    }

    async fn add(&self, transaction: &mut Transaction) -> Result<(), StoreError> {
        self.add_images(transaction, &self.additions).await
    }

    async fn add_images(&self, transaction: &mut Transaction, images: &[Image]) -> Result<(), StoreError> {
        let taken = taken_ids(transaction, &self.relation, images).await?;
        let rows = images.iter().map(|image| {
            let is_free = self.relation.is_kept() && !taken.contains(&image.doc_id);
            (writable(&self.relation, &image.values), is_free.then_some(image.doc_id))
        });
        let rows = rows.collect();
        transaction.insert_values(self.place, &self.relation, rows).await.map(drop)
    }
}

/// Writes everything: removals from the referring tables on, additions from the referred ones on.
async fn write(transaction: &mut Transaction, tables: &[Work], order: Order) -> Result<(), StoreError> {
    if order == Order::OneByOne {
        return exchange::write(transaction, tables).await;
    }
    let adding_first = order == Order::AddingFirst;
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
        let updates = work.updates_to_do(transaction);
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
    fn new(relation: &Relation, mut change: KeptChange) -> Result<Self, StoreError> {
        // A column that is gone does not matter where the run did not change it.
        if let (Some(before), Some(after)) = (&mut change.before, &mut change.after) {
            let is_gone = |name: &String| relation.position(name).is_none();
            let unchanged: Vec<String> = before
                .fields
                .iter()
                .map(|(name, _)| name)
                .filter(|name| is_gone(name))
                .filter(|name| before.get(name) == after.get(name))
                .cloned()
                .collect();
            before.fields.retain(|(name, _)| !unchanged.contains(name));
            after.fields.retain(|(name, _)| !unchanged.contains(name));
        }
        let image = |row: Option<Row>| row.map(|row| relation.image_of(change.doc_id, row)).transpose();
        let before = image(change.before)?;
        Ok(Self { before: before.clone(), after: image(change.after)?, expected: before })
    }

    /// Takes the row as it is now, with the columns that came since.
    fn found(&mut self, relation: &Relation, found: Image) {
        if relation.is_kept() {
            return;
        }
        if let Some(after) = &mut self.after {
            for (value, now) in std::iter::zip(&mut after.values, &found.values) {
                if value.is_none() {
                    value.clone_from(now);
                }
            }
        }
        self.before = Some(found);
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
    steps: &mut [Step],
    purpose: Purpose,
) -> Result<Vec<RowConflict>, StoreError> {
    let expected: Vec<Image> = steps.iter().filter_map(|step| step.expected.clone()).collect();
    let expected: Vec<&Image> = expected.iter().collect();
    let current = lookup(transaction, relation, &expected, |relation, sql, image| {
        relation.push_row_condition(sql, image);
    })
    .await?;
    let mut conflicts = Vec::new();
    let of_rows = steps.iter_mut().filter(|step| step.expected.is_some());
    for ((step, expected), found) in of_rows.zip(&expected).zip(current) {
        match found {
            Some(found) if agrees(relation, expected, &found) => step.found(relation, found),
            other => conflicts.push(conflict(relation, expected, Some(expected), other.as_ref())),
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
    let row = |image: &Image| relation.row(image);
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
            sql.push(" FROM ").push(&relation.sql_rows()).push(" WHERE ");
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
