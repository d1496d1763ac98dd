//! Runs a check in a cell and reads what it claims, strictly.
//!
//! Code that a person or a model wrote has a cell to itself. Code of our own making can't tamper with anything, so checks
//! of that kind follow one another in one cell and share the tables that it has mapped. One that does not come out well
//! there is run again alone: what it says then cannot be blamed on the checks before it.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ordain_cell::{
    CellError, Discard, Execution, Executor, FailingRows, InputFile, Job, NoHost, Shared, Sharing,
};
use ordain_engine::{Retry, profile_for};
use ordain_types::{Cause, format_bytes};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::by_sql::ByDatabase;
use crate::catalogue::Kind;
use crate::compile::Ready;
use crate::disk::{Disk, OnDisk};
use crate::tables::Tables;
use crate::{Check, Checks, ChecksError, Counts, FailedRow};

const SUMMARY_CHARACTERS_MAX: usize = 500;
/// What is kept of what code printed.
const PRINTED_BYTES_MAX: usize = 16 << 10;

/// What a check found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CheckFindings {
    /// What it counted.
    pub counts: Counts,
    /// One sentence.
    pub summary: String,
    /// Some failing rows.
    pub samples: Vec<FailedRow>,
    /// The files with all of them.
    pub artifacts: Vec<String>,
    /// The figure that it saw.
    pub observed: Option<Value>,
    /// Whether it has not yet seen enough runs to judge.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_learning: bool,
    /// What its code printed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stdout: String,
}

/// Cells that see files in place where these are large and on this machine. Otherwise a cell that checks share is given a file
/// once; a job with a cell to itself has its files with it.
pub(crate) struct Cells {
    sharing: Sharing,
    usual: Arc<dyn Executor>,
    files: Vec<InputFile>,
    /// The size of all files.
    bytes: u64,
    /// Tells them apart from those of another run of checks in this process.
    number: usize,
    /// The workers that have a shared cell to which files are given, and the files that it has.
    sent: Mutex<HashMap<usize, BTreeSet<String>>>,
    disk: Option<Disk>,
    /// The workers that have a cell with room on disk.
    on_disk: Mutex<HashMap<usize, OnDisk>>,
}

impl Cells {
    /// Cells for jobs that read some of the files of `shared`. With `disk`, those that DuckDB judges have room there.
    pub(crate) fn new(
        executor: &Arc<dyn Executor>,
        shared: Shared,
        disk: Option<Disk>,
    ) -> Result<Self, CellError> {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let files = shared.files.clone();
        let bytes = files.iter().filter_map(|file| Some(fs_err::metadata(&file.path).ok()?.len())).sum();
        let sharing = executor.sharing(shared)?;
        let (usual, number) = (Arc::clone(executor), NUMBER.fetch_add(1, Ordering::Relaxed));
        let (sent, on_disk) = (Mutex::default(), Mutex::default());
        Ok(Self { sharing, usual, files, bytes, number, sent, disk, on_disk })
    }

    /// Whether they are on this machine.
    pub(crate) fn are_here(&self) -> bool {
        !matches!(self.sharing, Sharing::Sent)
    }

    fn are_shown_files(&self) -> bool {
        matches!(self.sharing, Sharing::Shown(_))
    }

    /// Runs a job that reads the files of these names, again if its executor was lost.
    pub(crate) async fn run(&self, mut job: Job, reads: &[String]) -> Result<Execution, CellError> {
        self.add_files(&mut job, reads);
        let mut retry = Retry::default();
        loop {
            match self.executor().run(job.clone(), &mut NoHost, &mut Discard).await {
                Err(error) => retry.after_lost(error)?,
                ran => return ran,
            };
        }
    }

    /// Runs a check of our own making in the cell that such checks share. One that does not come out well there is run again
    /// alone.
    async fn run_shared(
        &self,
        mut job: Job,
        reads: &[String],
        worker: usize,
    ) -> Result<Execution, CellError> {
        let alone = job.clone();
        job.session = Some(self.shared_cell(worker));
        job.is_fresh = true;
        if !self.are_shown_files() {
            let mut sent = lock(&self.sent);
            let has = sent.entry(worker).or_default();
            self.give(&mut job, |file| reads.contains(&file.name) && has.insert(file.name.clone()));
        }
        let ran = self.executor().run(job, &mut NoHost, &mut Discard).await;
        match ran {
            Ok(execution) if is_well(&execution) => return Ok(execution),
            // Elsewhere the cell may have been lost with its machine.
            Err(error) if self.are_here() => return Err(error),
            Ok(_) | Err(_) => self.end_shared(worker).await,
        }
        self.run(alone, reads).await
    }

