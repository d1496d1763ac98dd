//! Conditions on one row, and rules about a table that a database can judge where the rows are.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A condition on one row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Test {
    /// All of them hold.
    All(Vec<Test>),
    /// One of them holds.
    Any(Vec<Test>),
    /// It does not hold.
    Not(Box<Test>),
    /// Two sides compare so.
    Compare {
        /// The one side.
        left: Side,
        /// `==`, `!=`, `<`, `<=`, `>` or `>=`.
        op: String,
        /// The other side.
        right: Side,
    },
    /// The column has no value.
    Null(String),
    /// The column has one of these values.
    In {
        /// The column.
        column: String,
        /// The values.
        values: Vec<Value>,
    },
    /// The column's text matches a pattern of Python's `re`, anywhere.
    Matches {
        /// The column.
        column: String,
        /// The pattern.
        pattern: String,
    },
    /// The column's text has so many characters.
    Length {
        /// The column.
        column: String,
        /// At least.
        min: Option<u64>,
        /// At most.
        max: Option<u64>,
    },
    /// The column's day is a Saturday or a Sunday.
    Weekend(String),
}

/// One side of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// A column.
    Column(String),
    /// A number, a text, or a point in time as text.
    Value(Value),
    /// The moment of the run.
    Now,
    /// So long before the run, such as `36h`; of days and weeks, the beginning of that day: `0d` is today.
    Ago(String),
    /// The first plus the second.
    Sum(Box<[Side; 2]>),
    /// The first minus the second.
    Difference(Box<[Side; 2]>),
    /// The first times the second.
    Product(Box<[Side; 2]>),
    /// The first divided by the second.
    Quotient(Box<[Side; 2]>),
}

/// A rule about the rows of one table that a database can judge where the rows are.
#[derive(Debug, Clone, PartialEq)]
pub struct TableRule {
    /// The table that is judged.
    pub table: String,
    /// The rows to which the rule applies; all of them if there is none.
    pub when: Option<Test>,
    /// What is asked of them.
    pub asks: Asked,
}

/// What a rule asks of the rows to which it applies.
#[derive(Debug, Clone, PartialEq)]
pub enum Asked {
    /// Every row meets a condition. A row for which it is neither true nor false is not judged.
    Every(Test),
    /// No two rows have the same values in these columns. A row that lacks one of them is not judged.
    Unique(Vec<String>),
    /// The values are there in another table. A row that lacks one of them is not judged.
    Known {
        /// The columns that refer.
        columns: Vec<String>,
        /// The table that they refer to.
        table: String,
        /// The columns there.
        references: Vec<String>,
    },
    /// Rows with the same values in the one columns have the same values in the others.
    Decided {
        /// The columns that decide.
        by: Vec<String>,
        /// The columns that are decided.
        columns: Vec<String>,
    },
    /// A value does not differ from the one before it in a way that is not allowed.
    Follows {
        /// The column; a row that lacks it is left out.
        column: String,
        /// The columns whose values make a group; a row that lacks one of them follows no other.
        by: Vec<String>,
        /// The column that says which row comes before, the order of the table if there is none.
        order_by: Option<String>,
        /// What is not allowed.
        breaks: Step,
    },
    /// Nothing yet: the number of rows is asked for, and how many of them meet a condition.
    Share(Test),
    /// Nothing yet: the number of rows is asked for, and how many values a column has.
    Filled {
        /// The column; only rows are counted if there is none.
        column: Option<String>,
        /// Whether different values are counted too.
        distinct: bool,
    },
}

/// What a value may not be, compared with the one before it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Step {
    /// Below it.
    Falls,
    /// Below it or equal.
    DoesNotRise,
    /// Above it.
    Rises,
    /// Above it or equal.
    DoesNotFall,
}

/// A rule as SQL for one database. Rows are known by `ordain_row`, their place in the table from zero.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleSql {
    /// For a rule about rows a row for each that may be judged, with the marks `judged` and `failing`. For a figure of the
    /// whole table one row with `rows` and what else was asked for.
    pub found: String,
    /// Whether it marks rows.
    pub marks_rows: bool,
    /// The rows to which the rule applies.
    pub rows: String,
}

impl TableRule {
    /// The tables that it looks at.
    pub fn tables(&self) -> impl Iterator<Item = &str> {
        let other = match &self.asks {
            Asked::Known { table, .. } => Some(table.as_str()),
            _ => None,
        };
        std::iter::once(self.table.as_str()).chain(other)
    }
}

