//! Adds checks to a workspace's file of checks, and loses nothing of what is there.

use std::collections::HashSet;

use ordain_checks::Check;
use ordain_checks::file::CheckFiles;
use ordain_engine::checks::{ADDED_TO, ChecksError, add_checks, read_checks};
use ordain_workspace::Workspace;

/// What became of the checks.
#[derive(Debug, Default)]
pub(super) struct Added {
    /// Those that were added.
    pub(super) added: usize,
    /// Those whose ids are taken.
    pub(super) taken: Vec<String>,
}

/// Adds the checks whose ids are not taken. The file stays as it is but for them, comments included.
pub(super) fn add(workspace: &Workspace, checks: &[Check]) -> Result<Added, ChecksError> {
    // A workspace without check files gets its first one.
    let files = read_checks(&workspace.root).unwrap_or_else(|_| CheckFiles::default());
    let known: HashSet<&str> = files.entries.iter().map(|entry| entry.check.check_id.as_str()).collect();
    let (taken, new): (Vec<&Check>, Vec<&Check>) =
        checks.iter().partition(|check| known.contains(check.check_id.as_str()));
    let taken = taken.into_iter().map(|check| check.check_id.clone()).collect();
    let new: Vec<Check> = new.into_iter().cloned().collect();
    if !new.is_empty() {
        add_checks(&workspace.root, &new)?.write(&workspace.root)?;
    }
    Ok(Added { added: new.len(), taken })
}

/// Says what was added, for stderr.
pub(super) fn told(added: &Added) -> String {
    let noun = if added.added == 1 { "check" } else { "checks" };
    let taken = match &added.taken[..] {
        [] => String::new(),
        taken => format!("; there already: {}", taken.join(", ")),
    };
    format!("added {} {noun} to {ADDED_TO}{taken}", added.added)
}
