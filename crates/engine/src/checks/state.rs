//! What is kept between runs: each check's code and last counts, every result, and the newest reports.
//!
//! Plain JSON files under `.ordain/checks`, written whole or appended by the line, so that other tools can read them. One
//! run at a time holds the lock.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::TryLockError;
use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};

use ordain_checks::change::CompiledAgainst;
use ordain_checks::report::PastResult;
use ordain_checks::{CodeFrom, Counts, FailedRow, RunReport, SkipReason};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::error::ChecksError;
use super::read::write_file;

/// Reports that are kept whole.
const REPORTS_MAX: usize = 50;
/// The file with the runs whose figures were accepted.
const ACCEPTED: &str = "accepted.json";
/// A history longer than this is cut to its newer half.
const HISTORY_BYTES_MAX: u64 = 64 << 20;

/// A check's code, what it was compiled against, and what it last saw.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KeptCheck {
    /// Its name when it was compiled.
    pub check_name: String,
    /// The structured plan.
    pub plan: Value,
    /// The code.
    pub code: String,
    /// Who wrote it.
    pub code_from: CodeFrom,
    /// The version of the rule planner then.
    #[serde(default)]
    pub rules: u32,
    /// What it was compiled against.
    pub against: CompiledAgainst,
    /// When.
    pub compiled_at: String,
    /// The parts of the record that the last grade depends on.
    pub grading: Value,
    /// What it last saw.
    pub last: Option<LastRun>,
}

/// What a check saw when it last ran to its end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LastRun {
    /// The run.
    pub run_id: String,
    /// The hash of the data that it looked at.
    pub data_fingerprint: String,
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
}

/// One result in the history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Past {
    /// The result.
    #[serde(flatten)]
    pub result: PastResult,
    /// How many rows were looked at.
    #[serde(default)]
    pub evaluated: Option<u64>,
    /// The figure that a check of the whole table saw.
    #[serde(default)]
    pub observed: Option<Value>,
    /// How long it took.
    #[serde(default)]
    pub duration_ms: f64,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Kept {
    #[serde(default)]
    checks: BTreeMap<String, KeptCheck>,
}

/// The state of a workspace's checks.
#[derive(Debug)]
pub struct State {
    folder: PathBuf,
    /// By check id.
    pub checks: BTreeMap<String, KeptCheck>,
    /// Why what was kept could not be read; everything is then compiled anew.
    pub was_unreadable: Option<String>,
}

impl State {
    /// Reads what is kept in a folder.
    pub fn open(folder: &Path) -> Result<Self, ChecksError> {
        fs_err::create_dir_all(folder).map_err(ChecksError::state("make the folder for checks"))?;
        let (mut kept, mut was_unreadable) = (Kept::default(), None);
        match fs_err::read(folder.join("state.json")) {
            Ok(bytes) => match serde_json::from_slice(&bytes) {
                Ok(read) => kept = read,
                Err(error) => was_unreadable = Some(format!("state.json does not read: {error}")),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(ChecksError::state("read what is kept of checks")(error)),
        }
        Ok(Self { folder: folder.to_owned(), checks: kept.checks, was_unreadable })
    }

    /// Holds the lock for as long as the file lives.
    pub(super) fn lock(folder: &Path) -> Result<std::fs::File, ChecksError> {
        let failed = || ChecksError::state("lock the state of checks");
        fs_err::create_dir_all(folder).map_err(failed())?;
        let path = folder.join("lock");
        let file = std::fs::OpenOptions::new().create(true).truncate(false).write(true).open(path);
        let file = file.map_err(failed())?;
        match file.try_lock() {
            Ok(()) => Ok(file),
            Err(TryLockError::WouldBlock) => Err(ChecksError::Busy),
            Err(TryLockError::Error(error)) => Err(failed()(error)),
        }
    }

    /// Writes what is kept.
    pub(super) fn keep(&self) -> Result<(), ChecksError> {
        let bytes = serde_json::to_vec(&serde_json::json!({"version": 1, "checks": self.checks}));
        let bytes = bytes.map_err(io::Error::from).map_err(ChecksError::state("keep the state of checks"))?;
        write_file(&self.folder.join("state.json"), &bytes)
            .map_err(ChecksError::state("keep the state of checks"))
    }

    /// The folder for a run's artifacts.
    pub(super) fn artifacts(&self, run_id: &str) -> PathBuf {
        self.folder.join("artifacts").join(run_id)
    }

    /// The history, oldest first. Lines that do not read are passed over.
    pub fn history(&self) -> Result<Vec<Past>, ChecksError> {
        let file = match fs_err::File::open(self.folder.join("history.jsonl")) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(ChecksError::state("read the history of checks")(error)),
        };
        let lines = io::BufReader::new(file).lines();
        Ok(lines.map_while(Result::ok).filter_map(|line| serde_json::from_str(&line).ok()).collect())
    }

