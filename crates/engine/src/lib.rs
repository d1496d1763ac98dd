//! The one pipeline: a plan is verified, run in a cell inside one transaction, and recorded.
//!
//! The engine sees all parts and knows no transport. It is the only place where a cell meets the store: code in a
//! cell calls its [`ordain_cell::Host`], which here is the run's open transaction, so that no cell ever holds a
//! database handle and the store never learns Python.
//!
//! Invariant: a run has exactly one transaction. Its diff, its ledger entry and its state are committed together or
//! not at all.

mod ask;
mod engine;
mod error;
mod host;
mod outcome;

pub use ask::{Ask, Mode};
pub use engine::{Approval, Engine, EngineSettings};
pub use error::EngineError;
