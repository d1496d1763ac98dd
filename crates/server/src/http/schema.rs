//! The shapes of records, for the `OpenAPI` document.
//!
//! The records themselves are plain data of other crates, which know nothing of HTTP. These are their descriptions;
//! a test reads real records by them, so that the two cannot drift apart.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// A row: its fields and their values.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(transparent)]
pub(crate) struct Row(BTreeMap<String, Value>);

/// Where a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RunState {
    /// It goes on.
    Running,
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
    /// It broke an invariant or a rule, was a dry run, or was cancelled; nothing changed.
    RolledBack,
    /// Its code raised an error, passed a limit or could not be run.
    Failed,
    /// Its changes were taken back.
    Undone,
    /// Its diff was approved too late: a row that it touches had changed meanwhile.
    Conflicted,
}

/// One plan for one request, in one transaction, and what came of it.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunRecord {
    /// Names the run; ids sort by time.
    pub(crate) run_id: String,
    /// What made the run: `ask`, `code`, `exec` or `check`.
    pub(crate) kind: String,
    /// What was asked, in words.
    pub(crate) request: String,
    /// How the plan grew.
    pub(crate) strategy: String,
    /// Where the run stands.
    pub(crate) state: RunState,
    /// What the plan's code says of its own success.
    #[schema(required = true)]
    pub(crate) status: Option<String>,
    /// What happened to the data, said by the engine from the state and the diff.
    pub(crate) receipt: Receipt,
    /// The answer to the person.
    pub(crate) answer: Answer,
    /// The plan that ran.
    pub(crate) plan: PlanRecord,
    /// What the verifier said.
    pub(crate) verdict: Verdict,
    /// What running the code gave.
    pub(crate) outcome: Outcome,
    /// The rows that changed, or would have, by table.
    pub(crate) diff: BTreeMap<String, TableDiff>,
    /// What was called outside of the tables, or will be after the commit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Object>)]
    pub(crate) calls: Vec<serde_json::Value>,
    /// Whether each invariant held.
    pub(crate) invariants: Vec<InvariantResult>,
    /// What the planner used.
    pub(crate) usage: Usage,
    /// How long each part took, in milliseconds.
    pub(crate) timing_ms: Timing,
    /// Why the run was not carried out, where that is so.
    #[serde(default)]
    pub(crate) error: Option<RunError>,
    /// When the run began.
    #[serde(default)]
    pub(crate) started_at: String,
    /// Rows of the held diff that the approver left out.
    #[serde(default)]
    pub(crate) left_out: u64,
    /// The run whose change this one makes again on newer rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) rebases: Option<Rebase>,
    /// The run whose work this one goes on with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) continues: Option<String>,
    /// The rule by which its change waited for a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) held_by: Option<HeldBy>,
    /// What a person thinks of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) rating: Option<Rating>,
}

/// The rule by which a change waits for a person.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct HeldBy {
    /// `request`, `workspace`, `action`, `tool`, `direct_change`, `changed_since_review` or `changed_since_approval`.
    pub(crate) rule: String,
    /// The action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) action: Option<String>,
    /// When changes wait, as `ordain.toml` has it: `hold` or `rows>N`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) mode: Option<String>,
    /// The verb of a tool, as `tool.verb`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) verb: Option<String>,
}

/// What a person thinks of a run.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rating {
    /// Whether it did what was wanted.
    pub(crate) grade: Grade,
    /// Why, in the person's own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<String>,
    /// The person or key.
    pub(crate) by: String,
    /// When.
    pub(crate) at: String,
}

/// Whether a run did what was wanted.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Grade {
    /// It did.
    Good,
    /// It did not.
    Bad,
}

/// A change that is made again on newer rows.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rebase {
    /// The run whose change it is.
    pub(crate) run: String,
    /// Where the new diff differs from the one that was held.
    pub(crate) differences: Vec<CellDifference>,
    /// Whether all of that is in columns which the owner lists as derived.
    pub(crate) is_derived: bool,
}

