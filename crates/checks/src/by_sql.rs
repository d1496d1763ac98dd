//! Rules that a database judges where the rows are: tables of the store by their own database, and tables of files that are too
//! large for pandas by DuckDB in the cell.
//!
//! Invariant: what a database finds is what pandas would find. A rule of which that is not certain has no SQL, and is judged by
//! pandas whatever the size of its table (`ordain_store` writes the SQL, and a property test holds both side by side).

use std::collections::{BTreeMap, BTreeSet};

use ordain_store::{BeginOptions, Call, Intent, Reply, duckdb_rule};
use ordain_types::{Asked, Schema, TableRule};
use ordain_verify::{Effects, VerifiedCode, verify};
use serde_json::Value;

use crate::catalogue::Kind;
use crate::compile::{Ready, declared, needs_frames, tables_of};
use crate::kinds::{self, BySql};
use crate::tables::Tables;
use crate::{Check, Checks, ChecksError};

/// Tables of the store from this many rows on are judged where they are.
const STORED_ROWS: u64 = 100_000;
/// Failing rows of a table of the store that are looked at.
const FAILING_ROWS_MAX: u64 = 10_000;

/// A large table of the store.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stored {
    pub(crate) rows: u64,
    /// Whether some check needs it as a frame all the same.
    pub(crate) is_framed: bool,
}

/// A rule that a database judges in this run.
#[derive(Debug, Clone)]
pub(crate) struct ByDatabase {
    /// The program that makes a result of what the database counted.
    pub(crate) code: VerifiedCode,
    pub(crate) text: String,
    pub(crate) effects: Effects,
    /// The rule, where the store's database counts before the program runs.
    stored: Option<TableRule>,
}

impl ByDatabase {
    /// Whether DuckDB in the cell judges.
    pub(crate) fn is_in_cell(&self) -> bool {
        self.stored.is_none()
    }

    /// Who judges, as a note of the result.
    pub(crate) fn note(&self) -> String {
        let judge = if self.stored.is_some() { "the store's database" } else { "DuckDB" };
        format!("the table is large: {judge} judged its rows")
    }
}

impl Checks {
    /// The tables of the store that are so large that their rows stay there where they can.
    pub(crate) async fn stored_tables(
        &self,
        checks: &[&Check],
        wanted: &BTreeSet<String>,
    ) -> Result<BTreeMap<String, Stored>, ChecksError> {
        let schema = self.store().schema();
        let mut stored = self.large_tables(&schema, wanted).await?;
        if stored.is_empty() {
            return Ok(stored);
        }
        for check in checks.iter().filter(|check| needs_frames(check)) {
            let is_framed = !self.is_judged_in_store(check, &schema);
            let tables = tables_of(check);
            let of_check = stored.iter_mut().filter(|(name, _)| tables.contains(*name));
            of_check.for_each(|(_, stored)| stored.is_framed |= is_framed);
        }
        Ok(stored)
    }

    async fn large_tables(
        &self,
        schema: &Schema,
        wanted: &BTreeSet<String>,
    ) -> Result<BTreeMap<String, Stored>, ChecksError> {
        let names: Vec<&String> = wanted.iter().filter(|name| schema.table(name).is_some()).collect();
        let mut large = BTreeMap::new();
        if names.is_empty() {
            return Ok(large);
        }
        let store = self.store();
        let begin = BeginOptions { run_id: store.new_run_id()?, intent: Intent::Read };
        let mut transaction = store.begin(begin).await?;
        for name in names {
            let count = Call::Count { table: name.clone(), condition: None };
            if let Reply::Count { count: Some(rows), .. } = transaction.carry_out(count).await?
                && rows >= STORED_ROWS.min(self.workspace.large_rows)
            {
                large.insert(name.clone(), Stored { rows, is_framed: false });
            }
        }
        transaction.roll_back().await?;
        Ok(large)
    }

    fn is_judged_in_store(&self, check: &Check, schema: &Schema) -> bool {
        // A sentence is read with the values of the tables at hand.
        let compiled = if check.is_words() { None } else { kinds::compile(check, schema).ok() };
        compiled
            .and_then(|compiled| compiled.by_sql)
            .is_some_and(|by_sql| self.store().can_judge(&by_sql.rule))
    }

    /// How a database judges a check in this run, if it does.
    pub(crate) fn by_database(&self, check: &Check, ready: &Ready, tables: &Tables) -> Option<ByDatabase> {
        let by_sql = by_sql_of(check, ready, tables.schema())
            .filter(|by_sql| is_clear(&by_sql.rule, tables, check.is_words()))?;
        let is_stored = by_sql.rule.tables().any(|name| tables.stored.contains_key(name))
            && self.store().can_judge(&by_sql.rule);
        let is_large =
            |name: &str| tables.ready(name).is_some_and(|facts| facts.rows >= self.workspace.large_rows);
        let text = if is_stored {
            by_sql.given()
        } else if by_sql.rule.tables().any(is_large) {
            by_sql.in_cell(&duckdb_rule(&by_sql.rule, tables.schema())?)
        } else {
            return None;
        };
        let verdict = verify(&text, &tables.judged_by.policy, tables.schema());
        let code = verdict.verified().cloned()?;
        let stored = is_stored.then_some(by_sql.rule);
        Some(ByDatabase { code, text, effects: verdict.effects, stored })
    }

    /// What the store's database counts for a check, to be given to its program.
    pub(crate) async fn counted(&self, by: &ByDatabase, check: &Check) -> Result<Option<Value>, ChecksError> {
        let Some(rule) = &by.stored else { return Ok(None) };
        let rows_max = if check.samples.max_rows == 0 { 0 } else { FAILING_ROWS_MAX };
        let store = self.store();
        let begin = BeginOptions { run_id: store.new_run_id()?, intent: Intent::Read };
        let mut transaction = store.begin(begin).await?;
        let counted = transaction.judge(rule, rows_max).await;
        transaction.roll_back().await?;
        Ok(counted?)
    }
}

/// Whether every value by which rows are chosen can be read, and of a rule in words every value that it judges: what becomes
/// of other rows only pandas tells.
fn is_clear(rule: &TableRule, tables: &Tables, is_words: bool) -> bool {
    let mut names = BTreeSet::new();
    rule.when.iter().for_each(|when| when.columns(&mut names));
    match &rule.asks {
        Asked::Every(test) if is_words => test.columns(&mut names),
        Asked::Unique(columns) if is_words => names.extend(columns.iter().cloned()),
        _ => {}
    }
    tables.ready(&rule.table).is_none_or(|facts| {
        let chosen_by = facts.columns.iter().filter(|column| names.contains(&column.name));
        chosen_by.into_iter().all(|column| column.reading.get("misfits").is_none())
    })
}

/// The form of a check's rule that a database can judge, if its code says the same. Of a rule in words the reader tells the
/// kind that does.
fn by_sql_of(check: &Check, ready: &Ready, schema: &Schema) -> Option<BySql> {
    if !ready.plan.source.is_ours() {
        return None;
    }
    if check.is_words() {
        let plan = declared(&ready.plan);
        let (table, same) = (plan.pointer("/tables/0")?.as_str()?, plan.get("by_kind")?);
        let params = same.get("params")?.as_object()?.clone();
        let kind = Kind::named(same.get("kind")?.as_str()?)?;
        let same = Check::new(String::new(), table, kind, params);
        return kinds::compile(&same, schema).ok()?.by_sql;
    }
    kinds::compile(check, schema).ok().filter(|compiled| compiled.code == ready.plan.code)?.by_sql
}
