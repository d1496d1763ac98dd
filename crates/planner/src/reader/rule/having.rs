//! What it means that rows have something: a number that is not 0, a value that is there, or a yes.

use std::cmp::Ordering;

use ordain_types::{Side, Test};
use serde_json::json;

use super::claim::{Claim, Demand};
use super::made::compare;
use crate::reader::form::Cond;
use crate::reader::index::Sort;
use crate::reader::parse::Parser;

impl Parser<'_> {
    /// That rows have something, where it is certain what that is: `no lot has defects` speaks of more than 0 of them, as
    /// questions do, `must have a score` of a value. Where a number may be missing and may be 0, `no fine` says neither.
    pub(super) fn has_some(
        &self,
        column: usize,
        start: usize,
        end: usize,
        is_denied: bool,
    ) -> Option<Demand> {
        let (name, path) = (self.name_of(column), self.own(column));
        let shape = &self.index.tables[self.focus].columns[column];
        let there = Claim::Test(Test::Null(name.clone())).demand(false);
        let unclear = |ways: &str| {
            let reason = format!("it is not certain what having “{name}” means: write {ways}");
            self.trace.leaves_open(&self.tokens[start.min(end - 1)], &reason);
        };
        if shape.flag.is_some() || shape.sort == Sort::Flag {
            let yes = shape.flag.as_ref().map_or(json!(true), |(yes, _)| yes.clone());
            let yes = yes.as_str().map_or_else(|| yes.to_string(), str::to_owned);
            unclear(&format!("whether `{name}` must be {yes} or must not be empty"));
            return None;
        }
        let said = &self.tokens[end - 1];
        if !self.is_quantity(&path) || !(is_denied || shape.is_bit || said.lower != said.stem) {
            return Some(there);
        }
        let meant = self.amount(&path, !is_denied);
        // What has gaps besides is not said to be 0 by `no`, nor is a measurement that no row has as 0 yet.
        let is_open = shape.has_nulls && (is_denied || shape.is_bit)
            || is_denied && shape.sort == Sort::Number && shape.least == Some(Ordering::Greater);
        match meant {
            Some(Cond::Null(_)) => Some(there),
            Some(_) if !is_open => {
                Some(Claim::Test(compare(Side::Column(name), ">", Side::Value(json!(0)))).demand(true))
            }
            _ => {
                unclear(&format!(
                    "whether `{name}` must be 0, must be above 0, must be empty or must not be empty"
                ));
                None
            }
        }
    }
}
