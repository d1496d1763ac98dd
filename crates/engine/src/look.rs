//! What the tables hold, as planners are told it: read once, and followed from then on by what runs change.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ordain_planner::{TableBrief, TableCount};
use ordain_store::{BeginOptions, Call, Intent, Reply, StoreError, TableInfo, Transaction};
use ordain_types::{Diff, Schema, Table};
use serde_json::Value;

use crate::engine::Engine;
use crate::error::EngineError;
use crate::identity::Identity;

/// Tables up to this size are read whole, so that the planner knows every value of theirs.
const WHOLE_ROWS_MAX: u64 = 5_000;
/// Of larger tables so many rows are looked at.
const SAMPLE_ROWS: u64 = 500;
/// For so long a look at a large table is good enough.
const LARGE_AGE: Duration = Duration::from_secs(30);
/// Somebody else may write to a database in place; nobody tells us.
const AGE_MAX: Duration = Duration::from_mins(1);

/// What was seen of the tables.
#[derive(Debug, Clone)]
pub(crate) struct Look {
    pub(crate) tables: Arc<Vec<TableBrief>>,
    /// The database that they are in.
    pub(crate) database: &'static str,
    /// The hash of all that, so that it is not taken anew for every request.
    pub(crate) hash: String,
}

/// The last look, with what is needed to follow changes.
#[derive(Debug)]
pub(crate) struct Looked {
    look: Look,
    counted: Vec<TableCount>,
    /// The rows' version: every change that goes through the store moves it.
    version: u64,
    /// The tables' shape.
    schema: Schema,
    /// When the tables were read.
    at: Instant,
}

impl Engine {
    /// What the tables hold.
    pub(crate) async fn look(&self) -> Result<Look, EngineError> {
        // Requests that come meanwhile wait, and find what this one has read.
        let mut looked = self.looked.lock().await;
        let version = self.store.data_version().await?;
        let schema = self.store.schema();
        let is_new = |known: &&mut Looked| known.at.elapsed() < AGE_MAX && known.schema == schema;
        if let Some(known) = looked.as_mut().filter(is_new) {
            if known.version == version {
                return Ok(known.look.clone());
            }
            let changes = self.store.changes_between(known.version, version).await?;
            if changes.is_some_and(|changes| known.follow(&changes, version)) {
                return Ok(known.look.clone());
            }
            let has_large = known.counted.iter().any(|table| !table.is_whole());
            if has_large && known.at.elapsed() < LARGE_AGE {
                return Ok(known.look.clone());
            }
        }
        *looked = None;
        Ok(looked.insert(self.look_again().await?).look.clone())
    }

    async fn look_again(&self) -> Result<Looked, EngineError> {
        let infos = self.store.tables().await?;
        let schema = self.store.schema();
        let run_id = self.store.new_run_id()?;
        let mut transaction = self.store.begin(BeginOptions { run_id, intent: Intent::Read }).await?;
        let version = transaction.data_version().await?;
        let mut counted = Vec::new();
        let shown: Vec<TableInfo> =
            infos.into_iter().filter(|info| !info.table.hidden).map(visible).collect();
        let is_shown = |table: &str, column: &str| {
            shown.iter().any(|info| info.table.name == table && info.table.column(column).is_some())
        };
        for info in shown.clone() {
            counted.push(self.look_at(&mut transaction, info, &is_shown).await?);
        }
        let database = transaction.database();
        transaction.roll_back().await?;
        let tables: Vec<TableBrief> = counted.iter().map(TableCount::brief).collect();
        let hash = Identity::of("tables").with("tables", &tables).digest();
        let look = Look { tables: Arc::new(tables), database, hash };
        Ok(Looked { look, counted, version, schema, at: Instant::now() })
    }

    async fn look_at(
        &self,
        transaction: &mut Transaction,
        info: TableInfo,
        is_shown: &(dyn Fn(&str, &str) -> bool + Sync),
    ) -> Result<TableCount, EngineError> {
        let is_whole = info.rows <= WHOLE_ROWS_MAX;
        let wanted = if is_whole { WHOLE_ROWS_MAX } else { SAMPLE_ROWS };
        let (names, rows) = read(transaction, &info.table.name, wanted).await?;
        let references = info.foreign_keys.iter().flat_map(|key| {
            let pairs = key.columns.iter().zip(&key.references);
            pairs.map(|(own, foreign)| (own.clone(), key.table.clone(), foreign.clone()))
        });
        let table = &info.table;
        let references = references
            .filter(|(own, there, foreign)| table.column(own).is_some() && is_shown(there, foreign));
        let roles = self.settings.roles.get(&table.name).cloned().unwrap_or_default();
        let about = TableBrief {
            rows: if is_whole { rows.len() as u64 } else { info.rows },
            columns: Vec::new(),
            references: references.collect(),
            roles: roles.into_iter().filter(|(_, column)| table.column(column).is_some()).collect(),
            indexes: info.indexes,
            table: info.table,
        };
        Ok(TableCount::new(about, &names, &rows, is_whole))
    }
}

impl Looked {
    /// Follows what runs changed; `false` if the tables have to be read again.
    fn follow(&mut self, changes: &[(String, Diff)], version: u64) -> bool {
        for (_, diff) in changes {
            for (name, change) in &diff.tables {
                let table = self.counted.iter_mut().find(|table| table.name() == name);
                // A table that is not shown is not looked at either.
                let Some(table) = table else { continue };
                if !table.follow(change) || table.is_whole() && table.rows() > WHOLE_ROWS_MAX {
                    return false;
                }
            }
        }
        let is_touched =
            |table: &TableBrief| changes.iter().any(|(_, diff)| diff.tables.contains_key(&table.table.name));
        let tables = std::iter::zip(self.look.tables.iter(), &self.counted)
            .map(|(known, counted)| if is_touched(known) { counted.brief() } else { known.clone() });
        self.look.tables = Arc::new(tables.collect());
        let entries: Vec<&str> = changes.iter().map(|(entry, _)| entry.as_str()).collect();
        self.look.hash =
            Identity::of("tables").with("before", &self.look.hash).with("entries", &entries).digest();
        self.version = version;
        true
    }
}

/// The table without the columns that plans may not see: nothing that is told of it names one.
fn visible(mut info: TableInfo) -> TableInfo {
    let table = &mut info.table;
    table.columns.retain(|column| !column.hidden);
    let Table { columns, key, .. } = table;
    let is_shown = |name: &String| columns.iter().any(|column| column.name == *name);
    key.retain(is_shown);
    info.indexes.retain(|columns| columns.iter().all(is_shown));
    info
}

async fn read(
    transaction: &mut Transaction,
    table: &str,
    wanted: u64,
) -> Result<(Vec<String>, Vec<Vec<Option<Value>>>), StoreError> {
    let (mut names, mut rows) = (Vec::new(), Vec::new());
    let (mut after, mut as_of) = (None, None);
    loop {
        let limit = Some(wanted - rows.len() as u64);
        let call = Call::Search { table: table.to_owned(), condition: None, after, as_of, limit };
        let Reply::Rows(page) = transaction.carry_out(call).await? else { break };
        (after, as_of) = (page.last, Some(page.as_of));
        names = page.columns;
        let was_empty = page.rows.is_empty();
        rows.extend(page.rows.into_iter().map(|row| row.values));
        if !page.more || was_empty || rows.len() as u64 >= wanted {
            break;
        }
    }
    Ok((names, rows))
}
