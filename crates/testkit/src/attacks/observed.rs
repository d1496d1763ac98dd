//! What came of one run of a program, as the runner finds it.

use std::path::Path;
use std::time::Duration;

use ordain_types::{Cause, Diff};
use serde::Deserialize;
use serde_json::Value;

use super::client::{End, Running};
use super::protocol::{ARTIFACTS_FOLDER, DIFF_FILE, RECORD_FILE, STDERR_FILE, STDOUT_FILE};

/// One run of a program.
#[derive(Debug, Clone, Default)]
pub(super) struct Observed {
    /// The cause that the record names; `None` if there is no record that names one.
    pub(super) cause: Option<Cause>,
    /// Why there is no outcome, or what of it is missing.
    pub(super) problems: Vec<String>,
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: Vec<u8>,
    /// The record as the executor wrote it.
    pub(super) record_line: Vec<u8>,
    /// The same, read.
    pub(super) record: Value,
    /// What the host says that it did to tables.
    pub(super) diff: Option<Diff>,
    pub(super) artifacts: Vec<Collected>,
    /// From the start to the outcome.
    pub(super) elapsed: Duration,
}

/// A file among the artifacts, as it lies in the run's folder.
#[derive(Debug, Clone, Default)]
pub(super) struct Collected {
    pub(super) name: Vec<u8>,
    pub(super) is_ordinary: bool,
    pub(super) content: Vec<u8>,
}

impl Observed {
    /// Waits for a run's end and reads everything that came of it.
    pub(super) fn wait(running: Running) -> Self {
        let folder = running.folder.clone();
        match running.wait() {
            End::Saved { elapsed, problems } => {
                let mut observed = Self { problems, elapsed, ..Self::default() };
                if let Err(error) = observed.read(&folder) {
                    observed.problems.push(format!("its results cannot be read: {error}"));
                }
                observed
            }
            End::NotRun(reason) => Self::without_outcome(format!("it could not be run: {reason}")),
            End::NoOutcome => Self::without_outcome("no outcome came".to_owned()),
        }
    }

    /// A run that gave nothing.
    pub(super) fn without_outcome(problem: String) -> Self {
        Self { problems: vec![problem], ..Self::default() }
    }

    fn read(&mut self, folder: &Path) -> std::io::Result<()> {
        const OWN: [&str; 5] = [RECORD_FILE, DIFF_FILE, STDOUT_FILE, STDERR_FILE, ARTIFACTS_FOLDER];
        self.stdout = fs_err::read(folder.join(STDOUT_FILE))?;
        self.stderr = fs_err::read(folder.join(STDERR_FILE))?;
        self.record_line = fs_err::read(folder.join(RECORD_FILE))?;
        match serde_json::from_slice(&self.record_line) {
            Ok(record) => self.record = record,
            Err(error) => self.problems.push(format!("its record is not JSON: {error}")),
        }
        self.diff = serde_json::from_slice(&fs_err::read(folder.join(DIFF_FILE))?).ok();
        self.cause = Cause::deserialize(&self.record["cause"]).ok();
        for entry in fs_err::read_dir(folder)? {
            let name = entry?.file_name();
            if !OWN.iter().any(|own| name == *own) {
                self.problems
                    .push(format!("`{}` lies beside its artifacts", name.to_string_lossy().escape_debug()));
            }
        }
        for entry in fs_err::read_dir(folder.join(ARTIFACTS_FOLDER))? {
            let entry = entry?;
            let is_ordinary = entry.file_type()?.is_file();
            let content = if is_ordinary { fs_err::read(entry.path())? } else { Vec::new() };
            let name = entry.file_name().into_encoded_bytes();
            self.artifacts.push(Collected { name, is_ordinary, content });
        }
        Ok(())
    }

    /// The lines of stdout and stderr.
    pub(super) fn lines(&self) -> impl Iterator<Item = &[u8]> {
        self.stdout.split(|byte| *byte == b'\n').chain(self.stderr.split(|byte| *byte == b'\n'))
    }

    /// Whether it printed a line that starts with that word.
    pub(super) fn has_line(&self, word: &str) -> bool {
        self.lines().any(|line| line.starts_with(word.as_bytes()))
    }

    /// The first line in which the program says that its attack worked.
    pub(super) fn escape(&self) -> Option<String> {
        let line = self.lines().find(|line| line.starts_with(b"ESCAPE"))?;
        let text = String::from_utf8_lossy(&line[..line.len().min(160)]).escape_debug().to_string();
        Some(text)
    }

    /// The entries of a list in the record.
    pub(super) fn listed(&self, field: &str) -> &[Value] {
        self.record[field].as_array().map_or(&[], Vec::as_slice)
    }

    /// Everything that came out of the program or was written about it, for a search.
    pub(super) fn everything(&self) -> impl Iterator<Item = (&'static str, &[u8])> {
        let fixed = [("stdout", &self.stdout), ("stderr", &self.stderr), ("the record", &self.record_line)];
        let fixed = fixed.into_iter().map(|(what, bytes)| (what, bytes.as_slice()));
        let artifacts = self.artifacts.iter().flat_map(|artifact| {
            [("an artifact's name", artifact.name.as_slice()), ("an artifact", artifact.content.as_slice())]
        });
        fixed.chain(artifacts)
    }
}
