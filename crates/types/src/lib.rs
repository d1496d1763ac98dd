//! The words of Ordain as plain data.
//!
//! Every other crate speaks in these types. Nothing here does IO or reads a clock, so a value
//! built from the same parts is always the same value.

mod approval;
mod catalog;
mod cause;
mod diff;
mod future;
mod limits;
mod nearest;
mod quantity;
mod receipt;
mod row;
mod run;
mod schema;
mod timestamp;
mod visible;

pub use approval::Approval;
pub use catalog::{
    Action, BoundParam, Catalog, ChangePolicy, Changes, ColumnNotes, DataNotes, DataType, DirectChanges,
    Metric, Param, ParamKind, Phrasing, Reference, TableNotes,
};
pub use cause::Cause;
pub use diff::{Diff, RowChange, TableDiff};
pub use future::BoxFuture;
pub use limits::Limits;
pub use nearest::nearest;
pub use quantity::{QuantityError, format_bytes, format_duration, parse_bytes, parse_duration};
pub use receipt::{Receipt, ReceiptKind, RowCounts, unmarked, without_receipt};
pub use row::Row;
pub use run::{
    Answer, Artifact, InvariantResult, ModuleRecord, PlanRecord, PlanSource, RunError, RunId, RunOutcome,
    RunRecord, RunState, StepRecord, Timing, Usage, VerdictRecord,
};
pub use schema::{Column, ColumnType, Schema, Table};
pub use timestamp::{format_unix_millis, is_timestamp};
pub use visible::visible;
