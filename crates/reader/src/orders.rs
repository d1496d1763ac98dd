//! Reads what is ordered.

use crate::algebra::Cond;
use crate::catalog::Catalog;
use crate::change::{Change, Row};
use crate::deed::{Deed, Step};
use crate::reader::{Read, Reader, Reading};
use crate::value::Value;
use crate::words;

impl Reader {
    /// A reader of changes: all names are whole ones.
    pub fn of_changes(catalog: Catalog) -> Self {
        Self::new(catalog, None)
    }

    /// Reads what is ordered.
    pub fn change(&self, text: &str) -> Reading<Change> {
        self.reading(text, self.changes(text))
    }

    /// What a text that asks for nothing is: `hello`, `thanks` or `help`.
    pub fn talk(&self, text: &str) -> Option<String> {
        let read = self.read(text, "talk", |value, _| match value {
            Value::Word(word) => vec![word],
            _ => Vec::new(),
        })?;
        read.meanings.into_iter().next()
    }

    /// A change as a sentence, in plain words where they are read as just that, else with exact names.
    pub fn words_of_change(&self, change: &Change) -> Option<String> {
        let said =
            [false, true].into_iter().filter_map(|is_exact| words::change(change, self.catalog(), is_exact));
        let mut read =
            said.filter(|text| self.changes(text).is_some_and(|read| read.meanings == [change.clone()]));
        read.next()
    }

    /// That a row meets a condition, or does not, as a clause.
    pub fn words_of_condition(&self, row: &Row, cond: &Cond, is_met: bool) -> Option<String> {
        words::met(row, cond, self.catalog(), is_met)
    }

    /// Every meaning of an order; nothing where there were too many to look at.
    pub(crate) fn changes(&self, text: &str) -> Option<Read<Change>> {
        let mut read = self.read(text, "change", |value, _| match value {
            Value::Deed(Deed::Steps(steps)) => steps.into_iter().filter_map(Step::change).collect(),
            _ => Vec::new(),
        })?;
        // What the owner declares a verb for is done by the verb.
        if read.meanings.iter().any(is_declared) {
            read.meanings.retain(is_declared);
        }
        Some(read)
    }
}

/// Whether all of a change is done by declared verbs.
fn is_declared(change: &Change) -> bool {
    change.steps().iter().all(|step| matches!(step, Change::Call(_) | Change::Undo))
}