/// A cell that is another than it was.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CellDifference {
    /// The table.
    pub(crate) table: String,
    /// Which row: the values of its key, or its place among the new rows.
    pub(crate) row: String,
    /// The column; without it the whole row is there once and not the other time.
    #[serde(default)]
    pub(crate) column: Option<String>,
    /// What it was; nothing if it was not there.
    pub(crate) was: Option<Value>,
    /// What it is; nothing if it is not there.
    pub(crate) is: Option<Value>,
}

/// What happened to the data.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Receipt {
    /// What happened, in one word.
    pub(crate) kind: ReceiptKind,
    /// The same in one short line.
    pub(crate) text: String,
    /// How many rows of each table it is about.
    pub(crate) tables: BTreeMap<String, RowCounts>,
}

/// What happened to the data, in one word.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ReceiptKind {
    /// The run ended and changed nothing.
    None,
    /// Rows were changed.
    Changed,
    /// It was a dry run: rows would have changed.
    WouldChange,
    /// The change waits for approval.
    Held,
    /// The request was not understood, or needs an answer first.
    Declined,
    /// The plan, its change or its approval was refused.
    Refused,
    /// The code failed or could not be run.
    Failed,
    /// The change was approved too late: its rows had changed.
    Conflicted,
    /// The change was taken back.
    Undone,
    /// The run has not ended.
    Waiting,
}

/// Rows of one table.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RowCounts {
    /// Rows that were not there before.
    pub(crate) added: u64,
    /// Rows that differ.
    pub(crate) changed: u64,
    /// Rows that are gone.
    pub(crate) removed: u64,
}

/// The answer to the person.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Answer {
    /// One or two sentences.
    pub(crate) text: Option<String>,
    /// Rows, where the plan gave some.
    pub(crate) rows: Option<Value>,
    /// The names of their columns, in the order in which the plan gave them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) columns: Vec<String>,
    /// Any other value, where the plan gave one.
    pub(crate) json: Option<Value>,
    /// What is worth knowing about it: files that could not be used, how files were read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) notes: Vec<String>,
}

/// The plan that ran.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PlanRecord {
    /// Who wrote it: `model`, `rules`, `cache` or `file`; left out while the run goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) source: Option<String>,
    /// The model's name, where a model wrote it.
    pub(crate) model: Option<String>,
    /// What the plan is for.
    pub(crate) goal: String,
    /// Its steps.
    pub(crate) steps: Vec<Step>,
    /// The run that wrote it, where it came from the plan cache.
    #[serde(default)]
    pub(crate) written_by: Option<String>,
    /// Its id in the plan cache, where it is there.
    #[serde(default)]
    pub(crate) plan_id: Option<String>,
    /// What the reader understood, where it read the request.
    #[serde(default)]
    pub(crate) reading: Option<String>,
    /// The values that its code takes from `params`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) params: BTreeMap<String, Value>,
    /// Why this strategy was taken.
    #[serde(default)]
    pub(crate) reason: Option<String>,
    /// The outline that the steps carry out, where there is one: `goal` and `steps`.
    #[serde(default)]
    pub(crate) outline: Option<Value>,
    /// Questions to the person who asked, with the answers: `text` and `answer`.
    #[serde(default)]
    pub(crate) questions: Vec<Value>,
    /// Why the steps were planned anew, each time that they were.
    #[serde(default)]
    pub(crate) replans: Vec<String>,
}

