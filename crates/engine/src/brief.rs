//! Puts together what a planner is shown.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ordain_planner::reader::{self, Explained, Missed};
use ordain_planner::{
    Brief, ColumnBrief, Example, Forms, InvariantBrief, OutlineForm, Planner, PlannerError, PolicyFinding,
    TableBrief, Task, Turn, json_shape, policy_findings,
};
use ordain_store::{
    BeginOptions, CachedPlan, Call, Intent, Reply, RunFilter, StoreError, TableInfo, Transaction,
};
use ordain_types::{RunKind, RunState, Table};
use ordain_verify::Policy;
use serde_json::Value;

use crate::code::CodeTask;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::fingerprint::hash;
use crate::trial::RunTrial;
use crate::work::Work;

/// Tables up to this size are read whole, so that the planner knows every value of theirs.
const WHOLE_ROWS_MAX: u64 = 5_000;
/// Of larger tables so many rows are looked at.
const SAMPLE_ROWS: u64 = 500;
/// Declined requests that are read again for the words that they were declined for.
const MISSED_RUNS: u64 = 500;
/// How often a planner may look at the data before it writes a plan.
const LOOKS_MAX: u32 = 2;
/// Values that are shown of each column.
const SAMPLES: usize = 3;
/// Kept plans that are compared with a request, and words that an example shares with it at least.
const PLANS_COMPARED: u64 = 200;
const SHARED_WORDS_MIN: usize = 2;
/// A column with longer values than this (on average) holds prose; its values are no names.
const NAME_BYTES: usize = 200;
/// For so long a look at a large table is good enough.
const LARGE_AGE: Duration = Duration::from_secs(30);
/// Somebody else may write to a database in place; nobody tells us.
const AGE_MAX: Duration = Duration::from_mins(1);

/// A look at the tables, and when it was taken.
#[derive(Debug, Clone)]
pub(crate) struct Look {
    /// The rows' version at that time: every change that goes through the store moves it.
    version: u64,
    at: Instant,
    pub(crate) tables: Arc<Vec<TableBrief>>,
    /// The database that they are in.
    database: &'static str,
    /// The hash of all that, so that it is not taken anew for every request.
    hash: String,
}

impl Look {
    fn is_fresh(&self, version: u64) -> bool {
        let is_small = self.tables.iter().all(|table| table.rows <= WHOLE_ROWS_MAX);
        let age = self.at.elapsed();
        (self.version == version && age < AGE_MAX) || (!is_small && age < LARGE_AGE)
    }
}

impl Engine {
    /// The brief of a piece of work that a planner is to write a plan for, and its hash.
    pub(crate) async fn brief_for(&self, trial: &RunTrial<'_>) -> Result<(Brief, String), EngineError> {
        match trial.work {
            Work::Code(task) => {
                let brief = self.code_brief(task, &trial.prepared.briefs, &trial.policy).await?;
                let hash = hash(&format!("{brief:?}"));
                Ok((brief, hash))
            }
            Work::Ask(ask) => {
                let (mut brief, hash) = self.brief(&ask.request, self.turns_before(ask).await?).await?;
                brief.forms = Forms { looks: LOOKS_MAX, outline: OutlineForm::Never };
                Ok((brief, hash))
            }
            // Given code has no planner, and each check has a brief of its own.
            Work::Exec(_) | Work::Check(_) => self.brief(trial.work.order().request, Vec::new()).await,
        }
    }

    /// The rules by which its code is judged.
    pub(crate) async fn policy_for(&self, work: &Work) -> Result<Policy, EngineError> {
        match work {
            Work::Ask(_) => Ok(Policy::clone(&self.policy)),
            Work::Check(_) => Ok(self.settings.policy_of_checks()),
            Work::Exec(exec) => {
                Ok(exec.policy(&self.exec_sessions.of(exec.session.as_deref()), &self.settings.own_packages))
            }
            Work::Code(task) => {
                let mut policy = self.code_policy(task);
                self.extend_by_session(&mut policy, task).await?;
                Ok(policy)
            }
        }
    }

