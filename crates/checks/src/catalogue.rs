//! The built-in kinds and what each takes: the one table behind `check schema`, import, export and the documentation.
//!
//! A kind compiles to pandas without a model. What it means, row by row, is in `kinds`; here is what a person may
//! write. Rules that hold for every kind: a null in a named column leaves the row out unless the kind is about nulls;
//! a share that may fail is not a parameter but the check's `fail_if`.

use serde::{Deserialize, Serialize};

/// What a kind asks, and what it takes.
#[derive(Debug, Clone, Copy)]
pub struct KindSpec {
    /// What it asks of the data, in one sentence.
    pub about: &'static str,
    /// What it takes.
    pub params: &'static [ParamSpec],
}

/// A parameter of a kind.
#[derive(Debug, Clone, Copy)]
pub struct ParamSpec {
    /// Its name under `params`.
    pub name: &'static str,
    /// What it may hold.
    pub shape: Shape,
    /// Whether the kind means nothing without it.
    pub required: bool,
    /// What it is for.
    pub about: &'static str,
}

/// What a parameter may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Any text.
    Text,
    /// One column's name.
    Column,
    /// One column's name or a list of them.
    Columns,
    /// A number.
    Number,
    /// A whole number, not below zero.
    Count,
    /// A number, or a point in time as text.
    Bound,
    /// True or false.
    Flag,
    /// A list of plain values.
    Values,
    /// A list of lists of plain values.
    Tuples,
    /// One text or a list of them.
    Texts,
    /// One of a few words.
    Choice(&'static [&'static str]),
    /// A record of its own.
    Object,
    /// A length of time, such as `36h`.
    Duration,
}

const fn needed(name: &'static str, shape: Shape, about: &'static str) -> ParamSpec {
    ParamSpec { name, shape, required: true, about }
}

const fn optional(name: &'static str, shape: Shape, about: &'static str) -> ParamSpec {
    ParamSpec { name, shape, required: false, about }
}

const COLUMN: ParamSpec = needed("column", Shape::Column, "the column that is judged");
const COLUMNS: ParamSpec = needed("columns", Shape::Columns, "the columns that are judged");
const MIN: ParamSpec = optional("min", Shape::Bound, "the least that is allowed");
const MAX: ParamSpec = optional("max", Shape::Bound, "the most that is allowed");
const STRICT_MIN: ParamSpec = optional("strict_min", Shape::Flag, "whether `min` itself is not allowed");
const STRICT_MAX: ParamSpec = optional("strict_max", Shape::Flag, "whether `max` itself is not allowed");
const NEGATE: ParamSpec = optional("negate", Shape::Flag, "whether the opposite is asked");
const NULLS: ParamSpec =
    optional("ignore_row_if", Shape::Choice(&["any_null", "all_null", "never"]), "which rows are left out");

const WHEN: ParamSpec =
    optional("when", Shape::Object, "a condition on the rows that are judged, as in `condition`");
const BY: ParamSpec =
    optional("by", Shape::Columns, "each group of rows with the same values here is judged");
const ORDER_BY: ParamSpec = optional(
    "order_by",
    Shape::Column,
    "the column that says which row comes before; the order of the table if left out",
);

/// The types that `dtype` knows.
pub const TYPES: &[&str] = &[
    "text",
    "integer",
    "real",
    "number",
    "boolean",
    "timestamp",
    "date",
    "date_text",
    "json",
    "uuid",
    "email",
    "url",
    "ipv4",
];
/// What `aggregate` can compute of a column.
pub const FUNCTIONS: &[&str] = &[
    "min",
    "max",
    "mean",
    "median",
    "sum",
    "stdev",
    "count",
    "distinct_count",
    "distinct_share",
    "null_count",
    "null_share",
    "distinct_values",
    "most_common",
    "quantiles",
];
/// How `two_columns` compares.
pub const OPERATORS: &[&str] = &["==", "!=", "<", "<=", ">", ">=", "in_pairs", "sum_equals", "all_different"];
/// The comparisons with a reference that `distribution` knows.
pub const TESTS: &[&str] = &["kl", "psi", "chi_square", "ks", "ks_bootstrap", "cramers_phi"];

