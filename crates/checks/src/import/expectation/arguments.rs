//! The arguments of an expectation, read by name, with what was read kept in mind.

use std::cell::RefCell;
use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::super::draft::fail_above;
use super::{NotMapped, invalid, unsupported};
use crate::check::Threshold;

/// Arguments about how results are reported, which a check has its own words for.
pub(in super::super) const REPORTING: [&str; 12] = [
    "result_format",
    "catch_exceptions",
    "include_config",
    "meta",
    "batch_id",
    "auto",
    "profiler_config",
    "notes",
    "severity",
    "windows",
    "row_condition_type",
    "id",
];

pub(super) struct Arguments<'a> {
    kwargs: &'a Map<String, Value>,
    read: RefCell<HashSet<String>>,
}

impl<'a> Arguments<'a> {
    pub(super) fn new(kwargs: &'a Map<String, Value>) -> Self {
        Self { kwargs, read: RefCell::default() }
    }

    /// The argument; one that is null is not there.
    pub(super) fn get(&self, name: &str) -> Option<&'a Value> {
        self.read.borrow_mut().insert(name.to_owned());
        self.kwargs.get(name).filter(|value| !value.is_null())
    }

    /// The argument, or null.
    pub(super) fn or_null(&self, name: &str) -> Value {
        self.get(name).cloned().unwrap_or_default()
    }

    pub(super) fn is_set(&self, name: &str) -> bool {
        self.get(name).and_then(Value::as_bool).unwrap_or_default()
    }

    /// A column's name.
    pub(super) fn column(&self, name: &str) -> Result<Value, NotMapped> {
        match self.get(name) {
            Some(Value::String(column)) => Ok(json!(column)),
            Some(_) => Err(invalid(&format!("`{name}` is not a column's name"))),
            None => Err(invalid(&format!("`{name}` is missing"))),
        }
    }

    /// A list of values.
    pub(super) fn list(&self, name: &str) -> Result<Value, NotMapped> {
        match self.get(name) {
            Some(Value::Array(values)) => Ok(json!(values)),
            Some(_) => Err(invalid(&format!("`{name}` is not a list"))),
            None => Err(invalid(&format!("`{name}` is missing"))),
        }
    }

    /// `min_value` and `max_value`, each a number or a point in time.
    pub(super) fn bounds(&self) -> Result<(Value, Value), NotMapped> {
        let (least, most) = (self.bound("min_value")?, self.bound("max_value")?);
        if let (Some(least), Some(most)) = (least.as_f64(), most.as_f64())
            && least > most
        {
            return Err(invalid("`min_value` is greater than `max_value`"));
        }
        Ok((least, most))
    }

    /// Whole numbers only.
    pub(super) fn counts(&self, must_be_ordered: bool) -> Result<(Value, Value), NotMapped> {
        let of = |name| match self.get(name) {
            None => Ok(Value::Null),
            Some(value) if value.as_u64().is_some() => Ok(value.clone()),
            // A whole number may be written with a point.
            Some(value) if value.as_f64().is_some_and(|number| number >= 0.0 && number.fract() == 0.0) => {
                Ok(value.clone())
            }
            Some(_) => Err(invalid(&format!("`{name}` is not a whole number"))),
        };
        let (least, most) = (of("min_value")?, of("max_value")?);
        if must_be_ordered && least.as_f64() > most.as_f64() && !most.is_null() {
            return Err(invalid("`min_value` is greater than `max_value`"));
        }
        Ok((least, most))
    }

    /// `value`, a whole number.
    pub(super) fn count(&self) -> Result<Value, NotMapped> {
        match self.get("value") {
            Some(value) if value.as_f64().is_some_and(|number| number >= 0.0 && number.fract() == 0.0) => {
                Ok(value.clone())
            }
            _ => Err(invalid("`value` is not a whole number")),
        }
    }

    fn bound(&self, name: &str) -> Result<Value, NotMapped> {
        match self.get(name) {
            None => Ok(Value::Null),
            Some(value @ (Value::Number(_) | Value::String(_))) => Ok(value.clone()),
            Some(Value::Object(parameter)) => {
                let expression = parameter.get("$PARAMETER").and_then(Value::as_str).unwrap_or_default();
                point_in_time(expression).map(Value::String).ok_or_else(|| {
                    unsupported(&format!(
                        "`{name}` is a parameter that is known only when it runs: `{expression}`"
                    ))
                })
            }
            Some(_) => Err(invalid(&format!("`{name}` is neither a number nor a point in time"))),
        }
    }

    /// Which rows are left out for their nulls.
    pub(super) fn ignore_row_if(&self, default: &'static str) -> Result<Value, NotMapped> {
        match self.get("ignore_row_if").and_then(Value::as_str) {
            None => Ok(json!(default)),
            Some("any_value_is_missing" | "either_value_is_missing") => Ok(json!("any_null")),
            Some("all_values_are_missing" | "both_values_are_missing") => Ok(json!("all_null")),
            Some("never" | "neither") => Ok(json!("never")),
            Some(other) => Err(invalid(&format!("`ignore_row_if` is `{other}`"))),
        }
    }

    pub(super) fn filter(&self) -> Result<Option<String>, NotMapped> {
        let Some(condition) = self.get("row_condition") else {
            return Ok(None);
        };
        let parser = self.get("condition_parser").and_then(Value::as_str);
        match (condition.as_str(), parser) {
            (Some(condition), Some("pandas") | None) => Ok(Some(condition.to_owned())),
            (Some(_), Some("spark" | "great_expectations" | "great_expectations__experimental__")) => {
                Err(unsupported("its row condition is not written for pandas"))
            }
            (Some(_), Some(other)) => Err(invalid(&format!("`condition_parser` is `{other}`"))),
            (None, _) => Err(unsupported("its row condition is not text")),
        }
    }

    pub(super) fn fail_if(&self) -> Result<Option<Threshold>, NotMapped> {
        match self.get("mostly") {
            None => Ok(None),
            Some(mostly) => match mostly.as_f64() {
                Some(share) if (0.0..=1.0).contains(&share) => Ok((share < 1.0).then(|| fail_above(share))),
                _ => Err(invalid("`mostly` is not a number from 0 to 1")),
            },
        }
    }

    /// What the kind does not take. It is kept in the check.
    pub(super) fn left(&self) -> Map<String, Value> {
        let read = self.read.borrow();
        let is_left =
            |name: &str| !read.contains(name) && !REPORTING.contains(&name) && name != "condition_parser";
        self.kwargs
            .iter()
            .filter(|(name, value)| is_left(name) && !value.is_null())
            .map(|(name, value)| (format!("gx_{name}"), value.clone()))
            .collect()
    }
}

/// `datetime(2003, 1, 1)`, the one expression that is the same whenever it runs.
fn point_in_time(expression: &str) -> Option<String> {
    let inside = expression.trim().strip_prefix("datetime(")?.strip_suffix(')')?;
    let numbers: Vec<u32> = inside.split(',').map(|part| part.trim().parse().ok()).collect::<Option<_>>()?;
    let at = |index: usize| numbers.get(index).copied().unwrap_or_default();
    let is_date = (3..=6).contains(&numbers.len()) && (1..=12).contains(&at(1)) && (1..=31).contains(&at(2));
    is_date.then(|| format!("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", at(0), at(1), at(2), at(3), at(4), at(5)))
}
