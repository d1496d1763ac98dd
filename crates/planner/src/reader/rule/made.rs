//! The small parts that rules are made of.

use ordain_types::{Side, Test};
use serde_json::Value;

use crate::reader::parse::as_json;

/// How old a day may be, or must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Age {
    /// In the time before the run, and not after it.
    Within,
    /// No older than so long.
    AtMost,
    /// Older than so long.
    Older,
}

/// A comparison of two sides.
pub(super) fn compare(left: Side, op: &str, right: Side) -> Test {
    Test::Compare { left, op: op.to_owned(), right }
}

/// A side that is calculated from two others.
pub(super) fn formula(sign: &str, left: Side, right: Side) -> Side {
    let sides = Box::new([left, right]);
    match sign {
        "+" => Side::Sum(sides),
        "-" => Side::Difference(sides),
        "*" => Side::Product(sides),
        _ => Side::Quotient(sides),
    }
}

/// A number of percent as a share.
pub(super) fn share(percent: f64) -> Value {
    as_json((percent * 1e6).round() / 1e8)
}
