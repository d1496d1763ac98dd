//! A sum over the rows of each table, carried along with every change, so that rows which were changed behind
//! Ordain's back are found.
//!
//! The sum of a table is the sum of its rows' hashes, so that a change costs as much as the rows that it touches: their
//! old hashes are taken off, their new ones added. The new sums stand in the ledger entry of the change, which is
//! signed; between two changes they are kept in a table of Ordain's own, signed as well. Each change adds a row there, by
//! the place of its entry, so that runs side by side do not write the same row. Only tables that Ordain keeps have a sum:
//! others may be written by anybody.

use std::collections::BTreeMap;

use ordain_types::{Diff, Row, RunKind, RunState};
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::bookkeeping::own;
use crate::catalog::Catalog;
use crate::changes::ChangeSet;
use crate::error::StoreError;
use crate::ledger::{self, Ledger, Tail};
use crate::relation::{Image, Relation};
use crate::session::Session;
use crate::sql::{Dialect, Sql};

/// Rows that are read at once.
const PAGE: i64 = 1000;
/// How often rows with older sums are removed: with every so many entries.
const REMOVED_EVERY: u64 = 64;

/// Entries between two versions that are read to tell what changed.
const FOLLOWED_MAX: u64 = 64;

/// The sums of all tables that have one, as they are written: 64 hexadecimal digits.
pub(crate) type Sums = BTreeMap<String, String>;

/// A number of 256 bits; the sum of a table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Sum([u128; 2]);

impl Sum {
    fn of(doc_id: i64, row: &Row) -> Self {
        let text = ledger::canonical(&json!([doc_id, row]));
        let digest: [u8; 32] = Sha256::digest(text.as_bytes()).into();
        let half = |at: usize| {
            let mut bytes = [0; 16];
            bytes.copy_from_slice(&digest[at..at + 16]);
            u128::from_be_bytes(bytes)
        };
        Self([half(0), half(16)])
    }

    fn plus(self, other: Self) -> Self {
        let (low, carry) = self.0[1].overflowing_add(other.0[1]);
        Self([self.0[0].wrapping_add(other.0[0]).wrapping_add(u128::from(carry)), low])
    }

    fn minus(self, other: Self) -> Self {
        let (low, borrow) = self.0[1].overflowing_sub(other.0[1]);
        Self([self.0[0].wrapping_sub(other.0[0]).wrapping_sub(u128::from(borrow)), low])
    }

    fn text(self) -> String {
        format!("{:032x}{:032x}", self.0[0], self.0[1])
    }

    fn parse(text: &str) -> Option<Self> {
        let half = |at: usize| u128::from_str_radix(text.get(at..at + 32)?, 16).ok();
        Some(Self([half(0)?, half(32)?]))
    }
}

/// Carries the sums along with a change: those before it and those after it, which [`keep`] keeps. A table without a
/// genuine sum gets none: only counting its rows anew could give it one.
pub(crate) fn advance(ledger: &Ledger, tail: &Tail, catalog: &Catalog, changes: &ChangeSet) -> (Sums, Sums) {
    let before = known(ledger, tail);
    let mut sums = before.clone();
    for (table, rows) in &changes.tables {
        let is_kept = catalog.place(table).is_ok_and(|place| catalog.at(place).is_kept());
        let Some(mut sum) = sums.get(table).filter(|_| is_kept).and_then(|text| Sum::parse(text)) else {
            sums.remove(table);
            continue;
        };
        for change in rows {
            if let Some(before) = &change.before {
                sum = sum.minus(Sum::of(change.doc_id, before));
            }
            if let Some(after) = &change.after {
                sum = sum.plus(Sum::of(change.doc_id, after));
            }
        }
        sums.insert(table.clone(), sum.text());
    }
    (before, sums)
}

/// Counts the rows of some tables anew, which were just filled: the sums of all tables, which [`keep`] keeps.
pub(crate) async fn renew(
    ledger: &Ledger,
    session: &mut Session,
    relations: &[&Relation],
) -> Result<Sums, StoreError> {
    let mut sums = known(ledger, &ledger.tail(session).await?);
    for relation in relations {
        sums.insert(relation.table.name.clone(), count(session, relation).await?);
    }
    Ok(sums)
}

/// The sum of a table as its rows are now.
pub(crate) async fn count(session: &mut Session, relation: &Relation) -> Result<String, StoreError> {
    let (mut sum, mut last) = (Sum::default(), None::<i64>);
    loop {
        let mut sql = session.sql("SELECT ");
        relation.push_image(&mut sql);
        sql.push(" FROM ").push(&relation.sql_rows()).push(" WHERE doc_id > ");
        sql.integer_param(last.unwrap_or(i64::MIN)).push(" ORDER BY doc_id LIMIT ").integer_param(PAGE);
        let rows = session.read(sql).await?;
        if rows.is_empty() {
            return Ok(sum.text());
        }
        for row in rows {
            let image: Image = relation.image(row)?;
            last = Some(image.doc_id);
            sum = sum.plus(Sum::of(image.doc_id, &relation.kept_row(&image)));
        }
    }
}

