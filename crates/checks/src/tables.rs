//! The tables that checks look at, each as a mapped file with its schema, its facts and its fingerprint.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use ordain_cell::JudgedBy;
use ordain_engine::{Components, column_component};
use ordain_planner::{ColumnBrief, FileBrief, TableBrief};
use ordain_types::{Catalog, Column, ColumnType, Schema, Table};
use ordain_verify::{Contract, Policy};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::by_sql::Stored;
use crate::convert::{self, Converted, ConvertedTable};
use crate::sources::{self, DataFile, Hashes};
use crate::{Checks, ChecksError};

/// The file with the hashes of data files.
const INDEX: &str = "files.json";
/// How long a converted table stays that no run needs: somebody may take an edit back.
const UNUSED_MAX: Duration = Duration::from_hours(24);

/// What is known of a column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ColumnFacts {
    pub(crate) name: String,
    #[serde(rename = "type")]
    pub(crate) column_type: ColumnType,
    pub(crate) nullable: bool,
    pub(crate) null_share: f64,
    #[serde(default)]
    pub(crate) samples: Vec<Value>,
    #[serde(default)]
    pub(crate) values: Option<Vec<Value>>,
    #[serde(default)]
    pub(crate) is_unique: bool,
    /// How its values are read, and what did not fit.
    #[serde(default)]
    pub(crate) reading: Value,
}

impl ColumnFacts {
    /// What its numbers count: a currency, a unit, percent.
    fn unit(&self) -> Option<&str> {
        let said = |key| self.reading.get(key).and_then(Value::as_str);
        let percent = || said("type").filter(|kind| *kind == "percent").map(|_| "%");
        said("currency").or_else(|| said("unit")).or_else(percent)
    }

    fn summary(&self) -> String {
        let kind = self.reading.get("type").and_then(Value::as_str);
        let kind = kind
            .map_or_else(|| json!(self.column_type).as_str().unwrap_or_default().to_owned(), str::to_owned);
        let mut text = format!("{} ({kind}", self.name);
        if self.is_unique {
            text.push_str(", unique");
        }
        if self.null_share > 0.0 {
            let _ = write!(text, ", {} missing", crate::report::words::percent(self.null_share * 100.0));
        }
        let said = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        match self.values.as_deref() {
            Some(values) if values.len() <= 6 && !self.is_unique => {
                let _ = write!(text, ": {}", values.iter().map(said).collect::<Vec<_>>().join(", "));
            }
            _ => {}
        }
        text + ")"
    }
}

/// A table that can be looked at.
#[derive(Debug, Clone)]
pub struct TableFacts {
    /// Where it comes from, as it is shown.
    pub source: String,
    /// Its shape.
    pub table: Table,
    /// How many rows it has.
    pub rows: u64,
    /// What tells its rows from others: the hash of its file's bytes, how it is read, and what reads it.
    pub fingerprint: String,
    /// What was odd about its file.
    pub notes: Vec<String>,
    /// Its Arrow file; a table of the store that is only read by calls has none.
    pub(crate) path: Option<PathBuf>,
    pub(crate) columns: Vec<ColumnFacts>,
}

/// A table, or why it cannot be looked at.
#[derive(Debug, Clone)]
pub enum TableState {
    /// It is there.
    Ready(Box<TableFacts>),
    /// It is there and cannot be read.
    Broken {
        /// Why.
        reason: String,
    },
}

impl TableState {
    /// What is known of the table, as JSON.
    pub fn told(&self, name: &str) -> Value {
        match self {
            Self::Broken { reason } => json!({ "table": name, "problem": reason }),
            Self::Ready(facts) => json!({
                "table": name, "source": facts.source, "rows": facts.rows, "summary": facts.summary(),
                "columns": facts.readings(), "notes": facts.notes,
            }),
        }
    }
}

