//! What a sentence may order: calls of declared verbs, and changes of rows. Plain data, free of English and Python.

use serde::Serialize;

use crate::algebra::{Cond, Name, Number, Scalar};

/// The row that a sentence names: the one whose column has the value.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct Row {
    /// Its table.
    #[serde(serialize_with = "crate::algebra::as_text")]
    pub table: Name,
    /// The key of the table, or the column that its rows are called by.
    #[serde(serialize_with = "crate::algebra::as_text")]
    pub column: Name,
    /// The value.
    pub value: Scalar,
}

/// What a verb is called with, or what a column becomes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Argument {
    /// A row, by its key.
    Row(Row),
    /// A value.
    Value(Scalar),
    /// A name that no row has: it is asked back before anything is done.
    New(String),
    /// Nothing that the sentence says.
    Missing,
}

/// A call of a declared verb.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct Call {
    /// The verb.
    #[serde(serialize_with = "crate::algebra::as_text")]
    pub verb: Name,
    /// An argument for each of its params, in their order.
    pub arguments: Vec<(String, Argument)>,
}

/// What becomes of a column.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum To {
    /// It is set.
    Value(Argument),
    /// It is raised or lowered to a number, and must be on that side of it now.
    Moved(Number, bool),
    /// A number is added.
    By(Number),
    /// So many percent of it are added.
    Percent(Number),
}

/// A change, its normal form. Two changes are the same if they are equal.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// A declared verb is called.
    Call(Call),
    /// A column of a row is set.
    Set {
        /// The row.
        row: Row,
        /// The column.
        #[serde(serialize_with = "crate::algebra::as_text")]
        column: Name,
        /// What becomes of it.
        to: To,
    },
    /// A row is added.
    Add {
        /// The table.
        #[serde(serialize_with = "crate::algebra::as_text")]
        table: Name,
        /// What its columns hold.
        values: Vec<(String, Argument)>,
    },
    /// A row is removed.
    Remove(Row),
    /// Others, if a row meets a condition.
    When {
        /// The row.
        row: Row,
        /// The condition.
        cond: Cond,
        /// Whether it must not be met.
        is_denied: bool,
        /// The others.
        then: Box<Change>,
    },
    /// One after the other, or none.
    Then(Vec<Change>),
    /// The newest change is taken back.
    Undo,
}

impl Change {
    /// Several as one.
    pub fn then(steps: Vec<Self>) -> Self {
        let mut flat = Vec::new();
        for step in steps {
            match step {
                Self::Then(more) => flat.extend(more),
                other => flat.push(other),
            }
        }
        match <[Self; 1]>::try_from(flat) {
            Ok([one]) => one,
            Err(several) => Self::Then(several),
        }
    }

    /// All calls and changes of rows in it, without what they depend on.
    pub fn steps(&self) -> Vec<&Self> {
        match self {
            Self::Then(all) => all.iter().flat_map(Self::steps).collect(),
            Self::When { then, .. } => then.steps(),
            other => vec![other],
        }
    }

    /// Hands every argument to a function, with the verb or table and the name that it is for.
    pub fn each_argument(&mut self, act: &mut dyn FnMut(&Name, &str, &mut Argument)) {
        match self {
            Self::Call(Call { verb: owner, arguments: list }) | Self::Add { table: owner, values: list } => {
                for (name, argument) in list {
                    act(owner, name, argument);
                }
            }
            Self::Set { row, column, to: To::Value(argument) } => act(&row.table, column, argument),
            Self::When { then, .. } => then.each_argument(act),
            Self::Then(all) => all.iter_mut().for_each(|one| one.each_argument(act)),
            Self::Set { .. } | Self::Remove(_) | Self::Undo => {}
        }
    }

    /// Hands every row that it names to a function.
    pub fn each_row(&mut self, act: &mut dyn FnMut(&mut Row)) {
        self.each_argument(&mut |_, _, argument| {
            if let Argument::Row(row) = argument {
                act(row);
            }
        });
        self.each_own_row(act);
    }

    fn each_own_row(&mut self, act: &mut dyn FnMut(&mut Row)) {
        match self {
            Self::Set { row, .. } | Self::Remove(row) => act(row),
            Self::When { row, then, .. } => {
                act(row);
                then.each_own_row(act);
            }
            Self::Then(all) => all.iter_mut().for_each(|one| one.each_own_row(act)),
            Self::Call(_) | Self::Add { .. } | Self::Undo => {}
        }
    }

    /// The arguments that are missing, or names that no row has: each with its verb and param.
    pub fn open(&self) -> Vec<(Name, String, Argument)> {
        let mut found = Vec::new();
        self.clone().each_argument(&mut |owner, name, argument| {
            if matches!(argument, Argument::Missing | Argument::New(_)) {
                found.push((owner.clone(), name.to_owned(), argument.clone()));
            }
        });
        found
    }
}
