//! Reads sentences as meanings: a language small enough to be certain.
//!
//! A text becomes tokens, tokens mention what the [`Catalog`] names, and a grammar that is data finds every derivation.
//! Each derivation is a meaning in a normal form; meanings that are equal are one. One meaning is certain, of several the
//! person chooses, of none it says where it stopped and what could have stood there.
//!
//! Invariants: names are whole names; every word has its place; nothing is weighed; no English stands outside `grammar/`.
//! The crate does no IO and reads no clock, so the same text and catalog always give the same reading.

mod algebra;
mod build;
mod captures;
mod catalog;
mod change;
mod chart;
mod context;
mod deed;
mod dialog;
mod grammar;
mod index;
mod lexicon;
mod mention;
mod normal;
mod orders;
mod pandas;
mod query;
mod reader;
mod sql;
#[cfg(test)]
mod tests;
mod token;
mod typed;
mod value;
mod verbs;
mod words;

pub use algebra::{
    Calc, Claim, Cond, Day, Demand, Expr, Figure, Function, Hop, Link, Name, Number, Op, Path, Scalar,
    TextTest, Unit,
};
pub use catalog::{Catalog, Column, Holds, Metric, Phrase, Source, Table};
pub use change::{Argument, Call, Change, Row, To};
pub use dialog::Pending;
pub use mention::days_in;
pub use pandas::{Program, rows_of};
pub use query::{Ask, Chart, Computed, Group, Meaning, Measure, Order, Part, Query, Top};
pub use reader::{Reader, Reading};
pub use sql::{Dialect, Param, Select, Shown};
pub use typed::{Word, stems};
pub use verbs::{Takes, Verb, VerbParam};
