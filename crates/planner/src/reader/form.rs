//! What a request means: typed forms, from which code and the reading in words are written.

use serde_json::Value;

/// A value that the request says, with the words that it came from.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Lit {
    /// The value.
    pub(crate) value: Value,
    /// Where it was said, in bytes of the request; `(0, 0)` if it was not.
    pub(crate) at: (usize, usize),
}

/// A step along a reference, from a row to the one row that it refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hop {
    /// The column that refers.
    pub(crate) column: usize,
    /// The table that it refers to.
    pub(crate) table: usize,
    /// The column there.
    pub(crate) to: usize,
}

/// A column of the table in question, or of a row that it refers to.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Path {
    /// The references on the way.
    pub(crate) hops: Vec<Hop>,
    /// The table at its end.
    pub(crate) table: usize,
    /// The column.
    pub(crate) column: usize,
}

/// Rows of another table that refer to a row of the table in question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Link {
    /// The other table.
    pub(crate) table: usize,
    /// Its column that refers.
    pub(crate) column: usize,
    /// The column that it refers to.
    pub(crate) to: usize,
}

/// How two values compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Op {
    /// Less.
    Lt,
    /// At most.
    Le,
    /// More.
    Gt,
    /// At least.
    Ge,
    /// The same.
    Eq,
}

/// What a column is compared with.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Operand {
    /// A value of the request.
    Lit(Lit),
    /// Another column of the row.
    Column(Path),
    /// That column of the rows that a condition finds.
    Of(Path, Box<Cond>),
}

/// A condition on rows of one table.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cond {
    /// All of them.
    And(Vec<Cond>),
    /// One of them.
    Or(Vec<Cond>),
    /// Not so.
    Not(Box<Cond>),
    /// A comparison.
    Cmp(Path, Op, Operand),
    /// Within days: from, and the first day after.
    Days(Path, Lit, Lit),
    /// The text holds a word.
    Word(Path, Lit),
    /// There is no value.
    Null(Path),
    /// A row of another table refers to it, for which something holds.
    Some(Link, Box<Cond>),
}

/// What rows are ordered by.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Order {
    /// The column; `None` is the order in which rows were added.
    pub(crate) by: Option<Path>,
    /// The greatest first.
    pub(crate) down: bool,
}

/// A figure over rows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Measure {
    /// How many rows.
    Count,
    /// How many different values.
    Distinct(Path),
    /// `sum`, `avg`, `min` or `max` of a column; of files also `median`, `std` and `var`.
    Of(&'static str, Path),
    /// `sum` or `avg` of one column times another.
    Product(&'static str, Path, Path),
    /// One figure divided by another (`/`), or less it (`-`).
    Pair(Box<(Measure, Measure)>, char),
}

/// What is asked about the rows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Asked {
    /// Which they are.
    Rows,
    /// Whether there are any, and which.
    Any,
    /// What their columns hold.
    Columns(Vec<Path>),
    /// The different values of a column.
    Values(Path),
    /// A figure, for each group if there are some; only the best group if so said.
    Figure { measure: Measure, by: Vec<Path>, best: Option<(bool, u64)> },
    /// Whether a condition holds for all of them.
    Holds(Cond),
    /// Several figures at once.
    Figures { measures: Vec<Measure>, by: Vec<Path> },
    /// How large a part of the rows meets a condition.
    Share { part: Cond, by: Vec<Path> },
    /// How two columns go together.
    Correlation(Path, Path),
    /// How the values of a column are spread, as a picture.
    Spread(Path),
    /// One column against another, as a picture.
    Pairs(Path, Path),
}

/// In which form an answer about files is given besides its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Output {
    /// A picture with bars.
    Bar,
    /// A picture with a line.
    Line,
    /// A picture of a cake.
    Pie,
    /// A file with commas.
    Csv,
    /// A workbook.
    Workbook,
}

/// Rows of a table, and what is asked about them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Select {
    /// The table.
    pub(crate) table: usize,
    /// The rows that count.
    pub(crate) filter: Cond,
    /// Their order.
    pub(crate) order: Option<Order>,
    /// The how-manieth alone.
    pub(crate) nth: Option<u64>,
    /// So many at most.
    pub(crate) limit: Option<u64>,
    /// What is asked.
    pub(crate) asked: Asked,
}

