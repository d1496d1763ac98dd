//! The shapes of checks and their results, for the `OpenAPI` document. As with other records, a test reads real ones by
//! these descriptions.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// A standing rule about data, as its owner wrote it. Fields that Ordain does not know are kept.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[expect(clippy::struct_field_names, reason = "the fields are those of the record")]
pub(crate) struct Check {
    /// Names the check for ever.
    pub(crate) check_id: String,
    /// What people call it.
    pub(crate) check_name: String,
    /// What it is for.
    pub(crate) description: String,
    /// The tables it looks at, the first one being judged.
    pub(crate) target_table: Vec<String>,
    /// `hint`, or a built-in kind.
    pub(crate) kind: String,
    /// The rule in words, for `hint`.
    pub(crate) calculation_hint: Option<String>,
    /// The rule as it was understood when a person accepted it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) accepted_reading: Option<String>,
    /// What the kind needs.
    pub(crate) params: BTreeMap<String, Value>,
    /// The columns that tell failing rows apart.
    pub(crate) key_columns: Vec<String>,
    /// Which rows are looked at: a pandas query.
    pub(crate) filter: Option<String>,
    /// How much a failure weighs.
    pub(crate) severity: Severity,
    /// From when on a failure is a warning.
    pub(crate) warn_if: Option<Value>,
    /// From when on it is a failure.
    pub(crate) fail_if: Option<Value>,
    /// Whether it runs at all.
    pub(crate) enabled: bool,
    /// Who answers for it.
    pub(crate) owner: Option<String>,
    /// Words to select by.
    pub(crate) tags: Vec<String>,
    /// When it runs: a cron expression.
    pub(crate) schedule: Option<String>,
    /// Checks that must have passed before.
    pub(crate) depends_on: Vec<String>,
    /// Whether checks that depend on it are skipped when it fails.
    pub(crate) blocking: bool,
    /// How failing rows are shown.
    pub(crate) samples: Value,
}

/// How much a failure weighs.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Severity {
    /// Good to know.
    Info,
    /// Someone should look some day.
    Low,
    /// Someone should look.
    Medium,
    /// Someone must look.
    High,
    /// Everything stops.
    Critical,
}

/// The grade of a check.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum CheckStatus {
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

/// Where a check's code came from.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CodeFrom {
    /// An earlier run.
    Cache,
    /// A model.
    Planner,
    /// The reader.
    Rules,
    /// A built-in kind.
    Builtin,
}

/// What one run of checks gave.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CheckReport {
    /// Names the run.
    pub(crate) run_id: String,
    /// The version of this format.
    pub(crate) schema_version: u32,
    /// The workspace's name.
    pub(crate) workspace: String,
    /// When it began.
    pub(crate) started_at: String,
    /// How long it took.
    pub(crate) duration_ms: f64,
    /// How many checks have each status.
    pub(crate) counts: BTreeMap<String, u64>,
    /// What each check gave.
    pub(crate) results: Vec<CheckResult>,
}

/// What one check gave.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CheckResult {
    /// Names the check.
    pub(crate) check_id: String,
    /// What people call it.
    pub(crate) check_name: String,
    /// Its grade.
    pub(crate) status: CheckStatus,
    /// Why it is an ERROR or was SKIPPED.
    pub(crate) reason: Option<String>,
    /// How much a failure weighs.
    pub(crate) severity: Severity,
    /// Who answers for it.
    pub(crate) owner: Option<String>,
    /// Words to select by.
    pub(crate) tags: Vec<String>,
    /// The tables it looks at.
    pub(crate) target_table: Vec<String>,
    /// `hint`, or a built-in kind.
    pub(crate) kind: String,
    /// The rule as its owner wrote it.
    pub(crate) rule: String,
    /// The rule as it was understood: restated from what it was compiled to.
    pub(crate) understood: Option<String>,
    /// Why it was skipped, where it was: `disabled`, `missing_table`, `empty_table`, `learning`, `upstream_failed`, `not_compiled`, `frozen`, `filtered`.
    pub(crate) skipped: Option<String>,
    /// How many rows were looked at.
    pub(crate) evaluated: Option<u64>,
    /// How many of them fail.
    pub(crate) failed: Option<u64>,
    /// The same as a share, in percent.
    pub(crate) failed_pct: Option<f64>,
    /// One sentence.
    pub(crate) summary: String,
    /// Some failing rows, masked.
    pub(crate) samples: Vec<FailedRow>,
    /// The files with all failing rows.
    pub(crate) artifacts: Vec<String>,
    /// Where the code came from.
    pub(crate) code_from: Option<CodeFrom>,
    /// Why the code was made anew, where it was.
    pub(crate) recompiled: Option<String>,
    /// What is worth saying besides.
    pub(crate) notes: Vec<String>,
    /// The code that ran.
    pub(crate) code: Option<String>,
    /// The hash of the code.
    pub(crate) code_hash: Option<String>,
    /// The plan behind the code.
    pub(crate) plan: Option<Value>,
    /// Column types that the code was compiled against, by table.
    pub(crate) compiled_against: Option<Value>,
    /// The hash of the data that it looked at.
    pub(crate) data_fingerprint: Option<String>,
    /// The figure that a check of the whole table saw.
    pub(crate) observed: Option<Value>,
    /// The run whose counts these are, where the check was not run again because nothing changed.
    pub(crate) kept_from: Option<String>,
    /// How long it took.
    pub(crate) duration_ms: f64,
}

