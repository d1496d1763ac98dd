//! The record of one run: one type for the CLI, the service, the store and the ledger.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    BoundParam, Call, Cause, CellDifference, Diff, ErrorClass, HeldBy, Modification, Outline, Rating,
    Receipt, Round, StepKind, Trouble,
};

/// Names one run. Ids sort by the time at which their runs began.
#[derive(
    Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(transparent)]
pub struct RunId(pub String);

impl RunId {
    /// Makes an id from a time and ten random bytes: 26 digits of Crockford's base 32, time first.
    pub fn from_parts(unix_millis: u64, random: [u8; 10]) -> Self {
        const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
        let mut number = u128::from(unix_millis & 0xffff_ffff_ffff);
        for byte in random {
            number = number << 8 | u128::from(byte);
        }
        let digits = (0..26).rev().map(|place| char::from(DIGITS[(number >> (place * 5)) as usize & 31]));
        Self(digits.collect())
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// What made a run.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum RunKind {
    /// A request about the tables.
    Ask,
    /// A question about files.
    Code,
    /// Given code, without the workspace's tables.
    Exec,
    /// Checks.
    Check,
    /// Something whose process ended before it was recorded: only its id and its key are known.
    Lost,
}

crate::names!(RunKind, as_str { Ask = "ask", Code = "code", Exec = "exec", Check = "check", Lost = "lost" });

/// How a plan grows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Strategy {
    /// One step.
    #[default]
    Direct,
    /// An outline of steps first, then the code of each.
    Plan,
    /// Step by step: the planner sees what each step printed and writes the next.
    React,
    /// The planner's first reply decides: code, an outline or a question.
    Auto,
}

crate::names!(Strategy, as_str { Auto = "auto", Direct = "direct", Plan = "plan", React = "react" });

impl std::str::FromStr for Strategy {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::named(name).ok_or_else(|| {
            let shown: String = name.chars().filter(|sign| !sign.is_control()).take(60).collect();
            let names = Self::ALL.map(Self::as_str).join(", ");
            format!("there is no strategy `{shown}`; there are {names}")
        })
    }
}

/// Where a step of a plan stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StepState {
    /// It has not run.
    #[default]
    Waiting,
    /// It runs.
    Running,
    /// Its code ran to its end.
    #[serde(alias = "PASS", alias = "WARN", alias = "FAIL")]
    Done,
    /// Its code failed.
    #[serde(alias = "ERROR")]
    Failed,
    /// It was left out.
    #[serde(alias = "SKIPPED")]
    Skipped,
}

crate::names!(StepState, as_str {
    Waiting = "waiting", Running = "running", Done = "done", Failed = "failed", Skipped = "skipped",
});

/// Where a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// It changed rows and they are committed.
    Committed,
    /// It changed nothing and answered.
    Answered,
    /// The request was not understood, needs an answer first, or asks for what cannot be done here.
    Declined,
    /// Its diff waits for approval.
    Held,
    /// It waits for a person: an answer to its question, or a decision on its outline.
    Waiting,
    /// Its code was refused, or a person said no to its diff.
    Rejected,
    /// It broke an invariant or a rule of a table, or was a dry run; nothing changed.
    RolledBack,
    /// Its code raised an error, passed a limit or could not be run.
    Failed,
    /// Its changes were taken back.
    Undone,
    /// Its diff was approved too late: a row that it touches had changed meanwhile.
    Conflicted,
}

crate::names!(RunState, as_str {
    Committed = "committed", Answered = "answered", Declined = "declined", Held = "held",
    Waiting = "waiting", Rejected = "rejected", RolledBack = "rolled_back", Failed = "failed",
    Undone = "undone", Conflicted = "conflicted",
});

impl RunState {
    /// The state of a run that ended well and changed nothing, by what its plan says of it.
    pub fn without_changes(status: Option<&str>) -> Self {
        match status {
            Some("invalid_request" | "unsupported_intent") => Self::Declined,
            _ => Self::Answered,
        }
    }
}

