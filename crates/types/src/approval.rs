//! When a change waits for a person.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// When a change waits for a person: `"auto"`, `"hold"` or `"rows>N"`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Approval {
    /// Never: a verified change whose invariants hold is committed.
    #[default]
    Auto,
    /// Always.
    Hold,
    /// When it touches more rows than this.
    AboveRows(usize),
}

crate::written_as_text!(Approval);

impl Approval {
    /// Whether a change of so many rows waits.
    pub fn holds(self, rows: usize) -> bool {
        match self {
            Self::Auto => false,
            Self::Hold => rows > 0,
            Self::AboveRows(limit) => rows > limit,
        }
    }
}

impl std::str::FromStr for Approval {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let rows = |text: &str| text.strip_prefix("rows>").and_then(|number| number.trim().parse().ok());
        match text {
            "auto" => Ok(Self::Auto),
            "hold" => Ok(Self::Hold),
            other => rows(other)
                .map(Self::AboveRows)
                .ok_or_else(|| format!("`{other}` is not a mode; it is \"auto\", \"hold\" or \"rows>N\"")),
        }
    }
}

impl std::fmt::Display for Approval {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Auto => formatter.write_str("auto"),
            Self::Hold => formatter.write_str("hold"),
            Self::AboveRows(rows) => write!(formatter, "rows>{rows}"),
        }
    }
}

impl Serialize for Approval {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Approval {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}
