//! Runs of several steps: looks before a plan, outlines whose steps are carried out one after the other or side by
//! side, and sessions in which the planner sees what each step printed.
//!
//! Invariant: no transaction is open and no row is locked while a planner thinks. Between two steps a run holds its
//! pending changes and nothing else; only the last transaction commits.

mod budget;
mod cell;
mod continued;
mod criterion;
mod each;
mod gathered;
mod look;
mod plan;
mod react;
mod resume;
mod settle;
mod step;
mod strategy;

pub use continued::Continued;
pub(crate) use strategy::{ask_back, is_readers, take};