/// One plan for one request, in one transaction, and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct RunRecord {
    /// Names the run.
    pub run_id: RunId,
    /// What made the run.
    pub kind: RunKind,
    /// What was asked, in words.
    pub request: String,
    /// How the plan grew.
    pub strategy: Strategy,
    /// Where the run stands.
    pub state: RunState,
    /// What the plan's code says of its own success.
    pub status: Option<String>,
    /// What happened to the data. Made from the state and the diff when the record is written, never by a plan.
    #[serde(default)]
    pub receipt: Receipt,
    /// The answer to the person.
    pub answer: Answer,
    /// The plan that ran.
    pub plan: PlanRecord,
    /// What the verifier said.
    pub verdict: VerdictRecord,
    /// What running the code gave.
    pub outcome: RunOutcome,
    /// The rows that changed, or would have.
    pub diff: Diff,
    /// What was called outside of the tables, or will be after the commit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<Call>,
    /// Whether each invariant held.
    pub invariants: Vec<InvariantResult>,
    /// What the planner used.
    pub usage: Usage,
    /// How long each part took.
    pub timing_ms: Timing,
    /// Why the run was not carried out, where that is so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<RunError>,
    /// When the run began.
    #[serde(default)]
    pub started_at: String,
    /// Rows that triggers of the database wrote besides, by table: their owner allows it, and it is not undone.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub by_triggers: BTreeMap<String, u64>,
    /// Rows of the held diff that the approver left out.
    #[serde(default)]
    pub left_out: usize,
    /// The run whose change this one makes again on newer rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rebases: Option<Rebase>,
    /// The run whose work this one goes on with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub continues: Option<RunId>,
    /// The rule by which its change waited for a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_by: Option<HeldBy>,
    /// What a person thinks of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rating: Option<Rating>,
}

impl RunRecord {
    /// A record with nothing but its identity; the parts are filled in as the run goes on.
    pub fn new(run_id: RunId, kind: RunKind, request: &str) -> Self {
        Self {
            run_id,
            kind,
            request: request.to_owned(),
            strategy: Strategy::Direct,
            state: RunState::Failed,
            status: None,
            receipt: Receipt::waiting(),
            answer: Answer::default(),
            plan: PlanRecord::default(),
            verdict: VerdictRecord::default(),
            outcome: RunOutcome::default(),
            diff: Diff::default(),
            calls: Vec::new(),
            invariants: Vec::new(),
            usage: Usage::default(),
            timing_ms: Timing::default(),
            error: None,
            started_at: String::new(),
            by_triggers: BTreeMap::new(),
            left_out: 0,
            rebases: None,
            continues: None,
            held_by: None,
            rating: None,
        }
    }

    /// What went wrong on the way, in the run's own rounds and in those of its steps.
    pub fn failures(&self) -> impl Iterator<Item = ErrorClass> {
        let rounds = self.plan.steps.iter().flat_map(|step| &step.rounds);
        self.verdict.history.iter().chain(rounds).filter_map(|round| match round {
            Round::KeptFailed { trouble, .. } => Some(trouble.class),
            Round::Judged(judged) => judged.trouble.as_ref().map(|trouble| trouble.class),
            Round::Stale { .. } | Round::ExecutorLost { .. } | Round::Looked { .. } => None,
        })
    }

    /// Whether the success of each step that was judged by a criterion held.
    pub fn criteria(&self) -> impl Iterator<Item = bool> {
        self.plan.steps.iter().filter_map(|step| Some(step.criterion.as_ref()?.holds))
    }

    /// Whether a reader or a model wrote the plan in this run: neither a file nor the cache.
    pub fn is_written(&self) -> bool {
        matches!(self.plan.source, PlanSource::Model | PlanSource::Rules) && self.verdict.iterations > 0
    }
}

