//! What one caller may see and change, below what the workspace permits.
//!
//! The limits of a key are part of the tables that its runs see: a table or column that they hide is hidden as if the
//! workspace had hidden it, so that the brief, the verifier, every call of a plan and every list of rows agree, and no
//! way around one of them is a way to the data.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use ordain_types::{Row, RunRecord};
use serde::{Deserialize, Serialize};

use crate::catalog::{self, Catalog};
use crate::error::StoreError;
use crate::protocol::Call;
use crate::relation::{Relation, shortened};
use crate::review::Violation;
use crate::runs;
use crate::store::{BeginOptions, Store};
use crate::transaction::Transaction;

/// The limits of a caller. Nothing given means no limit of that kind.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CallerLimits {
    /// The tables that it sees.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tables: Option<Vec<String>>,
    /// Columns that it does not see, each as `table.column`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hide: Vec<String>,
    /// What it may do to rows; an empty list lets it read only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actions: Option<Vec<RowAction>>,
    /// Verbs of the workspace that it may use, each with everything that the verb does to rows. Other verbs may do to
    /// rows what the caller may.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub verbs: Vec<String>,
    /// How many rows one run of it may touch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows_max: Option<u64>,
}

/// What can be done to rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RowAction {
    /// Adding rows.
    Insert,
    /// Changing rows.
    Update,
    /// Removing rows.
    Remove,
}

ordain_types::names!(RowAction, as_str { Insert = "insert", Update = "update", Remove = "remove" });

impl CallerLimits {
    /// Whether there are any.
    pub fn is_limited(&self) -> bool {
        *self != Self::default()
    }

    /// Refuses limits that name what is not there.
    pub(crate) fn check(&self, catalog: &Catalog) -> Result<(), StoreError> {
        for table in self.tables.iter().flatten() {
            catalog.visible_place(table)?;
        }
        for name in &self.hide {
            let bad = || StoreError::BadCall {
                message: format!("`{}` is not a column; write it as `table.column`", shortened(name)),
            };
            let (table, column) = name.split_once('.').ok_or_else(bad)?;
            let relation = catalog.at(catalog.visible_place(table)?);
            if relation.position(column).is_none() {
                let names = relation.visible_columns().map(|(_, column)| column.name.as_str());
                let nearest = ordain_types::nearest(column, names).map(str::to_owned);
                return Err(StoreError::UnknownColumn {
                    table: table.to_owned(),
                    column: shortened(column),
                    nearest,
                });
            }
            if relation.table.key.iter().any(|key| key == column) {
                let message =
                    format!("the key column `{name}` cannot be hidden: plans name rows by their key");
                return Err(StoreError::BadCall { message });
            }
        }
        Ok(())
    }

    /// A table as this caller sees it.
    fn apply(&self, relation: &mut Relation) {
        let name = &relation.table.name;
        let is_seen = self.tables.as_ref().is_none_or(|tables| tables.contains(name));
        relation.table.hidden |= !is_seen;
        let prefix = format!("{name}.");
        for column in self.hide.iter().filter_map(|hidden| hidden.strip_prefix(&prefix)) {
            match relation.table.columns.iter_mut().find(|known| known.name == column) {
                Some(column) => {
                    // It is the key by now, which names the rows everywhere.
                    relation.table.hidden |= relation.table.key.contains(&column.name);
                    column.hidden = true;
                }
                // It has another name by now, which nobody hid: better nothing of the table than too much.
                None => relation.table.hidden = true,
            }
        }
        match self.actions.as_deref().filter(|_| self.verbs.is_empty()) {
            Some([]) => relation.table.read_only = true,
            Some([RowAction::Insert]) => relation.table.append_only = true,
            _ => {}
        }
    }

    fn allows(&self, call: &Call) -> Result<(), StoreError> {
        let Some(actions) = &self.actions else { return Ok(()) };
        let wanted: &[RowAction] = match call {
            Call::Insert { .. } => &[RowAction::Insert],
            Call::Update { .. } | Call::UpdateRows { .. } => &[RowAction::Update],
            Call::Upsert { .. } => &[RowAction::Insert, RowAction::Update],
            Call::Remove { .. } => &[RowAction::Remove],
            Call::Tables {}
            | Call::Search { .. }
            | Call::Get { .. }
            | Call::Count { .. }
            | Call::NextId { .. }
            | Call::Query { .. } => {
                return Ok(());
            }
        };
        match wanted.iter().find(|action| !actions.contains(action)) {
            None => Ok(()),
            Some(denied) => Err(StoreError::NotAllowed { action: denied.as_str() }),
        }
    }
}

/// The limits of the caller that a store is used for, and the tables as it sees them.
#[derive(Debug)]
pub(crate) struct Access {
    limits: CallerLimits,
    /// The last view, and the tables that it was made of.
    view: Mutex<Option<(Arc<Catalog>, Arc<Catalog>)>>,
}