/// One step of a plan.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Step {
    /// Names the step within its plan.
    pub(crate) id: String,
    /// What it does.
    pub(crate) title: String,
    /// The steps whose results it needs.
    pub(crate) needs: Vec<String>,
    /// How one can tell that it succeeded.
    pub(crate) success: String,
    /// Its Python.
    pub(crate) code: String,
    /// Further modules that the code imports by name, in the order in which they are loaded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) modules: Vec<Module>,
    /// `waiting`, `running`, `done`, `failed` or `skipped`.
    pub(crate) state: String,
    /// What carries it out: `code`, which is left out, or `text`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) kind: Option<String>,
    /// The values of the request that its code reads from `params`: `name`, `value`, `said`, `at`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) params: Vec<Value>,
    /// What later steps get from it.
    #[serde(default)]
    pub(crate) result: Option<Value>,
    /// What it printed, cut to its end.
    #[serde(default)]
    pub(crate) output: String,
    /// How its success was judged: `judged_by`, `criterion`, `holds`, `why`.
    #[serde(default)]
    pub(crate) criterion: Option<Value>,
    /// What happened on the way to code that holds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) rounds: Vec<Value>,
    /// Rows that it changed.
    #[serde(default)]
    pub(crate) rows_changed: u64,
    /// How long it took, in milliseconds, writing its code included.
    #[serde(default)]
    pub(crate) took_ms: Option<f64>,
    /// Why it failed: `class`, `code`, `message`, `hint`.
    #[serde(default)]
    pub(crate) error: Option<Value>,
}

/// A module of a step's program.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Module {
    /// The name of its file.
    pub(crate) name: String,
    /// Its Python.
    pub(crate) code: String,
}

/// What the verifier said of the code, over all rounds.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Verdict {
    /// Whether the last round's code was accepted; left out while the run goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) accepted: Option<bool>,
    /// How many rounds there were.
    pub(crate) iterations: u32,
    /// The findings of the last round.
    pub(crate) findings: Vec<Value>,
    /// The verdict of each round.
    pub(crate) history: Vec<Value>,
    /// What was changed between rounds.
    pub(crate) modifications: Vec<Value>,
}

/// What running the code gave.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Outcome {
    /// What it printed.
    pub(crate) stdout: String,
    /// What it printed to stderr.
    pub(crate) stderr: String,
    /// The exception that it did not catch, or the limit that it passed.
    pub(crate) error: Option<Value>,
    /// The files that it left.
    pub(crate) artifacts: Vec<Artifact>,
}

/// A file that a run left.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Artifact {
    /// Its name, without a folder.
    pub(crate) name: String,
    /// Its size.
    pub(crate) bytes: u64,
    /// What it holds.
    pub(crate) media_type: String,
    /// The hash of its content.
    pub(crate) sha256: String,
    /// What a reader should know before opening it.
    #[serde(default)]
    pub(crate) warnings: Vec<String>,
}

/// What changed in one table.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TableDiff {
    /// Rows that were not there before.
    pub(crate) added: Vec<Row>,
    /// Rows that were there before and differ now.
    pub(crate) changed: Vec<RowChange>,
    /// Rows that are gone.
    pub(crate) removed: Vec<Row>,
}

/// One changed row.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RowChange {
    /// What identifies the row.
    pub(crate) key: Row,
    /// The row before the run.
    pub(crate) before: Row,
    /// The row after the run.
    pub(crate) after: Row,
}

/// Whether one invariant held at the end of a run.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct InvariantResult {
    /// The invariant's name.
    pub(crate) name: String,
    /// Whether it held.
    pub(crate) holds: bool,
    /// Rows that break it, cut to a few.
    #[serde(default)]
    pub(crate) rows: Vec<Row>,
}

/// What the planner used.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Usage {
    /// Calls of a model.
    pub(crate) model_calls: u64,
    /// Tokens given to it.
    pub(crate) input_tokens: u64,
    /// Tokens that it gave.
    pub(crate) output_tokens: u64,
}

/// How long each part of a run took, in milliseconds.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Timing {
    /// Making the plan.
    pub(crate) plan: f64,
    /// Judging it.
    pub(crate) verify: f64,
    /// Running its code.
    pub(crate) run: f64,
    /// Checking and committing what it did.
    pub(crate) commit: f64,
    /// All together.
    pub(crate) total: f64,
}

