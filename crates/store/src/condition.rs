//! Conditions on rows, as a plan's query states them, and their translation to SQL.
//!
//! A condition means what Python makes of it. SQL is either *exact* — it selects the very same rows — or a
//! *prefilter* that selects those and perhaps more, and then Python decides in the cell. Two rules hold throughout:
//! a path that leads nowhere makes a test false, as TinyDB has it; and an ordering comparison that Python cannot
//! make (`None < 3`) is false, where TinyDB raises `TypeError`.

mod compile;
mod compile_json;

use serde::Deserialize;
use serde_json::{Map, Value};

pub(crate) use compile::compile;

use crate::error::StoreError;
use crate::sql::{Datum, Sql};

/// A condition as it arrives from a cell.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case", deny_unknown_fields)]
pub enum Condition {
    /// All of them hold.
    And {
        /// The parts.
        of: Vec<Condition>,
    },
    /// One of them holds.
    Or {
        /// The parts.
        of: Vec<Condition>,
    },
    /// It does not hold.
    Not {
        /// The condition.
        of: Box<Condition>,
    },
    /// The value equals another.
    Eq {
        /// Where the value is: a column, then the names within a nested value.
        path: Vec<String>,
        /// The other.
        value: Value,
    },
    /// The value is there and differs.
    Ne {
        /// Where the value is.
        path: Vec<String>,
        /// The other.
        value: Value,
    },
    /// The value is less.
    Lt {
        /// Where the value is.
        path: Vec<String>,
        /// The other.
        value: Value,
    },
    /// The value is less or equal.
    Le {
        /// Where the value is.
        path: Vec<String>,
        /// The other.
        value: Value,
    },
    /// The value is greater.
    Gt {
        /// Where the value is.
        path: Vec<String>,
        /// The other.
        value: Value,
    },
    /// The value is greater or equal.
    Ge {
        /// Where the value is.
        path: Vec<String>,
        /// The other.
        value: Value,
    },
    /// The value is among others.
    OneOf {
        /// Where the value is.
        path: Vec<String>,
        /// The others.
        values: Vec<Value>,
    },
    /// There is a value, `None` included.
    Exists {
        /// Where the value is.
        path: Vec<String>,
    },
    /// The value is a sequence and one of its items is among others.
    AnyOf {
        /// Where the value is.
        path: Vec<String>,
        /// The others.
        values: Vec<Value>,
    },
    /// The value is a sequence that has all of the others.
    AllOf {
        /// Where the value is.
        path: Vec<String>,
        /// The others.
        values: Vec<Value>,
    },
    /// The value is a sequence, and Python decides on its items.
    Sequence {
        /// Where the value is.
        path: Vec<String>,
    },
    /// The value has these members.
    Fragment {
        /// Where the value is; empty for the row itself.
        path: Vec<String>,
        /// The members.
        value: Map<String, Value>,
    },
    /// The value is text, and Python's `re` decides.
    Regex {
        /// Where the value is.
        path: Vec<String>,
    },
    /// Always holds.
    Noop {},
    /// Python decides.
    Python {},
}

/// A condition in SQL.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Compiled {
    pub(crate) test: Test,
    /// Whether it selects the very rows that Python would, and no more.
    pub(crate) exact: bool,
}

/// A tree of SQL tests. In it, NULL counts as false.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Test {
    True,
    False,
    And(Vec<Test>),
    Or(Vec<Test>),
    Not(Box<Test>),
    Leaf(Vec<Piece>),
}

/// A part of a test's text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Piece {
    Text(String),
    /// A parameter and its PostgreSQL type.
    Param(Datum, String),
}

impl Condition {
    /// How many parts it has; what it costs to translate.
    pub(crate) fn parts(&self) -> u64 {
        match self {
            Self::And { of } | Self::Or { of } => 1 + of.iter().map(Self::parts).sum::<u64>(),
            Self::Not { of } => 1 + of.parts(),
            Self::Fragment { value, .. } => 1 + value.len() as u64,
            _ => 1,
        }
    }
}

impl Compiled {
    fn exact(test: Test) -> Self {
        Self { test, exact: true }
    }

    fn prefilter(test: Test) -> Self {
        Self { test, exact: false }
    }

    fn and(parts: Vec<Self>) -> Self {
        let exact = parts.iter().all(|part| part.exact);
        Self { test: Test::and(parts.into_iter().map(|part| part.test).collect()), exact }
    }

    fn or(parts: Vec<Self>) -> Self {
        let exact = parts.iter().all(|part| part.exact);
        Self { test: Test::or(parts.into_iter().map(|part| part.test).collect()), exact }
    }

    /// What is not in a superset cannot be told, so a prefilter's opposite lets everything through.
    fn not(self) -> Self {
        if self.exact { Self::exact(Test::not(self.test)) } else { Self::prefilter(Test::True) }
    }
}

impl Test {
    fn and(parts: Vec<Self>) -> Self {
        if parts.contains(&Self::False) {
            return Self::False;
        }
        let mut parts: Vec<Self> = parts.into_iter().filter(|part| *part != Self::True).collect();
        match parts.len() {
            0 => Self::True,
            1 => parts.remove(0),
            _ => Self::And(parts),
        }
    }

    fn or(parts: Vec<Self>) -> Self {
        if parts.contains(&Self::True) {
            return Self::True;
        }
        let mut parts: Vec<Self> = parts.into_iter().filter(|part| *part != Self::False).collect();
        match parts.len() {
            0 => Self::False,
            1 => parts.remove(0),
            _ => Self::Or(parts),
        }
    }

    fn not(test: Self) -> Self {
        match test {
            Self::True => Self::False,
            Self::False => Self::True,
            other => Self::Not(Box::new(other)),
        }
    }

    fn text(text: impl Into<String>) -> Self {
        Self::Leaf(vec![Piece::Text(text.into())])
    }

    /// `left operator parameter`.
    fn compare(left: &str, operator: &str, value: Datum, cast: &str) -> Self {
        let left = Piece::Text(format!("{left} {operator} "));
        Self::Leaf(vec![left, Piece::Param(value, cast.to_owned())])
    }

    /// Adds the test to a statement.
    pub(crate) fn write(self, sql: &mut Sql) {
        match self {
            Self::True => {
                sql.push("TRUE");
            }
            Self::False => {
                sql.push("FALSE");
            }
            Self::And(parts) => Self::write_list(parts, " AND ", sql),
            Self::Or(parts) => Self::write_list(parts, " OR ", sql),
            Self::Not(test) => {
                sql.push("((");
                test.write(sql);
                sql.push(") IS NOT TRUE)");
            }
            Self::Leaf(pieces) => {
                sql.push("(");
                for piece in pieces {
                    match piece {
                        Piece::Text(text) => sql.push(&text),
                        Piece::Param(value, cast) => sql.bind(value, &cast),
                    };
                }
                sql.push(")");
            }
        }
    }

    fn write_list(parts: Vec<Self>, between: &str, sql: &mut Sql) {
        sql.push("(").list(between, parts, |sql, part| part.write(sql)).push(")");
    }
}

fn no_path() -> StoreError {
    StoreError::BadCall { message: "the query has no path".to_owned() }
}