impl TableFacts {
    /// A few words about the table, from what its rows hold.
    pub(crate) fn summary(&self) -> String {
        let columns: Vec<String> = self.columns.iter().map(ColumnFacts::summary).collect();
        format!("{} rows, from {}. {}.", self.rows, self.source, columns.join("; "))
    }

    /// How each column is read: name, type, the marks and orders that were taken, what did not fit, notes.
    pub fn readings(&self) -> Vec<Value> {
        let columns = self.columns.iter().map(|column| {
            let mut reading = column.reading.clone();
            if !reading.is_object() {
                reading = json!({ "type": column.column_type });
            }
            reading["name"] = json!(column.name);
            reading["null_share"] = json!(column.null_share);
            reading["samples"] = json!(column.samples);
            reading
        });
        columns.collect()
    }

    /// The columns whose values are known, each with its table's name and its values.
    pub(crate) fn values(&self) -> Vec<(String, &[Value])> {
        let known = self.columns.iter().filter_map(|column| Some((column, column.values.as_deref()?)));
        known.map(|(column, values)| (format!("{}.{}", self.table.name, column.name), values)).collect()
    }

    /// Whether its file writes fractions with a comma.
    pub(crate) fn has_decimal_comma(&self) -> bool {
        self.columns.iter().any(|column| column.reading.get("decimal").is_some_and(|mark| mark == ","))
    }

    /// The table as a planner sees a file that holds it alone.
    pub(crate) fn file_brief(&self) -> FileBrief {
        let mut columns = self.readings();
        for (column, facts) in columns.iter_mut().zip(&self.columns) {
            column["values"] = json!(facts.values);
        }
        FileBrief {
            name: self.table.name.clone(),
            bytes: 0,
            kind: "table".to_owned(),
            facts: json!({ "tables": [{ "name": null, "rows": self.rows, "columns": columns }] }),
        }
    }

    /// The table as a planner sees it.
    pub(crate) fn brief(&self) -> TableBrief {
        let columns = self.columns.iter().map(|column| ColumnBrief {
            name: column.name.clone(),
            null_share: column.null_share,
            samples: column.samples.clone(),
            values: column.values.clone(),
            shape: None,
            unit: column.unit().map(str::to_owned),
            reading: column.reading.clone(),
        });
        TableBrief {
            table: self.table.clone(),
            rows: self.rows,
            columns: columns.collect(),
            roles: BTreeMap::new(),
            references: Vec::new(),
            indexes: Vec::new(),
        }
    }
}

/// The tables of a workspace by name.
#[derive(Debug, Clone)]
pub(crate) struct Tables {
    pub(crate) states: BTreeMap<String, TableState>,
    /// The shapes of those that are ready, gathered once with the rules: every check is judged by them.
    pub(crate) judged_by: Arc<JudgedBy>,
    /// What the numbers of their columns count.
    pub(crate) units: Components,
    /// Large tables of the store.
    pub(crate) stored: BTreeMap<String, Stored>,
}

impl Tables {
    /// The table, if it can be looked at.
    pub(crate) fn ready(&self, name: &str) -> Option<&TableFacts> {
        match self.states.get(name) {
            Some(TableState::Ready(facts)) => Some(facts),
            _ => None,
        }
    }

    /// The shapes of all tables that can be looked at.
    pub(crate) fn schema(&self) -> &Schema {
        &self.judged_by.schema
    }

    pub(crate) fn gather_schema(&mut self, policy: Policy) {
        let ready: Vec<&TableFacts> = self.states.keys().filter_map(|name| self.ready(name)).collect();
        let columns =
            ready.iter().flat_map(|facts| facts.columns.iter().map(|column| (&facts.table.name, column)));
        let units = columns.filter_map(|(table, column)| {
            Some((column_component(&column.name, table), column.unit()?.to_owned()))
        });
        let (units, mut tables): (Components, Vec<Table>) =
            (units.collect(), ready.iter().map(|facts| facts.table.clone()).collect());
        // Whether a value is missing is for the rows to show: it must not make code stale.
        tables.iter_mut().flat_map(|table| &mut table.columns).for_each(|column| column.nullable = false);
        self.judged_by = Arc::new(JudgedBy { policy, schema: Schema { tables } });
        self.units = units;
    }

