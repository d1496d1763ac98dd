//! Runs checks: tables first, then code, then cells in parallel, then grades, then what is remembered.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::time::Instant;

use futures_util::StreamExt as _;
use futures_util::future::{Either, select};
use futures_util::stream::FuturesUnordered;
use ordain_cell::Shared;
use ordain_cell::profile::Profile;
use ordain_engine::{Head, Programs, millis};
use ordain_types::BoxFuture;
use serde_json::Value;

use crate::catalogue::Kind;
use crate::cells::{Cells, WorkerCells};
use crate::compile::{Ready, wanted_tables};
use crate::compiled::Compiled;
use crate::disk::Disk;
use crate::given::Given;
use crate::notify::{self, Before};
use crate::parts::{Gathered, Judged};
use crate::record::{self, Seen};
use crate::results::{Ran, Results, skipped};
use crate::sources::hash_text;
use crate::state::State;
use crate::tables::Tables;
use crate::task::{CheckRun, CheckTask};
use crate::transform::TableRows;
use crate::{
    Check, CheckProgress, CheckStatus, Checks, ChecksError, CodeFrom, Location, RunReport, SkipReason,
    failures,
};

/// The version of the report's format.
const SCHEMA_VERSION: u32 = 1;
/// Figures of earlier runs that code is given.
const HISTORY_MAX: usize = 30;

impl Checks {
    /// Runs checks, each by a program of its own. Gives what their record says, too.
    pub(crate) async fn judge(
        &self,
        task: &CheckTask,
        head: &Head,
        progress: &mut dyn CheckProgress,
    ) -> Result<(CheckRun, Programs), ChecksError> {
        if !task.files.problems.is_empty() {
            return Err(ChecksError::Files(task.files.problems.clone()));
        }
        // A trial keeps nothing that another run could overwrite.
        let _lock = if task.options.is_trial { None } else { Some(State::lock(&self.state_folder())?) };
        self.catch_up().await?;
        // Read now that nobody else writes.
        let mut state = self.state()?;
        let report = RunReport {
            run_id: head.run_id.to_string(),
            schema_version: SCHEMA_VERSION,
            workspace: self.workspace.name.clone(),
            started_at: head.started_at.clone(),
            duration_ms: 0.0,
            counts: BTreeMap::new(),
            results: Vec::new(),
        };
        let before: Before = self
            .history()?
            .iter()
            .filter_map(|(id, past)| Some((id.clone(), past.last()?.result.status)))
            .collect();
        let compiled = if task.options.frozen { Compiled::read(&self.workspace)? } else { None };
        let kept = match &compiled {
            Some(compiled) => compiled.kept(),
            None => self.kept().await?,
        };
        let selection = &task.options.selection;
        let is_wanted = |check: &&Check| {
            check.is_in(selection) && selection.holds_status(before.get(&check.check_id).copied())
        };
        let mut results = Results {
            checks: task.files.entries.iter().map(|entry| &entry.check).filter(is_wanted).collect(),
            state: &mut state,
            root: &self.workspace.root,
            options: &task.options,
            kept,
            compiled,
            report,
            by_check: HashMap::new(),
            written: Vec::new(),
        };
        let (seen, is_interrupted) = self.compile_and_run(&mut results, head, progress).await?;
        let kept = std::mem::take(&mut results.kept);
        let written = std::mem::take(&mut results.written);
        let mut report = results.finish();
        report.duration_ms = millis(head.started);
        for result in &mut report.results {
            let entry = task.files.entries.iter().find(|entry| entry.check.check_id == result.check_id);
            result.location = entry.map(|entry| Location { file: entry.file.clone(), line: entry.line });
        }
        if task.options.is_trial {
            // The files with failing rows belong to a run that nobody will look for.
            let _ = fs_err::remove_dir_all(state.artifacts(&report.run_id));
            report.results.iter_mut().for_each(|result| result.artifacts.clear());
        } else {
            let lines = state.remember(&report)?;
            self.write_contracts(&task.files, &report, &kept, &seen, &state)?;
            self.share(&report, lines.as_bytes(), &state).await?;
        }
        let messages = notify::messages(&self.engine.settings().tools, &report, &before);
        let table = self.workspace.failures_table.as_deref().filter(|_| !is_interrupted);
        let failing = table.into_iter().flat_map(|table| failures::of(&report).writes(table));
        let writes = written.iter().flat_map(TableRows::writes).chain(failing).collect();
        let run = CheckRun { report, is_interrupted };
        let ran = record::ran(&run, messages, writes, task.options.is_trial);
        Ok((run, ran))
    }

