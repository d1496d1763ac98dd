//! A sum over the rows of each table, carried along with every change, so that rows which somebody changed behind
//! Ordain's back are found.
//!
//! The sum of a table is the sum of its rows' hashes, so that a change costs as much as the rows that it touches: their
//! old hashes are taken off, their new ones added. The new sums stand in the ledger entry of the change, which is
//! signed; between two changes they are kept in a row of Ordain's own, signed as well. Only tables that Ordain keeps
//! have one: others may be written by anybody.

use std::collections::BTreeMap;

use ordain_types::Row;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::bookkeeping::own;
use crate::catalog::Catalog;
use crate::changes::ChangeSet;
use crate::error::StoreError;
use crate::ledger::{self, Ledger};
use crate::relation::{Image, Relation};
use crate::session::Session;

/// Rows that are read at once.
const PAGE: i64 = 1000;

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

/// Carries the sums along with a change, in the open transaction: those before it and those after it. A table without a
/// genuine sum gets none: only counting its rows anew could give it one.
pub(crate) async fn advance(
    ledger: &Ledger,
    session: &mut Session,
    catalog: &Catalog,
    changes: &ChangeSet,
) -> Result<(Sums, Sums), StoreError> {
    let before = known(ledger, session).await?;
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
    keep(ledger, session, &sums).await?;
    Ok((before, sums))
}

/// Counts the rows of some tables anew, which were just filled, and keeps their sums.
pub(crate) async fn renew(
    ledger: &Ledger,
    session: &mut Session,
    relations: &[&Relation],
) -> Result<Sums, StoreError> {
    let mut sums = known(ledger, session).await?;
    for relation in relations {
        sums.insert(relation.table.name.clone(), count(session, relation).await?);
    }
    keep(ledger, session, &sums).await?;
    Ok(sums)
}

/// The sum of a table as its rows are now.
pub(crate) async fn count(session: &mut Session, relation: &Relation) -> Result<String, StoreError> {
    let (mut sum, mut last) = (Sum::default(), None::<i64>);
    loop {
        let mut sql = session.sql("SELECT ");
        relation.push_image(&mut sql);
        sql.push(" FROM ").push(&relation.sql_name()).push(" WHERE doc_id > ");
        sql.integer_param(last.unwrap_or(i64::MIN)).push(" ORDER BY doc_id LIMIT ").integer_param(PAGE);
        let rows = session.read(sql).await?;
        if rows.is_empty() {
            return Ok(sum.text());
        }
        for row in rows {
            let image: Image = relation.image(row)?;
            last = Some(image.doc_id);
            sum = sum.plus(Sum::of(image.doc_id, &relation.row(&image, true)));
        }
    }
}

/// The sums that were kept last, if they are as they were kept.
async fn known(ledger: &Ledger, session: &mut Session) -> Result<Sums, StoreError> {
    let meta = own(session.dialect(), "meta");
    let sql = session.sql(&format!("SELECT value FROM {meta} WHERE name = 'rows'"));
    let rows = session.read(sql).await?;
    let text = rows.first().and_then(|row| row[0].as_text()).unwrap_or_default();
    let kept: Value = serde_json::from_str(text).unwrap_or_default();
    let is_genuine = ledger.is_sealed(&message(&kept["sums"]), kept["seal"].as_str().unwrap_or_default());
    Ok(if is_genuine {
        serde_json::from_value(kept["sums"].clone()).unwrap_or_default()
    } else {
        Sums::new()
    })
}

async fn keep(ledger: &Ledger, session: &mut Session, sums: &Sums) -> Result<(), StoreError> {
    let meta = own(session.dialect(), "meta");
    let sums = json!(sums);
    let text = json!({ "sums": sums, "seal": ledger.seal(&message(&sums)) }).to_string();
    let mut sql = session.sql(&format!("INSERT INTO {meta} (name, value) VALUES ('rows', "));
    sql.text_param(&text).push(") ON CONFLICT (name) DO UPDATE SET value = excluded.value");
    session.write(sql).await.map(drop)
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
