//! The one pipeline: a plan is verified, run in a cell inside one transaction, and recorded.
//!
//! The engine sees all parts and knows no transport. It is the only place where a cell meets the store: code in a
//! cell calls its [`ordain_cell::Host`], which here is the run's open transaction, so that no cell ever holds a
//! database handle and the store never learns Python.
//!
//! Invariant: a run has exactly one transaction. Its diff, its ledger entry and its state are committed together or
//! not at all.

mod actions;
mod artifacts;
mod ask;
mod brief;
mod cache;
pub mod checks;
mod claims;
mod code;
mod engine;
mod error;
mod exec;
mod exec_sessions;
mod files;
mod fingerprint;
mod grant;
mod helpers;
mod host;
mod json_bytes;
mod kept_back;
mod lost;
mod nodes;
mod outcome;
mod policy_check;
mod profile;
mod rebase;
mod road;
mod rounds;
mod schedules;
mod seeds;
mod stats;
mod steps;
mod story;
mod tools;
mod trial;
mod verdicts;
mod work;

pub use ask::{Ask, Decision, Mode, Resumed, turn_of};
pub use code::{AnswerType, CodeAnswer, CodeTask, ModuleProblem};
pub use engine::{Engine, EngineSettings};
pub use error::EngineError;
pub use exec::{Exec, ExecAnswer, Judgement};
pub use files::{Prepared, RefusedFile, own_programs, profile_for_files};
pub use fingerprint::PLAN_API_VERSION;
pub use helpers::Helpers;
pub use json_bytes::json_bytes;
pub use nodes::OtherNodes;
pub use ordain_planner::{Planner, Progress, Quiet, Turn};
pub use policy_check::PolicyFinding;
pub use schedules::{Due, ScheduledRun, Schedules};
pub use seeds::open_store;
pub use stats::{Stats, cost_of};
pub use steps::Continued;
pub use tools::deliver;