/// A failing row.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FailedRow {
    /// What tells the row apart.
    pub(crate) key: BTreeMap<String, Value>,
    /// The offending columns and their values.
    pub(crate) values: BTreeMap<String, Value>,
}

/// One line of the history of a check.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PastResult {
    /// Names the check.
    pub(crate) check_id: String,
    /// The run.
    pub(crate) run_id: String,
    /// When it began.
    pub(crate) started_at: String,
    /// The grade.
    pub(crate) status: CheckStatus,
    /// How many rows failed.
    pub(crate) failed: Option<u64>,
    /// The same as a share, in percent.
    pub(crate) failed_pct: Option<f64>,
    /// How many rows were looked at.
    pub(crate) evaluated: Option<u64>,
    /// The figure that a check of the whole table saw.
    pub(crate) observed: Option<Value>,
    /// How long it took.
    pub(crate) duration_ms: f64,
}

#[cfg(test)]
mod tests {
    use serde::de::DeserializeOwned;
    use serde_json::json;

    use super::*;

    /// Reads a real record, writes it, and reads it by its description.
    #[track_caller]
    fn same<Real: Serialize + DeserializeOwned, Described: Serialize + DeserializeOwned>(given: Value) {
        let real = serde_json::to_value(serde_json::from_value::<Real>(given).unwrap()).unwrap();
        let described: Described = serde_json::from_value(real.clone()).unwrap();
        assert_eq!(serde_json::to_value(described).unwrap(), real);
    }

    #[test]
    fn the_descriptions_are_those_of_the_records() {
        same::<ordain_checks::Check, Check>(
            json!({ "check_id": "a", "check_name": "n", "target_table": ["t"],
            "kind": "unique", "params": { "columns": ["id"] }, "warn_if": { "count": 1 } }),
        );
        let result = json!({ "check_id": "a", "check_name": "n", "status": "FAIL", "reason": null,
            "severity": "high", "owner": "o", "tags": ["x"], "target_table": ["t"], "kind": "unique",
            "evaluated": 3, "failed": 1, "failed_pct": 33.3, "summary": "s",
            "samples": [{ "key": { "id": 1 }, "values": { "v": null } }], "artifacts": ["f.csv"],
            "code_from": "builtin", "recompiled": null, "notes": [], "code": "x", "code_hash": "h",
            "plan": { "intent": "i" }, "compiled_against": { "t": { "id": "integer" } },
            "data_fingerprint": "f", "observed": 7, "kept_from": "q", "duration_ms": 1.5 });
        same::<ordain_checks::RunReport, CheckReport>(json!({ "run_id": "r", "schema_version": 1,
            "workspace": "w", "started_at": "", "duration_ms": 2.5, "counts": { "FAIL": 1 },
            "results": [result] }));
        same::<ordain_engine::checks::Past, PastResult>(json!({ "check_id": "a", "run_id": "r",
            "started_at": "", "status": "SKIPPED", "failed": null, "failed_pct": null, "evaluated": null,
            "observed": null, "duration_ms": 0.5 }));
    }
}
