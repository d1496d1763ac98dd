//! What code will read, write and depend on, known before it runs.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

/// Modules whose values differ from run to run though the rows are the same.
const CHANGING_MODULES: [&str; 5] = ["datetime", "random", "secrets", "time", "uuid"];

/// What the code does, as far as its text tells.
///
/// Where the text leaves a choice open (a computed table name, a row handed on as a whole), the effects say the
/// larger of the possible things: they may name what is never used, and they leave nothing out that the
/// verifier could see.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effects {
    /// The tables that are read, and which of their columns.
    pub reads: BTreeMap<String, TableRead>,
    /// The tables that are written, and which of their columns.
    pub writes: BTreeMap<String, TableWrite>,
    /// The modules that are imported, by their full names.
    pub imports: BTreeSet<String>,
    /// The workspace's helpers that are called.
    pub helpers: BTreeSet<String>,
    /// The tools that are called, such as `mail.send`.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub calls: BTreeSet<String>,
    /// Whether any table may be written, or something else be changed.
    pub may_write: bool,
    /// Whether the same data and request always give the same result: no clock, no unseeded chance.
    pub deterministic: bool,
    /// Names that the cell gives to the code and that it uses: `frame`, `sql`, `inputs`, `db`, `inventory_tbl` …
    #[serde(skip)]
    pub provided: BTreeSet<String>,
    /// Whether it may look at the clock.
    #[serde(skip)]
    pub clock: bool,
}

impl Effects {
    /// Whether it looks at tables as frames, or by SQL in the cell.
    pub fn uses_frames(&self) -> bool {
        self.provided.contains("frame") || self.provided.contains("sql")
    }

    /// Whether it asks the store. A helper may, too.
    pub fn uses_store(&self) -> bool {
        let is_store = |name: &String| name == "db" || name.ends_with("_tbl");
        !self.helpers.is_empty() || self.provided.iter().any(is_store)
    }

    /// Whether the same rows of the tables that it reads always give the same result, so that a run need not be repeated
    /// while they are the same. Queries and helpers may see more than those.
    pub fn depends_on_rows_alone(&self) -> bool {
        let is_changing =
            |module: &String| CHANGING_MODULES.contains(&module.split('.').next().unwrap_or_default());
        self.deterministic
            && !self.clock
            && self.helpers.is_empty()
            && self.calls.is_empty()
            && !self.provided.contains("db")
            && !self.provided.contains("sql")
            && !self.provided.contains("inputs")
            && !self.imports.iter().any(is_changing)
    }
}

/// What is read of a table.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableRead {
    /// The columns that are looked at. Counting rows looks at none.
    pub columns: BTreeSet<String>,
    /// Rows are used as a whole (printed, returned, handed on), so that every column counts.
    pub whole: bool,
    /// The columns that the code names, also where rows are used as a whole.
    #[serde(skip)]
    pub named: BTreeSet<String>,
}

/// What is written to a table.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each says one thing that readers of a record ask for by name"
)]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableWrite {
    /// The columns that are given values.
    pub columns: BTreeSet<String>,
    /// The columns are not known: any may be written.
    pub whole: bool,
    /// Rows may be added.
    pub adds: bool,
    /// Rows may be changed.
    pub changes: bool,
    /// Rows may be removed.
    pub removes: bool,
}
