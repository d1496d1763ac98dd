//! What can go wrong between a caller and its data.

use std::fmt;

use ordain_types::{Row, RunState};

use crate::review::Violation;
use crate::seed::SeedError;

/// What helps where the folder of the database cannot be written.
pub(crate) const UNWRITABLE: &str = "Ordain keeps a record in the workspace's folder `.ordain`, of questions too: \
    let it be written, or copy the workspace to where you may write";

/// Why a store operation was not carried out. Whatever the variant, the open transaction has not been committed,
/// except for [`StoreError::CommitUnknown`], which says so.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// No such table. Hidden and unlisted tables are as unknown as missing ones.
    #[error("there is no table `{table}`")]
    UnknownTable {
        /// The name that was given.
        table: String,
        /// The table that was probably meant.
        nearest: Option<String>,
    },
    /// No such column. A hidden column is as unknown as a missing one.
    #[error("table `{table}` has no column `{column}`")]
    UnknownColumn {
        /// The table.
        table: String,
        /// The name that was given.
        column: String,
        /// The column that was probably meant.
        nearest: Option<String>,
    },
    /// A call of the table interface that is not one.
    #[error("the call is not understood: {message}")]
    BadCall {
        /// What is wrong with it.
        message: String,
    },
    /// A value that its column cannot hold.
    #[error("column `{column}` of table `{table}` cannot hold {message}")]
    BadValue {
        /// The table.
        table: String,
        /// The column.
        column: String,
        /// The value and what the column holds.
        message: String,
    },
    /// A row with this key is already there.
    #[error("table `{table}` already has a row with {key}")]
    DuplicateKey {
        /// The table.
        table: String,
        /// The key columns and their values.
        key: String,
    },
    /// A constraint of the database itself, such as a foreign key.
    #[error("the database refused the change to table `{table}`: {message}")]
    Constraint {
        /// The table.
        table: String,
        /// What the database said.
        message: String,
    },
    /// The table may not be written.
    #[error("table `{table}` is read-only")]
    ReadOnly {
        /// The table.
        table: String,
        /// Why it is.
        reason: Option<String>,
    },
    /// The database wrote other rows than Ordain's statements did.
    #[error(
        "the database wrote {counted} rows of `{table}` where the run wrote {reported}: a trigger, cascade or function \
         of the database wrote the others, which no diff shows; nothing was changed"
    )]
    HiddenWrites {
        /// The table.
        table: String,
        /// How many rows were inserted, updated or deleted.
        counted: i64,
        /// How many of them by Ordain.
        reported: i64,
    },
    /// Rows of the table may be added, never changed or removed.
    #[error("table `{table}` is append-only: its rows are never {operation}")]
    AppendOnly {
        /// The table.
        table: String,
        /// `changed` or `removed`.
        operation: &'static str,
    },
    /// The key of the caller does not permit it.
    #[error("this key may not {action} rows")]
    NotAllowed {
        /// What was tried: `insert`, `update` or `remove`.
        action: &'static str,
    },
    /// A limit was passed.
    #[error("the limit `{limit}` of {value} was passed")]
    Limit {
        /// The limit's name.
        limit: &'static str,
        /// Its value.
        value: u64,
    },
    /// A statement took longer than it may. The run ends with it.
    #[error("a statement took longer than {wall_ms} ms")]
    Timeout {
        /// How long it may take.
        wall_ms: u64,
    },
    /// The run kept others from writing for longer than it may.
    #[error("others waited to write for longer than the {hold_ms} ms that one run may take")]
    LockLimit {
        /// How long it may keep them waiting.
        hold_ms: u64,
    },
    /// SQL that may not be run, or that the database could not run.
    #[error("the query was not run: {message}")]
    Query {
        /// What is wrong with it.
        message: String,
        /// What would help.
        hint: Option<String>,
    },
    /// Another transaction got in between. Run the whole run again, with [`crate::Intent::Write`].
    #[error("another run changed the same data at the same time")]
    Conflict,
    /// Another process kept the database locked for longer than the store waits.
    #[error("the database stayed locked for longer than the store waits")]
    Busy,
    /// The database cannot be reached or opened.
    #[error("the database cannot be reached: {message}")]
    Unreachable {
        /// What the system said.
        message: String,
    },
    /// The file of the database cannot be used.
    #[error("the database file cannot be used: {message}")]
    File {
        /// What the system said.
        message: String,
        /// What would help.
        hint: &'static str,
    },
    /// No room is left for the change.
    #[error("the disk of the database is full")]
    DiskFull,
    /// The database refused an operation for a reason that has no variant of its own.
    #[error("the database failed: {message}")]
    Database {
        /// What the database said.
        message: String,
    },
    /// What the workspace declares does not fit what is there.
    #[error("{what}: {message}")]
    Declaration {
        /// The table or the invariant.
        what: String,
        /// What does not fit.
        message: String,
        /// What would help.
        hint: Option<String>,
    },
    /// A seed file that cannot be loaded.
    #[error(transparent)]
    Seed(#[from] SeedError),
    /// A rule of a table or an invariant does not hold; nothing was committed.
    #[error("{}", ListOf("broken", violations))]
    Violated {
        /// What is broken, with the offending rows.
        violations: Vec<Violation>,
    },
    /// Rows are no longer what the diff expects; nothing was changed.
    #[error("{}", ListOf("changed meanwhile", conflicts))]
    RowsConflict {
        /// The rows, with what was expected and what is there.
        conflicts: Vec<RowConflict>,
    },
    /// The database did not make of rows what was to be made of them; nothing was changed.
    #[error(
        "{}",
        ListOf(
            "not what they should be, because a trigger or a column's type makes something else of them",
            conflicts
        )
    )]
    NotAsShown {
        /// The rows, with what they should be and what they are.
        conflicts: Vec<RowConflict>,
    },
    /// A column came after the run, so that what a row had or would have in it is not known; nothing was changed.
    #[error("column `{column}` of table `{table}` came after the run, and undo cannot know its values")]
    LaterColumn {
        /// The table.
        table: String,
        /// The column.
        column: String,
    },
    /// No such run.
    #[error("there is no run `{run}`")]
    UnknownRun {
        /// What was given.
        run: String,
    },
    /// More than one run's id begins so.
    #[error("more than one run's id begins with `{run}`")]
    AmbiguousRun {
        /// What was given.
        run: String,
    },
    /// No such plan in the cache.
    #[error("there is no cached plan `{plan}`")]
    UnknownPlan {
        /// What was given.
        plan: String,
    },
    /// No such key.
    #[error("there is no key `{key}`")]
    UnknownKey {
        /// What was given.
        key: String,
    },
    /// A run that is not in the state which the operation needs.
    #[error("run `{run}` {}, so it cannot be {operation}", why(*state))]
    WrongState {
        /// The run.
        run: String,
        /// Where it stands.
        state: RunState,
        /// `approved`, `rejected` or `undone`.
        operation: &'static str,
    },
    /// No such call in the outbox.
    #[error("there is no call `{key}` in the outbox")]
    UnknownCall {
        /// What was given.
        key: String,
    },
    /// A call is being sent at this moment, or it is not known whether it arrived.
    #[error("the call `{key}` is being sent, or may have arrived")]
    CallUnderWay {
        /// The call.
        key: String,
    },
    /// A call that is done.
    #[error("the call `{key}` is {state} already")]
    CallDone {
        /// The call.
        key: String,
        /// `sent` or `cancelled`.
        state: &'static str,
    },
    /// The idempotency key belongs to a run that is still going on, or whose lease was taken over.
    #[error("the idempotency key is held by run `{run}`")]
    KeyHeld {
        /// The run that holds it.
        run: String,
    },
    /// The ledger or its keys are not usable.
    #[error("the ledger cannot be used: {message}")]
    Ledger {
        /// What is wrong.
        message: String,
        /// What would help.
        hint: Option<String>,
    },
    /// A commit failed in its last step, and whether it took place could not be found out.
    #[error("it is not known whether a commit took place; what it changed may be there")]
    CommitUnknown {
        /// The run; `ordain runs show` tells once the database is back.
        run: String,
    },
    /// The operation was made to fail by a test.
    #[error("injected fault at `{operation}`")]
    Injected {
        /// The operation.
        operation: &'static str,
    },
}

