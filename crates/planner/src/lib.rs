//! Writes plans: from a brief to Python code, by rules or by a model.
//!
//! A [`Brief`] is exactly what a planner is shown. [`Planner::begin`] opens an [`Exchange`] about it and
//! [`Planner::next`] gives a [`Reply`]: code, a look, an outline, a question, or a refusal. The engine judges and runs the code; where that
//! goes wrong it tells the exchange by [`Planner::complain`] and asks again. So the planner never sees a cell or a
//! database, and the engine never sees a model.
//!
//! Invariant: this is the only crate that knows a model. Everything that a model sends is hostile: bounded, parsed
//! strictly where it matters, never run without the verifier's word.

mod brief;
mod choice;
mod consent;
mod exchange;
mod model;
mod planner;
mod policy;
mod policy_check;
mod prompt;
pub mod provider;
pub mod reader;
mod repair;
mod reply;
mod stats;

pub use brief::{
    Brief, ColumnBrief, Example, FileBrief, Forms, InvariantBrief, OutlineForm, Stage, StepBrief, TableBrief,
    TableCount, Task, Turn, question_key,
};
pub use choice::{Candidate, Choice, choose, choose_listed, survey};
pub use consent::{Consent, Opinion};
pub use exchange::{Draft, Exchange, MadeRows, Message, Reply, Speaker};
pub use model::{Model, ModelSettings};
pub use planner::{Judgement, Planner, PlannerError, Progress, Quiet};
pub use policy_check::{PolicyFinding, policy_findings};
pub use prompt::{Did, Reviewed};
pub use reader::RULES_VERSION;
pub use stats::{Stats, cost_of};