    /// Runs a check that DuckDB judges in a cell with room on disk; one that does not come out well beside others again in a
    /// fresh one. `None` where there is no such cell.
    async fn run_on_disk(&self, job: &Job, worker: usize) -> Result<Option<Execution>, CellError> {
        let Some(disk) = &self.disk else { return Ok(None) };
        loop {
            let kept = lock(&self.on_disk).remove(&worker);
            let is_fresh = kept.is_none();
            let made = if is_fresh { disk.executor(self.usual.as_ref(), &self.files)? } else { kept };
            let Some(cell) = made else { return Ok(None) };
            let ran = cell.run(job.clone()).await;
            let is_well = ran.as_ref().is_ok_and(is_well);
            if is_well {
                lock(&self.on_disk).insert(worker, cell);
            } else {
                cell.close().await;
            }
            if is_well || is_fresh {
                return ran.map(Some);
            }
        }
    }

    fn shared_cell(&self, worker: usize) -> String {
        format!("checks {} {worker}", self.number)
    }

    async fn end_shared(&self, worker: usize) {
        lock(&self.sent).remove(&worker);
        self.executor().end_session(&self.shared_cell(worker)).await;
    }

    /// Ends them. Those of this machine have their tables in memory, which takes a while to let go: nobody waits for that.
    pub(crate) async fn close(self) {
        let is_elsewhere = matches!(self.sharing, Sharing::Sent);
        let workers: Vec<usize> = lock(&self.sent).keys().copied().filter(|_| is_elsewhere).collect();
        for worker in workers {
            self.end_shared(worker).await;
        }
        let on_disk: Vec<OnDisk> = lock(&self.on_disk).drain().map(|(_, cell)| cell).collect();
        for cell in on_disk {
            cell.close().await;
        }
        if let Sharing::Shown(cells) = &self.sharing {
            cells.close().await;
        }
    }

    fn executor(&self) -> &dyn Executor {
        match &self.sharing {
            Sharing::Shown(cells) => cells.as_ref(),
            Sharing::Copied | Sharing::Sent => self.usual.as_ref(),
        }
    }

    fn add_files(&self, job: &mut Job, reads: &[String]) {
        if !self.are_shown_files() {
            self.give(job, |file| reads.contains(&file.name));
        }
    }

    /// Gives a job some of the files. On this machine they take nothing of what its limits allow it.
    fn give(&self, job: &mut Job, is_given: impl FnMut(&&InputFile) -> bool) {
        job.files.extend(self.files.iter().filter(is_given).cloned());
        if self.are_here() {
            job.limits.work_bytes = Some(job.limits.work_bytes().saturating_add(self.bytes));
            job.limits.file_bytes = job.limits.file_bytes.max(self.bytes);
        }
    }
}

impl Drop for Cells {
    /// Shared cells end aside; a run that is given up leaves none behind in an executor that goes on.
    fn drop(&mut self) {
        let workers = std::mem::take(&mut *lock(&self.sent)).into_keys();
        let names: Vec<String> = workers.map(|worker| self.shared_cell(worker)).collect();
        let runtime = tokio::runtime::Handle::try_current().ok().filter(|_| !names.is_empty());
        let Some(runtime) = runtime else { return };
        let usual = Arc::clone(&self.usual);
        runtime.spawn(async move {
            for name in names {
                usual.end_session(&name).await;
            }
        });
    }
}

/// Whether a program of our own making came to its end with a result.
fn is_well(execution: &Execution) -> bool {
    execution.cause == Cause::Ok && execution.values.contains_key("result")
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Where a check runs.
#[derive(Clone, Copy)]
pub(crate) struct WorkerCells<'a> {
    pub(crate) cells: &'a Cells,
    /// Which of the checks that run at once it is; no two have the same number.
    pub(crate) worker: usize,
}

/// What the code says of itself. All of it is a claim.
#[derive(Debug, Deserialize)]
struct Claim {
    status: String,
    #[serde(default)]
    summary: Option<String>,
    #[serde(default)]
    evaluated: Option<u64>,
    #[serde(default)]
    failed: Option<u64>,
    #[serde(default)]
    samples: Vec<FailedRow>,
    #[serde(default)]
    observed: Option<Value>,
    #[serde(default)]
    learning: bool,
}

