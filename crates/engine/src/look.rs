//! What the tables hold, as planners are told it: read once, and followed from then on by what runs change.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ordain_planner::{ColumnBrief, TableBrief, json_shape};
use ordain_store::{BeginOptions, Call, Intent, Reply, StoreError, TableInfo, Transaction};
use ordain_types::{Diff, Row, Table, TableDiff};
use serde_json::Value;

use crate::engine::Engine;
use crate::error::EngineError;
use crate::fingerprint::hash;

/// Tables up to this size are read whole, so that the planner knows every value of theirs.
const WHOLE_ROWS_MAX: u64 = 5_000;
/// Of larger tables so many rows are looked at.
const SAMPLE_ROWS: u64 = 500;
/// Values that are shown of each column.
const SAMPLES: usize = 3;
/// A column with longer values than this (on average) holds prose; its values are no names.
const NAME_BYTES: usize = 200;
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
    /// When the tables were read.
    at: Instant,
}

impl Engine {
    /// What the tables hold.
    pub(crate) async fn look(&self) -> Result<Look, EngineError> {
        // Whoever comes meanwhile waits, and finds what this one has read.
        let mut looked = self.looked.lock().await;
        let version = self.store.data_version().await?;
        if let Some(known) = looked.as_mut().filter(|known| known.at.elapsed() < AGE_MAX) {
            if known.version == version {
                return Ok(known.look.clone());
            }
            let changes = self.store.changes_between(known.version, version).await?;
            if changes.is_some_and(|changes| known.follow(&changes, version)) {
                return Ok(known.look.clone());
            }
            let has_large = known.counted.iter().any(|table| !table.is_whole);
            if has_large && known.at.elapsed() < LARGE_AGE {
                return Ok(known.look.clone());
            }
        }
        *looked = None;
        Ok(looked.insert(self.look_again().await?).look.clone())
    }

    async fn look_again(&self) -> Result<Looked, EngineError> {
        let infos = self.store.tables().await?;
        let run_id = self.store.new_run_id()?;
        let mut transaction = self.store.begin(BeginOptions { run_id, intent: Intent::Read }).await?;
        let version = transaction.data_version().await?;
        let mut counted = Vec::new();
        for info in infos.into_iter().filter(|info| !info.table.hidden) {
            counted.push(self.look_at(&mut transaction, info).await?);
        }
        let database = transaction.database();
        transaction.roll_back().await?;
        let tables: Vec<TableBrief> = counted.iter().map(TableCount::brief).collect();
        let hash = hash(&format!("{tables:?}"));
        let look = Look { tables: Arc::new(tables), database, hash };
        Ok(Looked { look, counted, version, at: Instant::now() })
    }

    async fn look_at(
        &self,
        transaction: &mut Transaction,
        info: TableInfo,
    ) -> Result<TableCount, EngineError> {
        let is_whole = info.rows <= WHOLE_ROWS_MAX;
        let wanted = if is_whole { WHOLE_ROWS_MAX } else { SAMPLE_ROWS };
        let (names, rows) = read(transaction, &info.table.name, wanted).await?;
        let columns = names.iter().enumerate().map(|(place, name)| ColumnCount::of(name, place, &rows));
        let references = info.foreign_keys.iter().flat_map(|key| {
            let pairs = key.columns.iter().zip(&key.references);
            pairs.map(|(own, foreign)| (own.clone(), key.table.clone(), foreign.clone()))
        });
        Ok(TableCount {
            columns: columns.collect(),
            read: rows.len(),
            is_whole,
            about: TableBrief {
                rows: if is_whole { rows.len() as u64 } else { info.rows },
                columns: Vec::new(),
                references: references.collect(),
                roles: self.settings.roles.get(&info.table.name).cloned().unwrap_or_default(),
                indexes: info.indexes,
                table: visible(info.table),
            },
        })
    }
}

