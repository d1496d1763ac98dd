//! The words of Ordain as plain data.
//!
//! Every other crate speaks in these types. Nothing here does IO or reads a clock, so a value
//! built from the same parts is always the same value.

mod approval;
mod call;
mod catalog;
mod cause;
mod check_status;
mod diff;
mod event;
mod fair;
mod future;
mod held;
mod hex;
mod limits;
mod mask;
mod names;
mod nearest;
mod outline;
mod quantity;
mod rating;
mod receipt;
mod round;
mod row;
mod run;
mod schema;
mod selection;
mod status;
mod table_rule;
mod timestamp;
mod tool;
mod visible;

pub use approval::Approval;
pub use call::{Call, TakenBack, UndoCall};
pub use catalog::{
    Action, BoundParam, Catalog, ChangePolicy, Changes, ColumnNotes, DataNotes, DataType, DirectChanges,
    Ending, Metric, NewNames, Param, ParamKind, Phrasing, Records, Reference, TableNotes,
};
pub use cause::Cause;
pub use check_status::CheckStatus;
pub use diff::{CellDifference, Diff, RowChange, TableDiff, cells, row_name};
pub use event::Event;
pub use fair::{CallerName, Place, Places, TakePlace, caller, of_caller};
pub use future::BoxFuture;
pub use held::HeldBy;
pub use hex::hex;
pub use limits::{Budgets, Limits};
pub use mask::Mask;
pub use nearest::nearest;
pub use outline::{FRAME, ITEM, OUTLINE_STEPS_MAX, Outline, OutlineStep, RESULT, StepKind};
pub use quantity::{QuantityError, format_bytes, format_duration, parse_bytes, parse_duration};
pub use rating::{Grade, Rating};
pub use receipt::{Receipt, ReceiptKind, RowCounts, unmarked, without_receipt};
pub use round::{ErrorClass, Judged, Modification, ModificationKind, Round, Trouble};
pub use row::Row;
pub use run::{
    Answer, Artifact, CodeError, CriterionJudge, CriterionRecord, InvariantResult, PlanRecord, PlanSource,
    Question, QuestionKind, Rebase, Review, RunError, RunId, RunKind, RunOutcome, RunRecord, RunState,
    SourceFile, StepRecord, StepState, Strategy, Timing, Usage, VerdictRecord,
};
pub use schema::{Column, ColumnType, Schema, Table};
pub use selection::{Selection, SelectionError};
pub use status::STATUSES;
pub use table_rule::{Asked, RuleSql, Side, Step, TableRule, Test, shown_pattern};
pub use timestamp::{format_unix_millis, is_timestamp};
pub use tool::{Tool, Verb, fits};
pub use visible::visible;
