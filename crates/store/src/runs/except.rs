//! Approving a diff without some of its rows.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use ordain_types::{Row, row_name};

use crate::changes::{ChangeSet, KeptChange};
use crate::error::StoreError;
use crate::relation::shortened;
use crate::transaction::Transaction;

/// Takes rows out of a diff that waits, with those that the same calls of actions wrote, and gives their number. Every name
/// has to be that of one row.
pub(super) fn leave_out(
    transaction: &Transaction,
    changes: &mut ChangeSet,
    except: &[String],
) -> Result<usize, StoreError> {
    let wrong = |message: String| StoreError::BadCall { message };
    let catalog = &transaction.catalog;
    let (mut named, mut acts) = (BTreeMap::<String, Row>::new(), BTreeSet::<u32>::new());
    let mut is_named = HashSet::<(String, i64)>::new();
    for (table, rows) in &changes.tables {
        let relation = catalog.at(catalog.place(table)?);
        for row in rows {
            let image = row.before.as_ref().or(row.after.as_ref()).cloned().unwrap_or_default();
            let key = relation.key_row(&relation.image_of(row.doc_id, image)?);
            let name = format!("{table}/{}", row_name(&key));
            if !except.contains(&name) {
                continue;
            }
            acts.extend(&row.acts);
            is_named.insert((table.clone(), row.doc_id));
            if named.insert(name.clone(), key.clone()).is_some_and(|other| other != key) {
                return Err(wrong(format!("`{name}` is the name of two rows of the diff")));
            }
        }
    }
    if let Some(unknown) = except.iter().find(|name| !named.contains_key(*name)) {
        let shown = shortened(unknown);
        return Err(wrong(format!(
            "`{shown}` is no row of the diff; a row is named `table/key`, as in `inventory/A1`, several columns of a key with \
             commas in between and a comma within one of them as `\\,`"
        )));
    }
    let rows = |changes: &ChangeSet| changes.tables.values().map(Vec::len).sum::<usize>();
    let before = rows(changes);
    loop {
        let of_acts = changes.tables.values().flatten().filter(|row| !row.acts.is_disjoint(&acts));
        let more: BTreeSet<u32> = of_acts.flat_map(|row| row.acts.iter().copied()).collect();
        if more.is_subset(&acts) {
            break;
        }
        acts.extend(more);
    }
    for (table, rows) in &mut changes.tables {
        let is_out = |row: &KeptChange| {
            !row.acts.is_disjoint(&acts) || is_named.contains(&(table.clone(), row.doc_id))
        };
        rows.retain(|row| !is_out(row));
    }
    changes.tables.retain(|_, rows| !rows.is_empty());
    if changes.tables.is_empty() {
        let message = "nothing would be left of the diff, since rows that one action wrote are left out together; `reject` says \
                       no to all of it";
        return Err(wrong(message.to_owned()));
    }
    Ok(before - rows(changes))
}