/// Why a run was not carried out.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunError {
    /// What kind of error it is: `planner`, `reply`, `verify`, `review`, `runtime`, `limit`, `contract`, `invariant`,
    /// `claim`, `files`, `cancelled` or `internal`.
    #[serde(default)]
    pub(crate) class: String,
    /// A stable name of the error.
    pub(crate) code: String,
    /// What went wrong.
    pub(crate) message: String,
    /// What would help.
    #[serde(default)]
    pub(crate) hint: Option<String>,
}

/// A plan that is kept and used again.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_field_names, reason = "the fields are those of the record")]
pub(crate) struct Plan {
    /// Names the plan.
    pub(crate) plan_id: String,
    /// What it is for: `ask`, `code`, `check`.
    pub(crate) kind: String,
    /// The key of exactly what was asked.
    pub(crate) exact: String,
    /// What its author declares that it does, as JSON, where that is kept.
    pub(crate) declared: Option<String>,
    /// What was asked when it was written.
    pub(crate) request: String,
    /// What it does.
    pub(crate) title: String,
    /// Its Python.
    pub(crate) code: String,
    /// Who wrote it.
    pub(crate) source: String,
    /// The model's name, where a model wrote it.
    pub(crate) model: Option<String>,
    /// The run that wrote it.
    pub(crate) run_id: String,
    /// All that it was compiled against.
    pub(crate) components: BTreeMap<String, String>,
    /// Whether it is kept and preferred whatever happens.
    pub(crate) pinned: bool,
    /// How often it was used again.
    pub(crate) uses: u64,
    /// When it was written.
    pub(crate) created_at: String,
    /// When it was last used.
    pub(crate) last_used_at: String,
    /// Why it no longer holds, if it does not.
    pub(crate) stale: Option<String>,
}

/// A table, its rules and how many rows it has.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub(crate) struct Table {
    /// The table's name.
    pub(crate) name: String,
    /// The columns, in order.
    pub(crate) columns: Vec<Column>,
    /// The columns that identify a row.
    pub(crate) key: Vec<String>,
    /// Rows may be added, never changed or removed.
    pub(crate) append_only: bool,
    /// Nothing may be written.
    pub(crate) read_only: bool,
    /// How many rows it has.
    pub(crate) rows: u64,
    /// How many of its rows one run may touch.
    pub(crate) max_rows_changed: Option<u64>,
}

/// One column.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[expect(clippy::struct_field_names, reason = "the fields are those of the record")]
pub(crate) struct Column {
    /// The column's name.
    pub(crate) name: String,
    /// What it holds: `text`, `integer`, `real`, `boolean`, `timestamp` or `json`.
    #[serde(rename = "type")]
    pub(crate) column_type: String,
    /// Whether a row may leave it out.
    pub(crate) nullable: bool,
}

/// An entry of the ledger.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Entry {
    /// Its place, counted from one.
    pub(crate) seq: u64,
    /// What it records.
    pub(crate) kind: String,
    /// The run that it is about.
    pub(crate) run_id: Option<String>,
    /// When it was written.
    pub(crate) at: String,
    /// The hash of the entry before.
    pub(crate) previous: String,
    /// The hash of `previous` and `body`.
    pub(crate) hash: String,
    /// The signature of `hash`.
    pub(crate) signature: String,
    /// What is recorded, exactly as it was hashed.
    pub(crate) body: Value,
}

/// What a check of the ledger found.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub(crate) struct LedgerReport {
    /// Whether the ledger is whole.
    pub(crate) whole: bool,
    /// How many entries it has.
    pub(crate) entries: u64,
    /// What is wrong with it.
    pub(crate) findings: Vec<Value>,
}

/// A conversation.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_field_names, reason = "the fields are those of the record")]
pub(crate) struct Conversation {
    /// Its name.
    pub(crate) conversation: String,
    /// How many turns it has.
    pub(crate) turns: u64,
    /// When the last one was.
    pub(crate) last_at: String,
    /// What was asked first.
    pub(crate) title: String,
}

