//! What is kept between runs besides the code: what each check last saw, every result, and the newest reports.
//!
//! Plain JSON files under `.ordain/checks`, written whole or appended by the line, so that other tools can read them. One
//! run at a time holds the lock.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::TryLockError;
use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::cells::CheckFindings;
use crate::change::can_grade_again;
use crate::read::write_file;
use crate::report::PastResult;
use crate::{Check, ChecksError, RunReport, SkipReason};

/// Reports that are kept whole.
pub(crate) const REPORTS_MAX: usize = 50;
/// The file with every result, one a line.
pub(crate) const HISTORY: &str = "history.jsonl";
/// The folder with files of failing rows, one folder in it for each run.
pub(crate) const ARTIFACTS: &str = "artifacts";
/// The file with what each check last saw.
pub(crate) const LAST: &str = "last.json";
/// The file with the runs whose figures were accepted.
pub(crate) const ACCEPTED: &str = "accepted.json";
/// A history longer than this is cut to its newer half.
const HISTORY_BYTES_MAX: u64 = 64 << 20;

/// What a check saw when it last ran to its end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LastRun {
    /// The run.
    pub run_id: String,
    /// The hash of the code that ran.
    pub code_hash: String,
    /// The hash of the data that it looked at.
    pub data_fingerprint: String,
    /// The parts of the record that the grade depends on.
    pub grading: Value,
    /// What it found.
    #[serde(flatten)]
    pub found: CheckFindings,
}

impl LastRun {
    /// Whether a check can be graded by its record of today without another run.
    pub(crate) fn can_grade_again(&self, check: &Check) -> bool {
        can_grade_again(check, &self.grading, self.found.samples.len(), self.found.counts.failed)
    }
}

/// One result in the history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[schemars(rename = "PastResult")]
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

/// The state of a workspace's checks.
#[derive(Debug)]
pub struct State {
    folder: PathBuf,
    /// What each check last saw, by its id. What cannot be read is as good as never seen.
    pub last: BTreeMap<String, LastRun>,
}

impl State {
    /// Reads what is kept.
    pub fn open(folder: &Path) -> Result<Self, ChecksError> {
        let last = match fs_err::read(folder.join(LAST)) {
            Ok(bytes) => serde_json::from_slice(&bytes).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => BTreeMap::new(),
            Err(error) => return Err(ChecksError::state("read what is kept of checks")(error)),
        };
        Ok(Self { folder: folder.to_owned(), last })
    }

    /// Holds the lock for as long as the file lives.
    pub(crate) fn lock(folder: &Path) -> Result<std::fs::File, ChecksError> {
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

    /// Where all of it is kept.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The folder for a run's artifacts.
    pub(crate) fn artifacts(&self, run_id: &str) -> PathBuf {
        self.folder.join(ARTIFACTS).join(run_id)
    }

    /// The history, oldest first. Lines that do not read are passed over.
    pub fn history(&self) -> Result<Vec<Past>, ChecksError> {
        let file = match fs_err::File::open(self.folder.join(HISTORY)) {
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

    /// Keeps what checks last saw, adds a run's results to the history, and keeps its report. A check that `state:changed`
    /// left out was not judged: its last result stays the newest one. Gives the lines of the history.
    pub(crate) fn remember(&self, report: &RunReport) -> Result<String, ChecksError> {
        let failed = || ChecksError::state("keep the history of checks");
        let bytes = serde_json::to_vec(&self.last).map_err(io::Error::from).map_err(failed())?;
        write_file(&self.folder.join(LAST), &bytes).map_err(failed())?;
        let mut text = String::new();
        // A check that `state:changed` left out was not looked at: its last result stands.
        let judged = report.results.iter().filter(|result| result.skipped != Some(SkipReason::Filtered));
        for result in judged {
            let past = Past {
                result: PastResult::of(report, result),
                evaluated: result.evaluated,
                observed: result.observed.clone(),
                duration_ms: result.duration_ms,
            };
            text.push_str(&serde_json::to_string(&past).map_err(io::Error::from).map_err(failed())?);
            text.push('\n');
        }
        self.add_to_history(text.as_bytes()).map_err(failed())?;
        let bytes = serde_json::to_vec(report).map_err(io::Error::from).map_err(failed())?;
        write_file(&self.reports().join(format!("{}.json", report.run_id)), &bytes).map_err(failed())?;
        self.forget_old().map_err(failed())?;
        Ok(text)
    }

    /// Adds lines to the history.
    pub(crate) fn add_to_history(&self, lines: &[u8]) -> io::Result<()> {
        let path = self.folder.join(HISTORY);
        if fs_err::metadata(&path).is_ok_and(|metadata| metadata.len() > HISTORY_BYTES_MAX) {
            halve(&path)?;
        }
        let mut file = fs_err::OpenOptions::new().create(true).append(true).open(&path)?;
        file.write_all(lines)
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

    pub(crate) fn forget_old(&self) -> io::Result<()> {
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