    /// The brief of a request, and its hash.
    pub(crate) async fn brief(
        &self,
        request: &str,
        turns: Vec<Turn>,
    ) -> Result<(Brief, String), EngineError> {
        let settings = &self.settings;
        let mut brief = Brief::new(Task::Ask, "");
        brief.policy.clone_from(&settings.policy);
        brief.invariants = settings
            .invariants
            .iter()
            .map(|(name, sql)| InvariantBrief { name: name.clone(), sql: sql.clone() })
            .collect();
        brief.catalog = settings.catalog.clone();
        settings.helpers.source().clone_into(&mut brief.helpers);
        brief.statuses = settings.told_statuses();
        brief.packages.clone_from(&settings.packages);
        brief.limits = settings.limits.clone();
        let of_settings = self.settings_hash.get_or_init(|| hash(&format!("{brief:?}")));
        request.clone_into(&mut brief.request);
        brief.turns = turns;
        brief.today = self.store.timestamp().chars().take("2026-03-14".len()).collect();
        let look = self.look().await?;
        let own = (&brief.request, &brief.turns, &brief.today);
        let hash = hash(&format!("{own:?}\0{of_settings}\0{}", look.hash));
        brief.tables = look.tables;
        look.database.clone_into(&mut brief.database);
        Ok((brief, hash))
    }

    /// Plans that were kept for requests of the same caller that share words with this one, the nearest first.
    pub(crate) async fn examples(&self, request: &str, who: &str) -> Result<Vec<Example>, EngineError> {
        let words: BTreeSet<String> = words(request).collect();
        let schema = self.store.schema();
        let plans =
            self.store.plans_after(Some(RunKind::Ask.as_str()), Some(who), None, PLANS_COMPARED).await?;
        let mut near: Vec<(usize, CachedPlan)> = plans
            .into_iter()
            .map(|plan| (self::words(&plan.request).filter(|word| words.contains(word)).count(), plan))
            .filter(|(shared, plan)| {
                *shared >= SHARED_WORDS_MIN && self.settings.stale(plan, &schema).is_none()
            })
            .collect();
        near.sort_by_key(|(shared, plan)| std::cmp::Reverse((*shared, plan.pinned)));
        Ok(near.into_iter().map(|(_, plan)| Example { request: plan.request, code: plan.code }).collect())
    }

    /// What the reader understands of a request, without carrying it out.
    pub async fn read(&self, request: &str) -> Result<Explained, EngineError> {
        let (brief, _) = self.brief(request, Vec::new()).await?;
        Ok(reader::explain(&brief))
    }

    /// What the reader understands of a question about files, without answering it.
    pub async fn read_files(&self, task: &CodeTask) -> Result<Explained, EngineError> {
        let prepared = self.prepare_files(&task.files, &task.mounted, &self.settings.limits).await?;
        let brief = self.code_brief(task, &prepared.briefs, &self.code_policy(task)).await?;
        Ok(reader::explain(&brief))
    }

    /// What the owner should know about the policy, from its first line to its last.
    pub async fn policy_findings(&self) -> Result<Vec<PolicyFinding>, EngineError> {
        let (brief, _) = self.brief("", Vec::new()).await?;
        Ok(policy_findings(&brief, &self.settings.tools.known()))
    }

    /// What a model says of the policy. Opinions, not facts.
    pub async fn policy_opinions(
        &self,
        planner: &Planner,
    ) -> Result<Result<Vec<PolicyFinding>, PlannerError>, EngineError> {
        let (brief, _) = self.brief("", Vec::new()).await?;
        Ok(planner.read_policy(&brief).await)
    }

    /// The words for which the last requests were declined and that are still not understood, the most frequent first.
    pub async fn missed(&self) -> Result<Vec<Missed>, EngineError> {
        let declined = RunFilter { states: vec![RunState::Declined], ..RunFilter::newest(MISSED_RUNS) };
        let runs = self.store.find_runs(declined).await?;
        let asked = runs.iter().filter(|run| run.kind == RunKind::Ask).map(|run| run.request.as_str());
        let (brief, _) = self.brief("", Vec::new()).await?;
        Ok(reader::missed(&brief, asked))
    }