/// One turn of a conversation.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Turn {
    /// Its place, counted from one.
    pub(crate) seq: u64,
    /// When it was.
    pub(crate) at: String,
    /// The run that answered.
    pub(crate) run_id: String,
    /// What was asked.
    pub(crate) request: String,
    /// What was answered.
    pub(crate) answer: String,
    /// With which status.
    pub(crate) status: Option<String>,
}

#[cfg(test)]
mod tests {
    use ordain_types::RunId;

    use super::*;

    /// A record with every part filled in, so that a part that is not described here is noticed.
    #[test]
    fn the_description_of_a_record_is_that_of_the_record() {
        let mut record =
            ordain_types::RunRecord::new(RunId("r".to_owned()), ordain_types::RunKind::Ask, "buy");
        record.plan.written_by = Some(RunId("w".to_owned()));
        record.continues = Some(RunId("c".to_owned()));
        record.held_by = Some(ordain_types::HeldBy::Workspace { mode: ordain_types::Approval::Hold });
        record.plan.plan_id = Some("p".to_owned());
        record.plan.reading = Some("sell: item Moon".to_owned());
        record.plan.steps.push(ordain_types::StepRecord {
            id: "1".to_owned(),
            modules: vec![ordain_types::ModuleRecord { name: "m.py".to_owned(), code: String::new() }],
            state: ordain_types::StepState::Done,
            kind: ordain_types::StepKind::Text,
            params: vec![ordain_types::BoundParam {
                name: "n".to_owned(),
                value: Value::from(3),
                said: "3".to_owned(),
                at: Some((0, 1)),
            }],
            result: Some(Value::from(1)),
            output: "x".to_owned(),
            criterion: Some(ordain_types::CriterionRecord {
                judged_by: ordain_types::CriterionJudge::Model,
                criterion: "it is short".to_owned(),
                holds: true,
                why: Some("it is".to_owned()),
            }),
            rounds: vec![ordain_types::Round::Looked { look: "print(1)".to_owned(), shown: "1".to_owned() }],
            rows_changed: 1,
            took_ms: Some(1.0),
            error: Some(ordain_types::RunError {
                class: ordain_types::ErrorClass::Criterion,
                code: "c".to_owned(),
                message: "m".to_owned(),
                hint: None,
            }),
            ..ordain_types::StepRecord::default()
        });
        record.plan.reason = Some("it was asked for".to_owned());
        record.plan.outline = Some(ordain_types::Outline::default());
        record
            .plan
            .questions
            .push(ordain_types::Question { text: "who?".to_owned(), ..ordain_types::Question::default() });
        record.plan.replans.push("rows changed".to_owned());
        record.outcome.artifacts.push(ordain_types::Artifact {
            name: "a.csv".to_owned(),
            bytes: 1,
            media_type: "text/csv".to_owned(),
            sha256: String::new(),
            warnings: vec!["active".to_owned()],
        });
        let row = || ordain_types::Row::from_iter([("id".to_owned(), Value::from(1))]);
        let change = ordain_types::RowChange { key: row(), before: row(), after: row() };
        let diff =
            ordain_types::TableDiff { added: vec![row()], changed: vec![change], removed: vec![row()] };
        record.diff.tables.insert("stock".to_owned(), diff);
        record.invariants.push(ordain_types::InvariantResult {
            name: "n".to_owned(),
            holds: false,
            rows: vec![row()],
        });
        let hint = Some("h".to_owned());
        let class = ordain_types::ErrorClass::Runtime;
        let (code, message) = ("c".to_owned(), "m".to_owned());
        record.error = Some(ordain_types::RunError { class, code, message, hint });
        record.answer.notes.push("n".to_owned());
        record.rating = Some(ordain_types::Rating {
            grade: ordain_types::Grade::Bad,
            note: Some("n".to_owned()),
            by: "b".to_owned(),
            at: "a".to_owned(),
        });
        record.receipt = ordain_types::Receipt::of(&record);
        let value = serde_json::to_value(&record).unwrap();
        let described: RunRecord = serde_json::from_value(value.clone()).unwrap();
        assert_eq!(serde_json::to_value(described).unwrap(), value);
    }
}
