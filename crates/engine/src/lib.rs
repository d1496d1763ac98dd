//! The one pipeline: a plan is verified, run in a cell inside one transaction, and recorded.
//!
//! The engine sees all parts and knows no transport. It is the only place where a cell meets the store: code in a
//! cell calls its [`ordain_cell::Host`], which here is the run's open transaction, so that no cell ever holds a
//! database handle and the store never learns Python.
//!
//! It begins with a [`Workspace`]: a folder with `ordain.toml`, a policy, seeds and helpers, read strictly, so that a
//! slip of the pen is an error with a line and not a rule that silently does not hold.
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
mod example;
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
mod outcome;
mod policy_check;
mod profile;
mod rebase;
mod road;
mod rounds;
mod schedules;
mod stats;
mod steps;
mod story;
mod tools;
mod trial;
mod verdicts;
mod work;
mod workspace;

pub use ask::{Ask, Decision, Mode, PlanFile, Resumed, turn_of};
pub use code::{AnswerType, CodeAnswer, CodeTask, ModuleProblem};
pub use engine::{Approval, Engine, EngineSettings};
pub use error::EngineError;
pub use example::{EXAMPLES, Example, InitError, init, init_around};
pub use exec::{Exec, ExecAnswer, Judgement};
pub use files::{Prepared, RefusedFile, own_programs, profile_for_files};
pub use fingerprint::PLAN_API_VERSION;
pub use helpers::Helpers;
pub use json_bytes::json_bytes;
pub use ordain_planner::{Planner, Progress, Quiet, Turn};
pub use policy_check::PolicyFinding;
pub use schedules::{Due, Scheduled, ScheduledRun, ScheduledTask, Schedules};
pub use stats::{Stats, cost_of};
pub use steps::{Budgets, Continued};
pub use tools::deliver;
pub use workspace::{
    Accepted, BackupPlace, BackupSettings, DeclaredRole, Environment, Resolved, SETTINGS, Setting, TrustList,
    VariableSource, Workspace, WorkspaceError, config_schema, limits_without_workspace,
};