    /// Gives the tables that there were, and whether someone stopped the run.
    async fn compile_and_run(
        &self,
        results: &mut Results<'_>,
        head: &Head,
        progress: &mut dyn CheckProgress,
    ) -> Result<(Seen, bool), ChecksError> {
        let mut stop = progress.stopped();
        progress.stage("reading tables");
        let (wanted, called) = wanted_tables(&results.checks);
        if !results.options.if_changed && !wanted.is_empty() {
            // pandas is imported while files are hashed and code is judged.
            let bytes = self.bytes_of_files(&wanted)?;
            self.engine.executor().expect(Profile::Data, bytes).await;
        }
        let stored = self.stored_tables(&results.checks, &wanted).await?;
        let jobs = results.options.jobs;
        let reading = std::pin::pin!(self.tables_beside(Some(&wanted), &called, stored, jobs));
        let tables = match select(&mut stop, reading).await {
            Either::Left(_) => return Ok((Seen::default(), true)),
            Either::Right((tables, _)) => tables?,
        };
        progress.stage("compiling");
        let (ready, is_interrupted) = {
            let compiling = std::pin::pin!(self.compile_all(results, head, &tables));
            match select(&mut stop, compiling).await {
                Either::Left(_) => (Vec::new(), true),
                Either::Right((ready, _)) => (ready?, false),
            }
        };
        let seen = Seen::of(&tables);
        progress.expect(ready.len());
        if ready.is_empty() {
            return Ok((seen, is_interrupted));
        }
        progress.stage("running");
        let is_interrupted = self.run_all(results, &ready, &tables, progress, stop).await?;
        Ok((seen, is_interrupted))
    }

