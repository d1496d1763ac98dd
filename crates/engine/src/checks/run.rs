//! Runs checks: tables first, then code, then cells in parallel, then grades, then what is remembered.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::pin::Pin;
use std::time::Instant;

use futures_util::StreamExt as _;
use futures_util::future::{Either, select};
use futures_util::stream::FuturesUnordered;
use ordain_cell::{InputFile, LocalExecutor};
use ordain_checks::file::CheckFiles;
use ordain_checks::{Check, CheckResult, CheckStatus, RunReport, Selection, SkipReason};
use ordain_planner::{Planner, Quiet};
use ordain_store::EntryNote;
use ordain_types::{BoxFuture, RunId, Schema};
use serde_json::{Value, json};

use super::Checks;
use super::compile::{Ready, wanted_tables};
use super::error::ChecksError;
use super::execute::{Place, mount_name};
use super::going::{Done, Going, skipped};
use super::sources::hash_text;
use super::state::State;
use super::tables::Tables;
use crate::story::millis;

/// The version of the report's format.
const SCHEMA_VERSION: u32 = 1;
/// Figures of earlier runs that code is given.
const HISTORY_MAX: usize = 30;
/// After so many rehearsals the interpreter has specialised what checks have in common.
const REHEARSALS_MAX: u32 = 50;

/// How checks are run.
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that a caller gives")]
#[derive(Debug, Clone)]
pub struct CheckOptions {
    /// Which checks.
    pub selection: Selection,
    /// Checks that run at once.
    pub jobs: usize,
    /// Does not run checks whose data and rule are as they were; their last grade stands.
    pub if_changed: bool,
    /// Compiles nothing that needs a planner.
    pub frozen: bool,
    /// Compiles everything anew, whatever is kept.
    pub force: bool,
    /// Who writes code for hints.
    pub planner: Planner,
    /// Whether code is made ready and nothing runs.
    pub only_compile: bool,
    /// What the run is called; a new id is made where none is given.
    pub run_id: Option<RunId>,
}

impl Default for CheckOptions {
    fn default() -> Self {
        Self {
            selection: Selection::default(),
            jobs: 2,
            if_changed: false,
            frozen: false,
            force: false,
            planner: Planner::Rules,
            only_compile: false,
            run_id: None,
        }
    }
}

/// Hears how a run goes.
pub trait CheckProgress: Send {
    /// Something begins.
    fn stage(&mut self, text: &str);
    /// So many checks will be told of.
    fn expect(&mut self, checks: usize);
    /// One check is done.
    fn done(&mut self, result: &CheckResult);
}

/// Hears and says nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl CheckProgress for Silent {
    fn stage(&mut self, _text: &str) {}
    fn expect(&mut self, _checks: usize) {}
    fn done(&mut self, _result: &CheckResult) {}
}

/// What came of a run.
#[derive(Debug, Clone)]
pub struct CheckRun {
    /// The report.
    pub report: RunReport,
    /// Whether someone stopped it; the report holds what was finished.
    pub is_interrupted: bool,
    /// Whether something needs compiling that `frozen` forbids.
    pub is_frozen: bool,
}