impl Checks {
    /// Runs a check. `Err` inside is why it could not be evaluated.
    pub(crate) async fn execute(
        &self,
        check: &Check,
        ready: &Ready,
        tables: &Tables,
        place: WorkerCells<'_>,
        inputs: Value,
        artifacts: &Path,
    ) -> Result<Result<CheckFindings, String>, ChecksError> {
        let mut inputs = inputs;
        if let Some(by) = &ready.by_database
            && let Some(counted) = self.counted(by, check).await?
        {
            inputs["counted"] = counted;
        }
        let job = self.job(check, ready, tables, inputs);
        let wanted: Vec<String> = job.frames.values().cloned().collect();
        let execution = if ready.by_database.is_none() && ready.effects.uses_store() {
            let mut job = job;
            place.cells.add_files(&mut job, &wanted);
            self.engine.run_reading(place.cells.executor(), job).await?
        } else if ready.plan.source.is_ours() {
            let is_duckdb = ready.by_database.as_ref().is_some_and(ByDatabase::is_in_cell);
            let on_disk = if is_duckdb { place.cells.run_on_disk(&job, place.worker).await? } else { None };
            match on_disk {
                Some(execution) => execution,
                None => place.cells.run_shared(job, &wanted, place.worker).await?,
            }
        } else {
            place.cells.run(job, &wanted).await?
        };
        let advice = match (ready.plan.source.is_ours(), &ready.by_database) {
            (true, None) => {
                "pandas judges this rule with whole columns in memory, because no database certainly finds the same"
            }
            (true, Some(_)) => "DuckDB, which judges large tables, takes 160MiB and more",
            (false, _) => "fewer columns, or pieces of the table, take less",
        };
        let is_ours = ready.plan.source.is_ours();
        Ok(found(&execution, artifacts, check.kind == Kind::Transform, is_ours, advice))
    }

    fn job(&self, check: &Check, ready: &Ready, tables: &Tables, inputs: Value) -> Job {
        let (code, effects) = match &ready.by_database {
            Some(by) => (&by.code, &by.effects),
            None => (&ready.code, &ready.effects),
        };
        let settings = self.engine.settings();
        let mut job = Job::new(code.clone(), profile_for(effects));
        "check.py".clone_into(&mut job.name);
        job.limits = settings.limits.clone();
        job.judged_by = Some(Arc::clone(&tables.judged_by));
        for name in &ready.tables {
            if let Some(path) = tables.ready(name).and_then(|facts| facts.path.as_deref()) {
                job.frames.insert(name.clone(), file(path).name);
            }
        }
        job.failing = Some(FailingRows {
            keys: check.key_columns.clone(),
            max_rows: check.samples.max_rows,
            mask: check.samples.mask.clone(),
        });
        settings.helpers.source().clone_into(&mut job.helpers);
        job.values.insert("inputs".to_owned(), inputs);
        job.values
            .insert("user_request".to_owned(), json!(check.calculation_hint.as_deref().unwrap_or_default()));
        job.collect = vec!["result".to_owned()];
        job
    }
}

/// A table's file under the name by which jobs know it.
pub(crate) fn file(path: &Path) -> InputFile {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    InputFile { name, path: path.to_owned() }
}

fn found(
    execution: &Execution,
    artifacts: &Path,
    is_transform: bool,
    is_ours: bool,
    advice: &str,
) -> Result<CheckFindings, String> {
    match execution.cause {
        Cause::Ok => {}
        Cause::Error => {
            let Some(error) = &execution.error else {
                return Err(format!("the code ended with exit code {}", execution.exit.unwrap_or_default()));
            };
            // Code of Ordain's own raises these itself, with words for people; what else is wrong is in the data.
            if is_ours && matches!(error.kind.as_str(), "ValueError" | "OverflowError") {
                return Err(one_line(&error.message));
            }
            let line = error.line.filter(|_| !is_ours).map(|line| format!(" (line {line})"));
            return Err(one_line(&format!("{}: {}{}", error.kind, error.message, line.unwrap_or_default())));
        }
        Cause::MemoryLimit => {
            return Err(format!(
                "memory_limit: it needs more than {}: {advice}; raise `memory` under `[limits]`",
                format_bytes(execution.limits.memory_bytes)
            ));
        }
        Cause::DiskLimit => {
            return Err(one_line(&format!(
                "disk_limit: {}; raise `scratch` under `[checks]`",
                execution.detail.clone().unwrap_or_default()
            )));
        }
        Cause::Timeout => {
            let wall = ordain_types::format_duration(execution.limits.wall);
            return Err(format!("timeout: it did not end within {wall}; raise `wall` under `[limits]`"));
        }
        Cause::Crash => {
            return Err(one_line(&format!(
                "crash: {}; a library may end so where memory is short: raise `memory` ({}) under `[limits]`",
                execution.detail.clone().unwrap_or_default(),
                format_bytes(execution.limits.memory_bytes)
            )));
        }
        cause => return Err(one_line(&format!("{cause}: {}", execution.detail.clone().unwrap_or_default()))),
    }
    let Some(value) = execution.values.get("result") else {
        let note = execution.notes.get("result").and_then(Value::as_str);
        return Err(one_line(&note.map_or_else(
            || "the code set no `result`".to_owned(),
            |note| format!("`result` could not be read: {note}"),
        )));
    };
    let claim: Claim = serde_json::from_value(value.clone())
        .map_err(|error| one_line(&format!("`result` is not understood: {error}")))?;
    let counts = counted(&claim)?;
    let has_files = is_transform || !claim.samples.is_empty();
    let saved = if has_files { save(execution, artifacts)? } else { Vec::new() };
    let summary = claim.summary.unwrap_or_else(|| claim.status.clone());
    Ok(CheckFindings {
        counts,
        summary: one_line(&summary),
        samples: claim.samples,
        artifacts: saved,
        observed: claim.observed.filter(|observed| !observed.is_null()),
        is_learning: claim.learning,
        stdout: printed(execution),
    })
}

