//! Expectation types of Great Expectations, each as one of our kinds.
//!
//! dbt's `dbt_expectations` package has the same types with the same arguments, so it is mapped here too. A share that
//! must pass (`mostly`) becomes the share that may fail (`fail_if`), a row condition becomes the filter.

mod aggregates;
pub(super) mod arguments;
mod columns;
mod rows;

use serde_json::{Map, Value};

use crate::catalogue::Kind;
use crate::check::Threshold;
use arguments::Arguments;

/// An expectation as one of our kinds.
#[derive(Debug, Clone, PartialEq)]
pub struct Expected {
    /// The kind.
    pub kind: Kind,
    /// What it takes.
    pub params: Map<String, Value>,
    /// Which rows are looked at.
    pub filter: Option<String>,
    /// From when on it fails.
    pub fail_if: Option<Threshold>,
    /// Arguments that have no place in a check.
    pub left: Map<String, Value>,
}

/// Why an expectation has no check.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotMapped {
    /// No kind means the same.
    #[error("{0}")]
    Unsupported(String),
    /// The expectation itself makes no sense.
    #[error("{0}")]
    Invalid(String),
}

type Mapped = Result<(Kind, Map<String, Value>), NotMapped>;

/// The expectation of that type with these arguments, as one of our kinds.
pub fn map_expectation(expectation: &str, kwargs: &Map<String, Value>) -> Result<Expected, NotMapped> {
    let arguments = Arguments::new(kwargs);
    let name = expectation.strip_prefix("expect_").unwrap_or(expectation);
    let mapped = columns::map(name, &arguments)
        .or_else(|| rows::map(name, &arguments))
        .or_else(|| aggregates::map(name, &arguments))
        .unwrap_or_else(|| Err(unsupported(&format!("no kind means the same as `{expectation}`"))));
    let (kind, params) = mapped?;
    Ok(Expected {
        kind,
        params,
        filter: arguments.filter()?,
        fail_if: arguments.fail_if()?,
        left: arguments.left(),
    })
}

fn invalid(reason: &str) -> NotMapped {
    NotMapped::Invalid(reason.to_owned())
}

fn unsupported(reason: &str) -> NotMapped {
    NotMapped::Unsupported(reason.to_owned())
}
