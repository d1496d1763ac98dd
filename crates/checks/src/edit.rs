//! Changes of check files: prepared and shown, tried on the data, and only then written.

use std::path::Path;

use ordain_planner::{Planner, Quiet};
use ordain_store::EntryNote;
use ordain_types::nearest;
use ordain_workspace::{CHECK_FILE_BYTES_MAX, inside};
use serde_json::{Map, Value, json};

use crate::export::{Target, export};
use crate::file::{self, CheckEntry, CheckFiles};
use crate::read::{read_changed, read_checks, write_file};
use crate::task::{CheckOptions, CheckTask};
use crate::{Check, CheckResult, Checks, ChecksError, Selection, SkipReason};

/// Where checks are added.
pub const ADDED_TO: &str = "checks/checks.json";
/// The field with the reading that a person accepted.
const READING: &str = "accepted_reading";
/// The fields that a rule is read from.
const READ_FROM: [&str; 5] = ["calculation_hint", "filter", "kind", "params", "target_table"];

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
    /// Why it cannot be saved: a rule that would run is not understood.
    pub unread: Option<String>,
}

/// Sets fields of a check, without writing anything.
fn change_check(root: &Path, check_id: &str, fields: &Map<String, Value>) -> Result<FileChange, ChecksError> {
    let (entry, before) = found(root, check_id)?;
    let Some(after) = file::change(&before, check_id, fields) else { return Err(not_a_list(&entry)) };
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
        Ok(Self { file, before, after, files, unread: None })
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

/// Takes a check out of its file, without writing anything.
pub fn remove_check(root: &Path, check_id: &str) -> Result<FileChange, ChecksError> {
    let (entry, before) = found(root, check_id)?;
    let Some(after) = file::remove(&before, check_id) else { return Err(not_a_list(&entry)) };
    FileChange::new(root, entry.file, before, after)
}

/// A change of a check that was tried on the data: what would be saved, and what the check gives with it.
#[derive(Debug, Clone)]
pub struct Proposal {
    /// What would be saved. The reading that the trial showed is part of it.
    pub change: FileChange,
    /// What the check gives; `None` where something is wrong with the changed files.
    pub result: Option<CheckResult>,
}

impl Checks {
    /// Tries a new check. Its id must be free.
    pub async fn propose(
        &self,
        mut check: Check,
        planner: &Planner,
        note: &EntryNote,
    ) -> Result<Proposal, ChecksError> {
        let root = &self.workspace.root;
        let mut change = add_checks(root, std::slice::from_ref(&check))?;
        let mut tried = self.try_out(&change, &check.check_id, planner, note, false).await?;
        if tried.as_ref().is_some_and(is_unread) && self.add_named_tables(&mut check)? {
            change = add_checks(root, std::slice::from_ref(&check))?;
            tried = self.try_out(&change, &check.check_id, planner, note, false).await?;
        }
        let Some(result) = tried else {
            return Ok(Proposal { change, result: None });
        };
        let says_the_same = |other: &Check| {
            other.check_id != check.check_id
                && other.accepted_reading.is_some()
                && other.accepted_reading == result.understood
        };
        if let Some(other) = change.files.entries.iter().find(|entry| says_the_same(&entry.check)) {
            let message = format!("check `{}` says the same", other.check.check_id);
            return Err(unwritable(message, "change that one: `ordain check edit`"));
        }
        let accepted = Check { accepted_reading: result.understood.clone(), ..check };
        let change = FileChange { unread: unread(&result), ..add_checks(root, &[accepted])? };
        Ok(Proposal { change, result: Some(result) })
    }

    /// Lets a rule in words look at the tables that it names besides its own: `every user_id must exist in users`. Tells
    /// whether there are any.
    fn add_named_tables(&self, check: &mut Check) -> Result<bool, ChecksError> {
        let rule = check.rule();
        let words: Vec<&str> = rule.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
        let files = self.data_files()?;
        let schema = self.store().schema();
        let of_store = schema.tables.iter().filter(|table| !table.hidden).map(|table| table.name.clone());
        let before = check.target_table.len();
        for name in files.into_iter().map(|file| file.stem).chain(of_store) {
            if words.iter().any(|word| word.eq_ignore_ascii_case(&name))
                && !check.target_table.contains(&name)
            {
                check.target_table.push(name);
            }
        }
        Ok(check.target_table.len() > before)
    }

    /// Tries a check with other fields; without any, the check as it is, so that its reading of today can be accepted.
    pub async fn propose_change(
        &self,
        check_id: &str,
        mut fields: Map<String, Value>,
        planner: &Planner,
        note: &EntryNote,
    ) -> Result<Proposal, ChecksError> {
        let root = &self.workspace.root;
        let check = found(root, check_id)?.0.check;
        // A check that is called what it says is called what it says now.
        if let Some(rule) = fields.get("calculation_hint").cloned()
            && check.calculation_hint.as_ref() == Some(&check.check_name)
        {
            fields.entry("check_name").or_insert(rule);
        }
        let is_read_anew = fields.is_empty() || READ_FROM.iter().any(|name| fields.contains_key(*name));
        let is_accepted = fields.is_empty() || check.is_words() || check.accepted_reading.is_some();
        let is_pinned = is_read_anew && is_accepted;
        if is_pinned {
            fields.insert(READING.to_owned(), Value::Null);
        }
        let change = change_check(root, check_id, &fields)?;
        let Some(result) = self.try_out(&change, check_id, planner, note, is_pinned).await? else {
            return Ok(Proposal { change, result: None });
        };
        let change = match &result.understood {
            Some(reading) if is_pinned => {
                fields.insert(READING.to_owned(), json!(reading));
                change_check(root, check_id, &fields)?
            }
            _ => change,
        };
        let change = FileChange { unread: unread(&result), ..change };
        Ok(Proposal { change, result: Some(result) })
    }

    /// Writes a change, with an entry in the ledger that names the check, if it is about one. A rule that nobody understood
    /// is not saved unless it is turned off: it would never judge anything.
    pub async fn save(
        &self,
        change: &FileChange,
        check_id: Option<&str>,
        mut note: EntryNote,
    ) -> Result<(), ChecksError> {
        if let Some(reason) = &change.unread {
            return Err(unwritable(reason.clone(), "say the rule in other words, or turn the check off"));
        }
        change.write(&self.workspace.root)?;
        note.detail = json!({ "check_id": check_id });
        Ok(self.store().note_rule(&change.file, &change.before, &change.after, note).await?)
    }

    /// Runs one check of a changed file, unless something is wrong with the file. Nothing is remembered of it but its code:
    /// what was tried is what runs later. With `force` it is compiled anew, whatever it was read as before.
    async fn try_out(
        &self,
        change: &FileChange,
        check_id: &str,
        planner: &Planner,
        note: &EntryNote,
        force: bool,
    ) -> Result<Option<CheckResult>, ChecksError> {
        if !change.files.problems.is_empty() {
            return Ok(None);
        }
        let is_words = change
            .files
            .entries
            .iter()
            .any(|entry| entry.check.check_id == check_id && entry.check.is_words());
        let planner = if is_words { planner.clone() } else { Planner::Rules };
        let selection = Selection::only(check_id);
        let is_new = found(&self.workspace.root, check_id).is_err();
        let options =
            CheckOptions { selection, planner, force, is_trial: true, is_new, ..CheckOptions::default() };
        let task = self.task(change.files.clone(), &note.who, &note.through);
        let task = CheckTask { request: format!("try check {check_id}"), options, ..task };
        let (_, run) = self.run(task, &mut Quiet).await?;
        let result = run.and_then(|run| run.report.results.into_iter().next());
        Ok(Some(result.ok_or_else(|| unknown(check_id, None))?))
    }
}

/// Whether nothing can be made of a rule.
fn is_unread(result: &CheckResult) -> bool {
    matches!(result.skipped, Some(SkipReason::NotUnderstood | SkipReason::NotCompiled))
}

fn unread(result: &CheckResult) -> Option<String> {
    is_unread(result)
        .then(|| result.reason.clone().unwrap_or_else(|| "the rule is not understood".to_owned()))
}

/// A check's entry, and the text of its file.
fn found(root: &Path, check_id: &str) -> Result<(CheckEntry, String), ChecksError> {
    let entries = read_checks(root)?.entries;
    let near =
        nearest(check_id, entries.iter().map(|entry| entry.check.check_id.as_str())).map(str::to_owned);
    let Some(entry) = entries.into_iter().find(|entry| entry.check.check_id == check_id) else {
        return Err(unknown(check_id, near.as_deref()));
    };
    let text = text_of(root, &entry.file)?;
    Ok((entry, text))
}

fn unknown(check_id: &str, near: Option<&str>) -> ChecksError {
    let hint = near.map(|near| format!("did you mean `{near}`?"));
    let hint = hint.as_deref().unwrap_or("see `ordain check list` for those that there are");
    unwritable(format!("there is no check `{check_id}`"), hint)
}

fn not_a_list(entry: &CheckEntry) -> ChecksError {
    let message =
        format!("{} is not a JSON list of checks, and only such files are changed here", entry.file);
    unwritable(message, &format!("edit it at line {}", entry.line))
}

fn text_of(root: &Path, file: &str) -> Result<String, ChecksError> {
    let read = inside::text(root, file, CHECK_FILE_BYTES_MAX);
    let text = read.map_err(|error| unwritable(format!("{file}: {}", error.message), "check the file"))?;
    Ok(text.unwrap_or_default())
}

fn unwritable(message: String, hint: &str) -> ChecksError {
    ChecksError::Edit { message, hint: hint.to_owned() }
}
