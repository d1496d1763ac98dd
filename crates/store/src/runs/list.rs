//! Many runs: which ones, pages of their records, and counts.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use ordain_types::{RunId, RunKind, RunRecord, RunState};
use serde_json::Value;

use super::{Owned, parse};
use crate::Answer;
use crate::bookkeeping::own;
use crate::error::StoreError;
use crate::ledger::Ledger;
use crate::sealed::{self, People};
use crate::session::Session;
use crate::sql::{Datum, Dialect, Sql};
use crate::store::Store;

/// Records of one page, all together. A page has at least one.
const PAGE_BYTES_MAX: i64 = 16 << 20;

/// Which runs.
#[derive(Debug, Clone, Default)]
pub struct RunFilter {
    /// Only those in one of these states; in any, if none is given.
    pub states: Vec<RunState>,
    /// Only those that this caller may see.
    pub seen_by: Option<SeenBy>,
    /// Only those before this one.
    pub before: Option<RunId>,
    /// Only this one and those after it.
    pub since: Option<RunId>,
    /// Only those whose request has these words, and the one of that id; any, if it is empty. No index helps to find
    /// them, so `since` should bound the search.
    pub words: String,
    /// At most so many.
    pub limit: u64,
}

/// Somebody who sees the runs that it asked for or decided on, and perhaps all that wait for a decision.
#[derive(Debug, Clone)]
pub struct SeenBy {
    /// The caller.
    pub who: String,
    /// Whether it sees every held run.
    pub sees_held: bool,
}

impl SeenBy {
    /// Whether the caller asked for a run or decided on it.
    pub(crate) fn sees_own(&self, people: &People) -> bool {
        people.asked_by.as_ref() == Some(&self.who) || people.decided_by.as_ref() == Some(&self.who)
    }
}

impl RunFilter {
    /// The newest runs of all.
    pub fn newest(limit: u64) -> Self {
        Self { limit, ..Self::default() }
    }

    /// Whether a run meets the filter by what the ledger says; the table's columns only find it.
    fn is_met(&self, record: &RunRecord, people: &People) -> bool {
        let is_in_state =
            self.states.is_empty() || self.states.contains(&record.state) || sealed::is_altered(record);
        let is_seen = self
            .seen_by
            .as_ref()
            .is_none_or(|by| by.sees_own(people) || (by.sees_held && record.state == RunState::Held));
        is_in_state && is_seen
    }

    /// One statement for each state and each column that makes a run visible: only then does an index give the newest
    /// runs without reading all of them.
    fn statements(&self, session: &Session) -> Vec<Sql> {
        let states = self.states.iter().map(|state| Some(("state", state.as_str())));
        let states = if self.states.is_empty() { vec![None] } else { states.collect() };
        let ways = match &self.seen_by {
            None => vec![None],
            Some(SeenBy { who, sees_held }) => {
                let held = sees_held.then_some(Some(("state", RunState::Held.as_str())));
                [Some(("who", who.as_str())), Some(("decided_by", who.as_str()))]
                    .into_iter()
                    .chain(held)
                    .collect()
            }
        };
        let both = states.iter().flat_map(|state| ways.iter().map(move |way| (*state, *way)));
        both.map(|(state, way)| self.select(session, state.into_iter().chain(way))).collect()
    }

    fn select<'a>(&self, session: &Session, equal: impl Iterator<Item = (&'a str, &'a str)>) -> Sql {
        let runs = own(session.dialect(), "runs");
        let mut sql = session.sql("SELECT run_id, ");
        sql.result("octet_length(record)").push(&format!(" FROM {runs} WHERE TRUE"));
        for (column, value) in equal {
            sql.push(&format!(" AND {column} = ")).text_param(value);
        }
        if let Some(before) = &self.before {
            sql.push(" AND run_id < ").text_param(before.as_str());
        }
        if let Some(since) = &self.since {
            sql.push(" AND run_id >= ").text_param(since.as_str());
        }
        if !self.words.is_empty() {
            self.push_words(&mut sql, session.dialect());
        }
        let limit = i64::try_from(self.limit).unwrap_or(i64::MAX);
        sql.push(" ORDER BY run_id DESC LIMIT ").integer_param(limit);
        sql
    }
}