impl Checks {
    /// Runs the checks of the files. When `stop` is done, what has not finished is left out.
    pub fn run<'a>(
        &'a self,
        files: &'a CheckFiles,
        options: &'a CheckOptions,
        who: EntryNote,
        progress: &'a mut dyn CheckProgress,
        stop: impl Future<Output = ()> + Send + 'a,
    ) -> BoxFuture<'a, Result<CheckRun, ChecksError>> {
        self.run_boxed(files, options, who, progress, Box::pin(stop))
    }

    fn run_boxed<'a>(
        &'a self,
        files: &'a CheckFiles,
        options: &'a CheckOptions,
        who: EntryNote,
        progress: &'a mut dyn CheckProgress,
        stop: BoxFuture<'a, ()>,
    ) -> BoxFuture<'a, Result<CheckRun, ChecksError>> {
        Box::pin(self.run_until(files, options, who, progress, stop))
    }

    async fn run_until(
        &self,
        files: &CheckFiles,
        options: &CheckOptions,
        who: EntryNote,
        progress: &mut dyn CheckProgress,
        stop: BoxFuture<'_, ()>,
    ) -> Result<CheckRun, ChecksError> {
        if !files.problems.is_empty() {
            return Err(ChecksError::Files(files.problems.clone()));
        }
        let started = Instant::now();
        let _lock = State::lock(&self.state_folder())?;
        // Read now that nobody else writes.
        let mut state = self.state()?;
        let run_id = match &options.run_id {
            Some(run_id) => run_id.clone(),
            None => self.store.new_run_id()?,
        };
        let report = RunReport {
            run_id: run_id.to_string(),
            schema_version: SCHEMA_VERSION,
            workspace: self.workspace.name.clone(),
            started_at: self.store.timestamp(),
            duration_ms: 0.0,
            counts: BTreeMap::new(),
            results: Vec::new(),
        };
        let checks: Vec<&Check> = files
            .entries
            .iter()
            .map(|entry| &entry.check)
            .filter(|check| options.selection.holds(check))
            .collect();
        let mut going = Going {
            checks,
            state: &mut state,
            options,
            report,
            is_frozen: false,
            schema: Schema::default(),
            results: HashMap::new(),
        };
        let is_interrupted = self.carry_on(&mut going, progress, stop).await?;
        let (is_frozen, schema) = (going.is_frozen, std::mem::take(&mut going.schema));
        let mut report = going.finish();
        report.duration_ms = millis(started);
        state.keep()?;
        if !options.only_compile {
            state.remember(&report)?;
            self.write_down(&report, is_interrupted, who).await?;
            self.write_contracts(files, &report, &state, &schema)?;
        }
        Ok(CheckRun { report, is_interrupted, is_frozen })
    }

    async fn carry_on(
        &self,
        going: &mut Going<'_>,
        progress: &mut dyn CheckProgress,
        stop: impl Future<Output = ()>,
    ) -> Result<bool, ChecksError> {
        let (wanted, called) = wanted_tables(&going.checks);
        progress.stage("reading tables");
        let mut stop = std::pin::pin!(stop);
        let tables =
            match select(&mut stop, std::pin::pin!(self.tables(Some(&wanted), &called, going.options.jobs)))
                .await
            {
                Either::Left(_) => return Ok(true),
                Either::Right((tables, _)) => tables?,
            };
        going.schema = tables.schema().clone();
        progress.stage("compiling");
        let mut ready = Vec::new();
        let checks = going.checks.clone();
        for check in checks {
            let kept = going.state.checks.get(&check.check_id).cloned();
            let kept = kept.filter(|_| !going.options.force);
            let standing = {
                let mut quiet = Quiet;
                let standing = self.stand(
                    check,
                    kept.as_ref(),
                    &tables,
                    &going.options.planner,
                    going.options.frozen,
                    &mut quiet,
                );
                match select(&mut stop, std::pin::pin!(standing)).await {
                    Either::Left(_) => return Ok(true),
                    Either::Right((standing, _)) => standing,
                }
            };
            if let Some(fresh) = going.settle(check, kept.as_ref(), standing, &tables) {
                going.keep_code(check, &fresh);
                ready.push((check, fresh));
            }
        }
        progress.expect(ready.len());
        if going.options.only_compile {
            for (check, ready) in &ready {
                going.compiled(check, ready);
            }
            return Ok(false);
        }
        if ready.is_empty() {
            return Ok(false);
        }
        progress.stage("running");
        self.run_all(going, &ready, &tables, progress, stop).await
    }

    /// Runs what is ready, what others depend on first.
    async fn run_all(
        &self,
        going: &mut Going<'_>,
        ready: &[(&Check, Box<Ready>)],
        tables: &Tables,
        progress: &mut dyn CheckProgress,
        mut stop: Pin<&mut impl Future<Output = ()>>,
    ) -> Result<bool, ChecksError> {
        let executor = self.checking_executor(ready, tables, going.options.jobs)?;
        let history = figures(going, ready)?;
        let artifacts = going.state.artifacts(&going.report.run_id);
        let now = going.report.started_at.clone();
        let mut waiting: Vec<&(&Check, Box<Ready>)> = ready.iter().collect();
        let mut unfinished: BTreeSet<&str> = ready.iter().map(|(check, _)| check.check_id.as_str()).collect();
        let mut running = FuturesUnordered::new();
        let mut workers: Vec<usize> = (0..going.options.jobs.max(1)).collect();
        let mut is_interrupted = false;
        loop {
            // Only so many are begun as find a place at once, so that the time a check takes is its own.
            let mut place = 0;
            while place < waiting.len() && !workers.is_empty() {
                let (check, fresh) = waiting[place];
                if check.depends_on.iter().any(|id| unfinished.contains(id.as_str())) {
                    place += 1;
                    continue;
                }
                waiting.remove(place);
                if let Some(reason) = going.blocked(check) {
                    let result = skipped(check, SkipReason::UpstreamFailed, &reason);
                    unfinished.remove(check.check_id.as_str());
                    progress.done(&result);
                    going.put(result);
                    // What depends on this one may be free now.
                    place = 0;
                    continue;
                }
                let Some(worker) = workers.pop() else { break };
                let inputs = json!({"now": now, "history": history.get(check.check_id.as_str()).cloned().unwrap_or_default()});
                running.push(self.run_one(
                    check,
                    fresh,
                    tables,
                    Place { executor: &executor, worker },
                    inputs,
                    artifacts.join(file_name(&check.check_id)),
                ));
            }
            if running.is_empty() {
                break;
            }
            match select(&mut stop, running.next()).await {
                Either::Left(_) => {
                    is_interrupted = true;
                    break;
                }
                Either::Right((None, _)) => break,
                Either::Right((Some(done), _)) => {
                    let done = done?;
                    workers.push(done.worker);
                    unfinished.remove(done.check.check_id.as_str());
                    let result = going.graded(done, tables);
                    progress.done(&result);
                    going.put(result);
                }
            }
        }
        drop(running);
        executor.close().await;
        Ok(is_interrupted)
    }

    async fn run_one<'a>(
        &'a self,
        check: &'a Check,
        ready: &'a Ready,
        tables: &'a Tables,
        place: Place<'a>,
        inputs: Value,
        artifacts: std::path::PathBuf,
    ) -> Result<Done<'a>, ChecksError> {
        let started = Instant::now();
        let outcome = self.execute(check, ready, tables, place, inputs, &artifacts).await?;
        Ok(Done { check, ready, outcome, worker: place.worker, duration_ms: millis(started) })
    }

    /// An executor whose cells see every table that is looked at.
    fn checking_executor(
        &self,
        ready: &[(&Check, Box<Ready>)],
        tables: &Tables,
        jobs: usize,
    ) -> Result<LocalExecutor, ChecksError> {
        // Every cell is made for a check that waits already. Cells that are made ahead practise before they are idle, which
        // a run that keeps all processors busy would pay for and never get back.
        let mut options = self.local_options(jobs, 0);
        options.rehearsals =
            Some(u32::try_from(ready.len() / 4).unwrap_or(u32::MAX).clamp(1, REHEARSALS_MAX));
        let paths: BTreeSet<&Path> = ready
            .iter()
            .flat_map(|(_, ready)| ready.tables.iter())
            .filter_map(|name| tables.ready(name)?.path.as_deref())
            .collect();
        for path in paths {
            options.mounts.push(InputFile { name: mount_name(path), path: path.to_owned() });
        }
        Ok(LocalExecutor::new(options)?)
    }
}

