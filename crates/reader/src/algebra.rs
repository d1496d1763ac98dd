//! What a sentence can mean: conditions on rows, and demands on tables. Plain data, free of English, SQL and Python.

use std::fmt;
use std::sync::Arc;

use serde::{Serialize, Serializer};

/// The name of a table or a column, shared by everything that mentions it.
pub type Name = Arc<str>;

pub(crate) fn as_text<S: Serializer>(name: &Name, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(name)
}

/// From a row to the one row that it refers to: the row of `table` whose `key` has the value of `column` here.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Hop {
    /// The column here.
    pub column: Name,
    /// The table that it refers to.
    pub table: Name,
    /// The column there.
    pub key: Name,
}

/// A column of a row, or of a row that it refers to.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Path {
    /// The references that lead to it.
    pub hops: Vec<Hop>,
    /// The column.
    pub column: Name,
}

impl Path {
    /// A column of the row itself.
    pub fn own(column: &Name) -> Self {
        Self { hops: Vec::new(), column: column.clone() }
    }

    /// The table that has the column, seen from a table.
    pub fn owner<'a>(&'a self, table: &'a Name) -> &'a Name {
        self.hops.last().map_or(table, |hop| &hop.table)
    }
}

impl Serialize for Path {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let names = self.hops.iter().map(|hop| &*hop.column).chain([&*self.column]);
        serializer.serialize_str(&names.collect::<Vec<_>>().join("."))
    }
}

/// A finite number. Numbers that are equal are the same, however they were written.
#[derive(Debug, Clone, Copy)]
pub struct Number(f64);

impl Number {
    /// The number; none of what is infinite or undefined.
    pub fn new(value: f64) -> Option<Self> {
        value.is_finite().then_some(Self(value + 0.0))
    }

    /// A count.
    pub fn count(value: u32) -> Self {
        Self(f64::from(value))
    }

    /// Its value.
    pub const fn value(self) -> f64 {
        self.0
    }

    /// It as a count, if it is one.
    pub fn as_count(self) -> Option<u32> {
        format!("{}", self.0).parse().ok()
    }

    /// It as a whole number of either sign, if it is one.
    pub fn as_whole(self) -> Option<i64> {
        format!("{}", self.0).parse().ok()
    }

    /// Its opposite.
    #[must_use]
    pub fn negated(self) -> Self {
        Self(0.0 - self.0)
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.0.to_bits() == other.0.to_bits()
    }
}

impl Eq for Number {}

impl std::hash::Hash for Number {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.to_bits().hash(state);
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl fmt::Display for Number {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.as_whole() {
            Some(whole) => serializer.serialize_i64(whole),
            None => serializer.serialize_f64(self.0),
        }
    }
}

/// A stretch of the calendar or the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// A minute.
    Minute,
    /// An hour.
    Hour,
    /// A day.
    Day,
    /// A week, from Monday on.
    Week,
    /// A month of the calendar.
    Month,
    /// A year of the calendar.
    Year,
}

/// A day.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Day {
    /// That of the calendar: `2026-03-10`.
    On(String),
    /// The first day of the current day, week, month or year, moved on by so many of them.
    Relative(Unit, i64),
}

/// A value that a sentence names.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(untagged)]
pub enum Scalar {
    /// A text.
    Text(String),
    /// A number.
    Number(Number),
    /// Yes or no.
    Bool(bool),
    /// A day.
    Day(Day),
    /// A time of day: `06:00`.
    Time(String),
}

/// How two values are compared. That they differ is the denial of `Equal`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub enum Op {
    /// Equal.
    #[serde(rename = "==")]
    Equal,
    /// Below.
    #[serde(rename = "<")]
    Below,
    /// At most.
    #[serde(rename = "<=")]
    AtMost,
    /// Above.
    #[serde(rename = ">")]
    Above,
    /// At least.
    #[serde(rename = ">=")]
    AtLeast,
}

impl Op {
    /// The comparison with its sides exchanged.
    #[must_use]
    pub const fn flipped(self) -> Self {
        match self {
            Self::Equal => Self::Equal,
            Self::Below => Self::Above,
            Self::AtMost => Self::AtLeast,
            Self::Above => Self::Below,
            Self::AtLeast => Self::AtMost,
        }
    }

    /// The comparison that holds where this one does not.
    pub const fn denied(self) -> Option<Self> {
        match self {
            Self::Equal => None,
            Self::Below => Some(Self::AtLeast),
            Self::AtMost => Some(Self::Above),
            Self::Above => Some(Self::AtMost),
            Self::AtLeast => Some(Self::Below),
        }
    }
}

/// How a value is made from others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Calc {
    /// The sum of several.
    Sum,
    /// One less another: of two days the days between them.
    Difference,
    /// A product.
    Product,
    /// A quotient.
    Quotient,
    /// What a division leaves over.
    Remainder,
    /// So many percent of something.
    Percent,
    /// A day or time, moved on by so many units.
    Moved(Unit),
    /// The year, month, day or hour of a point in time.
    Part(Unit),
    /// How many characters a text has.
    Length,
}

