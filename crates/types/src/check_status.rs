//! The grade of a check.

use serde::{Deserialize, Serialize};

/// The grade of a check.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "UPPERCASE")]
pub enum CheckStatus {
    /// The rule holds.
    Pass,
    /// It fails a little.
    Warn,
    /// It fails.
    Fail,
    /// It could not be evaluated.
    Error,
    /// It was not evaluated.
    Skipped,
}

crate::names!(CheckStatus, name {
    Pass = "PASS", Warn = "WARN", Fail = "FAIL", Error = "ERROR", Skipped = "SKIPPED",
});

impl CheckStatus {
    /// Whether someone should look.
    pub const fn is_problem(self) -> bool {
        matches!(self, Self::Warn | Self::Fail | Self::Error)
    }
}
