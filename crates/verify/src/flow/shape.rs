//! Which columns a row has, and from which table they come.

use std::rc::Rc;

use ordain_types::Schema;

use super::value::Literal;

/// The columns of a row on its way through the program.
///
/// They start as the columns of a table, and the program adds some.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Shape<'a> {
    /// The table whose columns it has, by index.
    pub(crate) table: usize,
    /// Columns that the program added.
    pub(crate) derived: Vec<Literal<'a>>,
    /// It may have columns that are not known.
    pub(crate) is_open: bool,
    /// Setting a key changes the stored row (inside `update(function)`).
    pub(crate) is_live: bool,
}

/// What a name means in a shape.
#[derive(Debug, PartialEq)]
pub(crate) enum Column {
    /// The column of the table with this index.
    Stored(usize),
    /// Added by the program, or possibly there.
    Other,
    /// Certainly not there.
    Missing,
}

impl<'a> Shape<'a> {
    pub(crate) fn of_table(table: usize) -> Self {
        Self { table, derived: Vec::new(), is_open: false, is_live: false }
    }

    pub(crate) fn open(&self) -> Self {
        Self { is_open: true, ..self.clone() }
    }

    pub(crate) fn column(&self, schema: &Schema, name: &str) -> Column {
        if self.derived.iter().any(|derived| derived.text == name) {
            return Column::Other;
        }
        let columns = &schema.tables[self.table].columns;
        match columns.iter().position(|column| column.name == name) {
            Some(index) => Column::Stored(index),
            None if self.is_open => Column::Other,
            None => Column::Missing,
        }
    }

    /// The shape with a column that the program added.
    pub(crate) fn with(&self, name: Literal<'a>) -> Self {
        let mut shape = self.clone();
        if shape.derived.iter().all(|derived| derived.text != name.text) {
            if shape.derived.len() >= DERIVED_MAX {
                shape.is_open = true;
            } else {
                shape.derived.push(name);
            }
        }
        shape
    }

    /// Whether two shapes differ only in what the program added.
    pub(crate) fn is_alike(&self, other: &Self) -> bool {
        self.table == other.table && self.is_live == other.is_live
    }

    /// What is known when either of two alike shapes may be the case: a column that one of them has may be meant.
    pub(crate) fn either(self: &Rc<Self>, other: &Rc<Self>) -> Rc<Self> {
        if Rc::ptr_eq(self, other) || self == other {
            return self.clone();
        }
        let mut joined = other.derived.iter().fold((**self).clone(), |shape, derived| shape.with(*derived));
        joined.is_open |= other.is_open;
        Rc::new(joined)
    }
}

/// More columns than a program adds by hand.
const DERIVED_MAX: usize = 256;