impl Looked {
    /// Follows what runs changed; `false` if the tables have to be read again.
    fn follow(&mut self, changes: &[(String, Diff)], version: u64) -> bool {
        for (_, diff) in changes {
            for (name, change) in &diff.tables {
                let table = self.counted.iter_mut().find(|table| table.about.table.name == *name);
                // A table that is not shown is not looked at either.
                if table.is_some_and(|table| !table.follow(change)) {
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
        self.look.hash = hash(&format!("{}\0{entries:?}", self.look.hash));
        self.version = version;
        true
    }
}

/// What a table holds, counted.
#[derive(Debug)]
struct TableCount {
    columns: Vec<ColumnCount>,
    /// The rows that were read.
    read: usize,
    /// Whether those are all.
    is_whole: bool,
    /// What does not come from rows.
    about: TableBrief,
}

impl TableCount {
    fn brief(&self) -> TableBrief {
        let columns = self.columns.iter().map(|column| column.brief(self.read, self.is_whole)).collect();
        TableBrief { columns, ..self.about.clone() }
    }

    fn follow(&mut self, change: &TableDiff) -> bool {
        self.about.rows =
            (self.about.rows + change.added.len() as u64).saturating_sub(change.removed.len() as u64);
        if !self.is_whole {
            return true;
        }
        self.read = (self.read + change.added.len()).saturating_sub(change.removed.len());
        let added = change.added.iter().map(|row| (None, Some(row)));
        let changed = change.changed.iter().map(|change| (Some(&change.before), Some(&change.after)));
        let removed = change.removed.iter().map(|row| (Some(row), None));
        let mut rows = added.chain(changed).chain(removed);
        let fits =
            rows.all(|(before, after)| self.columns.iter_mut().all(|column| column.follow(before, after)));
        fits && self.about.rows <= WHOLE_ROWS_MAX
    }
}

/// What a column holds, counted.
#[derive(Debug, Default)]
struct ColumnCount {
    name: String,
    /// The different values by their text, and how often each is there.
    distinct: BTreeMap<String, (Value, usize)>,
    /// A few of them.
    samples: Vec<Value>,
    missing: usize,
    /// How long all values are together.
    bytes: usize,
    /// What its lists and objects look like, where it has any.
    shape: Option<String>,
}

impl ColumnCount {
    fn of(name: &str, place: usize, rows: &[Vec<Option<Value>>]) -> Self {
        let mut column = Self { name: name.to_owned(), ..Self::default() };
        for row in rows {
            column.add(present(row.get(place).and_then(Option::as_ref)));
        }
        let values = || rows.iter().filter_map(|row| row.get(place)?.as_ref());
        let nested = || values().filter(|value| is_nested(value));
        column.shape = nested().next().is_some().then(|| json_shape(nested()));
        column
    }

    fn add(&mut self, value: Option<&Value>) {
        let Some(value) = value else {
            self.missing += 1;
            return;
        };
        let text = value.to_string();
        self.bytes += text.len();
        let (_, count) = self.distinct.entry(text).or_insert_with(|| (value.clone(), 0));
        *count += 1;
        if *count == 1 && self.samples.len() < SAMPLES {
            self.samples.push(value.clone());
        }
    }

    /// Takes a value away; `false` if it was not there.
    fn remove(&mut self, value: Option<&Value>) -> bool {
        let Some(value) = value else {
            let is_there = self.missing > 0;
            self.missing = self.missing.saturating_sub(1);
            return is_there;
        };
        let text = value.to_string();
        let Some((_, count)) = self.distinct.get_mut(&text) else { return false };
        *count -= 1;
        self.bytes = self.bytes.saturating_sub(text.len());
        if *count == 0 {
            self.distinct.remove(&text);
            self.samples.retain(|sample| sample != value);
        }
        true
    }

    /// Follows a row that was added, changed or removed; `false` if the column has to be read again.
    fn follow(&mut self, before: Option<&Row>, after: Option<&Row>) -> bool {
        let values = [before, after].map(|row| row.map(|row| present(row.get(&self.name))));
        if self.shape.is_some() || values.iter().flatten().flatten().any(|value| is_nested(value)) {
            return false;
        }
        let [before, after] = values;
        if before == after {
            return true;
        }
        if before.is_some_and(|value| !self.remove(value)) {
            return false;
        }
        if let Some(value) = after {
            self.add(value);
        }
        let values = self.distinct.values().map(|(value, _)| value);
        let others = values.filter(|value| !self.samples.contains(value)).take(SAMPLES);
        let others: Vec<Value> = others.take(SAMPLES - self.samples.len()).cloned().collect();
        self.samples.extend(others);
        true
    }

    fn brief(&self, rows: usize, is_whole: bool) -> ColumnBrief {
        let present = rows.saturating_sub(self.missing);
        #[expect(clippy::cast_precision_loss, reason = "a share of a few thousand rows")]
        let null_share = if rows == 0 { 0.0 } else { self.missing as f64 / rows as f64 };
        let is_prose = present > 0 && self.bytes / present > NAME_BYTES;
        let values = || self.distinct.values().map(|(value, _)| value.clone()).collect();
        ColumnBrief {
            name: self.name.clone(),
            null_share,
            samples: self.samples.clone(),
            values: (is_whole && !is_prose).then(values),
            shape: self.shape.clone(),
            unit: None,
        }
    }
}

/// A value that is there.
fn present(value: Option<&Value>) -> Option<&Value> {
    value.filter(|value| !value.is_null())
}

fn is_nested(value: &Value) -> bool {
    value.is_array() || value.is_object()
}

/// The table without the columns that plans may not see.
fn visible(mut table: Table) -> Table {
    table.columns.retain(|column| !column.hidden);
    table
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

#[cfg(test)]
mod tests {
    use ordain_types::RowChange;
    use serde_json::json;

    use super::*;

    fn row(name: &str, stock: &Value) -> Row {
        Row { fields: vec![("name".to_owned(), json!(name)), ("stock".to_owned(), stock.clone())] }
    }

    fn about(rows: u64) -> TableBrief {
        let table = Table {
            name: "items".to_owned(),
            columns: Vec::new(),
            key: Vec::new(),
            append_only: false,
            read_only: false,
            hidden: false,
        };
        let (columns, references, indexes) = (Vec::new(), Vec::new(), Vec::new());
        TableBrief { table, rows, columns, roles: BTreeMap::new(), references, indexes }
    }

    fn counted(rows: &[Row]) -> TableCount {
        let cells = |row: &Row| ["name", "stock"].map(|name| row.get(name).cloned()).to_vec();
        let cells: Vec<Vec<Option<Value>>> = rows.iter().map(cells).collect();
        let columns = ["name", "stock"].into_iter().enumerate();
        TableCount {
            columns: columns.map(|(place, name)| ColumnCount::of(name, place, &cells)).collect(),
            read: rows.len(),
            is_whole: true,
            about: about(rows.len() as u64),
        }
    }

    #[test]
    fn what_is_followed_is_what_a_new_look_would_find() {
        let mut rows = vec![row("Moon", &json!(3)), row("Sport", &json!(3)), row("Classic", &Value::Null)];
        let mut table = counted(&rows);
        let sold = RowChange { key: Row::default(), before: rows[0].clone(), after: row("Moon", &json!(2)) };
        let filled =
            RowChange { key: Row::default(), before: rows[2].clone(), after: row("Classic", &json!(7)) };
        let change = TableDiff {
            added: vec![row("Round", &json!(9))],
            changed: vec![sold, filled],
            removed: vec![rows[1].clone()],
        };
        assert!(table.follow(&change));
        rows = vec![row("Moon", &json!(2)), row("Classic", &json!(7)), row("Round", &json!(9))];
        let (mut followed, mut anew) = (table.brief(), counted(&rows).brief());
        for brief in [&mut followed, &mut anew] {
            // Which three values are shown depends on the order in which they came.
            brief.columns.iter_mut().for_each(|column| column.samples.sort_by_key(Value::to_string));
        }
        assert_eq!(format!("{followed:?}"), format!("{anew:?}"));
    }

    #[test]
    fn a_table_is_read_again_when_a_change_does_not_fit_what_was_seen() {
        let removed = |row: Row| TableDiff { removed: vec![row], ..TableDiff::default() };
        assert!(!counted(&[row("Moon", &json!(3))]).follow(&removed(row("Sport", &json!(3)))));
        let added = TableDiff { added: vec![row("Moon", &json!([1, 2]))], ..TableDiff::default() };
        assert!(!counted(&[]).follow(&added), "lists have a shape, which is not counted");
    }
}
