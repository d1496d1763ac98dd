//! Runs checks: tables first, then code, then cells in parallel, then grades, then what is remembered.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::pin::Pin;
use std::time::Instant;

use futures_util::StreamExt as _;
use futures_util::future::{Either, select};
use futures_util::stream::FuturesUnordered;
use ordain_cell::{InputFile, LocalExecutor};
use ordain_checks::change::{self, grading_of};
use ordain_checks::file::CheckFiles;
use ordain_checks::{Check, CheckResult, CheckStatus, RunReport, Selection, SkipReason, grade};
use ordain_planner::{Planner, Quiet};
use ordain_store::EntryNote;
use ordain_types::{RunId, Schema};
use serde_json::{Value, json};

use super::Checks;
use super::compile::{Ready, Standing, tables_of};
use super::error::ChecksError;
use super::execute::{Found, mount_name};
use super::sources::hash_text;
use super::state::{KeptCheck, LastRun, State};
use super::tables::Tables;

/// The version of the report's format.
const SCHEMA_VERSION: u32 = 1;
/// Figures of earlier runs that code is given.
const HISTORY_MAX: usize = 30;

/// How checks are run.
#[derive(Debug, Clone)]
pub struct CheckOptions {
    /// Which checks.
    pub selection: Selection,
    /// Checks that run at once.
    pub jobs: usize,
    /// Leaves out checks whose data and rule are as they were.
    pub if_changed: bool,
    /// Compiles nothing that needs a planner.
    pub frozen: bool,
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

/// What a check's run came to.
struct Done<'a> {
    check: &'a Check,
    ready: &'a Ready,
    outcome: Result<Found, String>,
    duration_ms: f64,
}

