//! What a run changed, row by row.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Row;

/// The rows that a run added, changed and removed, by table. Tables without a change are left out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Diff {
    /// One part for each touched table.
    pub tables: BTreeMap<String, TableDiff>,
}

/// What changed in one table.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TableDiff {
    /// Rows that were not there before.
    pub added: Vec<Row>,
    /// Rows that were there before and differ now.
    pub changed: Vec<RowChange>,
    /// Rows that are gone.
    pub removed: Vec<Row>,
}

/// One changed row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RowChange {
    /// What identifies the row: its key columns before the change, or its `doc_id` where no key is declared.
    pub key: Row,
    /// The row before the run.
    pub before: Row,
    /// The row after the run.
    pub after: Row,
}

impl Diff {
    /// Whether nothing changed.
    pub fn is_empty(&self) -> bool {
        self.tables.values().all(TableDiff::is_empty)
    }

    /// How many rows were added, changed or removed.
    pub fn rows(&self) -> usize {
        self.tables.values().map(TableDiff::rows).sum()
    }
}

impl TableDiff {
    /// Whether nothing changed in this table.
    pub fn is_empty(&self) -> bool {
        self.rows() == 0
    }

    /// How many rows were added, changed or removed.
    pub fn rows(&self) -> usize {
        self.added.len() + self.changed.len() + self.removed.len()
    }
}
