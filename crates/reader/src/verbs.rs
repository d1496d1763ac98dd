//! The verbs that the owner of a workspace declares.

use crate::algebra::{Name, Scalar};

/// What a param takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Takes {
    /// A row of a table.
    Row(Name),
    /// A value that rows have in a column of a table.
    Value(Name, Name),
    /// How many.
    Count,
    /// A number.
    Number,
    /// An amount of money.
    Money,
    /// A share in percent.
    Percent,
    /// A name, perhaps of those that rows have in a column; whether another one is taken without asking.
    Name {
        /// The column in which rows have such names.
        known: Option<(Name, Name)>,
        /// Whether a name that no row has is taken as it is.
        is_new: bool,
    },
    /// Any text in quotes.
    Text,
    /// A day.
    Day,
    /// A time of day.
    Time,
}

/// A param of a verb.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerbParam {
    /// Its name.
    pub name: String,
    /// What it takes.
    pub takes: Takes,
    /// The words that stand before it, if any must.
    pub after: Vec<String>,
    /// Its value where a sentence says none.
    pub default: Option<Scalar>,
}

/// A declared verb.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verb {
    /// The name of the function.
    pub name: Name,
    /// The words that ask for it, the first one first.
    pub words: Vec<String>,
    /// The params that a list gives several times.
    pub each: Vec<String>,
    /// What it is called with.
    pub params: Vec<VerbParam>,
    /// Words that may follow and change nothing.
    pub remarks: Vec<String>,
}

impl Verb {
    /// The param of that name.
    pub fn param(&self, name: &str) -> Option<&VerbParam> {
        self.params.iter().find(|param| param.name == name)
    }
}