/// The beginning of what code printed.
fn printed(execution: &Execution) -> String {
    let end = execution.stdout.len().min(PRINTED_BYTES_MAX);
    String::from_utf8_lossy(&execution.stdout[..end]).into_owned()
}

/// Code whose words and numbers disagree is not believed.
fn counted(claim: &Claim) -> Result<Counts, String> {
    let is_broken = match claim.status.as_str() {
        "PASS" => false,
        "FAIL" => true,
        other => return Err(one_line(&format!("the code says `{other}`, which is neither PASS nor FAIL"))),
    };
    if let Some(failed) = claim.failed
        && is_broken != (failed > 0)
    {
        return Err(format!("the code says {} and counts {failed} failing rows", claim.status));
    }
    if let (Some(evaluated), Some(failed)) = (claim.evaluated, claim.failed)
        && failed > evaluated
    {
        return Err(format!("the code counts {failed} failing rows of {evaluated}"));
    }
    Ok(Counts { is_broken, evaluated: claim.evaluated, failed: claim.failed })
}

/// Saves what the code left into the folder of this check's run, and gives the paths. A file that is there was left by a node
/// that died before its result was kept.
fn save(execution: &Execution, folder: &Path) -> Result<Vec<String>, String> {
    if execution.artifacts.is_empty() {
        return Ok(Vec::new());
    }
    let failed = |error: std::io::Error| format!("its failing rows could not be saved: {error}");
    fs_err::create_dir_all(folder).map_err(failed)?;
    let saved = execution.artifacts.iter().map(|artifact| {
        let _ = std::fs::remove_file(folder.join(&artifact.name));
        artifact.save(folder).map_err(failed)
    });
    saved.map(|path| path.map(|path| path.display().to_string())).collect()
}

/// Text from a cell, on one line, without control characters, bounded.
fn one_line(text: &str) -> String {
    let plain = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    plain.take(SUMMARY_CHARACTERS_MAX).collect::<String>().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;

    use ordain_cell::{ExecutionFuture, Host, Output};
    use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

    use super::*;

    /// Cells elsewhere that never come to an end by themselves.
    struct Elsewhere(UnboundedSender<String>);

    impl Executor for Elsewhere {
        fn run<'a>(&'a self, _: Job, _: &'a mut dyn Host, _: &'a mut dyn Output) -> ExecutionFuture<'a> {
            Box::pin(std::future::pending())
        }

        fn end_session<'a>(&'a self, name: &'a str) -> Pin<Box<dyn Future<Output = bool> + Send + 'a>> {
            Box::pin(async move { self.0.send(name.to_owned()).is_ok() })
        }
    }

    #[tokio::test]
    async fn a_run_that_is_given_up_ends_the_cells_that_its_checks_shared() {
        let (sender, mut ended) = unbounded_channel();
        let executor: Arc<dyn Executor> = Arc::new(Elsewhere(sender));
        let shared = Shared { files: Vec::new(), running_max: 1, jobs: 1, cells: 1, scratch: None };
        let cells = Cells::new(&executor, shared, None).unwrap();
        let name = cells.shared_cell(7);
        lock(&cells.sent).insert(7, BTreeSet::new());
        drop(cells);
        assert_eq!(ended.recv().await, Some(name));
    }
}
