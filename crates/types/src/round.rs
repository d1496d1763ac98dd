//! The rounds of a plan: what was judged, what was wrong, and what was changed.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::SourceFile;

/// What kind of error it is that ended a round or a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ErrorClass {
    /// No planner could be had: a model that does not answer, a key that it refuses. Nothing was tried.
    Planner,
    /// The reply held no usable code.
    Reply,
    /// The verifier refused the code.
    Verify,
    /// The reviewer says that the code does not do what was asked.
    Review,
    /// The code raised an error.
    Runtime,
    /// The code passed a limit.
    Limit,
    /// The code did not do what it declares, or left out what it must set.
    Contract,
    /// An invariant or a table's rule was broken.
    Invariant,
    /// The answer gives numbers or names that nothing in the run gives.
    Claim,
    /// The files that were given cannot be used.
    Files,
    /// The criterion by which a step's success is judged did not hold.
    Criterion,
    /// The run used up a budget, or went round in circles.
    Budget,
    /// Rows on which earlier steps rest were changed by somebody else.
    Conflict,
    /// Somebody stopped the run.
    Cancelled,
    /// Something failed that is not the plan's.
    #[default]
    Internal,
}

impl ErrorClass {
    /// The class as records have it.
    pub fn name(self) -> String {
        serde_json::to_value(self).ok().and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default()
    }
}

/// What was wrong with a round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Trouble {
    /// What kind of trouble it is.
    pub class: ErrorClass,
    /// A stable code: a finding's, a promise's or an exception's name.
    pub code: String,
    /// What was wrong.
    pub message: String,
    /// In which line of the code.
    pub line: Option<u64>,
    /// What to do instead.
    pub hint: Option<String>,
}

impl Trouble {
    /// Something that went wrong in no line of its own, and what would help.
    pub fn new(class: ErrorClass, code: &str, message: String, hint: &str) -> Self {
        Self { class, code: code.to_owned(), message, line: None, hint: Some(hint.to_owned()) }
    }
}

/// One thing that happened on the way to a plan that holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(untagged)]
pub enum Round {
    /// A kept plan was not run: something that it was compiled against has changed.
    Stale {
        /// Its id in the plan cache.
        cached_plan: String,
        /// What has changed.
        stale: String,
    },
    /// A kept plan was run and did not hold.
    KeptFailed {
        /// Its id in the plan cache.
        cached_plan: String,
        /// What was wrong.
        trouble: Trouble,
    },
    /// The executor on which the code ran was lost; it ran again on another one.
    ExecutorLost {
        /// What happened to it.
        executor_lost: String,
    },
    /// The planner looked at the data before it wrote the plan.
    Looked {
        /// The program that it looked with.
        look: String,
        /// What it was shown: what the program printed, or why it was not run.
        shown: String,
    },
    /// Code was judged, and run if it was accepted.
    Judged(Judged),
}

/// A round in which there was a reply to judge.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Judged {
    /// The first is 1.
    pub round: u32,
    /// Whether the verifier accepted the code.
    pub accepted: bool,
    /// What it found.
    #[serde(default)]
    pub findings: Vec<Value>,
    /// The code; nothing if the reply held none, or if it is that of the plan, which stands there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// Modules that came with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modules: Vec<SourceFile>,
    /// What was wrong, where something was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<Trouble>,
}

/// Something that was changed in what a planner wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Modification {
    /// In which round.
    #[serde(default)]
    pub round: u32,
    /// What kind of change it is.
    #[serde(default)]
    pub kind: ModificationKind,
    /// What was changed.
    pub what: String,
    /// What stood there before, where an answer was replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<String>,
}

/// What kind of change a modification is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ModificationKind {
    /// A certain fix, made by a program.
    #[default]
    Fix,
    /// The planner wrote the code anew.
    Rewrite,
    /// An answer with a number from nowhere was replaced by a plain one.
    Answer,
}
