//! What a person thinks of a run.

use serde::{Deserialize, Serialize};

/// Whether a run did what was wanted.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Grade {
    /// It did.
    Good,
    /// It did not.
    Bad,
}

crate::names!(Grade, as_str { Good = "good", Bad = "bad" });

/// What a person thinks of a run. A later rating replaces it; the ledger keeps both.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Rating {
    /// Whether it did what was wanted.
    pub grade: Grade,
    /// Why, in the person's own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The person or key.
    pub by: String,
    /// When.
    pub at: String,
}