/// The figures that earlier runs saw, by check, for those whose code asks for them.
fn figures(
    going: &Going<'_>,
    ready: &[(&Check, Box<Ready>)],
) -> Result<HashMap<String, Vec<f64>>, ChecksError> {
    if !ready.iter().any(|(_, ready)| ready.effects.provided.contains("inputs")) {
        return Ok(HashMap::new());
    }
    let mut figures: HashMap<String, Vec<f64>> = HashMap::new();
    let accepted = going.state.accepted_runs();
    for past in going.state.history()? {
        // A figure that failed is no example of what is usual, unless a person says so.
        let is_usual = matches!(past.result.status, CheckStatus::Pass | CheckStatus::Warn);
        if !is_usual && !accepted.contains(&past.result.run_id) {
            continue;
        }
        if let Some(figure) = past.observed.as_ref().and_then(Value::as_f64) {
            figures.entry(past.result.check_id).or_default().push(figure);
        }
    }
    for figures in figures.values_mut() {
        figures.drain(..figures.len().saturating_sub(HISTORY_MAX));
    }
    Ok(figures)
}

/// An id as the name of a folder.
fn file_name(id: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '_' };
    let name: String = id.chars().take(80).map(plain).collect();
    // Two ids that look alike now stay apart.
    if name == id { name } else { format!("{name}-{}", &hash_text(id)[..8]) }
}