/// A row that is no longer what a diff expects.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct RowConflict {
    /// The table.
    pub table: String,
    /// What identifies the row.
    pub key: Row,
    /// What the diff expects; `None` when it expects no row.
    pub expected: Option<Row>,
    /// What is there; `None` when there is no row.
    pub found: Option<Row>,
}

impl RowConflict {
    /// The cells that are not what the diff expects.
    pub fn cells(&self) -> Vec<ordain_types::CellDifference> {
        let row = ordain_types::row_name(&self.key);
        ordain_types::cells(&self.table, &row, self.expected.as_ref(), self.found.as_ref())
    }
}

impl fmt::Display for RowConflict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = serde_json::to_string(&self.key).unwrap_or_default();
        write!(formatter, "row {key} of table `{}`", self.table)
    }
}

impl StoreError {
    /// A stable name of the kind of error, for records and for the exception that a plan's code sees.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::UnknownTable { .. } => "unknown_table",
            Self::UnknownColumn { .. } => "unknown_column",
            Self::BadCall { .. } => "bad_call",
            Self::BadValue { .. } => "bad_value",
            Self::DuplicateKey { .. } => "duplicate_key",
            Self::Constraint { .. } => "constraint",
            Self::ReadOnly { .. } => "read_only",
            Self::HiddenWrites { .. } => "hidden_writes",
            Self::AppendOnly { .. } => "append_only",
            Self::NotAllowed { .. } => "not_allowed",
            Self::Limit { .. } => "limit",
            Self::Timeout { .. } => "timeout",
            Self::LockLimit { .. } => "lock_limit",
            Self::Query { .. } => "query",
            Self::Conflict => "conflict",
            Self::Busy => "busy",
            Self::Unreachable { .. } => "unreachable",
            Self::File { .. } => "database_file",
            Self::DiskFull => "disk_full",
            Self::Database { .. } => "database",
            Self::Declaration { .. } => "declaration",
            Self::Seed(_) => "seed",
            Self::Violated { .. } => "violated",
            Self::RowsConflict { .. } => "rows_conflict",
            Self::NotAsShown { .. } => "not_as_shown",
            Self::LaterColumn { .. } => "later_column",
            Self::UnknownRun { .. } => "unknown_run",
            Self::AmbiguousRun { .. } => "ambiguous_run",
            Self::UnknownPlan { .. } => "unknown_plan",
            Self::UnknownKey { .. } => "unknown_key",
            Self::WrongState { .. } => "wrong_state",
            Self::UnknownCall { .. } => "unknown_call",
            Self::CallUnderWay { .. } => "call_under_way",
            Self::CallDone { .. } => "call_done",
            Self::KeyHeld { .. } => "key_held",
            Self::Ledger { .. } => "ledger",
            Self::CommitUnknown { .. } => "commit_unknown",
            Self::Injected { .. } => "injected",
        }
    }

    /// What would help, where a remedy is known.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::AmbiguousRun { .. } => Some("give more characters of the id".to_owned()),
            Self::UnknownTable { nearest, .. } | Self::UnknownColumn { nearest, .. } => {
                nearest.as_ref().map(|name| format!("did you mean `{name}`?"))
            }
            Self::Query { hint, .. } | Self::Declaration { hint, .. } | Self::Ledger { hint, .. } => {
                hint.clone()
            }
            Self::ReadOnly { reason, .. } => reason.clone(),
            Self::HiddenWrites { .. } => Some(
                "`triggers = \"allow\"` in the `[tables.…]` that the run writes accepts what its triggers write; it is \
                 counted, and Ordain does not undo it"
                    .to_owned(),
            ),
            Self::Seed(error) => error.hint.clone(),
            Self::LockLimit { .. } => {
                Some("do long work before the first change, or in a run that only reads".to_owned())
            }
            Self::Timeout { .. } => Some("ask for fewer rows, or for less at once".to_owned()),
            Self::DuplicateKey { .. } => Some("take a key that is not in use, or update the row".to_owned()),
            Self::UnknownKey { .. } => Some("`ordain keys list` shows the keys".to_owned()),
            Self::UnknownCall { .. } => Some("`ordain tools outbox list` shows the calls".to_owned()),
            Self::CallUnderWay { .. } => Some("try again in a moment".to_owned()),
            Self::Conflict => Some("run it again".to_owned()),
            Self::Busy => Some("wait for the other process to finish, then try again".to_owned()),
            Self::Unreachable { .. } => {
                Some("check `[store] url` in ordain.toml, and that the database is running".to_owned())
            }
            Self::File { hint, .. } => Some((*hint).to_owned()),
            Self::DiskFull => Some("make room, then try again; nothing was changed".to_owned()),
            Self::RowsConflict { .. } => {
                Some("ask again, so that the plan sees the rows as they are now".to_owned())
            }
            Self::NotAsShown { .. } => Some(
                "look at the triggers of the table, and whether a column's type has changed since; then ask again".to_owned(),
            ),
            Self::LaterColumn { .. } => {
                Some("`ordain undo RUN --rest` restores everything else, and loses what rows have in such columns".to_owned())
            }
            Self::CommitUnknown { .. } => {
                Some("send it again under the same idempotency key, or look at `ordain runs list`, once the database is back".to_owned())
            }
            _ => None,
        }
    }

    /// Whether the plan's own call caused it, so that its code may see it, catch it and go on.
    ///
    /// Everything else ends the run: the transaction is no longer to be trusted.
    pub const fn is_callers(&self) -> bool {
        matches!(
            self,
            Self::UnknownTable { .. }
                | Self::UnknownColumn { .. }
                | Self::BadCall { .. }
                | Self::BadValue { .. }
                | Self::DuplicateKey { .. }
                | Self::Constraint { .. }
                | Self::ReadOnly { .. }
                | Self::AppendOnly { .. }
                | Self::NotAllowed { .. }
                | Self::Limit { .. }
                | Self::Query { .. }
        )
    }
}

/// What became of a run, as a reason why it cannot be decided on.
const fn why(state: RunState) -> &'static str {
    match state {
        RunState::Answered => "changed nothing",
        RunState::Committed => "was committed already",
        RunState::Held => "still waits for approval",
        RunState::Waiting => "still waits for an answer",
        RunState::Declined => "was not carried out",
        RunState::Rejected => "was refused and changed nothing",
        RunState::RolledBack => "was a dry run or was rolled back, and changed nothing",
        RunState::Failed => "failed and changed nothing",
        RunState::Conflicted => "came too late: its rows had changed",
        RunState::Undone => "was undone already",
    }
}

/// `2 rules are broken: …` for the first few of a list.
struct ListOf<'a, T>(&'static str, &'a Vec<T>);

impl<T: fmt::Display> fmt::Display for ListOf<'_, T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 3;
        write!(formatter, "{}: ", self.0)?;
        for (index, item) in self.1.iter().take(SHOWN).enumerate() {
            write!(formatter, "{}{item}", if index == 0 { "" } else { "; " })?;
        }
        if self.1.len() > SHOWN { write!(formatter, "; and {} more", self.1.len() - SHOWN) } else { Ok(()) }
    }
}