    /// The hash of several tables' rows together.
    pub(crate) fn fingerprint<'a>(&self, names: impl IntoIterator<Item = &'a String>) -> String {
        let mut text = String::new();
        for name in names {
            if let Some(facts) = self.ready(name) {
                text.extend([name, "=", &facts.fingerprint, "\n"]);
            }
        }
        sources::hash_text(&text)
    }
}

impl Checks {
    /// Every table that checks can look at, or why it cannot be looked at, by name.
    pub fn all_tables(
        &self,
    ) -> ordain_types::BoxFuture<'_, Result<BTreeMap<String, TableState>, ChecksError>> {
        Box::pin(async move { Ok(self.tables(None, &BTreeSet::new(), 2).await?.states) })
    }

    /// The files in `data` of which nothing is a table.
    pub fn files_without_tables(&self, states: &BTreeMap<String, TableState>) -> Vec<String> {
        let entries =
            fs_err::read_dir(self.workspace.root.join(sources::FOLDER)).into_iter().flatten().flatten();
        let files = entries.filter(|entry| entry.path().is_file());
        let names = files.map(|entry| entry.file_name().to_string_lossy().into_owned());
        let is_table = |name: &str| {
            let mut stems = std::iter::successors(Some(name), |name| Some(name.rsplit_once('.')?.0));
            stems.any(|stem| {
                states.keys().any(|known| known == stem || known.starts_with(&format!("{stem}.")))
            })
        };
        let mut left: Vec<String> = names.filter(|name| !name.starts_with('.') && !is_table(name)).collect();
        left.sort();
        left
    }

    /// The sections of `[data]` that name neither a data file nor a seed: files may come later, or be given to questions.
    pub fn unused_declarations(&self) -> Result<Vec<String>, ChecksError> {
        let catalog = &self.workspace.catalog;
        let files = self.data_files()?;
        let seeds = self.workspace.tables.iter().filter_map(|table| table.seed.as_ref());
        let seeds =
            seeds.filter_map(|seed| Some(Path::new(seed).file_name()?.to_string_lossy().into_owned()));
        let names: Vec<String> = files.iter().map(DataFile::name).chain(seeds).collect();
        let used: BTreeSet<&String> = names.iter().filter_map(|name| catalog.section_of(name)).collect();
        Ok(catalog.data.keys().filter(|section| !used.contains(section)).cloned().collect())
    }

    /// What the data files of these tables take together.
    pub(crate) fn bytes_of_files(&self, wanted: &BTreeSet<String>) -> Result<u64, ChecksError> {
        let files = self.data_files()?;
        let files = files.iter().filter(|file| wanted.contains(&file.stem));
        Ok(files.filter_map(|file| Some(fs_err::metadata(&file.path).ok()?.len())).sum())
    }

    /// Makes the wanted tables ready; `None` makes all of them ready. Only files that changed are converted, and no table
    /// of the store is that `called` names alone: code reads it by calls.
    pub(crate) async fn tables(
        &self,
        wanted: Option<&BTreeSet<String>>,
        called: &BTreeSet<String>,
        jobs: usize,
    ) -> Result<Tables, ChecksError> {
        self.tables_beside(wanted, called, BTreeMap::new(), jobs).await
    }

    /// The same beside large tables of the store, whose rows stay there unless a check needs them as a frame.
    pub(crate) async fn tables_beside(
        &self,
        wanted: Option<&BTreeSet<String>>,
        called: &BTreeSet<String>,
        stored: BTreeMap<String, Stored>,
        jobs: usize,
    ) -> Result<Tables, ChecksError> {
        let folder = self.cache_folder();
        fs_err::create_dir_all(&folder).map_err(ChecksError::state("make the table cache"))?;
        let is_wanted = |name: &str| wanted.is_none_or(|wanted| wanted.contains(name));
        let mut found: Vec<(String, DataFile)> = Vec::new();
        let judged_by = JudgedBy { policy: Policy::for_contract(Contract::Check), schema: Schema::default() };
        let units = Components::new();
        let mut tables = Tables { states: BTreeMap::new(), judged_by: Arc::new(judged_by), units, stored };
        let index = folder.join(INDEX);
        let mut hashes = Hashes::open(&index);
        for file in self.data_files()? {
            let may_have_sheets = file.may_hold_several()
                && wanted.is_none_or(|wanted| {
                    wanted.iter().any(|name| name.starts_with(&format!("{}.", file.stem)))
                });
            if !is_wanted(&file.stem) && !may_have_sheets {
                continue;
            }
            match hashes.of(&file) {
                Ok(hash) => found.push((hash, file)),
                Err(error) => {
                    let reason = format!("{} cannot be read: {error}", file.shown);
                    tables.states.insert(file.stem.clone(), TableState::Broken { reason });
                }
            }
        }
        hashes.keep(&index).map_err(ChecksError::state("keep the hashes of data files"))?;
        let exports = tempfile::tempdir_in(&folder).map_err(ChecksError::state("make the table cache"))?;
        let of_store = self.store().schema();
        for table in of_store.tables.iter().filter(|table| !table.hidden) {
            if !is_wanted(&table.name) && !called.contains(&table.name) {
                continue;
            }
            if let Some(large) = tables.stored.get(&table.name).filter(|large| !large.is_framed) {
                let facts = stored_facts(table, large.rows, self.store().new_run_id()?.to_string());
                tables.put(table.name.clone(), TableState::Ready(Box::new(facts)));
                continue;
            }
            let path = exports.path().join(format!("{}.jsonl", found.len()));
            let exported = sources::export(self.store(), table, &path).await?;
            if is_wanted(&table.name) {
                found.push((exported.hash, exported.file));
            } else {
                let facts = stored_facts(table, exported.rows, exported.hash);
                tables.put(table.name.clone(), TableState::Ready(Box::new(facts)));
            }
        }
        self.make_files_ready(found, jobs, &mut tables).await?;
        for table in of_store.tables.iter().filter(|table| !table.hidden) {
            tables.declare_units(&table.name, &self.workspace.catalog);
            if let Some(TableState::Ready(facts)) = tables.states.get_mut(&table.name) {
                let told = self.store().seed_notes(&table.name).into_iter();
                facts.notes.extend(told.map(|note| format!("{}: {note}", facts.source)));
            }
        }
        tables.gather_schema(self.engine.settings().policy_of_checks());
        Ok(tables)
    }

    async fn make_files_ready(
        &self,
        found: Vec<(String, DataFile)>,
        jobs: usize,
        tables: &mut Tables,
    ) -> Result<(), ChecksError> {
        let folder = self.cache_folder();
        let mut missing: Vec<(String, DataFile)> = Vec::new();
        let mut known: BTreeMap<String, Converted> = BTreeMap::new();
        for (hash, file) in &found {
            let key = convert::cache_key(hash, file);
            match convert::cached(&folder, &key) {
                Some(converted) => drop(known.insert(key, converted)),
                None if missing.iter().any(|(other, _)| *other == key) => {}
                None => missing.push((key, file.clone())),
            }
        }
        if !missing.is_empty() {
            known.extend(self.convert(&missing, jobs).await?);
        }
        forget_old(&folder, &known);
        for (hash, file) in found {
            // What was read otherwise is other data: its content, how it is to be read, and what reads it.
            let key = convert::cache_key(&hash, &file);
            if let Some(converted) = known.get(&key) {
                tables.take(&key, &file, converted, &folder);
            }
        }
        Ok(())
    }
}