impl Checks {
    /// Runs the checks of the files. When `stop` is done, what has not finished is left out.
    pub async fn run(
        &self,
        files: &CheckFiles,
        options: &CheckOptions,
        who: EntryNote,
        progress: &mut dyn CheckProgress,
        stop: impl Future<Output = ()>,
    ) -> Result<CheckRun, ChecksError> {
        let problems: Vec<_> = files.errors().cloned().collect();
        if !problems.is_empty() {
            return Err(ChecksError::Files(problems));
        }
        let started = Instant::now();
        let mut state = self.state()?;
        let _lock = state.lock()?;
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
            self.write_down(&report, who).await?;
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
        let wanted: BTreeSet<String> = going.checks.iter().flat_map(|check| tables_of(check)).collect();
        progress.stage("reading tables");
        let mut stop = std::pin::pin!(stop);
        let tables =
            match select(&mut stop, std::pin::pin!(self.tables(Some(&wanted), going.options.jobs))).await {
                Either::Left(_) => return Ok(true),
                Either::Right((tables, _)) => tables?,
            };
        going.schema = tables.schema();
        progress.stage("compiling");
        let mut ready = Vec::new();
        let checks = going.checks.clone();
        for check in checks {
            let kept = going.state.checks.get(&check.check_id).cloned();
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
        let mut is_interrupted = false;
        loop {
            // Only so many are begun that every one of them soon finds a cell.
            let mut place = 0;
            while place < waiting.len() && running.len() < going.options.jobs.max(1) * 2 {
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
                let inputs = json!({"now": now, "history": history.get(check.check_id.as_str()).cloned().unwrap_or_default()});
                running.push(self.run_one(
                    check,
                    fresh,
                    tables,
                    &executor,
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
        executor: &'a LocalExecutor,
        inputs: Value,
        artifacts: std::path::PathBuf,
    ) -> Result<Done<'a>, ChecksError> {
        let started = Instant::now();
        let outcome = self.execute(check, ready, tables, executor, inputs, &artifacts).await?;
        Ok(Done { check, ready, outcome, duration_ms: millis(started) })
    }

    /// An executor whose cells see every table that is looked at.
    fn checking_executor(
        &self,
        ready: &[(&Check, Box<Ready>)],
        tables: &Tables,
        jobs: usize,
    ) -> Result<LocalExecutor, ChecksError> {
        // A few checks do not repay the practice that makes idle cells quick.
        let idle = if ready.len() > 8 { jobs.clamp(1, 8) } else { 0 };
        let mut options = self.local_options(jobs, idle);
        let paths: BTreeSet<&Path> = ready
            .iter()
            .flat_map(|(_, ready)| ready.tables.iter())
            .filter_map(|name| tables.ready(name).map(|facts| facts.path.as_path()))
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
    if !ready.iter().any(|(_, ready)| ready.kept.code.contains("inputs[\"history\"]")) {
        return Ok(HashMap::new());
    }
    let mut figures: HashMap<String, Vec<f64>> = HashMap::new();
    for past in going.state.history()? {
        if let Some(figure) = past.observed.as_ref().and_then(Value::as_f64) {
            figures.entry(past.result.check_id).or_default().push(figure);
        }
    }
    for figures in figures.values_mut() {
        figures.drain(..figures.len().saturating_sub(HISTORY_MAX));
    }
    Ok(figures)
}

/// A run on its way.
pub(super) struct Going<'a> {
    checks: Vec<&'a Check>,
    state: &'a mut State,
    options: &'a CheckOptions,
    report: RunReport,
    is_frozen: bool,
    /// The tables that there were.
    schema: Schema,
    results: HashMap<String, CheckResult>,
}

impl Going<'_> {
    /// Takes note of where a check stands. Gives back what is to be run.
    fn settle(
        &mut self,
        check: &Check,
        kept: Option<&KeptCheck>,
        standing: Standing,
        tables: &Tables,
    ) -> Option<Box<Ready>> {
        let result = match standing {
            Standing::Ready(ready) => match self.unchanged(check, kept, &ready, tables) {
                Some(result) => result,
                None => return Some(ready),
            },
            Standing::Skipped(reason, words) => skipped(check, reason, &words),
            Standing::Frozen(why) => {
                self.is_frozen = true;
                skipped(
                    check,
                    SkipReason::NotCompiled,
                    &format!("it needs compiling, which --frozen forbids: {why}"),
                )
            }
            Standing::Broken(reason) => broken(check, &reason),
        };
        // What was counted before says nothing about a check that could not be looked at now; its code is kept, because
        // the next run decides anew whether it still fits.
        let is_seen = result.code_from.is_some()
            || result.reason.as_deref().is_some_and(|it| it.starts_with("filtered"));
        if !is_seen && let Some(kept) = self.state.checks.get_mut(&check.check_id) {
            kept.last = None;
        }
        self.put(result);
        None
    }

    /// With `--if-changed` or `state:changed`: what is said of a check for which nothing changed that matters.
    fn unchanged(
        &mut self,
        check: &Check,
        kept: Option<&KeptCheck>,
        ready: &Ready,
        tables: &Tables,
    ) -> Option<CheckResult> {
        if !self.options.if_changed && !self.options.selection.wants_changed() {
            return None;
        }
        let (kept, last) = kept.and_then(|kept| Some((kept, kept.last.as_ref()?)))?;
        let looks_at_the_clock = ready.kept.code.contains("inputs[");
        let fingerprint = tables.fingerprint(&ready.tables);
        if ready.recompiled.is_some() || looks_at_the_clock || last.data_fingerprint != fingerprint {
            return None;
        }
        if kept.grading == grading_of(check) {
            return Some(skipped(check, SkipReason::Filtered, "neither its rule nor its data changed"));
        }
        let mut result = result_of(check, ready);
        result.status = grade(check, &last.counts);
        result.summary.clone_from(&last.summary);
        result.samples.clone_from(&last.samples);
        result.samples.truncate(usize::try_from(check.samples.max_rows).unwrap_or(usize::MAX));
        mask(&mut result, check);
        result.artifacts.clone_from(&last.artifacts);
        result.observed.clone_from(&last.observed);
        result.data_fingerprint = Some(fingerprint);
        (result.evaluated, result.failed) = (last.counts.evaluated, last.counts.failed);
        result.failed_pct = last.counts.failed_pct();
        result.notes.push(format!("graded anew from the counts of run {}", last.run_id));
        if let Some(kept) = self.state.checks.get_mut(&check.check_id) {
            kept.grading = grading_of(check);
        }
        Some(result)
    }

    /// Why a check may not run: a blocking check that it depends on did not pass.
    fn blocked(&self, check: &Check) -> Option<String> {
        let is_blocking = |id: &str| self.checks.iter().any(|check| check.check_id == id && check.blocking);
        let upstream = check.depends_on.iter().find(|id| {
            let status = self.results.get(*id).map(|result| result.status);
            is_blocking(id) && !matches!(status, None | Some(CheckStatus::Pass | CheckStatus::Warn))
        })?;
        let status = self.results.get(upstream).map(|result| format!("{:?}", result.status).to_uppercase());
        Some(format!("`{upstream}`, which it depends on, is {}", status.unwrap_or_default()))
    }

    /// The result of a check that ran, and what is kept of it.
    fn graded(&mut self, done: Done<'_>, tables: &Tables) -> CheckResult {
        let Done { check, ready, outcome, duration_ms } = done;
        let mut result = result_of(check, ready);
        result.duration_ms = duration_ms;
        let fingerprint = tables.fingerprint(&ready.tables);
        result.data_fingerprint = Some(fingerprint.clone());
        for name in &ready.tables {
            result.notes.extend(tables.ready(name).into_iter().flat_map(|facts| facts.notes.clone()));
        }
        let mut kept = ready.kept.clone();
        kept.grading = grading_of(check);
        kept.check_name.clone_from(&check.check_name);
        match outcome {
            Err(reason) => {
                result.status = CheckStatus::Error;
                result.summary.clone_from(&reason);
                result.reason = Some(reason);
                kept.last = None;
            }
            Ok(found) => {
                result.status = grade(check, &found.counts);
                (result.evaluated, result.failed) = (found.counts.evaluated, found.counts.failed);
                result.failed_pct = found.counts.failed_pct();
                result.summary.clone_from(&found.summary);
                result.samples.clone_from(&found.samples);
                result.artifacts.clone_from(&found.artifacts);
                result.observed.clone_from(&found.observed);
                kept.last = Some(LastRun {
                    run_id: self.report.run_id.clone(),
                    data_fingerprint: fingerprint,
                    counts: found.counts,
                    summary: found.summary,
                    samples: found.samples,
                    artifacts: found.artifacts,
                    observed: found.observed,
                });
            }
        }
        self.state.checks.insert(check.check_id.clone(), kept);
        result
    }

    /// A check whose code was made ready and not run.
    fn compiled(&mut self, check: &Check, ready: &Ready) {
        let mut result = result_of(check, ready);
        result.status = CheckStatus::Skipped;
        "compiled, not run".clone_into(&mut result.summary);
        let mut kept = ready.kept.clone();
        if kept.last.is_none() {
            kept.last = self.state.checks.get(&check.check_id).and_then(|kept| kept.last.clone());
        }
        // Counts of other code say nothing about this code.
        if ready.recompiled.is_some() {
            kept.last = None;
        }
        self.state.checks.insert(check.check_id.clone(), kept);
        self.put(result);
    }

    fn put(&mut self, result: CheckResult) {
        self.results.insert(result.check_id.clone(), result);
    }

    /// The report, in the order of the files.
    fn finish(mut self) -> RunReport {
        for status in [
            CheckStatus::Pass,
            CheckStatus::Warn,
            CheckStatus::Fail,
            CheckStatus::Error,
            CheckStatus::Skipped,
        ] {
            self.report.counts.insert(status, 0);
        }
        for check in &self.checks {
            if let Some(result) = self.results.remove(&check.check_id) {
                *self.report.counts.entry(result.status).or_default() += 1;
                self.report.results.push(result);
            }
        }
        self.report
    }
}

/// A result that knows what is known before the code runs.
fn result_of(check: &Check, ready: &Ready) -> CheckResult {
    let mut result = blank(check);
    result.code_from = Some(ready.code_from);
    result.recompiled.clone_from(&ready.recompiled);
    result.notes.clone_from(&ready.notes);
    result.code_hash = Some(hash_text(&ready.kept.code));
    result.code = Some(ready.kept.code.clone());
    result.plan = Some(ready.kept.plan.clone());
    let columns = ready.kept.against.schema.iter().map(|(table, columns)| {
        let columns = columns.iter().map(|(name, kind)| (name.clone(), json!(change::word(*kind))));
        (table.clone(), columns.collect::<Value>())
    });
    result.compiled_against = Some(columns.collect());
    result
}

fn blank(check: &Check) -> CheckResult {
    CheckResult {
        check_id: check.check_id.clone(),
        check_name: check.check_name.clone(),
        status: CheckStatus::Error,
        reason: None,
        severity: check.severity,
        owner: check.owner.clone(),
        tags: check.tags.clone(),
        target_table: check.target_table.clone(),
        kind: check.kind.clone(),
        evaluated: None,
        failed: None,
        failed_pct: None,
        summary: String::new(),
        samples: Vec::new(),
        artifacts: Vec::new(),
        code_from: None,
        recompiled: None,
        notes: Vec::new(),
        code: None,
        code_hash: None,
        plan: None,
        compiled_against: None,
        data_fingerprint: None,
        observed: None,
        duration_ms: 0.0,
    }
}

fn skipped(check: &Check, reason: SkipReason, words: &str) -> CheckResult {
    let name = json!(reason).as_str().unwrap_or_default().to_owned();
    CheckResult {
        status: CheckStatus::Skipped,
        reason: Some(format!("{name}: {words}")),
        summary: words.to_owned(),
        ..blank(check)
    }
}

fn broken(check: &Check, reason: &str) -> CheckResult {
    CheckResult { reason: Some(reason.to_owned()), summary: reason.to_owned(), ..blank(check) }
}

/// Hides what the owner has since asked to hide.
fn mask(result: &mut CheckResult, check: &Check) {
    for row in &mut result.samples {
        for column in &check.samples.mask {
            for values in [&mut row.key, &mut row.values] {
                if let Some(value) = values.get_mut(column) {
                    *value = json!("•••");
                }
            }
        }
    }
}

/// An id as the name of a folder.
fn file_name(id: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '_' };
    let name: String = id.chars().take(80).map(plain).collect();
    // Two ids that look alike now stay apart.
    if name == id { name } else { format!("{name}-{}", &hash_text(id)[..8]) }
}

fn millis(started: Instant) -> f64 {
    started.elapsed().as_secs_f64() * 1000.0
}