    /// Makes the code of all checks ready, and keeps what is new before any of it runs: a check that is blocked, or a run
    /// that is stopped, must not cost its planning again.
    async fn compile_all<'a>(
        &self,
        results: &mut Results<'a>,
        head: &Head,
        tables: &Tables,
    ) -> Result<Vec<(&'a Check, Box<Ready>)>, ChecksError> {
        let (mut ready, mut new) = (Vec::new(), Vec::new());
        for check in results.checks.clone() {
            let made = self.make_ready(check, results, head, tables).await;
            let Some(mut code) = results.take(check, made, tables) else { continue };
            code.by_database = self.by_database(check, &code, tables);
            if code.code_from != CodeFrom::Cache {
                new.push(code.plan.clone());
            }
            if code.code_from == CodeFrom::Planner {
                self.store().keep_plans(&new).await?;
                results.kept.add(std::mem::take(&mut new));
            }
            ready.push((check, code));
        }
        if !new.is_empty() {
            self.store().keep_plans(&new).await?;
            results.kept.add(new);
        }
        Ok(ready)
    }

    /// Runs what is ready, what others depend on first.
    async fn run_all(
        &self,
        results: &mut Results<'_>,
        ready: &[(&Check, Box<Ready>)],
        tables: &Tables,
        progress: &mut dyn CheckProgress,
        mut stop: BoxFuture<'static, ()>,
    ) -> Result<bool, ChecksError> {
        let cells = self.checking_cells(ready, tables, results.options.jobs)?;
        let history = figures(results, ready)?;
        let run = results.report.run_id.clone();
        let given = Given::new(&results.report.started_at, results.options);
        let dealt = self.deal(results, ready, tables, &history).await?;
        let mut away = dealt.check_ids();
        let mut gathered = dealt.gathered();
        let mut waiting: Vec<&(&Check, Box<Ready>)> =
            ready.iter().filter(|(check, _)| !away.contains(&check.check_id)).collect();
        let mut unfinished: BTreeSet<&str> = ready.iter().map(|(check, _)| check.check_id.as_str()).collect();
        let mut running = FuturesUnordered::new();
        let mut workers: Vec<usize> = (0..results.options.jobs.max(1)).collect();
        let mut is_interrupted = false;
        loop {
            // Only so many are begun as find a place at once, so that the time a check takes is its own.
            let mut place = 0;
            while place < waiting.len() && !workers.is_empty() {
                let (check, code) = waiting[place];
                if check.depends_on.iter().any(|id| unfinished.contains(id.as_str())) {
                    place += 1;
                    continue;
                }
                waiting.remove(place);
                if let Some(reason) = results.blocked(check) {
                    let result = skipped(check, SkipReason::UpstreamFailed, &reason);
                    unfinished.remove(check.check_id.as_str());
                    progress.checked(&result);
                    results.put(result);
                    // What depends on this one may be free now.
                    place = 0;
                    continue;
                }
                let Some(worker) = workers.pop() else { break };
                let inputs = given.inputs(history.get(&check.check_id).map_or(&[], Vec::as_slice));
                let place = WorkerCells { cells: &cells, worker };
                running.push(self.run_one(check, code, tables, place, inputs, &run));
            }
            if running.is_empty() && away.is_empty() {
                break;
            }
            let ran = tokio::select! {
                () = &mut stop => {
                    is_interrupted = true;
                    break;
                }
                Some(ran) = running.next() => {
                    let (worker, ran) = ran?;
                    workers.push(worker);
                    // What a transformation made goes where its owner wants it.
                    let is_shared = !results.options.is_trial && ran.check.kind != Kind::Transform;
                    if let Some(found) = ran.outcome.as_ref().ok().filter(|_| is_shared) {
                        self.share_artifacts(&found.artifacts).await?;
                    }
                    vec![ran]
                }
                Some(part) = gathered.next() => {
                    let part = part?;
                    for (id, _) in &part {
                        away.remove(id);
                    }
                    self.found_elsewhere(part, ready, tables, &mut waiting).await?
                }
            };
            for ran in ran {
                unfinished.remove(ran.check.check_id.as_str());
                let result = results.graded(ran, tables, self.store()).await;
                progress.checked(&result);
                results.put(result);
            }
        }
        drop(running);
        cells.close().await;
        Ok(is_interrupted)
    }

    /// What other nodes found about checks. Those that have to be judged here join the ones that wait.
    async fn found_elsewhere<'a>(
        &self,
        part: Gathered,
        ready: &'a [(&'a Check, Box<Ready>)],
        tables: &Tables,
        waiting: &mut Vec<&'a (&'a Check, Box<Ready>)>,
    ) -> Result<Vec<Ran<'a>>, ChecksError> {
        let mut of_part: HashMap<String, Option<Judged>> = part.into_iter().collect();
        let mut ran = Vec::new();
        for item in ready {
            let (check, code) = item;
            let Some(judged) = of_part.remove(&check.check_id) else { continue };
            let Some(judged) = judged.filter(|judged| judged.is_about(code, tables)) else {
                waiting.push(item);
                continue;
            };
            let mut outcome = judged.outcome;
            if let Ok(found) = &mut outcome {
                found.artifacts = self.bring_artifacts(&found.artifacts).await?;
            }
            ran.push(Ran { check, ready: code, outcome, duration_ms: judged.duration_ms });
        }
        Ok(ran)
    }

    /// Runs one check in a cell of this node. Gives the worker that is free again, too.
    pub(crate) async fn run_one<'a>(
        &'a self,
        check: &'a Check,
        ready: &'a Ready,
        tables: &'a Tables,
        place: WorkerCells<'a>,
        inputs: Value,
        run: &'a str,
    ) -> Result<(usize, Ran<'a>), ChecksError> {
        let started = Instant::now();
        let artifacts = self.artifacts_folder().join(run).join(file_name(&check.check_id));
        let outcome = self.execute(check, ready, tables, place, inputs, &artifacts).await?;
        Ok((place.worker, Ran { check, ready, outcome, duration_ms: millis(started) }))
    }

    /// Cells that see every table that is looked at.
    pub(crate) fn checking_cells(
        &self,
        ready: &[(&Check, Box<Ready>)],
        tables: &Tables,
        jobs: usize,
    ) -> Result<Cells, ChecksError> {
        let paths: BTreeSet<&Path> = ready
            .iter()
            .flat_map(|(_, ready)| ready.tables.iter())
            .filter_map(|name| tables.ready(name)?.path.as_deref())
            .collect();
        let files = paths.into_iter().map(crate::cells::file).collect();
        let disk = Disk { below: self.cache_folder(), bytes: self.workspace.scratch_bytes };
        let alone = ready.iter().filter(|(_, ready)| !ready.plan.source.is_ours()).count();
        let cells = alone + jobs.min(ready.len() - alone);
        let shared = Shared { files, running_max: jobs, jobs: ready.len(), cells, scratch: None };
        Ok(Cells::new(self.engine.executor(), shared, Some(disk))?)
    }
}

/// The figures that earlier runs saw, by check, for those whose code asks for them.
fn figures(
    results: &Results<'_>,
    ready: &[(&Check, Box<Ready>)],
) -> Result<HashMap<String, Vec<f64>>, ChecksError> {
    if !ready.iter().any(|(_, ready)| ready.effects.provided.contains("inputs")) {
        return Ok(HashMap::new());
    }
    let mut figures: HashMap<String, Vec<f64>> = HashMap::new();
    let accepted = results.state.accepted_runs();
    for past in results.state.history()? {
        // A figure that failed is no example of what is usual, unless a person says so.
        let is_usual = past.result.status != CheckStatus::Fail;
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