/// A change that is made again on newer rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Rebase {
    /// The run whose change it is.
    pub run: RunId,
    /// Where the new diff differs from the one that was held.
    pub differences: Vec<CellDifference>,
    /// Whether all of that is in columns which the owner lists as derived.
    pub is_derived: bool,
}

/// The answer to the person.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Answer {
    /// One or two sentences.
    pub text: Option<String>,
    /// Rows, where the plan gave some.
    pub rows: Option<Value>,
    /// The names of their columns, in the order in which the plan gave them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<String>,
    /// Any other value, where the plan gave one.
    pub json: Option<Value>,
    /// What is worth knowing about it: how files were read, values that could not be.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// The plan that ran.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct PlanRecord {
    /// Who wrote it.
    pub source: PlanSource,
    /// The model's name, where a model wrote it.
    pub model: Option<String>,
    /// What the plan is for.
    pub goal: String,
    /// Its steps.
    pub steps: Vec<StepRecord>,
    /// The run that wrote it, where it came from the plan cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written_by: Option<RunId>,
    /// Its id in the plan cache, where it is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_id: Option<String>,
    /// What the reader understood, where it read the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reading: Option<String>,
    /// The values that its code takes from `params`.
    #[serde(default, skip_serializing_if = "serde_json::Map::is_empty")]
    pub params: serde_json::Map<String, Value>,
    /// Why this strategy was taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The outline that the steps carry out, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outline: Option<Outline>,
    /// Questions to the person who asked, oldest first. The run waits while the last one has no answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<Question>,
    /// Why the steps were planned anew, each time that they were.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replans: Vec<String>,
}

/// A question to the person who asked, and the answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Question {
    /// The question.
    pub text: String,
    /// The answer, once there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// What it is about.
    #[serde(default, skip_serializing_if = "QuestionKind::is_planners")]
    pub kind: QuestionKind,
}

/// What a question to a person is about.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum QuestionKind {
    /// The planner asks.
    #[default]
    Planner,
    /// An outline is shown before it is carried out.
    Outline,
    /// The run was cut short; it can go on from the steps that are done.
    CutShort,
}

impl QuestionKind {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
    fn is_planners(&self) -> bool {
        *self == Self::Planner
    }

    /// Whether going on needs no words of the person.
    pub fn can_be_approved(self) -> bool {
        self != Self::Planner
    }
}

/// Who wrote a plan.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PlanSource {
    /// A model.
    Model,
    /// The reader.
    Rules,
    /// The plan cache.
    Cache,
    /// A file that the caller gave.
    #[default]
    File,
}

/// One step of a plan.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct StepRecord {
    /// Names the step within its plan.
    pub id: String,
    /// What it does.
    pub title: String,
    /// The steps whose results it needs.
    pub needs: Vec<String>,
    /// How one can tell that it succeeded.
    pub success: String,
    /// Its Python.
    pub code: String,
    /// Further modules that the code imports by name, in the order in which they are loaded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modules: Vec<SourceFile>,
    /// Where it stands.
    pub state: StepState,
    /// What carries it out.
    #[serde(default, skip_serializing_if = "StepKind::is_code")]
    pub kind: StepKind,
    /// The values of the request that its code reads from `params`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub params: Vec<BoundParam>,
    /// What later steps get from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// What it printed, cut to its end.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub output: String,
    /// How its success was judged, and whether it held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub criterion: Option<CriterionRecord>,
    /// What happened on the way to code that holds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rounds: Vec<Round>,
    /// Rows that it changed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub rows_changed: u64,
    /// How long it took, writing its code included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took_ms: Option<f64>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<RunError>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// How the success of a step was judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct CriterionRecord {
    /// Who judged.
    pub judged_by: CriterionJudge,
    /// The expression or the sentence.
    pub criterion: String,
    /// Whether it held.
    pub holds: bool,
    /// What was said of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// Who judges whether a step succeeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CriterionJudge {
    /// An expression, evaluated in a cell of its own.
    Code,
    /// A model that was shown the step's result.
    Model,
}