/// Removes what no table of this run needs and nobody has written for a day. What cannot be removed stays.
fn forget_old(folder: &Path, known: &BTreeMap<String, Converted>) {
    let is_needed = |name: &str| name == INDEX || known.keys().any(|key| name.starts_with(key.as_str()));
    for entry in fs_err::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let age = entry.metadata().ok().and_then(|metadata| metadata.modified().ok()?.elapsed().ok());
        if is_needed(&name) || age.is_none_or(|age| age < UNUSED_MAX) {
            continue;
        }
        // A folder is what a run that was killed left.
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let _ =
            if is_folder { fs_err::remove_dir_all(entry.path()) } else { fs_err::remove_file(entry.path()) };
    }
}

impl Tables {
    fn take(&mut self, key: &str, file: &DataFile, converted: &Converted, folder: &Path) {
        if let Some(problem) = &converted.problem {
            self.put(file.stem.clone(), TableState::Broken { reason: format!("{}: {problem}", file.shown) });
        }
        for table in &converted.tables {
            let name = match &table.sheet {
                Some(sheet) => format!("{}.{sheet}", file.stem),
                None => file.stem.clone(),
            };
            let facts = facts(&name, key, file, table, folder);
            self.put(name, TableState::Ready(Box::new(facts)));
        }
    }

