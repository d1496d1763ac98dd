//! The parts of a check's record that its code and its grade depend on.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::check::{Check, Samples};

/// The version of what turns rules into code, and of the frames that the code is given. Code of an older one is made anew.
pub const COMPILER_VERSION: u32 = 12;

/// The parts of a record that its code depends on.
pub fn rule_of(check: &Check) -> BTreeMap<String, Value> {
    let fields = [
        ("calculation_hint", json!(check.calculation_hint)),
        ("compiler", json!(COMPILER_VERSION)),
        ("filter", json!(check.filter)),
        ("kind", json!(check.kind)),
        ("params", Value::Object(check.params.clone())),
        ("target_table", json!(check.target_table)),
    ];
    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// The parts of a record that the grade and the samples depend on.
pub fn grading_of(check: &Check) -> Value {
    json!([check.severity, check.warn_if, check.fail_if, check.samples, check.key_columns])
}

/// Whether what was kept of a run, graded by `before`, has all that a grade and samples of today need: rows that were never
/// taken, values that were masked and keys of other columns are not in it.
pub fn can_grade_again(check: &Check, before: &Value, samples: usize, failed: Option<u64>) -> bool {
    let Ok(was) = serde_json::from_value::<Samples>(before[3].clone()) else { return false };
    let has_rows =
        check.samples.max_rows <= was.max_rows || failed.is_some_and(|failed| failed <= samples as u64);
    let is_masked = was.mask.iter().all(|column| check.samples.mask.contains(column));
    has_rows && is_masked && before[4] == json!(check.key_columns)
}