impl Test {
    /// The columns that it looks at.
    pub fn columns(&self, found: &mut BTreeSet<String>) {
        match self {
            Self::All(all) | Self::Any(all) => all.iter().for_each(|test| test.columns(found)),
            Self::Not(inner) => inner.columns(found),
            Self::Compare { left, right, .. } => {
                left.columns(found);
                right.columns(found);
            }
            Self::Null(name) | Self::Weekend(name) => {
                found.insert(name.clone());
            }
            Self::In { column, .. } | Self::Matches { column, .. } | Self::Length { column, .. } => {
                found.insert(column.clone());
            }
        }
    }

    /// In words.
    pub fn words(&self) -> String {
        let joined = |all: &[Self], by: &str| {
            let parts: Vec<String> = all
                .iter()
                .map(|test| match test {
                    Self::All(_) | Self::Any(_) => format!("({})", test.words()),
                    test => test.words(),
                })
                .collect();
            parts.join(by)
        };
        match self {
            Self::All(all) => joined(all, " and "),
            Self::Any(all) => joined(all, " or "),
            Self::Not(inner) => match inner.as_ref() {
                Self::Null(name) => format!("`{name}` is there"),
                Self::In { column, values } => format!("`{column}` is not {}", said(values)),
                other => format!("it is not so that {}", other.words()),
            },
            Self::Compare { left, op, right } => format!("{} {op} {}", left.words(), right.words()),
            Self::Null(name) => format!("`{name}` is empty"),
            Self::In { column, values } => format!("`{column}` is {}", said(values)),
            Self::Matches { column, pattern } => format!("`{column}` matches {}", shown_pattern(pattern)),
            Self::Length { column, min, max } => match (min, max) {
                (Some(min), Some(max)) => format!("`{column}` has {min} to {max} characters"),
                (Some(min), None) => format!("`{column}` has at least {min} characters"),
                (_, max) => format!("`{column}` has at most {} characters", max.unwrap_or_default()),
            },
            Self::Weekend(name) => format!("`{name}` is on a weekend"),
        }
    }
}

fn said(values: &[Value]) -> String {
    let said: Vec<String> =
        values.iter().map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned)).collect();
    said.join(" or ")
}

impl Side {
    fn columns(&self, found: &mut BTreeSet<String>) {
        match self {
            Self::Column(name) => {
                found.insert(name.clone());
            }
            Self::Value(_) | Self::Now | Self::Ago(_) => {}
            Self::Sum(sides) | Self::Difference(sides) | Self::Product(sides) | Self::Quotient(sides) => {
                sides.iter().for_each(|side| side.columns(found));
            }
        }
    }

    /// In words.
    pub fn words(&self) -> String {
        match self {
            Self::Column(name) => format!("`{name}`"),
            Self::Value(value) => value.as_str().map_or_else(|| value.to_string(), str::to_owned),
            Self::Now => "the time of the run".to_owned(),
            Self::Ago(span) if span == "1d" => "yesterday".to_owned(),
            Self::Ago(span) if span == "0d" => "today".to_owned(),
            Self::Ago(span) if span == "-1d" => "tomorrow".to_owned(),
            Self::Ago(span) if Self::is_in_days(span) => format!("the day {span} before the run"),
            Self::Ago(span) => format!("{span} before the run"),
            Self::Sum(sides) | Self::Difference(sides) | Self::Product(sides) | Self::Quotient(sides) => {
                format!("{} {} {}", sides[0].words(), self.sign(), sides[1].words())
            }
        }
    }

    /// The sign of a formula.
    pub fn sign(&self) -> &'static str {
        match self {
            Self::Sum(_) => "+",
            Self::Difference(_) => "-",
            Self::Product(_) => "*",
            _ => "/",
        }
    }

    /// Whether a length of time is given in days or weeks.
    pub fn is_in_days(span: &str) -> bool {
        span.ends_with(['d', 'w']) || ["day", "week"].iter().any(|unit| span.contains(unit))
    }

    /// Whether it is computed from others.
    pub fn is_formula(&self) -> bool {
        matches!(self, Self::Sum(_) | Self::Difference(_) | Self::Product(_) | Self::Quotient(_))
    }
}

/// A pattern as a sentence shows it: in quotes where it begins or ends with a blank, which nobody would see.
pub fn shown_pattern(pattern: &str) -> String {
    if pattern.trim() == pattern { pattern.to_owned() } else { format!("\u{201c}{pattern}\u{201d}") }
}
