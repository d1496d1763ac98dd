//! A question about a table, as data.

use super::catalog::Source;

/// What is asked.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Question {
    /// The table, and the one that is joined to it by a shared column.
    pub(super) source: Source,
    pub(super) join: Option<Join>,
    /// What is told.
    pub(super) task: Task,
    /// Only rows for which all of these hold.
    pub(super) filters: Vec<Filter>,
    /// For each of these.
    pub(super) groups: Vec<Group>,
    /// Only so many, the largest or the smallest first.
    pub(super) top: Option<Top>,
    /// As a picture.
    pub(super) plot: Option<Plot>,
    /// As a file.
    pub(super) export: Option<Export>,
}

/// A second table.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Join {
    pub(super) source: Source,
    pub(super) keys: Vec<String>,
}

/// What is told of the rows.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Task {
    /// A number: of all rows, or one for each group.
    Aggregate { function: Function, measure: Option<Measure> },
    /// Several numbers, of all rows or for each group.
    Several { numbers: Vec<Number> },
    /// How large a part of the whole the rows that fit are, or each group is.
    Share { measure: Option<Measure> },
    /// The total divided by how many different things there are: “average units per order”.
    PerEach { measure: Measure, id: String },
    /// The row in which a column is largest or smallest.
    Extreme { measure: Measure, is_largest: bool },
    /// The different values of a column.
    Distinct { column: String },
    /// The rows themselves; some of their columns.
    Rows { columns: Vec<String>, order: Option<Order> },
    /// What the table holds.
    Describe,
    /// How much is missing.
    Missing { column: Option<String> },
    /// Rows that occur more than once.
    Duplicates { column: Option<String> },
    /// How columns go together; all numbers if none is named.
    Correlation { columns: Vec<String> },
    /// A table of two groups.
    Pivot { function: Function, measure: Option<Measure> },
    /// How the values of a column are spread.
    Histogram { column: String },
    /// One column against another.
    Scatter { x: String, y: String },
}

/// One number among several; without a measure it counts rows.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Number {
    pub(super) function: Function,
    pub(super) measure: Option<Measure>,
}

/// What is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Function {
    Count,
    CountDistinct,
    Sum,
    Mean,
    Median,
    Min,
    Max,
    Deviation,
    Variance,
}

/// Of what it is computed.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Measure {
    Column(String),
    /// A quantity times a price, under a name of its own.
    Product {
        name: String,
        left: String,
        right: String,
    },
}

/// By what rows are put together.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Group {
    Column(String),
    /// A date, cut to this.
    Period {
        column: String,
        period: Period,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Period {
    Year,
    Quarter,
    Month,
    Week,
    Day,
    Weekday,
}

/// By what rows are put in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Order {
    pub(super) column: String,
    pub(super) is_descending: bool,
}

/// How many, and from which end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Top {
    pub(super) count: u64,
    pub(super) is_largest: bool,
}

/// What must hold for a row.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Filter {
    /// The column has one of these texts.
    OneOf {
        column: String,
        values: Vec<String>,
        is_not: bool,
    },
    /// The column compares so with a number.
    Compare {
        column: String,
        sign: &'static str,
        value: f64,
    },
    /// The date compares so with a day, month or year, written as text.
    Date {
        column: String,
        sign: &'static str,
        day: String,
    },
    /// The date's month or year.
    Month {
        column: String,
        month: usize,
    },
    Year {
        column: String,
        year: u64,
    },
    /// A text holds another.
    Contains {
        column: Option<String>,
        text: String,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Plot {
    Bar,
    Line,
    Pie,
    Histogram,
    Scatter,
    Box,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Export {
    Csv,
    Workbook,
    /// One sheet for each group.
    Sheets,
}

impl Function {
    /// The method of pandas.
    pub(super) const fn method(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::CountDistinct => "nunique",
            Self::Sum => "sum",
            Self::Mean => "mean",
            Self::Median => "median",
            Self::Min => "min",
            Self::Max => "max",
            Self::Deviation => "std",
            Self::Variance => "var",
        }
    }

    /// In words.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Count => "number",
            Self::CountDistinct => "number of different values",
            Self::Sum => "total",
            Self::Mean => "average",
            Self::Median => "median",
            Self::Min => "smallest",
            Self::Max => "largest",
            Self::Deviation => "standard deviation",
            Self::Variance => "variance",
        }
    }
}

impl Number {
    /// In words: “average of units”.
    pub(super) fn words(&self) -> String {
        match &self.measure {
            None => "number of rows".to_owned(),
            Some(measure) => format!("{} of {}", self.function.word(), measure.name()),
        }
    }
}

impl Measure {
    /// The column that holds it once the table is loaded.
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Column(name) | Self::Product { name, .. } => name,
        }
    }

    /// The columns that it needs of the file.
    pub(super) fn columns(&self) -> Vec<&str> {
        match self {
            Self::Column(name) => vec![name],
            Self::Product { left, right, .. } => vec![left, right],
        }
    }
}

impl Group {
    /// The column of the result.
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Column(name) => name,
            Self::Period { period, .. } => period.word(),
        }
    }

    /// The column of the file.
    pub(super) fn column(&self) -> &str {
        match self {
            Self::Column(column) | Self::Period { column, .. } => column,
        }
    }
}

impl Period {
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Year => "year",
            Self::Quarter => "quarter",
            Self::Month => "month",
            Self::Week => "week",
            Self::Day => "day",
            Self::Weekday => "weekday",
        }
    }
}

impl Filter {
    /// The column that it needs, where it names one.
    pub(super) fn column(&self) -> Option<&str> {
        match self {
            Self::OneOf { column, .. }
            | Self::Compare { column, .. }
            | Self::Date { column, .. }
            | Self::Month { column, .. }
            | Self::Year { column, .. } => Some(column),
            Self::Contains { column, .. } => column.as_deref(),
        }
    }
}
