//! A check as its owner writes it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A standing rule about data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// Names the check for ever; renaming keeps it.
    pub check_id: String,
    /// What people call it.
    pub check_name: String,
    /// What it is for.
    #[serde(default)]
    pub description: String,
    /// The tables it looks at, the first one being judged.
    pub target_table: Vec<String>,
    /// `hint`, or a built-in kind.
    pub kind: String,
    /// The rule in words, for `hint`.
    #[serde(default)]
    pub calculation_hint: Option<String>,
    /// What the kind needs.
    #[serde(default)]
    pub params: Map<String, Value>,
    /// The columns that tell failing rows apart.
    #[serde(default)]
    pub key_columns: Vec<String>,
    /// Which rows are looked at: a pandas query.
    #[serde(default)]
    pub filter: Option<String>,
    /// How much a failure weighs.
    #[serde(default)]
    pub severity: Severity,
    /// From when on a failure is a warning.
    #[serde(default)]
    pub warn_if: Option<Threshold>,
    /// From when on it is a failure.
    #[serde(default)]
    pub fail_if: Option<Threshold>,
    /// Whether it runs at all.
    #[serde(default = "yes")]
    pub enabled: bool,
    /// Who answers for it.
    #[serde(default)]
    pub owner: Option<String>,
    /// Words to select by.
    #[serde(default)]
    pub tags: Vec<String>,
    /// When it runs: a cron expression.
    #[serde(default)]
    pub schedule: Option<String>,
    /// Checks that must have passed before.
    #[serde(default)]
    pub depends_on: Vec<String>,
    /// Whether checks that depend on it are skipped when it fails.
    #[serde(default)]
    pub blocking: bool,
    /// How failing rows are shown.
    #[serde(default)]
    pub samples: Samples,
    /// Fields that Ordain does not know. They are kept.
    #[serde(flatten)]
    pub unknown: Map<String, Value>,
}

/// How much a failure weighs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Good to know.
    Info,
    /// Someone should look some day.
    Low,
    /// Someone should look.
    #[default]
    Medium,
    /// Someone must look.
    High,
    /// Everything stops.
    Critical,
}

/// From how many failing rows on a grade holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Threshold {
    /// More failing rows than this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// A larger share of failing rows than this, in percent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percent: Option<f64>,
}

/// How failing rows are shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Samples {
    /// How many at most.
    pub max_rows: u64,
    /// Columns whose values are not shown.
    pub mask: Vec<String>,
}

impl Default for Samples {
    fn default() -> Self {
        Self { max_rows: 20, mask: Vec::new() }
    }
}

const fn yes() -> bool {
    true
}