    /// The runs whose figures a person accepted as usual though a check failed.
    pub fn accepted_runs(&self) -> BTreeSet<String> {
        let bytes = fs_err::read(self.folder.join(ACCEPTED)).ok();
        bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
    }

    /// Accepts the figures of a run, by its id or the beginning of it, or `latest`. Gives back its id; nothing where there
    /// is no such run.
    pub fn accept_run(&self, run: &str) -> Result<Option<String>, ChecksError> {
        let Some(report) = self.report(run) else { return Ok(None) };
        let mut accepted = self.accepted_runs();
        accepted.insert(report.run_id.clone());
        let failed = || ChecksError::state("keep which runs are accepted");
        let bytes = serde_json::to_vec(&accepted).map_err(io::Error::from).map_err(failed())?;
        write_file(&self.folder.join(ACCEPTED), &bytes).map_err(failed())?;
        Ok(Some(report.run_id))
    }

    /// Adds a run's results to the history, and keeps its report. A check that `state:changed` left out was not judged: its
    /// last result stays the newest one.
    pub(super) fn remember(&self, report: &RunReport) -> Result<(), ChecksError> {
        let failed = || ChecksError::state("keep the history of checks");
        let mut text = String::new();
        let judged = report.results.iter().filter(|result| result.skipped != Some(SkipReason::Filtered));
        for result in judged {
            let past = Past {
                result: PastResult {
                    check_id: result.check_id.clone(),
                    run_id: report.run_id.clone(),
                    started_at: report.started_at.clone(),
                    status: result.status,
                    failed: result.failed,
                    failed_pct: result.failed_pct,
                },
                evaluated: result.evaluated,
                observed: result.observed.clone(),
                duration_ms: result.duration_ms,
            };
            text.push_str(&serde_json::to_string(&past).map_err(io::Error::from).map_err(failed())?);
            text.push('\n');
        }
        let path = self.folder.join("history.jsonl");
        if fs_err::metadata(&path).is_ok_and(|metadata| metadata.len() > HISTORY_BYTES_MAX) {
            halve(&path).map_err(failed())?;
        }
        let mut file = fs_err::OpenOptions::new().create(true).append(true).open(&path).map_err(failed())?;
        file.write_all(text.as_bytes()).map_err(failed())?;
        let bytes = serde_json::to_vec(report).map_err(io::Error::from).map_err(failed())?;
        write_file(&self.reports().join(format!("{}.json", report.run_id)), &bytes).map_err(failed())?;
        self.forget_old().map_err(failed())
    }

    /// The ids of runs whose reports are kept, oldest first.
    pub fn runs(&self) -> Vec<String> {
        let entries = fs_err::read_dir(self.reports()).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let mut runs: Vec<String> =
            names.filter_map(|name| name.strip_suffix(".json").map(str::to_owned)).collect();
        runs.sort();
        runs
    }

    /// The report of a run, by its id or the beginning of it, or `latest`.
    pub fn report(&self, run: &str) -> Option<RunReport> {
        let runs = self.runs();
        let mut fitting = runs.iter().filter(|id| id.starts_with(run));
        let id = if run == "latest" {
            runs.last()?
        } else {
            fitting.next().filter(|_| fitting.next().is_none())?
        };
        serde_json::from_slice(&fs_err::read(self.reports().join(format!("{id}.json"))).ok()?).ok()
    }

    fn reports(&self) -> PathBuf {
        self.folder.join("runs")
    }

    fn forget_old(&self) -> io::Result<()> {
        let runs = self.runs();
        for run in &runs[..runs.len().saturating_sub(REPORTS_MAX)] {
            fs_err::remove_file(self.reports().join(format!("{run}.json")))?;
            let artifacts = self.artifacts(run);
            if artifacts.exists() {
                fs_err::remove_dir_all(artifacts)?;
            }
        }
        Ok(())
    }
}

fn halve(path: &Path) -> io::Result<()> {
    let text = fs_err::read(path)?;
    let middle = text.len() / 2;
    let start =
        text[middle..].iter().position(|byte| *byte == b'\n').map_or(text.len(), |at| middle + at + 1);
    write_file(path, &text[start..])
}
