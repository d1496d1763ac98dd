//! One reason why code is refused or worth a second look.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::finding_code::FindingCode;

/// One reason, with its place in the code and what to do about it.
///
/// Lines and columns count from 1, columns in characters; the end is exclusive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// What kind of reason it is; stable between versions.
    pub code: FindingCode,
    /// Whether it refuses the code.
    pub severity: Severity,
    /// Where it starts.
    pub line: usize,
    /// Where it starts.
    pub column: usize,
    /// Where it ends.
    pub end_line: usize,
    /// Where it ends: the first column that is no longer part of it.
    pub end_column: usize,
    /// What is wrong, without a full stop.
    pub message: String,
    /// What to do instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The change that puts it right, where the right text is certain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edit: Option<Edit>,
}

/// How much a finding weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The code does not run.
    Error,
    /// The code may run; someone should look.
    Warning,
}

impl fmt::Display for Severity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Error => "error",
            Self::Warning => "warning",
        })
    }
}

/// A change of the source that puts a finding right.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edit {
    /// What it does, as an order: "import `re`".
    pub title: String,
    /// The pieces of text to replace; they do not overlap.
    pub replacements: Vec<Replacement>,
}

/// One piece of text to replace, as byte offsets into the source.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Replacement {
    /// First byte to replace.
    pub start: usize,
    /// First byte to keep again; equal to `start` for an insertion.
    pub end: usize,
    /// The text afterwards.
    pub text: String,
}
