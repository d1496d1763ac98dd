//! What the database counted in a transaction, beside what our statements reported.
//!
//! Every statement of ours says how many rows of which table it wrote. The database counts every row that anything
//! wrote: a trigger, a cascade, a function in a constraint. Where the two differ, rows changed that no diff shows.

use std::collections::BTreeMap;

use crate::error::StoreError;

/// Rows that were inserted, updated or deleted, by table. Two updates of one row are two.
pub(crate) type Operations = BTreeMap<String, i64>;

/// The account of one transaction.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// What was counted and needs no account: before the transaction, and in savepoints that were rolled back.
    excused: Operations,
    /// What the database has counted by now.
    counted: Operations,
    /// What our statements reported.
    reported: Operations,
    /// What triggers wrote that the owner allows.
    by_triggers: Operations,
}

impl Tally {
    pub(super) fn begin(&mut self, counted: Operations) {
        *self = Self { excused: counted.clone(), counted, ..Self::default() };
    }

    /// One of our statements wrote so many rows of a table.
    pub(super) fn report(&mut self, table: &str, rows: usize) {
        if rows > 0 {
            *self.reported.entry(plain(table)).or_default() += i64::try_from(rows).unwrap_or(i64::MAX);
        }
    }

    /// The database is to write so many rows besides, as its foreign keys say.
    pub(super) fn expect(&mut self, writes: &Operations, times: i64) {
        for (table, count) in writes {
            *self.reported.entry(plain(table)).or_default() += count * times;
        }
    }

    pub(super) fn count(&mut self, counted: Operations) {
        self.counted = counted;
    }

    /// What was counted since the last time needs no account: it was rolled back, or it defined tables.
    pub(super) fn excuse(&mut self, counted: Operations) {
        for (table, count) in difference(&counted, &self.counted) {
            *self.excused.entry(table).or_default() += count;
        }
        self.counted = counted;
    }

    /// Accounts for everything that our statements did not report: triggers wrote it whose owner allows that.
    pub(super) fn allow(&mut self) {
        // What is expected and has not come yet is no trigger's.
        for (table, count) in self.hidden().into_iter().filter(|(_, count)| *count > 0) {
            *self.by_triggers.entry(table.clone()).or_default() += count;
            *self.excused.entry(table).or_default() += count;
        }
    }

    pub(super) fn by_triggers(&self) -> &Operations {
        &self.by_triggers
    }

    /// Fails where the database counted anything else than our statements reported.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        let Some((table, hidden)) = self.hidden().pop_first() else { return Ok(()) };
        let reported = self.reported.get(&table).copied().unwrap_or_default();
        Err(StoreError::HiddenWrites { table, counted: reported + hidden, reported })
    }

    fn hidden(&self) -> Operations {
        difference(&difference(&self.counted, &self.excused), &self.reported)
    }
}

/// Where two counts are not the same, and by how much.
fn difference(one: &Operations, other: &Operations) -> Operations {
    let mut result = one.clone();
    for (table, count) in other {
        *result.entry(table.clone()).or_default() -= count;
    }
    result.retain(|_, count| *count != 0);
    result
}

/// A table's name in SQL without its quotes.
fn plain(name: &str) -> String {
    let (mut plain, mut is_quoted) = (String::with_capacity(name.len()), false);
    let mut characters = name.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            // Two quotes within quotes stand for one.
            '"' if is_quoted && characters.peek() == Some(&'"') => plain.extend(characters.next()),
            '"' => is_quoted = !is_quoted,
            other => plain.push(other),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operations(counts: &[(&str, i64)]) -> Operations {
        counts.iter().map(|(table, count)| ((*table).to_owned(), *count)).collect()
    }

    #[test]
    fn what_no_statement_reported_is_named_by_its_table() {
        let mut tally = Tally::default();
        tally.begin(operations(&[("public.a", 5)]));
        tally.report(r#""public"."a""#, 2);
        tally.count(operations(&[("public.a", 7)]));
        assert!(tally.check().is_ok());
        tally.count(operations(&[("public.a", 7), ("public.b", 1)]));
        let error = tally.check().unwrap_err();
        assert!(
            matches!(&error, StoreError::HiddenWrites { table, counted: 1, reported: 0 } if table == "public.b"),
            "{error}"
        );
        tally.allow();
        assert!(tally.check().is_ok());
        assert_eq!(*tally.by_triggers(), operations(&[("public.b", 1)]));
    }

    #[test]
    fn work_that_was_rolled_back_needs_no_account_and_hides_none() {
        let mut tally = Tally::default();
        tally.begin(Operations::new());
        tally.report("a", 1);
        tally.count(operations(&[("a", 1), ("b", 1)]));
        tally.excuse(operations(&[("a", 4), ("b", 2)]));
        let error = tally.check().unwrap_err();
        assert!(matches!(&error, StoreError::HiddenWrites { table, .. } if table == "b"), "{error}");
    }

    #[test]
    fn quotes_of_a_name_are_taken_off() {
        assert_eq!(plain(r#""pub""lic"."a b""#), r#"pub"lic.a b"#);
        assert_eq!(plain("ordain_runs"), "ordain_runs");
    }
}
