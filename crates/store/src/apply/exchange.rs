//! Changes that no order of whole rows leads to: rows that refer to each other in a circle, and rows that exchange what must
//! be unique.
//!
//! Rows that refer to each other are added without what they refer to, which they get when all are there. A row that has
//! what another one needs puts it aside for a moment.

use std::collections::HashSet;

use serde_json::Value;

use super::Work;
use crate::error::StoreError;
use crate::relation::{Filled, Identity, Image, Kind, Relation};
use crate::transaction::Transaction;

/// A row and its new values.
type Update = (Image, Vec<Option<Value>>);

pub(super) async fn write(transaction: &mut Transaction, tables: &[Work]) -> Result<(), StoreError> {
    let names: HashSet<&str> = tables.iter().map(|work| work.relation.table.name.as_str()).collect();
    let mut referring = Vec::new();
    for work in tables {
        let loose: Vec<Image> =
            work.additions.iter().map(|image| without_references(&work.relation, &names, image)).collect();
        work.add_images(transaction, &loose).await?;
        referring.push(loose);
    }
    for work in tables {
        let updates = work.updates_to_do(transaction);
        exchange(transaction, work, updates).await?;
    }
    for (work, loose) in std::iter::zip(tables, referring) {
        let updates = std::iter::zip(loose, &work.additions);
        let updates = updates.filter(|(loose, full)| loose.values != full.values);
        let updates = updates.map(|(loose, full)| (loose, full.values.clone())).collect();
        transaction.write_images(work.place, &work.relation, updates).await?;
    }
    for work in tables.iter().rev() {
        work.remove(transaction).await?;
    }
    Ok(())
}

/// A row that refers to none of these tables, as far as it can do without.
fn without_references(relation: &Relation, tables: &HashSet<&str>, image: &Image) -> Image {
    let mut image = image.clone();
    let keys = relation.foreign_keys.iter().filter(|key| tables.contains(key.table.as_str()));
    for column in keys.flat_map(|key| &key.columns) {
        let Some(position) = relation.position(column) else { continue };
        if relation.table.columns[position].nullable && image.values[position].is_some() {
            image.values[position] = Some(Value::Null);
        }
    }
    image
}

/// Updates rows one by one. Where none can go on, one puts aside what the others need.
async fn exchange(
    transaction: &mut Transaction,
    work: &Work,
    mut updates: Vec<Update>,
) -> Result<(), StoreError> {
    let mut has_stepped_aside = HashSet::new();
    while !updates.is_empty() {
        let (mut waiting, mut refused, count) = (Vec::new(), None, updates.len());
        for update in updates {
            match transaction.write_images(work.place, &work.relation, vec![update.clone()]).await {
                Ok(()) => {}
                Err(error @ StoreError::DuplicateKey { .. }) => {
                    refused = Some(error);
                    waiting.push(update);
                }
                Err(error) => return Err(error),
            }
        }
        if let Some(error) = refused.filter(|_| waiting.len() == count) {
            let (before, after) = waiting.remove(0);
            if !has_stepped_aside.insert(before.doc_id) {
                return Err(error);
            }
            let Some(aside) = aside(&work.relation, &before, &after) else { return Err(error) };
            let values = aside.values.clone();
            transaction.write_images(work.place, &work.relation, vec![(before, values)]).await?;
            has_stepped_aside.insert(aside.doc_id);
            waiting.push((aside, after));
        }
        updates = waiting;
    }
    Ok(())
}

/// The row with values that nobody needs where it is to get others that must be unique.
fn aside(relation: &Relation, before: &Image, after: &[Option<Value>]) -> Option<Image> {
    let mut aside = before.clone();
    let indexed: HashSet<&String> = relation.indexes.iter().flatten().chain(&relation.table.key).collect();
    let mut is_other = false;
    for (position, column) in relation.table.columns.iter().enumerate() {
        let storage = &relation.storage[position];
        if before.values[position] == after[position]
            || !indexed.contains(&column.name)
            || storage.filled == Filled::Calculated
        {
            continue;
        }
        let mut random = [0; 4];
        getrandom::fill(&mut random).ok()?;
        let number = i64::from(i32::from_be_bytes(random) | i32::MIN);
        let value = match storage.kind {
            _ if column.nullable => Value::Null,
            Kind::Integer | Kind::Numeric => Value::from(number),
            Kind::Text | Kind::Other => Value::from(format!("{}", number.unsigned_abs())),
            _ => return None,
        };
        if relation.identity == Identity::IntegerKey(position) {
            aside.doc_id = value.as_i64()?;
        }
        aside.values[position] = Some(value);
        is_other = true;
    }
    is_other.then_some(aside)
}
