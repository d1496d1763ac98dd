//! The parts of a check's record that its code and its grade depend on.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::check::Check;

/// The version of what turns rules into code, and of the frames that the code is given. Code of an older one is made anew.
pub const COMPILER_VERSION: u32 = 9;

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
