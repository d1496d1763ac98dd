//! Parts of orders, before it is known which params of a verb they are for.

use crate::algebra::{Day, Name, Number, Scalar};
use crate::change::{Argument, Change, Row};
use crate::value::{Loose, Places, Value, Values};

/// A part of an order.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Deed {
    /// A declared verb, by its place.
    Verb(usize),
    /// The words before a param, by the places of verb and param.
    After(usize, usize),
    /// The name of a param.
    Called(usize, usize),
    /// Words that may follow a verb.
    Remark(usize),
    /// What is written like the name of a person.
    Person(String),
    /// A name in backquotes.
    Exact(String),
    /// A row.
    Row(Row),
    /// A value that may be an argument.
    Slot(Slot),
    /// How many of what.
    Item(Item),
    /// An argument, behind the words before its param or not, behind its name or not.
    Arg(Arg),
    /// Items and the arguments that they share.
    Chunk(Vec<Item>, Vec<Arg>),
    /// What is ordered, and perhaps a name that a sentence of its own says.
    Steps(Vec<Step>),
    /// A condition on a row; on that of the order if none is named.
    Guard(Option<Row>, Loose),
    /// The value of a column, not known yet of which table.
    Entry(Places, Box<Value>),
    /// A value as it is written.
    Constant(Scalar),
    /// An argument.
    Argument(Argument),
    /// An argument for the param of an exact name.
    Binding(String, Argument),
    /// One of several that were offered.
    Pick(u32),
}

/// How many are ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum HowMany {
    /// The sentence says nothing of it.
    Unsaid,
    /// More than one, and not how many.
    Open,
    Exactly(Number),
}

/// How many of what: a row, or any of a table.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Item {
    pub(crate) count: HowMany,
    pub(crate) row: Option<Row>,
    pub(crate) noun: Option<Name>,
}

/// A value that may be an argument.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Slot {
    Row(Row),
    Known(Values),
    Quote(String),
    Number(Number),
    Money(Number, String),
    Percent(Number),
    Day(Day),
    Time(String),
    Person(String),
}

/// An argument before its param is known.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Arg {
    pub(crate) after: Option<(usize, usize)>,
    pub(crate) called: Option<(usize, usize)>,
    pub(crate) slot: Slot,
}

/// A part of what is ordered.
#[expect(clippy::large_enum_variant, reason = "a name beside changes is rare")]
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Step {
    /// A change, its open params not filled in yet.
    Change(Change),
    /// The name of the person who speaks.
    Named(String),
}

impl Step {
    /// The change, if it is one.
    pub(crate) fn change(self) -> Option<Change> {
        match self {
            Self::Change(change) => Some(change),
            Self::Named(_) => None,
        }
    }
}
