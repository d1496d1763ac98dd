//! Checks as files of other tools, where they mean the same; the rest is named with the reason.

mod dbt;
mod gx;

use std::str::FromStr;

use serde::Serialize;
use serde_json::{Value, json};

use crate::check::Check;
use crate::import::Unmapped;

/// What checks can be written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// An expectation suite for each table.
    Gx,
    /// `schema.yml`, in that part of YAML which is JSON.
    Dbt,
    /// Our own records.
    Json,
}

ordain_types::names!(Target, name { Gx = "gx", Dbt = "dbt", Json = "json" });

/// A word that is not the name of a target.
#[derive(Debug, thiserror::Error)]
#[error("checks cannot be written as `{0}`; write gx, dbt or json")]
pub struct UnknownTarget(String);

impl FromStr for Target {
    type Err = UnknownTarget;

    fn from_str(text: &str) -> Result<Self, UnknownTarget> {
        Self::named(text).ok_or_else(|| UnknownTarget(text.chars().take(40).collect()))
    }
}

/// Checks as text of another tool.
#[derive(Debug, Serialize)]
pub struct Exported {
    /// The file.
    pub text: String,
    /// How many checks are in it.
    pub exported: usize,
    /// The checks that are not in it.
    pub unmapped: Vec<Unmapped>,
}

/// Writes checks as another tool's file.
pub fn export(target: Target, checks: &[Check]) -> Exported {
    let (value, unmapped) = match target {
        Target::Gx => gx::export(checks),
        Target::Dbt => dbt::export(checks),
        Target::Json => (records(checks), Vec::new()),
    };
    let text = serde_json::to_string_pretty(&value).unwrap_or_default() + "\n";
    Exported { text, exported: checks.len() - unmapped.len(), unmapped }
}

/// Our own records, without what is only the default.
fn records(checks: &[Check]) -> Value {
    let records = checks.iter().map(|check| {
        let mut record = json!(check);
        if let Value::Object(map) = &mut record {
            map.retain(|_, value| {
                !(value.is_null()
                    || value.as_str() == Some("")
                    || value.as_array().is_some_and(Vec::is_empty)
                    || value.as_object().is_some_and(serde_json::Map::is_empty)
                    || *value == json!({"max_rows": 20, "mask": []}))
            });
            if check.enabled {
                map.remove("enabled");
            }
            if !check.blocking {
                map.remove("blocking");
            }
        }
        record
    });
    Value::Array(records.collect())
}

/// A check that has no place in the file.
fn left_out(check: &Check, reason: &str) -> Unmapped {
    let reason = if check.is_words() {
        "its rule is in words, and only rules of a built-in kind are written"
    } else if check.filter.is_some() {
        "its filter is a pandas query, which other tools do not run"
    } else {
        reason
    };
    Unmapped {
        what: format!("{} ({})", check.check_id, check.kind),
        place: check.target_table.join(", "),
        reason: reason.to_owned(),
    }
}

/// A parameter as text.
fn text<'a>(check: &'a Check, name: &str) -> Option<&'a str> {
    check.params.get(name)?.as_str()
}

/// A parameter, or null.
fn param(check: &Check, name: &str) -> Value {
    check.params.get(name).cloned().unwrap_or_default()
}

/// Whether rows are judged in groups, in an order of their own or under a condition, which other tools do not know.
fn is_grouped(check: &Check) -> bool {
    ["by", "order_by", "when"].iter().any(|name| check.params.contains_key(*name))
}

fn is_set(check: &Check, name: &str) -> bool {
    check.params.get(name).and_then(Value::as_bool).unwrap_or_default()
}

/// A parameter as a list of names; one name is a list of one.
fn names(check: &Check, name: &str) -> Vec<String> {
    match check.params.get(name) {
        Some(Value::String(one)) => vec![one.clone()],
        Some(Value::Array(many)) => many.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}
