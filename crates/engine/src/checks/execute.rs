//! Runs a check in a cell and reads what it claims, strictly.
//!
//! Code that a person or a model wrote has a cell to itself. Code of our own making can't tamper with anything, so checks
//! of that kind follow one another in one cell and share the tables that it has mapped. One that does not come out well
//! there is run again alone: what it says then cannot be blamed on the checks before it.

use std::path::Path;

use ordain_cell::profile::Profile;
use ordain_cell::{Discard, Execution, Executor, FailingRows, Job, LocalExecutor, NoHost};
use ordain_checks::{Check, Counts, FailedRow};
use ordain_store::{BeginOptions, Intent};
use ordain_types::{Cause, format_bytes};
use ordain_verify::{CORE_IMPORTS, DATA_IMPORTS, FULL_IMPORTS};
use serde::Deserialize;
use serde_json::{Value, json};

use super::Checks;
use super::compile::Ready;
use super::error::ChecksError;
use super::tables::Tables;
use crate::claims::Evidence;
use crate::grant::Grant;
use crate::host::TransactionHost;

const SUMMARY_CHARACTERS_MAX: usize = 500;

/// What a check found.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub(super) counts: Counts,
    pub(super) summary: String,
    pub(super) samples: Vec<FailedRow>,
    pub(super) artifacts: Vec<String>,
    pub(super) observed: Option<Value>,
}

/// Where a check runs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) executor: &'a LocalExecutor,
    /// Which of the checks that run at once it is; no two have the same number.
    pub(super) worker: usize,
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
}

impl Checks {
    /// Runs a check. `Err` inside is why it could not be evaluated.
    pub(super) async fn execute(
        &self,
        check: &Check,
        ready: &Ready,
        tables: &Tables,
        place: Place<'_>,
        inputs: Value,
        artifacts: &Path,
    ) -> Result<Result<Found, String>, ChecksError> {
        let job = self.job(check, ready, tables, inputs);
        let execution = if asks_the_store(&ready.kept.code) {
            self.with_store(job, place.executor).await?
        } else if ready.is_ours(check) {
            shared(job, place).await?
        } else {
            place.executor.run(job, &mut NoHost, &mut Discard).await?
        };
        Ok(found(&execution, artifacts))
    }

    fn job(&self, check: &Check, ready: &Ready, tables: &Tables, inputs: Value) -> Job {
        let mut job = Job::new(ready.code.clone(), profile(ready));
        "check.py".clone_into(&mut job.name);
        job.limits = self.workspace.limits.clone();
        for name in &ready.tables {
            if let Some(path) = tables.ready(name).and_then(|facts| facts.path.as_deref()) {
                job.frames.insert(name.clone(), mount_name(path));
            }
        }
        job.failing = Some(FailingRows {
            keys: check.key_columns.clone(),
            max_rows: check.samples.max_rows,
            mask: check.samples.mask.clone(),
        });
        job.helpers.clone_from(&self.workspace.helpers);
        job.values.insert("inputs".to_owned(), inputs);
        job.values
            .insert("user_request".to_owned(), json!(check.calculation_hint.as_deref().unwrap_or_default()));
        job.collect = vec!["result".to_owned()];
        job
    }

    /// Runs a job that may read the store's tables through calls, in a transaction that is rolled back.
    async fn with_store(&self, mut job: Job, executor: &LocalExecutor) -> Result<Execution, ChecksError> {
        job.tables = self.store.schema().tables.iter().map(|table| table.name.clone()).collect();
        let run_id = self.store.new_run_id()?;
        let mut transaction = self.store.begin(BeginOptions { run_id, intent: Intent::Read }).await?;
        let mut evidence = Evidence::default();
        let mut host = TransactionHost::new(&mut transaction, Grant::read_only(), &mut evidence, None);
        let execution = executor.run(job, &mut host, &mut Discard).await;
        let execution = host.settle(execution);
        transaction.roll_back().await?;
        execution
    }
}

/// Runs a check of our own making in the cell that such checks share.
async fn shared(mut job: Job, place: Place<'_>) -> Result<Execution, ChecksError> {
    let alone = job.clone();
    let cell = format!("checks {}", place.worker);
    job.session = Some(cell.clone());
    job.is_fresh = true;
    let execution = place.executor.run(job, &mut NoHost, &mut Discard).await?;
    if execution.cause == Cause::Ok && execution.values.contains_key("result") {
        return Ok(execution);
    }
    place.executor.end_session(&cell).await;
    Ok(place.executor.run(alone, &mut NoHost, &mut Discard).await?)
}

/// The name under which a table's file is mounted.
pub(super) fn mount_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn asks_the_store(code: &str) -> bool {
    code.contains("_tbl") || code.contains("db.")
}

/// The smallest profile that has what the code needs.
fn profile(ready: &Ready) -> Profile {
    let needs = |packages: &[&str], smaller: &[&str]| {
        let tops = ready.imports.iter().map(|import| import.split('.').next().unwrap_or_default());
        tops.into_iter().any(|top| packages.contains(&top) && !smaller.contains(&top))
    };
    if needs(FULL_IMPORTS, DATA_IMPORTS) {
        Profile::Full
    } else if wants_frames(&ready.kept.code) || needs(DATA_IMPORTS, CORE_IMPORTS) {
        Profile::Data
    } else {
        Profile::Core
    }
}

/// Whether code looks at tables as frames, and not only by calls.
pub(super) fn wants_frames(code: &str) -> bool {
    code.contains("frame")
}

fn found(execution: &Execution, artifacts: &Path) -> Result<Found, String> {
    match execution.cause {
        Cause::Ok => {}
        Cause::Error => {
            let Some(error) = &execution.error else {
                return Err(format!("the code ended with exit code {}", execution.exit.unwrap_or_default()));
            };
            let line = error.line.map(|line| format!(" (line {line})")).unwrap_or_default();
            return Err(one_line(&format!("{}: {}{line}", error.kind, error.message)));
        }
        Cause::MemoryLimit => {
            return Err(format!(
                "memory_limit: it needs more than {}; use fewer columns, go through the table in pieces, or raise \
                 `memory` under `[limits]`",
                format_bytes(execution.limits.memory_bytes)
            ));
        }
        Cause::Timeout => {
            let wall = ordain_types::format_duration(execution.limits.wall);
            return Err(format!("timeout: it did not end within {wall}; raise `wall` under `[limits]`"));
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
    let saved = if claim.samples.is_empty() { Vec::new() } else { save(execution, artifacts)? };
    let summary = claim.summary.unwrap_or_else(|| claim.status.clone());
    Ok(Found {
        counts,
        summary: one_line(&summary),
        samples: claim.samples,
        artifacts: saved,
        observed: claim.observed.filter(|observed| !observed.is_null()),
    })
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

/// Saves what the code left, and gives the paths.
fn save(execution: &Execution, folder: &Path) -> Result<Vec<String>, String> {
    if execution.artifacts.is_empty() {
        return Ok(Vec::new());
    }
    let failed = |error: std::io::Error| format!("its failing rows could not be saved: {error}");
    fs_err::create_dir_all(folder).map_err(failed)?;
    let saved = execution.artifacts.iter().map(|artifact| artifact.save(folder).map_err(failed));
    saved.map(|path| path.map(|path| path.display().to_string())).collect()
}

/// Text from a cell, on one line, without control characters, bounded.
fn one_line(text: &str) -> String {
    let plain = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    plain.take(SUMMARY_CHARACTERS_MAX).collect::<String>().trim().to_owned()
}
