//! A workspace's data: tables, transactions, diffs, invariants, approvals and the ledger.
//!
//! Everything goes through a [`Store`], over SQLite or PostgreSQL with the same behaviour. A run reads and writes
//! through one [`Transaction`], which keeps an image of every row before and after it was touched: that is the diff.
//! Committing checks the tables' rules and the workspace's invariants, and writes the changes, the run's record and
//! its ledger entry together or not at all.
//!
//! This is the only crate that knows SQL, and it knows nothing of Python: conditions arrive as data
//! ([`Condition`]), and the reply says whether SQL decided or only prefiltered.
//!
//! Invariants: there is no way to write a row but through a transaction's calls; a [`Transaction`] that is not
//! committed leaves no trace; a row that changed meanwhile is never overwritten by approval or undo.

mod access;
mod alive;
mod apply;
mod backup;
mod bookkeeping;
mod catalog;
mod changes;
mod claims;
mod condition;
mod conversations;
#[cfg(test)]
mod cost;
mod error;
mod export;
mod fault;
mod files;
mod health;
mod keys;
mod ledger;
mod members;
mod options;
mod outbox;
mod pending;
mod plans;
mod progress;
mod protocol;
mod query;
mod queue;
mod relation;
mod review;
mod role;
mod row_history;
mod row_sums;
mod rule;
mod runs;
mod schedules;
mod sealed;
mod seed;
mod session;
mod sql;
mod store;
mod transaction;
mod value;

/// What a store's operation comes to.
pub type Answer<'a, T> = ordain_types::BoxFuture<'a, Result<T, StoreError>>;

pub use access::{CallerLimits, RowAction};
pub use backup::{Backup, RestoreAt, restore};
pub use claims::Claim;
pub use condition::Condition;
pub use conversations::{Conversation, ConversationTurn};
pub use error::{RowConflict, StoreError};
pub use export::export;
pub use fault::Faults;
pub use files::KeptFile;
pub use health::WriterFigures;
pub use keys::{CallerKey, KeyState, NewKey, split_key};
pub use ledger::{Checkpoint, EntryNote, LedgerEntry, LedgerFinding, LedgerReport, is_sealed};
pub use options::{
    Clock, ColumnDeclaration, Database, Invariant, Secret, StoreLimits, StoreOptions, TableDeclaration,
};
pub use outbox::{OutboxState, Outgoing, SendOutcome, Taken};
pub use pending::{Pending, ReadDigest};
pub use plans::{CachedPlan, PlanAuthor, PlanMark};
pub use protocol::{Call, Page, PageRow, Reply, RowUpdate, TableView, Target};
pub use queue::QueuedRun;
pub use relation::ForeignKey;
pub use review::{Review, Violation};
pub use row_history::{RowEvent, RowHistory};
pub use rule::duckdb_rule;
pub use runs::{Owned, RunFilter, SeenBy};
pub use schedules::ScheduleMark;
pub use seed::{SeedError, SeedFuture, SeedReader, SeedTable};
pub use session::Intent;
pub use store::{BeginOptions, Reseeded, Store, TableInfo};
pub use transaction::Transaction;