impl Access {
    /// The tables as the caller sees them.
    pub(crate) fn view(&self, whole: Arc<Catalog>) -> Arc<Catalog> {
        let mut view = self.view.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, seen)) = view.as_ref().filter(|(of, _)| Arc::ptr_eq(of, &whole)) {
            return Arc::clone(seen);
        }
        let limited = |relation: &Relation| {
            let mut relation = relation.clone();
            self.limits.apply(&mut relation);
            relation
        };
        let mut relations: Vec<Relation> = whole.relations().map(limited).collect();
        let both = std::iter::zip(whole.relations(), &relations);
        let differ = both.filter(|(whole, limited)| {
            whole.table.hidden != limited.table.hidden || whole.table.columns != limited.table.columns
        });
        let hidden = differ.map(|(whole, _)| whole.table.name.clone()).collect();
        let is_named = |view: &str| self.limits.tables.iter().flatten().any(|table| table == view);
        catalog::hide_what_is_made_of(&mut relations, hidden, is_named);
        let seen = Arc::new(Catalog::new(relations));
        *view = Some((whole, Arc::clone(&seen)));
        seen
    }

    /// A record as the caller sees it. It is kept as the workspace sees it, so that whoever decides on a change is shown all
    /// of it, and each reader is shown what its own limits leave.
    pub(crate) fn seen(&self, whole: Arc<Catalog>, mut record: RunRecord) -> RunRecord {
        let catalog = self.view(whole);
        let seen = |table: &str, row: &mut Row| row.fields.retain(|(name, _)| catalog.shows(table, name));
        record.diff.tables.retain(|table, _| catalog.visible_place(table).is_ok());
        for (table, diff) in &mut record.diff.tables {
            let changed = diff.changed.iter_mut();
            let changed = changed.flat_map(|row| [&mut row.key, &mut row.before, &mut row.after]);
            let rows = diff.added.iter_mut().chain(&mut diff.removed).chain(changed);
            rows.for_each(|row| seen(table, row));
        }
        if let Some(rebase) = &mut record.rebases {
            // Whole rows that came or went stand in the diff.
            rebase
                .differences
                .retain(|cell| cell.column.as_ref().is_some_and(|column| catalog.shows(&cell.table, column)));
        }
        record.by_triggers.retain(|table, _| catalog.visible_place(table).is_ok());
        // An invariant is the owner's, and may show rows that this caller may not see.
        record.invariants.iter_mut().for_each(|result| result.rows.clear());
        runs::with_receipt(record)
    }

    /// Refuses a call that the caller may not make.
    pub(crate) fn allows(&self, call: &Call) -> Result<(), StoreError> {
        self.limits.allows(call)
    }

    /// Whether the caller may use a verb with everything that it does.
    fn gives(&self, verb: &str) -> bool {
        self.limits.verbs.iter().any(|given| given == verb)
    }

    /// What is wrong with a change of so many rows.
    pub(crate) fn violation(&self, rows: u64) -> Option<Violation> {
        let most = self.limits.rows_max.filter(|most| rows > *most)?;
        let message = format!("this key may touch {most} rows in one run, and this run touches {rows}");
        Some(Violation { rule: "key_rows_max".to_owned(), name: "key".to_owned(), message, rows: Vec::new() })
    }
}

impl Transaction {
    /// Says that the calls from now on are those of a verb of the workspace, or of the plan itself again.
    pub fn acts_as(&mut self, verb: Option<&str>) {
        self.changes.act(verb.is_some());
        self.in_given_verb = verb.is_some_and(|verb| self.access.as_ref().is_some_and(|it| it.gives(verb)));
    }
}

impl Store {
    /// The same store for a caller with limits: its transactions see and change only what they permit.
    #[must_use]
    pub fn limited(&self, limits: CallerLimits) -> Self {
        let access = Access { limits, view: Mutex::default() };
        Self { inner: Arc::clone(&self.inner), access: Some(Arc::new(access)) }
    }

    /// The limits of the caller for whom this store is, if it has any.
    pub fn limits(&self) -> Option<&CallerLimits> {
        self.access.as_deref().map(|access| &access.limits)
    }

    /// A record of a run as the caller sees it for whom this store is.
    #[must_use]
    pub fn seen(&self, record: RunRecord) -> RunRecord {
        match &self.access {
            None => record,
            Some(access) => access.seen(self.inner.catalog(), record),
        }
    }

    /// Refuses limits that name a table or column that is not there.
    pub fn check_limits(&self, limits: &CallerLimits) -> Result<(), StoreError> {
        limits.check(&self.inner.catalog())
    }

    pub(crate) fn catalog(&self) -> Arc<Catalog> {
        let whole = self.inner.catalog();
        match &self.access {
            None => whole,
            Some(access) => access.view(whole),
        }
    }

    pub(crate) async fn begin_limited(
        &self,
        options: BeginOptions,
        tables: Option<&BTreeSet<String>>,
    ) -> Result<Transaction, StoreError> {
        let BeginOptions { run_id, intent } = options;
        let mut transaction = Transaction::begin_on(&self.inner, run_id, intent, tables).await?;
        if let Some(access) = &self.access {
            transaction.catalog = access.view(Arc::clone(&transaction.catalog));
            transaction.access = Some(Arc::clone(access));
        }
        Ok(transaction)
    }
}
