//! Changes of check files: prepared and shown, tried on the data, and only then written.

use std::path::Path;

use ordain_checks::export::{Target, export};
use ordain_checks::file::{self, CheckFiles, FILE_BYTES_MAX};
use ordain_checks::{Check, CheckResult, Selection};
use ordain_planner::{Planner, Quiet};
use serde_json::{Map, Value};

use super::Checks;
use super::error::ChecksError;
use super::read::{read_changed, read_checks, write_file};
use super::task::{CheckOptions, CheckTask};
use crate::error::EngineError;
use crate::workspace::inside;

/// Where checks are added.
pub const ADDED_TO: &str = "checks/checks.json";

/// A change of a check file that is not written yet.
#[derive(Debug, Clone)]
pub struct FileChange {
    /// The file, as it is shown.
    pub file: String,
    /// Its text.
    pub before: String,
    /// Its text after the change.
    pub after: String,
    /// What all check files hold after the change, and what is wrong with them.
    pub files: CheckFiles,
}

/// Sets fields of a check, without writing anything.
pub fn change_check(
    root: &Path,
    check_id: &str,
    fields: &Map<String, Value>,
) -> Result<FileChange, ChecksError> {
    let files = read_checks(root)?;
    let entry = files.entries.into_iter().find(|entry| entry.check.check_id == check_id);
    let Some(entry) = entry else {
        return Err(unwritable(format!("there is no check `{check_id}`"), "load the page again"));
    };
    let before = text_of(root, &entry.file)?;
    let Some(after) = file::change(&before, check_id, fields) else {
        let message = format!("{} is not JSON, and only JSON files are changed here", entry.file);
        return Err(unwritable(message, &format!("edit it at line {}", entry.line)));
    };
    FileChange::new(root, entry.file, before, after)
}

/// Adds checks, without writing anything. Their ids must be free.
pub fn add_checks(root: &Path, checks: &[Check]) -> Result<FileChange, ChecksError> {
    let before = text_of(root, ADDED_TO)?;
    let records: Vec<Value> = serde_json::from_str(&export(Target::Json, checks).text).unwrap_or_default();
    let Some(after) = file::append(&before, &records) else {
        let message = format!("{ADDED_TO} is not a list of checks that can be added to");
        return Err(unwritable(message, "put the file right, or add the checks by hand"));
    };
    FileChange::new(root, ADDED_TO.to_owned(), before, after)
}

impl FileChange {
    fn new(root: &Path, file: String, before: String, after: String) -> Result<Self, ChecksError> {
        let files = read_changed(root, Some((&file, &after)))?;
        Ok(Self { file, before, after, files })
    }

    /// Writes the change, unless the file is no longer as it was.
    pub fn write(&self, root: &Path) -> Result<(), ChecksError> {
        if text_of(root, &self.file)? != self.before {
            return Err(unwritable(
                format!("{} has changed meanwhile", self.file),
                "look at the change again",
            ));
        }
        write_file(&root.join(&self.file), self.after.as_bytes())
            .map_err(ChecksError::state("write the check file"))
    }
}

impl Checks {
    /// Runs one check of a changed file. Nothing is remembered of it but its code: what was tried is what runs later.
    pub async fn try_out(
        &self,
        change: &FileChange,
        check_id: &str,
        planner: Planner,
        who: &str,
    ) -> Result<CheckResult, EngineError> {
        let selection = Selection::only(check_id);
        let options = CheckOptions { selection, planner, is_trial: true, ..CheckOptions::default() };
        let task = self.task(change.files.clone(), who, "ui");
        let task = CheckTask { request: format!("try check {check_id}"), options, ..task };
        let (_, run) = self.run(task, &mut Quiet).await?;
        let result = run.and_then(|run| run.report.results.into_iter().next());
        let missing = || unwritable(format!("there is no check `{check_id}`"), "load the page again");
        Ok(result.ok_or_else(missing)?)
    }
}

fn text_of(root: &Path, file: &str) -> Result<String, ChecksError> {
    let read = inside::text(root, file, FILE_BYTES_MAX as u64);
    let text = read.map_err(|error| unwritable(format!("{file}: {}", error.message), "check the file"))?;
    Ok(text.unwrap_or_default())
}

fn unwritable(message: String, hint: &str) -> ChecksError {
    ChecksError::Edit { message, hint: hint.to_owned() }
}
