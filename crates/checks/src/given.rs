//! What the code of checks is given besides rows: the time of the run, variables, earlier figures.

use std::collections::BTreeMap;

use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::check::Check;
use crate::kinds;
use crate::task::CheckOptions;

/// The variables that every run has: its day, and the one before, in UTC.
const OWN: [&str; 2] = ["today", "yesterday"];
/// The day at the beginning of a point in time.
const DAY_BYTES: usize = "2026-01-31".len();

/// The same for all checks of a run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Given {
    now: String,
    variables: BTreeMap<String, Value>,
}

impl Given {
    /// What a run gives that began then.
    pub(crate) fn new(started_at: &str, options: &CheckOptions) -> Self {
        let mut variables = options.variables.clone();
        if let Some(today) = started_at.get(..DAY_BYTES).and_then(|day| day.parse::<Date>().ok()) {
            let days = [Some(today), today.yesterday().ok()];
            let own = OWN.into_iter().zip(days).filter_map(|(name, day)| Some((name, day?)));
            variables.extend(own.map(|(name, day)| (name.to_owned(), json!(day.to_string()))));
        }
        Self { now: started_at.to_owned(), variables }
    }

    /// The same for one check, with the figures that earlier runs saw.
    pub(crate) fn inputs(&self, history: &[f64]) -> Value {
        json!({ "now": self.now, "history": history, "variables": self.variables })
    }
}

/// Why a check cannot run: its filter names a variable that nobody gave.
pub(crate) fn missing_variable(check: &Check, options: &CheckOptions) -> Option<String> {
    let named = kinds::variables(check.filter.as_deref()?);
    let is_given = |name: &str| OWN.contains(&name) || options.variables.contains_key(name);
    let missing = named.into_iter().find(|name| !is_given(name))?;
    Some(format!(
        "its filter names the variable `${missing}`, which has no value; give it with `--var {missing}=…`"
    ))
}
