//! Proposes checks from what a table's rows have in common, each with its evidence.
//!
//! The table is looked at in a cell, by [`PROFILE_CODE`]; what comes back is a [`Profile`], a claim of that code and
//! bounded like any. A proposal is never more than that: what holds today may be chance, so a person accepts it.

mod look;
mod rules;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::check::Check;

pub use look::LookedAt;
pub use rules::suggest;

/// The code that looks at a table. It takes `inputs["table"]` and `inputs["others"]`, the tables that it may refer to,
/// and sets `result["profile"]`.
pub const PROFILE_CODE: &str = include_str!("suggest/profile.py");

/// What a table's rows have in common.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// The table.
    pub table: String,
    /// How many rows it has.
    pub rows: u64,
    /// Its columns, in order.
    pub columns: Vec<ColumnProfile>,
    /// Columns of which one is never above the other.
    #[serde(default)]
    pub ordered: Vec<OrderedPair>,
    /// Columns that look like references to another table.
    #[serde(default)]
    pub references: Vec<Reference>,
}

/// What a column's values have in common.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ColumnProfile {
    /// The column.
    pub name: String,
    /// What it holds.
    #[serde(rename = "type")]
    pub column_type: String,
    /// How many rows have no value.
    pub nulls: u64,
    /// How many different values there are.
    pub distinct: u64,
    /// All different values, if there are few; the most common first.
    #[serde(default)]
    pub values: Option<Vec<Value>>,
    /// How often the rarest of those occurs.
    #[serde(default)]
    pub rarest: Option<u64>,
    /// The least value of numbers and points in time.
    #[serde(default)]
    pub min: Option<Value>,
    /// The greatest.
    #[serde(default)]
    pub max: Option<Value>,
    /// Whether no value is below the one before it.
    #[serde(default)]
    pub increasing: Option<bool>,
    /// The length of the shortest text.
    #[serde(default)]
    pub length_min: Option<u64>,
    /// The length of the longest.
    #[serde(default)]
    pub length_max: Option<u64>,
    /// The format that every text has.
    #[serde(default)]
    pub format: Option<String>,
}

/// A column that is never above another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderedPair {
    /// The one that is never above.
    pub left: String,
    /// The other.
    pub right: String,
    /// Rows that have both.
    pub rows: u64,
}

/// A column whose values stand in another table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reference {
    /// The column.
    pub column: String,
    /// The other table.
    pub table: String,
    /// Its column, in which no value is there twice.
    pub other: String,
    /// Rows whose value is not there.
    pub missing: u64,
}

/// A check that could be added, and why.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Suggestion {
    /// The check.
    pub check: Check,
    /// What was seen.
    pub evidence: String,
}
