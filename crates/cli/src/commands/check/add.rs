//! Adds checks to a workspace's file of checks, and loses nothing of what is there.

use std::collections::HashSet;
use std::io;

use ordain_checks::Check;
use ordain_checks::export::{Target, export};
use ordain_checks::file::{CheckFiles, append};
use ordain_engine::Workspace;
use ordain_engine::checks::{read_checks, write_file};

/// Where checks are added.
const FILE: &str = "checks/checks.json";

/// What became of the checks.
#[derive(Debug, Default)]
pub(super) struct Added {
    /// Those that were added.
    pub(super) added: usize,
    /// Those whose ids are taken.
    pub(super) taken: Vec<String>,
}

/// Adds the checks whose ids are not taken. The file stays as it is but for them, comments included.
pub(super) fn add(workspace: &Workspace, checks: &[Check]) -> io::Result<Added> {
    // A workspace without check files gets its first one.
    let files = read_checks(&workspace.root).unwrap_or_else(|_| CheckFiles::default());
    let known: HashSet<&str> = files.entries.iter().map(|entry| entry.check.check_id.as_str()).collect();
    let (taken, new): (Vec<&Check>, Vec<&Check>) =
        checks.iter().partition(|check| known.contains(check.check_id.as_str()));
    let taken = taken.into_iter().map(|check| check.check_id.clone()).collect();
    if new.is_empty() {
        return Ok(Added { added: 0, taken });
    }
    let new: Vec<Check> = new.into_iter().cloned().collect();
    let records: Vec<serde_json::Value> =
        serde_json::from_str(&export(Target::Json, &new).text).map_err(io::Error::other)?;
    let path = workspace.root.join(FILE);
    let text = match fs_err::read_to_string(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        read => read?,
    };
    let longer = append(&text, &records)
        .ok_or_else(|| io::Error::other(format!("{FILE} is not a list of checks that can be added to")))?;
    if let Some(folder) = path.parent() {
        fs_err::create_dir_all(folder)?;
    }
    write_file(&path, longer.as_bytes())?;
    Ok(Added { added: new.len(), taken })
}

/// Says what was added, for stderr.
pub(super) fn told(added: &Added) -> String {
    let noun = if added.added == 1 { "check" } else { "checks" };
    let taken = match &added.taken[..] {
        [] => String::new(),
        taken => format!("; there already: {}", taken.join(", ")),
    };
    format!("added {} {noun} to {FILE}{taken}", added.added)
}
