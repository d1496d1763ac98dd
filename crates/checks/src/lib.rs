//! Standing rules about data: what a check is, how its result is graded, what a change makes stale, and reports.
//!
//! A [`Check`] is a record that data teams write. Its code is either compiled from a built-in kind, without a model, or
//! written by a planner from a hint; the engine runs it in a cell. What a run gave is a [`RunReport`], from which every
//! output format is made.
//!
//! Invariant: this crate runs nothing and opens no database. It is given tables' schemas and counts, and gives code,
//! grades and text.

pub mod catalogue;
pub mod change;
mod check;
pub mod contracts;
mod error;
pub mod exit;
pub mod export;
pub mod file;
mod grade;
pub mod import;
pub mod kinds;
mod mark;
pub mod order;
pub mod report;
mod result;
mod schedule;
mod schema;
mod select;
pub mod suggest;
pub mod yaml;

pub use check::{Check, Samples, Severity, Threshold};
pub use error::ChecksError;
pub use grade::{Counts, grade};
pub use mark::{Mark, Tone};
pub use result::{CheckResult, CheckStatus, CodeFrom, FailedRow, Location, RunReport, SkipReason};
pub use schedule::{Schedule, ScheduleError};
pub use schema::checks_schema;
pub use select::{Selection, SelectionError};
