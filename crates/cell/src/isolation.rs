//! How well this host can isolate a cell, layer by layer.

use std::fmt;

use serde::Serialize;

/// How well cells are isolated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Not at all: nothing may run.
    None,
    /// Some layers are missing; which ones is told.
    Reduced,
    /// All layers hold.
    Full,
}

impl Level {
    /// The level as it is written in records.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Reduced => "reduced",
            Self::Full => "full",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}
