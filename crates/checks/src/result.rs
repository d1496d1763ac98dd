//! What a run of checks gave: the one type from which every output is made.

use std::collections::BTreeMap;

pub use ordain_types::CheckStatus;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::check::{Check, Severity};

/// What one run of checks gave.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[schemars(rename = "CheckReport")]
pub struct RunReport {
    /// Names the run.
    pub run_id: String,
    /// The version of this format.
    pub schema_version: u32,
    /// The workspace's name.
    pub workspace: String,
    /// When it began.
    pub started_at: String,
    /// How long it took.
    pub duration_ms: f64,
    /// How many checks have each status; every status is there.
    pub counts: BTreeMap<CheckStatus, u64>,
    /// What each check gave, in the order of the file.
    pub results: Vec<CheckResult>,
}

impl RunReport {
    /// How many checks could not be evaluated, though they should have been.
    pub fn not_evaluated(&self) -> usize {
        self.results.iter().filter(|result| result.is_open()).count()
    }
}

/// What one check gave.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct CheckResult {
    /// Names the check.
    pub check_id: String,
    /// What people call it.
    pub check_name: String,
    /// Its grade.
    pub status: CheckStatus,
    /// Why it is an ERROR or was SKIPPED.
    pub reason: Option<String>,
    /// How much a failure weighs.
    pub severity: Severity,
    /// Who answers for it.
    pub owner: Option<String>,
    /// Words to select by.
    pub tags: Vec<String>,
    /// The tables it looks at.
    pub target_table: Vec<String>,
    /// `hint`, or a built-in kind.
    pub kind: String,
    /// The rule as its owner wrote it.
    #[serde(default)]
    pub rule: String,
    /// The rule as it was understood: restated from what it was compiled to.
    #[serde(default)]
    pub understood: Option<String>,
    /// Why it was skipped, where it was.
    #[serde(default)]
    pub skipped: Option<SkipReason>,
    /// How many rows were looked at.
    pub evaluated: Option<u64>,
    /// How many of them fail.
    pub failed: Option<u64>,
    /// The same as a share, in percent.
    pub failed_pct: Option<f64>,
    /// One sentence.
    pub summary: String,
    /// Some failing rows, masked.
    pub samples: Vec<FailedRow>,
    /// The files with all failing rows.
    pub artifacts: Vec<String>,
    /// Where the code came from.
    pub code_from: Option<CodeFrom>,
    /// Why the code was compiled again, where it was.
    pub recompiled: Option<String>,
    /// What is worth saying besides: a new column that the code does not use …
    pub notes: Vec<String>,
    /// The code that ran.
    pub code: Option<String>,
    /// The hash of the code.
    pub code_hash: Option<String>,
    /// The structured plan behind the code.
    pub plan: Option<Value>,
    /// Column types that the code was compiled against, by table.
    pub compiled_against: Option<Value>,
    /// The hash of the data that it looked at.
    pub data_fingerprint: Option<String>,
    /// The figure that a check of the whole table saw.
    #[serde(default)]
    pub observed: Option<Value>,
    /// The run whose counts these are, where the check was not run again because nothing changed.
    #[serde(default)]
    pub kept_from: Option<String>,
    /// How long it took.
    pub duration_ms: f64,
    /// Where the check is written, for reports that link to it.
    #[serde(skip)]
    pub location: Option<Location>,
}

impl CheckResult {
    /// The result of a check of which nothing else is known: it could not be evaluated.
    pub fn new(check: &Check) -> Self {
        Self {
            check_id: check.check_id.clone(),
            check_name: check.check_name.clone(),
            status: CheckStatus::Error,
            reason: None,
            severity: check.severity,
            owner: check.owner.clone(),
            tags: check.tags.clone(),
            target_table: check.target_table.clone(),
            kind: check.kind.name().to_owned(),
            rule: check.rule(),
            understood: None,
            skipped: None,
            evaluated: None,
            failed: None,
            failed_pct: None,
            summary: String::new(),
            samples: Vec::new(),
            artifacts: Vec::new(),
            code_from: None,
            recompiled: None,
            notes: Vec::new(),
            code: None,
            code_hash: None,
            plan: None,
            compiled_against: None,
            data_fingerprint: None,
            observed: None,
            kept_from: None,
            duration_ms: 0.0,
            location: None,
        }
    }
}

/// A place in a file of checks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// The file, as the workspace names it.
    pub file: String,
    /// The line, counted from one.
    pub line: u32,
}

/// A failing row.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct FailedRow {
    /// What tells the row apart.
    pub key: BTreeMap<String, Value>,
    /// The offending columns and their values, masked where the owner says so.
    pub values: BTreeMap<String, Value>,
}

/// Why a check was skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SkipReason {
    /// Its owner turned it off.
    Disabled,
    /// A table that it looks at is not there.
    MissingTable,
    /// A table that it judges has no rows.
    EmptyTable,
    /// It has not seen enough runs to know what is usual.
    Learning,
    /// A check that it depends on did not pass.
    UpstreamFailed,
    /// No row satisfies its filter or its conditions, or has a value to look at.
    NoRows,
    /// The reader does not understand its words.
    NotUnderstood,
    /// It has no code that may run: nothing could write it, or it is read otherwise than it was accepted.
    NotCompiled,
    /// It needs compiling, which `--frozen` forbids.
    Frozen,
    /// `state:changed` left it out: nothing changed.
    Filtered,
}

/// Where a check's code came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CodeFrom {
    /// An earlier run.
    Cache,
    /// A model.
    Planner,
    /// The reader.
    Rules,
    /// A built-in kind.
    Builtin,
}
