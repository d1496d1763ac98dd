//! Which promises a piece of code has to keep.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What the code is for, and so which rules hold for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Contract {
    /// Answers a request over the tables: sets `answer_text` and `STATUS`.
    Ask,
    /// Evaluates a check: sets `result` with a `status`, writes nothing.
    Check,
    /// Works on files for a request: may open files, may set `answer_text` and `STATUS`.
    Code,
    /// A general program that runs in a cell; only its imports and calls are judged.
    Exec,
    /// Syntax and size only. Only the jail defends.
    Open,
}

ordain_types::names!(Contract, as_str {
    Ask = "ask", Check = "check", Code = "code", Exec = "exec", Open = "open",
});

impl Contract {
    /// Whether the code is a plan over tables, whose effects must be known before it runs.
    pub(crate) const fn is_plan(self) -> bool {
        matches!(self, Self::Ask | Self::Check)
    }
}

/// The text names no contract.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownContract(String);

impl fmt::Display for UnknownContract {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "`{}` is not a contract; use ask, check, code, exec or open", self.0)
    }
}

impl std::error::Error for UnknownContract {}

impl FromStr for Contract {
    type Err = UnknownContract;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::named(text).ok_or_else(|| UnknownContract(text.chars().take(40).collect()))
    }
}
