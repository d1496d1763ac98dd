//! Which columns a row or a data frame has, and from which tables they come.

use std::rc::Rc;

use ordain_types::Schema;

use super::value::Literal;

/// The columns of rows on their way through the program.
///
/// They start as the columns of a table and change as the program adds, renames, selects and joins.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Shape<'a> {
    /// The tables whose columns it has, by index.
    pub(crate) sources: Vec<usize>,
    /// Columns that the program added.
    pub(crate) derived: Vec<Literal<'a>>,
    /// New and old names of columns that the program renamed.
    pub(crate) renamed: Vec<(&'a str, &'a str)>,
    /// Only these of the tables' columns are left.
    pub(crate) only: Option<Vec<&'a str>>,
    /// It may have columns that are not known.
    pub(crate) is_open: bool,
    /// Setting a key changes the stored row (inside `update(function)`).
    pub(crate) is_live: bool,
}

/// What a name means in a shape.
#[derive(Debug, PartialEq)]
pub(crate) enum Column {
    /// Columns of these tables: table and column index.
    Stored(Vec<(usize, usize)>),
    /// Added by the program, or possibly there.
    Other,
    /// Certainly not there.
    Missing,
}

impl<'a> Shape<'a> {
    pub(crate) fn of_table(table: usize) -> Self {
        Self { sources: vec![table], ..Self::default() }
    }

    /// A shape of which nothing is known.
    pub(crate) fn unknown() -> Self {
        Self { is_open: true, ..Self::default() }
    }

    pub(crate) fn open(&self) -> Self {
        Self { is_open: true, ..self.clone() }
    }

    pub(crate) fn column(&self, schema: &Schema, name: &str) -> Column {
        if self.derived.iter().any(|derived| derived.text == name) {
            return Column::Other;
        }
        let missing = if self.is_open { Column::Other } else { Column::Missing };
        let original = match self.renamed.iter().find(|(new, _)| *new == name) {
            Some((_, old)) => old,
            None if self.renamed.iter().any(|(_, old)| *old == name) => return missing,
            None if self.only.as_ref().is_some_and(|only| !only.contains(&name)) => return missing,
            None => name,
        };
        let mut stored = self.stored(schema, original);
        if stored.is_empty()
            && self.sources.len() > 1
            && let Some(stem) = original.strip_suffix("_x").or_else(|| original.strip_suffix("_y"))
        {
            // A merge gives both of two equal names a suffix.
            stored = self.stored(schema, stem);
        }
        let was_selected =
            self.only.as_ref().is_some_and(|only| only.contains(&name) || only.contains(&original));
        match stored.is_empty() {
            false => Column::Stored(stored),
            // Selected from columns of which not all were known.
            true if was_selected => Column::Other,
            true => missing,
        }
    }

    fn stored(&self, schema: &Schema, name: &str) -> Vec<(usize, usize)> {
        let position = |&table: &usize| {
            let columns = &schema.tables.get(table)?.columns;
            columns.iter().position(|column| column.name == name).map(|column| (table, column))
        };
        self.sources.iter().filter_map(position).collect()
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
        self.sources == other.sources
            && self.renamed == other.renamed
            && self.only == other.only
            && self.is_live == other.is_live
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

    /// The shape with only these columns left.
    pub(crate) fn select(&self, names: Vec<&'a str>) -> Self {
        let derived = self.derived.iter().copied().filter(|derived| names.contains(&derived.text)).collect();
        Self { derived, only: Some(names), is_open: false, ..self.clone() }
    }

    /// The columns of both.
    pub(crate) fn merge(&self, other: &Self) -> Self {
        let mut merged = self.clone();
        for &source in &other.sources {
            if !merged.sources.contains(&source) {
                merged.sources.push(source);
            }
        }
        merged.derived.extend(&other.derived);
        merged.renamed.extend(&other.renamed);
        merged.only = match (self.only.clone(), other.only.clone()) {
            (Some(left), Some(right)) => Some([left, right].concat()),
            // One side has all its columns: which names are left is no longer a short list.
            (Some(_), None) | (None, Some(_)) => {
                merged.is_open = true;
                None
            }
            (None, None) => None,
        };
        merged.is_open |= other.is_open;
        merged
    }
}

/// More columns than a program adds by hand.
const DERIVED_MAX: usize = 256;