    /// Takes over what is declared of the numbers of a table of the store: a bound on another unit is another rule.
    fn declare_units(&mut self, name: &str, catalog: &Catalog) {
        let (Some(TableState::Ready(facts)), Some(notes)) =
            (self.states.get_mut(name), catalog.tables.get(name))
        else {
            return;
        };
        for column in &mut facts.columns {
            let Some(unit) = notes.columns.get(&column.name).and_then(|notes| notes.unit.as_ref()) else {
                continue;
            };
            if !column.reading.is_object() {
                column.reading = json!({ "type": column.column_type });
            }
            column.reading["unit"] = json!(unit);
        }
    }

    /// Two sources of one name are reported; none of them is chosen.
    fn put(&mut self, name: String, state: TableState) {
        let shown = |state: &TableState| match state {
            TableState::Ready(facts) => facts.source.clone(),
            TableState::Broken { reason } => reason.clone(),
        };
        if let Some(other) = self.states.get(&name) {
            let reason = format!("table `{name}` has two sources: {} and {}", shown(other), shown(&state));
            self.states.insert(name, TableState::Broken { reason });
        } else {
            self.states.insert(name, state);
        }
    }
}

/// What is known of a table of the store that nobody wants as a frame. Of rows that nobody looked at the fingerprint is another
/// one in every run.
fn stored_facts(table: &Table, rows: u64, fingerprint: String) -> TableFacts {
    let columns = table.columns.iter().filter(|column| !column.hidden);
    let facts = columns.clone().map(|column| ColumnFacts {
        name: column.name.clone(),
        column_type: column.column_type,
        nullable: column.nullable,
        null_share: 0.0,
        samples: Vec::new(),
        values: None,
        is_unique: false,
        reading: Value::Null,
    });
    TableFacts {
        source: sources::shown(table),
        rows,
        fingerprint,
        notes: Vec::new(),
        path: None,
        columns: facts.collect(),
        table: Table { name: table.name.clone(), columns: columns.cloned().collect(), ..Table::default() },
    }
}

fn facts(name: &str, key: &str, file: &DataFile, table: &ConvertedTable, folder: &Path) -> TableFacts {
    let columns = table.columns.iter().map(|column| Column {
        name: column.name.clone(),
        column_type: column.column_type,
        nullable: column.nullable,
        hidden: false,
    });
    TableFacts {
        source: file.shown.clone(),
        table: Table {
            name: name.to_owned(),
            columns: columns.collect(),
            read_only: file.known.is_none(),
            ..Table::default()
        },
        rows: table.rows,
        fingerprint: key.to_owned(),
        notes: table.notes.iter().map(|note| format!("{}: {note}", file.shown)).collect(),
        path: Some(folder.join(&table.file)),
        columns: table.columns.clone(),
    }
}
