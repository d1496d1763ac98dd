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
mod capabilities;
mod code;
mod compile;
mod engine;
mod error;
mod exec;
mod exec_sessions;
mod fingerprint;
mod host;
mod identity;
mod json_bytes;
mod kept_back;
mod look;
mod lost;
mod nodes;
mod note;
mod outcome;
mod profile;
mod programs;
mod rebase;
mod retry;
mod road;
mod rounds;
mod steps;
mod story;
mod terms;
mod tools;
mod trial;
mod work;

pub use ask::{Ask, Decision, Mode, Resumed, turn_of};
pub use cache::{Written, cached_plan, why_stale};
pub use code::{AnswerType, CodeAnswer, CodeTask};
pub use engine::{Engine, EngineSettings};
pub use error::EngineError;
pub use exec::{Exec, ExecAnswer, Judgement};
pub use fingerprint::{
    Components, FingerprintInputs, NAMED_COLUMNS, PLAN_API_VERSION, column_component, columns_with, hash,
};
pub use identity::Identity;
pub use json_bytes::json_bytes;
pub use nodes::OtherNodes;
pub use ordain_planner::{Planner, Progress, Quiet, Turn};
pub use profile::profile_for;
pub use programs::{Opened, Programs};
pub use retry::{Obstacle, Retry};
pub use steps::Continued;
pub use story::{Head, millis};
pub use tools::{deliver, settle_unknown};
pub use work::{Order, Origin};