    /// What the tables hold.
    pub(crate) async fn look(&self) -> Result<Look, EngineError> {
        let version = self.store.data_version().await?;
        let kept = self.looked.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone();
        if let Some(look) = kept.filter(|look| look.is_fresh(version)) {
            return Ok(look);
        }
        let (tables, database) = self.look_again().await?;
        let tables = Arc::new(tables);
        let hash = hash(&format!("{tables:?}"));
        let look = Look { version, at: Instant::now(), tables, database, hash };
        *self.looked.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(look.clone());
        Ok(look)
    }

    async fn look_again(&self) -> Result<(Vec<TableBrief>, &'static str), EngineError> {
        let infos = self.store.tables().await?;
        let run_id = self.store.new_run_id()?;
        let mut transaction = self.store.begin(BeginOptions { run_id, intent: Intent::Read }).await?;
        let mut tables = Vec::new();
        for info in infos.into_iter().filter(|info| !info.table.hidden) {
            tables.push(self.look_at(&mut transaction, info).await?);
        }
        let database = transaction.database();
        transaction.roll_back().await?;
        Ok((tables, database))
    }

    async fn look_at(
        &self,
        transaction: &mut Transaction,
        info: TableInfo,
    ) -> Result<TableBrief, EngineError> {
        let is_whole = info.rows <= WHOLE_ROWS_MAX;
        let wanted = if is_whole { WHOLE_ROWS_MAX } else { SAMPLE_ROWS };
        let (names, rows) = read(transaction, &info.table.name, wanted).await?;
        let columns =
            names.iter().enumerate().map(|(place, name)| column(name, place, &rows, is_whole)).collect();
        let references = info.foreign_keys.iter().flat_map(|key| {
            let pairs = key.columns.iter().zip(&key.references);
            pairs.map(|(own, foreign)| (own.clone(), key.table.clone(), foreign.clone()))
        });
        Ok(TableBrief {
            rows: info.rows,
            columns,
            references: references.collect(),
            roles: self.settings.roles.get(&info.table.name).cloned().unwrap_or_default(),
            indexes: info.indexes,
            table: visible(info.table),
        })
    }
}

fn words(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|character: char| !character.is_alphanumeric());
    words.filter(|word| word.len() > 2).map(str::to_lowercase)
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

fn column(name: &str, place: usize, rows: &[Vec<Option<Value>>], is_whole: bool) -> ColumnBrief {
    let mut distinct: BTreeMap<String, &Value> = BTreeMap::new();
    let mut samples: Vec<Value> = Vec::new();
    let (mut missing, mut bytes) = (0_usize, 0_usize);
    for row in rows {
        let Some(value) = row.get(place).and_then(Option::as_ref).filter(|value| !value.is_null()) else {
            missing += 1;
            continue;
        };
        let text = value.to_string();
        bytes += text.len();
        let is_new = distinct.insert(text, value).is_none();
        if is_new && samples.len() < SAMPLES {
            samples.push(value.clone());
        }
    }
    let present = rows.len() - missing;
    #[expect(clippy::cast_precision_loss, reason = "a share of a few thousand rows")]
    let null_share = if rows.is_empty() { 0.0 } else { missing as f64 / rows.len() as f64 };
    let is_prose = present > 0 && bytes / present > NAME_BYTES;
    let values = (is_whole && !is_prose).then(|| distinct.into_values().cloned().collect());
    let nested = || {
        rows.iter()
            .filter_map(|row| row.get(place)?.as_ref())
            .filter(|value| value.is_array() || value.is_object())
    };
    let shape = nested().next().is_some().then(|| json_shape(nested()));
    ColumnBrief { name: name.to_owned(), null_share, samples, values, shape, unit: None }
}
