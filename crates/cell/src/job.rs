//! A job for a cell, and what came of it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ordain_types::{Cause, Limits, Schema};
use ordain_verify::{Policy, VerifiedCode};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::artifact::{Artifact, Refusal};
use crate::isolation::Level;
use crate::profile::Profile;

/// One piece of verified code to run, with everything that it may see.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is something that a job may or may not do")]
pub struct Job {
    /// The code.
    pub code: VerifiedCode,
    /// The file name that tracebacks show.
    pub name: String,
    /// The Python packages it finds.
    pub profile: Profile,
    /// What it may use.
    pub limits: Limits,
    /// Files that it can read as `files[name]`.
    pub files: Vec<InputFile>,
    /// Variables that it finds set.
    pub values: Map<String, Value>,
    /// Tables that it finds as `<name>_tbl`; what it asks of them reaches the host as `table.…` calls.
    pub tables: Vec<String>,
    /// Tables that `frame(name)` maps from Arrow files: the table's name, and that of a mounted file or of one of `files`.
    pub frames: BTreeMap<String, String>,
    /// What becomes of the failing rows that the code of a check gives as `result["failed_rows"]`.
    pub failing: Option<FailingRows>,
    /// Code of the workspace's owner that runs first and defines functions for it.
    pub helpers: String,
    /// Variables whose values it gives back.
    pub collect: Vec<String>,
    /// The session whose state it shares, if any. The limits of a session's process (memory, processes, CPU time, work
    /// folder) are those of its first job; a later job can lower the first three and never raise them.
    pub session: Option<String>,
    /// In a session: whether it starts without the variables and artifacts that earlier jobs left. Code that may tamper
    /// with the process is not held off by it; it is for code of one author that would only stumble over them.
    pub is_fresh: bool,
    /// Whether it may run in a cell in which other such jobs ran before it, with variables of its own. Only for code that
    /// Ordain wrote and the workspace's owner's: what a job leaves in the process is there for the next one.
    pub may_share: bool,
    /// By what the code was judged. An executor elsewhere judges it again, by the same; without it, by the defaults
    /// of the code's contract.
    pub judged_by: Option<Arc<JudgedBy>>,
    /// Whether it runs for another job that waits for it: it takes no place of its own among the running ones, so that
    /// jobs which hold all places never wait for each other.
    pub is_within: bool,
    /// Whether its artifacts are neither hashed nor looked at: only Ordain itself will open them.
    pub is_unseen: bool,
}

/// The rules and the tables that code was judged by.
#[derive(Debug, Clone)]
pub struct JudgedBy {
    /// The rules.
    pub policy: Policy,
    /// The tables.
    pub schema: Schema,
}

impl Job {
    /// A job with default limits and nothing to see.
    pub fn new(code: VerifiedCode, profile: Profile) -> Self {
        Self {
            code,
            name: "main.py".to_owned(),
            profile,
            limits: Limits::default(),
            files: Vec::new(),
            values: Map::new(),
            tables: Vec::new(),
            frames: BTreeMap::new(),
            failing: None,
            helpers: String::new(),
            collect: Vec::new(),
            session: None,
            is_fresh: false,
            may_share: false,
            judged_by: None,
            is_within: false,
            is_unseen: false,
        }
    }
}

/// How failing rows leave a cell: a few as `result["samples"]`, all of them as an artifact.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct FailingRows {
    /// The columns that tell rows apart; a row without them is known by its place.
    pub keys: Vec<String>,
    /// How many rows are shown. With none there is no artifact either.
    pub max_rows: u64,
    /// Columns whose values stay in the cell.
    pub mask: Vec<String>,
}

/// A file given to a job.
#[derive(Debug, Clone)]
pub struct InputFile {
    /// The name under which the code sees it.
    pub name: String,
    /// Where it lies on the host.
    pub path: PathBuf,
}

/// What came of a job. All of it is made by the supervisor but `error`, `exit` after a normal end, `values` and
/// `notes`, which are the code's own claims.
#[derive(Debug)]
pub struct Execution {
    /// Why the job ended.
    pub cause: Cause,
    /// The exit code, if the code ended by itself.
    pub exit: Option<i32>,
    /// The signal that killed the cell, if one did.
    pub signal: Option<i32>,
    /// What it wrote to stdout.
    pub stdout: Vec<u8>,
    /// What it wrote to stderr.
    pub stderr: Vec<u8>,
    /// Whether output was cut at its limit.
    pub output_truncated: bool,
    /// The exception it raised.
    pub error: Option<Raised>,
    /// The variables it gave back.
    pub values: Map<String, Value>,
    /// Why a variable could not be given back.
    pub notes: Map<String, Value>,
    /// The files it left in its artifacts folder.
    pub artifacts: Vec<Artifact>,
    /// Files that were not taken, and why.
    pub refused: Vec<Refusal>,
    /// Files it left in its work folder, which are lost.
    pub left_behind: Vec<String>,
    /// What the cause means here, for people.
    pub detail: Option<String>,
    /// The limits that held.
    pub limits: Limits,
    /// How long it took.
    pub timing: Timing,
    /// How well it was isolated.
    pub isolation: Level,
    /// How many host calls it made.
    pub host_calls: u64,
}

/// An exception that code raised.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Raised {
    /// The exception's class.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its message.
    pub message: String,
    /// The line of the code in which it was raised.
    pub line: Option<u64>,
}

/// How long a job took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Timing {
    /// Waiting for a cell.
    pub queue: Duration,
    /// Running, from handing the job to the cell to its result or end.
    pub run: Duration,
    /// All together, artifacts included.
    pub total: Duration,
}

/// Which stream a piece of output came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// Takes output as it comes, for live display. What it is given is hostile bytes, already within the limit.
pub trait Output: Send {
    /// Takes one piece.
    fn write(&mut self, stream: Stream, bytes: &[u8]);
}

/// Takes output and does nothing with it; the execution holds it in the end.
#[derive(Debug, Clone, Copy, Default)]
pub struct Discard;

impl Output for Discard {
    fn write(&mut self, _stream: Stream, _bytes: &[u8]) {}
}