/// The sums that were kept last, if they are as they were kept.
fn known(ledger: &Ledger, tail: &Tail) -> Sums {
    let kept: Value = serde_json::from_str(&tail.row_sums).unwrap_or_default();
    let is_genuine = ledger.is_sealed(&message(&kept["sums"]), kept["seal"].as_str().unwrap_or_default());
    if is_genuine { serde_json::from_value(kept["sums"].clone()).unwrap_or_default() } else { Sums::new() }
}

/// The statement that keeps the sums of the change with the entry at this place.
pub(crate) fn keep(ledger: &Ledger, dialect: Dialect, seq: u64, sums: &Sums) -> Sql {
    let sums = json!(sums);
    let text = json!({ "sums": sums, "seal": ledger.seal(&message(&sums)) }).to_string();
    let mut sql =
        Sql::new(dialect, &format!("INSERT INTO {} (seq, sums) VALUES (", own(dialect, "row_sums")));
    sql.integer_param(place(seq)).push(", ").text_param(&text).push(")");
    sql
}

/// The statement that removes older sums, with every so many entries. In the transaction of a run it would look through the
/// table, and so get in the way of every run that adds to it.
pub(crate) fn remove_older(dialect: Dialect, seq: u64) -> Option<Sql> {
    let mut sql = Sql::new(dialect, &format!("DELETE FROM {} WHERE seq < ", own(dialect, "row_sums")));
    sql.integer_param(place(seq));
    seq.is_multiple_of(REMOVED_EVERY).then_some(sql)
}

fn place(seq: u64) -> i64 {
    i64::try_from(seq).unwrap_or(i64::MAX)
}

/// Forgets the sums of an end of the ledger that is not there any more.
pub(crate) async fn forget(session: &mut Session) -> Result<(), StoreError> {
    let sql = session.sql(&format!("DELETE FROM {} WHERE true", own(session.dialect(), "row_sums")));
    session.write(sql).await.map(drop)
}

/// The place of the newest ledger entry with which rows changed; 0 if there is none. As long as it stays, the rows that
/// go through the store stay.
pub(crate) async fn version(session: &mut Session) -> Result<u64, StoreError> {
    let row_sums = own(session.dialect(), "row_sums");
    let mut sql = session.sql("SELECT ");
    sql.result("coalesce(max(seq), 0)").push(&format!(" FROM {row_sums}"));
    let rows = session.glance(sql).await?;
    let version = rows.first().and_then(|row| row[0].as_integer());
    Ok(version.and_then(|seq| u64::try_from(seq).ok()).unwrap_or_default())
}

/// The part of a ledger entry that is read here: which rows a finished run changed.
#[derive(Deserialize)]
struct Told {
    content: ToldContent,
}

#[derive(Deserialize)]
struct ToldContent {
    run: ToldRun,
}

#[derive(Deserialize)]
struct ToldRun {
    kind: RunKind,
    state: RunState,
    diff: Diff,
}

/// How rows changed between two versions, run by run, with the hash of each entry. `None` if there are too many entries
/// between them, or one that tells it in another way than a run that was committed.
pub(crate) async fn changes_between(
    session: &mut Session,
    from: u64,
    to: u64,
) -> Result<Option<Vec<(String, Diff)>>, StoreError> {
    let Some(count) = to.checked_sub(from).filter(|count| *count <= FOLLOWED_MAX) else { return Ok(None) };
    let entries = ledger::entries(session, from, count).await?;
    let told = entries.into_iter().map(|entry| {
        let run = serde_json::from_str::<Told>(entry.body.get()).ok()?.content.run;
        // An approval or an undo is about a run of another kind than its own.
        (run.kind.as_str() == entry.kind).then_some((entry.hash, run))
    });
    let Some(told) = told.collect::<Option<Vec<_>>>() else { return Ok(None) };
    let committed = told.into_iter().filter(|(_, run)| run.state == RunState::Committed);
    Ok(Some(committed.map(|(hash, run)| (hash, run.diff)).collect()))
}

fn message(sums: &Value) -> String {
    format!("rows {}", ledger::canonical(sums))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_does_not_depend_on_the_order_and_gives_back_what_was_added() {
        let row = |value: i64| Row { fields: vec![("a".to_owned(), Value::from(value))] };
        let (one, two) = (Sum::of(1, &row(1)), Sum::of(2, &row(2)));
        assert_eq!(one.plus(two), two.plus(one));
        assert_eq!(one.plus(two).minus(one), two);
        assert_eq!(Sum::default().minus(one).plus(one), Sum::default());
        assert_eq!(Sum::parse(&one.text()), Some(one));
        assert_ne!(Sum::of(1, &row(1)), Sum::of(2, &row(1)));
    }
}