/// Declares the kinds: each variant with its name, and its spec.
macro_rules! kinds {
    ($($variant:ident = $name:literal: $about:literal, [$($param:expr),* $(,)?];)+) => {
        /// What a check is: a rule in words, or one of the built-in kinds.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Kind {
            $(#[doc = $about] $variant,)+
        }

        ordain_types::names!(Kind, name { $($variant = $name),+ });

        impl Kind {
            /// What it asks, and what it takes.
            pub const fn spec(self) -> &'static KindSpec {
                match self {
                    $(Self::$variant => {
                        const SPEC: KindSpec = KindSpec { about: $about, params: &[$($param),*] };
                        &SPEC
                    })+
                }
            }
        }
    };
}

kinds! {
    Hint = "hint": "a rule in words, which the reader or a model makes code of", [];
    NotNull = "not_null": "every value is there", [COLUMNS, NEGATE, WHEN];
    Unique = "unique": "no two rows have the same values in these columns", [COLUMNS, BY, NULLS, WHEN];
    ForeignKey = "foreign_key": "every value is there in another table", [COLUMNS,
            needed("references", Shape::Object, "the other table: `{\"table\": …, \"columns\": […]}`"),
            WHEN,];
    InSet = "in_set": "every value is one of a list", [COLUMN, needed("values", Shape::Values, "the values that are allowed"), NEGATE, WHEN];
    Range = "range": "every value lies between two bounds", [COLUMN, MIN, MAX, STRICT_MIN, STRICT_MAX, WHEN];
    Length = "length": "every text has a length between two bounds", [COLUMN,
            optional("min", Shape::Count, "the shortest that is allowed"),
            optional("max", Shape::Count, "the longest that is allowed"),
            WHEN,];
    Regex = "regex": "every text matches a pattern of Python's `re`, anywhere in the text", [COLUMN,
            needed("pattern", Shape::Texts, "the pattern, or several"),
            optional("match", Shape::Choice(&["any", "all"]), "how many of several patterns must match"),
            NEGATE,
            WHEN,];
    Dtype = "dtype": "every value is of a type, or is text that reads as one", [COLUMN,
            optional("type", Shape::Texts, "the type, or several"),
            optional("format", Shape::Text, "the `strftime` format that text must have"),
            WHEN,];
    Schema = "schema": "the table has the columns it should have", [optional("columns", Shape::Columns, "the columns' names, or `{name: type}`"),
            optional("order", Shape::Choice(&["any", "exact"]), "whether their order counts"),
            optional("extra", Shape::Choice(&["allow", "deny"]), "whether there may be others"),
            optional("index", Shape::Count, "the place that a single column must have, from zero"),
            optional("min_columns", Shape::Count, "how many columns there are at least"),
            optional("max_columns", Shape::Count, "how many columns there are at most"),
            WHEN,];
    RowCount = "row_count": "the table has as many rows as it should have", [optional("min", Shape::Count, "how many rows there are at least"),
            optional("max", Shape::Count, "how many rows there are at most"),
            optional("same_as", Shape::Text, "the table that has as many rows"),
            BY,
            WHEN,];
    Freshness = "freshness": "the newest row is not too old", [COLUMN,
            needed("max_age", Shape::Duration, "how old the newest row may be, such as `36h`"),
            WHEN,];
    Aggregate = "aggregate": "a figure computed from a column lies between two bounds", [COLUMN,
            needed("function", Shape::Choice(FUNCTIONS), "what is computed"),
            BY,
            MIN,
            MAX,
            STRICT_MIN,
            STRICT_MAX,
            optional(
                "subset_of",
                Shape::Values,
                "for `distinct_values` and `most_common`: none other occurs",
            ),
            optional("contains", Shape::Values, "for `distinct_values`: all of these occur"),
            optional("equals", Shape::Values, "for `distinct_values`: exactly these occur"),
            optional("ties_okay", Shape::Flag, "for `most_common`: one of several equally common is enough"),
            optional("quantiles", Shape::Values, "for `quantiles`: which, from 0 to 1"),
            optional(
                "ranges",
                Shape::Tuples,
                "for `quantiles`: `[min, max]` of each; null leaves a side open",
            ),
            WHEN,];
    TwoColumns = "two_columns": "values in a row stand in a relation to each other", [optional("left", Shape::Column, "the column on the left of the operator"),
            needed("op", Shape::Choice(OPERATORS), "the relation"),
            optional("right", Shape::Column, "the column on the right of the operator"),
            optional("columns", Shape::Columns, "for `sum_equals` and `all_different`: the columns"),
            optional("value", Shape::Number, "for `sum_equals`: the sum"),
            optional("pairs", Shape::Tuples, "for `in_pairs`: the pairs that are allowed"),
            NULLS,
            WHEN,];
    FunctionalDependency = "functional_dependency": "the same values on the left always come with the same values on the right", [needed("determinant", Shape::Columns, "the columns that decide"),
            needed("dependent", Shape::Columns, "the columns that are decided"),
            WHEN,];
    Monotonic = "monotonic": "every value follows the one before it", [COLUMN,
            optional("direction", Shape::Choice(&["increasing", "decreasing"]), "which way"),
            optional("strict", Shape::Flag, "whether equal neighbours are not allowed"),
            optional("by", Shape::Columns, "rows with the same values here follow each other"),
            ORDER_BY,
            WHEN,];
    Distribution = "distribution": "a column's values are spread as a reference is", [COLUMN,
            needed("test", Shape::Choice(TESTS), "how the two are compared"),
            optional(
                "reference",
                Shape::Object,
                "the reference: `{values|bins, weights}` or `{table, column}`",
            ),
            optional("max", Shape::Number, "the largest distance that is allowed"),
            optional("min_p", Shape::Number, "the smallest p-value that is allowed"),
            optional("distribution", Shape::Text, "for `ks`: the name of a known distribution"),
            optional("parameters", Shape::Object, "for `ks`: its parameters: loc, scale, a, b, df"),
            optional("samples", Shape::Count, "for `ks_bootstrap`: how many samples are drawn"),
            optional("sample_size", Shape::Count, "for `ks_bootstrap`: how large each is"),
            optional("other", Shape::Column, "for `cramers_phi`: the second column"),
            optional("bins", Shape::Object, "for `cramers_phi`: how numbers are put into groups"),
            optional("tail_weight", Shape::Number, "the weight held back for values outside the reference"),
            optional("internal_weight", Shape::Number, "the weight held back for empty bins inside it"),
            WHEN,];
    Anomaly = "anomaly": "a metric does not stand out from its own history, or a value from its column", [needed(
                "metric",
                Shape::Choice(&["row_count", "null_share", "mean", "sum", "z_score"]),
                "what is looked at",
            ),
            optional("column", Shape::Column, "the column that the metric is of"),
            optional("sensitivity", Shape::Number, "how many standard deviations are too many"),
            optional("two_sided", Shape::Flag, "for `z_score`: whether low values stand out too"),
            optional("max_drop", Shape::Number, "how many percent below the median of its history it may be"),
            optional("max_rise", Shape::Number, "how many percent above the median of its history it may be"),
            optional("runs", Shape::Count, "how many earlier runs that median is of; 14 if left out, at most 30"),
            WHEN,];
    ReconcileTotals = "reconcile_totals": "two totals agree", [needed("left", Shape::Object, "the one side: `{table, column, function, filter}`"),
            needed("right", Shape::Object, "the other side"),
            optional("tolerance", Shape::Number, "how far they may be apart"),];
    ReconcileRows = "reconcile_rows": "two tables hold the same rows", [needed("left", Shape::Text, "the one table"),
            needed("right", Shape::Text, "the other table"),
            needed("keys", Shape::Columns, "the columns that tell rows apart"),
            optional(
                "columns",
                Shape::Columns,
                "the columns that must be equal; all that both have if left out",
            ),
            optional("tolerance", Shape::Number, "how far numbers may be apart"),];
    Condition = "condition": "every row meets a condition, or a share of the rows does", [needed(
                "must",
                Shape::Object,
                "the condition: `{all|any: […]}`, `{not: …}`, `{compare: {left, op, right}}`, `{null: column}`, `{in: …}`, `{matches: …}`, `{length: …}`, `{weekend: column}`",
            ),
            optional("min_share", Shape::Number, "the least share of rows that meet it, from 0 to 1"),
            optional("max_share", Shape::Number, "the largest share of rows that may meet it, from 0 to 1"),
            WHEN,];
    Sql = "sql": "a SELECT of your own finds the rows that break the rule", [needed(
            "query",
            Shape::Text,
            "one SELECT in DuckDB's SQL over the tables of `target_table`; it runs in a cell",
        )];
    Python = "python": "code of your own sets `result`", [needed("code", Shape::Text, "the code; it is verified and runs in a cell")];
    Transform = "transform": "rows that the words of `calculation_hint`, or code of your own, make from tables are written to a file or a table", [needed(
                "output",
                Shape::Text,
                "the file below the workspace (.csv, .xlsx or .parquet), or `table:NAME`",
            ),
            optional("code", Shape::Text, "code that sets `table`; it is verified and runs in a cell"),];
}