/// What a request means.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Form {
    /// A question.
    Select(Box<Select>),
    /// A question about files whose answer is drawn or saved.
    Output(Output, Box<Select>),
}

impl Cond {
    /// Whether it depends on rows of other tables that refer to this one.
    pub(crate) fn asks_others(&self) -> bool {
        match self {
            Self::And(all) | Self::Or(all) => all.iter().any(Self::asks_others),
            Self::Not(one) => one.asks_others(),
            Self::Some(..) => true,
            Self::Cmp(..) | Self::Days(..) | Self::Word(..) | Self::Null(_) => false,
        }
    }

    /// The same with some of its parts replaced.
    pub(crate) fn replaced(&self, by: &mut dyn FnMut(&Self) -> Option<Self>) -> Self {
        if let Some(other) = by(self) {
            return other;
        }
        match self {
            Self::And(all) => Self::And(all.iter().map(|one| one.replaced(by)).collect()),
            Self::Or(all) => Self::Or(all.iter().map(|one| one.replaced(by)).collect()),
            Self::Not(one) => Self::Not(Box::new(one.replaced(by))),
            Self::Some(link, inner) => Self::Some(*link, Box::new(inner.replaced(by))),
            Self::Cmp(..) | Self::Days(..) | Self::Word(..) | Self::Null(_) => self.clone(),
        }
    }

    /// Nothing is asked of the row.
    pub(crate) fn always() -> Self {
        Self::And(Vec::new())
    }

    /// All of several, with conditions on rows of one other table put together: they are about the same row there.
    pub(crate) fn all(conds: Vec<Self>) -> Self {
        let mut flat: Vec<Self> = Vec::new();
        for cond in conds {
            match cond {
                Self::And(inner) => inner.into_iter().for_each(|one| push(&mut flat, one)),
                other => push(&mut flat, other),
            }
        }
        // What has a certain value has one.
        let valued: Vec<Path> = flat.iter().filter_map(Self::valued).cloned().collect();
        flat.retain(|cond| !matches!(cond, Self::Not(inner) if matches!(inner.as_ref(), Self::Null(path) if valued.contains(path))));
        match <[Self; 1]>::try_from(flat) {
            Ok([one]) => one,
            Err(flat) => Self::And(flat),
        }
    }

    /// The column that must have a value for it to hold.
    fn valued(&self) -> Option<&Path> {
        match self {
            Self::Cmp(path, ..) | Self::Days(path, ..) | Self::Word(path, _) => Some(path),
            _ => None,
        }
    }

    /// One of several.
    pub(crate) fn any(conds: Vec<Self>) -> Self {
        match <[Self; 1]>::try_from(conds) {
            Ok([one]) => one,
            Err(conds) => Self::Or(conds),
        }
    }

    /// Whether it asks nothing.
    pub(crate) fn is_always(&self) -> bool {
        matches!(self, Self::And(none) if none.is_empty())
    }
}

fn push(flat: &mut Vec<Cond>, cond: Cond) {
    if let Cond::Some(link, inner) = &cond
        && let Some(Cond::Some(_, other)) =
            flat.iter_mut().find(|one| matches!(one, Cond::Some(known, _) if known == link))
    {
        let both = vec![std::mem::replace(other.as_mut(), Cond::always()), inner.as_ref().clone()];
        **other = Cond::all(both);
        return;
    }
    if !flat.contains(&cond) {
        flat.push(cond);
    }
}

impl Op {
    /// As SQL and Python write it.
    pub(crate) fn sign(self) -> &'static str {
        match self {
            Self::Lt => "<",
            Self::Le => "<=",
            Self::Gt => ">",
            Self::Ge => ">=",
            Self::Eq => "=",
        }
    }

    /// In words.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Lt => "below",
            Self::Le => "at most",
            Self::Gt => "above",
            Self::Ge => "at least",
            Self::Eq => "",
        }
    }
}