/// What is told of a number of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Function {
    /// How many rows there are.
    Count,
    /// How many different values there are.
    Distinct,
    /// Their sum.
    Sum,
    /// Their mean.
    Average,
    /// Their middle one.
    Median,
    /// The largest.
    Maximum,
    /// The smallest.
    Minimum,
}

/// The rows of another table that refer to a row: those whose `column` has the value of `key` here.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct Link {
    /// The other table.
    #[serde(serialize_with = "as_text")]
    pub table: Name,
    /// Its column.
    #[serde(serialize_with = "as_text")]
    pub column: Name,
    /// The column here.
    #[serde(serialize_with = "as_text")]
    pub key: Name,
}

/// A value of a row.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Expr {
    /// The value of a column.
    Column(Path),
    /// What the sentence says.
    Value(Scalar),
    /// What is made of others.
    Calc(Calc, Vec<Expr>),
    /// A figure of the rows that refer to this one.
    Fold(Function, Path, Link, Box<Cond>),
}

impl Expr {
    /// Whether a column takes part.
    pub fn has_column(&self) -> bool {
        match self {
            Self::Column(_) | Self::Fold(..) => true,
            Self::Value(_) => false,
            Self::Calc(_, parts) => parts.iter().any(Self::has_column),
        }
    }
}

/// What a text, as it stands in its source, can be asked.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TextTest {
    /// It has these characters somewhere.
    Contains(String),
    /// It begins with them.
    Starts(String),
    /// It ends with them.
    Ends(String),
    /// It has this word.
    Word(String),
    /// All of it is of this form, a regular expression.
    Matches(String),
    /// It has so many characters: at least, at most.
    Length(Option<u32>, Option<u32>),
    /// It can be read as a number.
    Number,
    /// It can be read as a whole number.
    Whole,
    /// It can be read as a day.
    Date,
}

/// A condition on a row. What is compared with a missing value is neither so nor not so.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cond {
    /// All of them; none at all always holds.
    All(Vec<Cond>),
    /// One of them or more.
    Any(Vec<Cond>),
    /// The opposite.
    Not(Box<Cond>),
    /// A comparison.
    Compare {
        /// On the left.
        left: Expr,
        /// How.
        op: Op,
        /// On the right.
        right: Expr,
    },
    /// A column has one of these values.
    In {
        /// The column.
        column: Path,
        /// The values.
        values: Vec<Scalar>,
    },
    /// A column has no value.
    Null(Path),
    /// A column's text is like this.
    Text(Path, TextTest),
    /// A day is one of these days of the week, Monday being 1.
    Weekday(Path, Vec<u8>),
    /// So many rows refer to the row and meet a condition.
    Exists {
        /// Which rows.
        link: Link,
        /// The condition.
        filter: Box<Cond>,
        /// How their number is compared.
        op: Op,
        /// With what.
        count: u32,
    },
    /// No other row has the same values.
    Unique(Vec<Path>),
    /// Of the rows with the same values, none overlaps this one between two ends. To touch is no overlap.
    Apart {
        /// Where it begins.
        start: Path,
        /// Where it ends.
        end: Path,
        /// What the rows have in common.
        by: Vec<Path>,
    },
    /// Every row with the same left value has the same right one.
    Depends(Path, Path),
}

impl Cond {
    /// What always holds.
    pub const fn always() -> Self {
        Self::All(Vec::new())
    }

    /// Whether it always holds.
    pub fn is_always(&self) -> bool {
        matches!(self, Self::All(all) if all.is_empty())
    }

    /// The opposite.
    #[must_use]
    pub fn denied(self) -> Self {
        Self::Not(Box::new(self))
    }

    /// That a column has one value.
    pub fn is(column: Path, value: Scalar) -> Self {
        Self::In { column, values: vec![value] }
    }
}

/// A figure of rows, of all of them or in groups.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct Figure {
    /// What is told.
    pub function: Function,
    /// Of which values; of the number of rows, none.
    pub of: Option<Path>,
    /// The columns whose values make the groups.
    pub by: Vec<Path>,
}

/// What is demanded of rows.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Claim {
    /// Each of them meets a condition.
    Every(Cond),
    /// A share of them, in percent, meets it.
    Share(Cond, Op, Number),
    /// A figure keeps within bounds.
    Bounds(Figure, Vec<(Op, Number)>),
}

/// A rule: the rows of a table that meet `when` must meet the claim.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct Demand {
    /// The judged table.
    #[serde(serialize_with = "as_text")]
    pub table: Name,
    /// The judged rows.
    pub when: Cond,
    /// What is demanded of them.
    pub claim: Claim,
}