impl RunFilter {
    /// Looks for the words in the text between the names of two fields that every record has one after the other. What
    /// is no record, since somebody edited it, has no such text and is not found.
    fn push_words(&self, sql: &mut Sql, dialect: Dialect) {
        let place = match dialect {
            Dialect::Sqlite => "instr",
            Dialect::Postgres => "strpos",
        };
        let quoted = Value::from(self.words.as_str()).to_string();
        let written = quoted.trim_matches('"');
        sql.push(" AND (run_id = lower(").text_param(&self.words);
        sql.push(&format!(") OR {place}(lower(substr(record, {place}(record, '\"request\":\"') + 11, "));
        sql.push(&format!("{place}(record, '\",\"strategy\":') - {place}(record, '\"request\":\"') - 11"));
        sql.push(")), lower(").text_param(written).push(")) > 0)");
    }
}

impl Store {
    /// The run that is so many places before another one, or before the newest of all.
    pub fn run_behind<'a>(&'a self, before: Option<&'a RunId>, places: u64) -> Answer<'a, Option<RunId>> {
        Box::pin(async move {
            let mut session = self.inner.pool.session().await?;
            let runs = own(session.dialect(), "runs");
            let mut sql = session.sql(&format!("SELECT run_id FROM {runs} WHERE TRUE"));
            if let Some(before) = before {
                sql.push(" AND run_id < ").text_param(before.as_str());
            }
            let places = i64::try_from(places.saturating_sub(1)).unwrap_or(i64::MAX);
            sql.push(" ORDER BY run_id DESC LIMIT 1 OFFSET ").integer_param(places);
            let rows = session.read(sql).await?;
            Ok(rows.first().and_then(|row| row[0].as_text()).map(|run| RunId(run.to_owned())))
        })
    }

    /// Records of runs that meet a filter, newest first. A page ends early where its records are large.
    pub fn find_runs(&self, filter: RunFilter) -> Answer<'_, Vec<RunRecord>> {
        Box::pin(async move {
            let found = self.find_owned_runs(filter).await?;
            Ok(found.into_iter().map(|owned| owned.record).collect())
        })
    }

    /// The same, with who asked for each and who decided on it.
    pub fn find_owned_runs(&self, filter: RunFilter) -> Answer<'_, Vec<Owned>> {
        Box::pin(
            async move { page(&self.inner.ledger, &mut self.inner.pool.session().await?, &filter).await },
        )
    }

    /// The ids of the runs in a state, newest first.
    pub fn run_ids(&self, state: RunState, limit: u64) -> Answer<'_, Vec<RunId>> {
        Box::pin(async move {
            let filter = RunFilter { states: vec![state], ..RunFilter::newest(limit) };
            let found = sizes(&mut self.inner.pool.session().await?, &filter).await?;
            Ok(found.into_iter().map(|(run, _)| RunId(run)).collect())
        })
    }

    /// How many runs are in a state.
    pub fn count_runs(&self, state: RunState) -> Answer<'_, u64> {
        Box::pin(async move { count(&mut self.inner.pool.session().await?, state).await })
    }

    /// How many runs in each state began between an id and the next one, for each two of these ids.
    pub fn run_counts<'a>(&'a self, bounds: &'a [RunId]) -> Answer<'a, Vec<Vec<(RunState, u64)>>> {
        Box::pin(async move { counts(&mut self.inner.pool.session().await?, bounds).await })
    }
}

/// Ids of runs that meet a filter with the size of their records, newest first.
async fn sizes(session: &mut Session, filter: &RunFilter) -> Result<Vec<(String, i64)>, StoreError> {
    let mut found = BTreeMap::new();
    for row in session.read_all(filter.statements(session)).await?.into_iter().flatten() {
        let run = row[0].as_text().unwrap_or_default().to_owned();
        found.insert(Reverse(run), row[1].as_integer().unwrap_or_default());
    }
    let limit = usize::try_from(filter.limit).unwrap_or(usize::MAX);
    Ok(found.into_iter().take(limit).map(|(Reverse(run), bytes)| (run, bytes)).collect())
}

