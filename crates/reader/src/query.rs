//! What a request can mean: a question about the rows of a table.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::algebra::{Cond, Expr, Function, Name, Path, Unit, as_text};

/// What a request means.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Meaning {
    /// A question.
    Query(Query),
    /// A picture of the figures that answer a question.
    Chart(Chart, Query),
    /// What needs no rows.
    Computed(Computed),
}

/// What is computed without rows.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Computed {
    /// The prime numbers up to a number.
    Primes(u32),
    /// The first so many of them.
    FirstPrimes(u32),
    /// The Fibonacci numbers up to a number.
    Fibonacci(u32),
    /// The first so many of them.
    FirstFibonacci(u32),
    /// The most frequent words of a text in quotes.
    Frequent(u32, String),
    /// The most frequent words of a file.
    FrequentIn(u32, #[serde(serialize_with = "as_text")] Name),
}

/// A kind of picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Chart {
    /// A bar for each group.
    Bar,
    /// A line through the groups.
    Line,
    /// A slice for each group.
    Pie,
}

/// A question about the rows of a table that meet a condition.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct Query {
    /// The table.
    #[serde(serialize_with = "as_text")]
    pub table: Name,
    /// Which of its rows.
    pub filter: Cond,
    /// What is asked of them.
    pub ask: Ask,
}

/// What is asked of rows.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ask {
    /// The rows themselves: these columns of them, or where none is named those that people know them by.
    Rows(Vec<Path>, Option<Order>),
    /// A figure, of all of them or of each group.
    Figure(Measure, Vec<Group>, Option<Top>),
    /// How many percent of them meet a condition, of all or of each group.
    Share(Cond, Vec<Group>),
    /// Whether they meet a condition.
    Holds(Cond),
}

/// What is told of a number of values.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Of an expression; of the rows themselves, none.
    One(Function, Option<Expr>),
    /// The quotient of two others.
    Quotient(Box<Measure>, Box<Measure>),
    /// The difference of two others.
    Difference(Box<Measure>, Box<Measure>),
}

/// What makes groups: the values of a column, or the stretches of the calendar that its days lie in.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct Group {
    /// The column.
    pub of: Path,
    /// The stretch.
    pub per: Option<Unit>,
}

/// The order of rows.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct Order {
    /// By which column.
    pub by: Path,
    /// Which of them, from which end.
    pub top: Top,
}

/// The first ones in an order, with those that are equal to the last of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct Top {
    /// Whether the largest comes first.
    pub is_down: bool,
    /// Which are wanted.
    pub part: Part,
}

/// Which part of what is ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// All of it.
    All,
    /// The first so many.
    First(u32),
    /// Those in one place alone: the second highest.
    Place(u32),
}

impl Meaning {
    /// The normal form: meanings are the same if their normal forms are equal.
    #[must_use]
    pub fn normal(self) -> Self {
        match self {
            Self::Query(query) => Self::Query(query.normal()),
            Self::Chart(kind, query) => Self::Chart(kind, query.normal()),
            Self::Computed(computed) => Self::Computed(computed),
        }
    }
}

impl Query {
    /// The normal form.
    #[must_use]
    pub fn normal(self) -> Self {
        let ask = match self.ask {
            Ask::Rows(columns, order) => {
                let mut seen = BTreeSet::new();
                Ask::Rows(columns.into_iter().filter(|column| seen.insert(column.clone())).collect(), order)
            }
            Ask::Figure(measure, by, top) => Ask::Figure(measure.normal(), groups(by), top),
            Ask::Share(part, by) => Ask::Share(part.normal(), groups(by)),
            Ask::Holds(cond) => Ask::Holds(cond.normal()),
        };
        Self { table: self.table, filter: self.filter.normal(), ask }
    }
}

impl Measure {
    fn normal(self) -> Self {
        match self {
            Self::One(function, of) => Self::One(function, of.map(Expr::normal)),
            Self::Quotient(one, other) => Self::Quotient(Box::new(one.normal()), Box::new(other.normal())),
            Self::Difference(one, other) => {
                Self::Difference(Box::new(one.normal()), Box::new(other.normal()))
            }
        }
    }
}

fn groups(mut by: Vec<Group>) -> Vec<Group> {
    let mut seen = BTreeSet::new();
    by.retain(|group| seen.insert(group.clone()));
    by
}