/// A Python file: a plan that a caller gives, or a module of a program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SourceFile {
    /// Its name, such as `shapes.py`, for tracebacks and imports.
    pub name: String,
    /// Its Python.
    pub code: String,
}

/// What the verifier said of the code, over all rounds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct VerdictRecord {
    /// Whether the last round's code was accepted.
    pub accepted: bool,
    /// How many rounds there were.
    pub iterations: u32,
    /// The findings of the last round.
    pub findings: Vec<Value>,
    /// What happened in each round.
    pub history: Vec<Round>,
    /// What was changed that the planner had written.
    pub modifications: Vec<Modification>,
    /// Who gave a second opinion of a model's program that changes something, or why nobody did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review: Option<Review>,
}

/// A second opinion of a program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Review {
    /// The model that gave it; nobody if it is not there.
    pub by: Option<String>,
    /// Whether it consents to the program being carried out.
    pub consents: bool,
    /// The SHA-256 of the program; of a run of several steps, of their programs and the outline.
    pub program_sha256: String,
    /// Why there is no consent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// What running the code gave.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct RunOutcome {
    /// What it printed.
    pub stdout: String,
    /// What it printed to stderr.
    pub stderr: String,
    /// The exception that it did not catch, or the limit that it passed.
    pub error: Option<CodeError>,
    /// The files that it left.
    pub artifacts: Vec<Artifact>,
    /// Whether the code failed and what it had computed by then is kept.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
}

/// How code ended that did not run to its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct CodeError {
    /// Why it ended, as the supervisor saw it.
    pub cause: Cause,
    /// The exception's class, where one was raised.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// What the exception or the limit says.
    pub message: Option<String>,
    /// The line of the code in which it was raised.
    pub line: Option<u64>,
}

/// A file that a run left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Artifact {
    /// Its name, without a folder.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// What it holds.
    pub media_type: String,
    /// The hash of its content.
    pub sha256: String,
    /// What a reader should know before opening it: `active-content`, `formula`, `macros`, `mislabelled`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// Whether one invariant held at the end of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct InvariantResult {
    /// The invariant's name.
    pub name: String,
    /// Whether it held.
    pub holds: bool,
    /// Rows that break it, cut to a few.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<crate::Row>,
}

/// What the planner used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Usage {
    /// Calls of a model.
    pub model_calls: u64,
    /// Tokens given to it.
    pub input_tokens: u64,
    /// Tokens that it gave.
    pub output_tokens: u64,
}

/// How long each part of a run took, in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Timing {
    /// Making the plan.
    pub plan: f64,
    /// Judging it.
    pub verify: f64,
    /// Running its code.
    pub run: f64,
    /// Checking and committing what it did.
    pub commit: f64,
    /// All together.
    pub total: f64,
}

/// Why a run was not carried out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct RunError {
    /// What kind of error it is.
    #[serde(default)]
    pub class: ErrorClass,
    /// A stable code: a finding's, a promise's or an exception's name.
    pub code: String,
    /// What went wrong.
    pub message: String,
    /// What would help.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl From<Trouble> for RunError {
    fn from(Trouble { class, code, message, hint, .. }: Trouble) -> Self {
        Self { class, code, message, hint }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_sort_by_time_and_have_26_digits() {
        let early = RunId::from_parts(1_759_483_019_628, [0xff; 10]);
        let late = RunId::from_parts(1_759_483_019_629, [0; 10]);
        assert!(early < late);
        assert_eq!(early.as_str().len(), 26);
    }

    #[test]
    fn a_record_reads_back_as_it_was_written() {
        let record = RunRecord::new(RunId("r".to_owned()), RunKind::Ask, "buy two");
        let text = serde_json::to_string(&record).unwrap();
        assert_eq!(serde_json::from_str::<RunRecord>(&text).unwrap(), record);
        assert!(text.contains(r#""state":"failed""#), "{text}");
    }
}