/// Records that meet a filter, newest first. Large records make a page short: memory is bounded, and the rest is asked
/// for behind the last one.
pub(crate) async fn page(
    ledger: &Ledger,
    session: &mut Session,
    filter: &RunFilter,
) -> Result<Vec<Owned>, StoreError> {
    let mut bytes = 0_i64;
    let mut ids = Vec::new();
    for (run, size) in sizes(session, filter).await? {
        bytes = bytes.saturating_add(size);
        if bytes > PAGE_BYTES_MAX && !ids.is_empty() {
            break;
        }
        ids.push(run);
    }
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let runs = own(session.dialect(), "runs");
    let mut sql = session.sql(&format!("SELECT record, run_id FROM {runs} WHERE run_id IN ("));
    sql.list(", ", &ids, |sql, id| {
        sql.text_param(id);
    });
    sql.push(") ORDER BY run_id DESC");
    let rows = session.read(sql).await?;
    let records = rows.iter().map(|row| {
        let run = RunId(row[1].as_text().unwrap_or_default().to_owned());
        // What is no record at all was altered, as every other one that its entry does not have.
        let record = parse(&row[0]).unwrap_or_else(|_| RunRecord::new(run.clone(), RunKind::Lost, ""));
        (RunRecord { run_id: run, ..record }, row[0].as_text().unwrap_or_default().to_owned())
    });
    let records = records.collect();
    let shown = sealed::marked(ledger, session, records).await?;
    let met = shown.into_iter().filter(|(record, people)| filter.is_met(record, people));
    let owned =
        |(record, people): (_, People)| Owned { record, who: people.asked_by, decided_by: people.decided_by };
    Ok(met.map(owned).collect())
}

/// What is wrong with the kept records: those that are not as the ledger has them, and those that are gone.
pub(crate) async fn altered(ledger: &Ledger, session: &mut Session) -> Result<Vec<String>, StoreError> {
    let mut found = Vec::new();
    let mut filter = RunFilter::newest(100);
    loop {
        let records = page(ledger, session, &filter).await?;
        let Some(last) = records.last() else { break };
        filter.before = Some(last.record.run_id.clone());
        let altered = records.iter().map(|owned| &owned.record).filter(|record| sealed::is_altered(record));
        found.extend(
            altered
                .map(|record| format!("the record of run `{}` is not the one of its entry", record.run_id)),
        );
    }
    let (runs, entries) = (own(session.dialect(), "runs"), own(session.dialect(), "entries"));
    let sql = session.sql(&format!(
        "SELECT DISTINCT run_id FROM {entries} WHERE run_id IS NOT NULL AND run_id NOT IN (SELECT run_id FROM {runs}) LIMIT 100"
    ));
    for row in session.read(sql).await? {
        found.push(format!("the record of run `{}` is gone", row[0].as_text().unwrap_or_default()));
    }
    Ok(found)
}

async fn count(session: &mut Session, state: RunState) -> Result<u64, StoreError> {
    let runs = own(session.dialect(), "runs");
    let mut sql = session.sql("SELECT ");
    sql.result("count(*)").push(&format!(" FROM {runs} WHERE state = ")).text_param(state.as_str());
    let rows = session.read(sql).await?;
    Ok(rows.first().map(|row| whole(&row[0])).unwrap_or_default())
}

async fn counts(session: &mut Session, bounds: &[RunId]) -> Result<Vec<Vec<(RunState, u64)>>, StoreError> {
    let runs = own(session.dialect(), "runs");
    let statements = bounds.windows(2).map(|between| {
        let mut sql = session.sql("SELECT state, ");
        sql.result("count(*)").push(&format!(" FROM {runs} WHERE state IN ("));
        sql.list(", ", RunState::ALL, |sql, state| {
            sql.text_param(state.as_str());
        });
        sql.push(") AND run_id >= ").text_param(between[0].as_str());
        sql.push(" AND run_id < ").text_param(between[1].as_str()).push(" GROUP BY state");
        sql
    });
    let statements = statements.collect();
    let state = |datum: &Datum| datum.as_text().and_then(RunState::named);
    let of_rows = |rows: Vec<Vec<Datum>>| {
        rows.iter().filter_map(|row| Some((state(&row[0])?, whole(&row[1])))).collect()
    };
    Ok(session.read_all(statements).await?.into_iter().map(of_rows).collect())
}

fn whole(datum: &Datum) -> u64 {
    datum.as_integer().and_then(|count| u64::try_from(count).ok()).unwrap_or_default()
}
