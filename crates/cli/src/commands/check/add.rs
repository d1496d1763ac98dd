//! Adds checks to a workspace's file of checks, and loses nothing of what is there.

use std::collections::HashMap;
use std::iter;

use ordain_checks::change::rule_of;
use ordain_checks::file::CheckFiles;
use ordain_checks::{ADDED_TO, Check, ChecksError, add_checks, read_checks};
use ordain_workspace::Workspace;
use serde_json::{Value, json};

/// What became of the checks.
#[derive(Debug, Default)]
pub(super) struct Added {
    /// How many were added.
    pub(super) count: usize,
    /// Those whose ids are taken.
    pub(super) taken: Vec<String>,
    /// Those whose made-up ids another rule has, each with the id that it got.
    pub(super) renamed: Vec<(String, String)>,
}

/// Adds the checks whose ids are not taken. The file stays as it is but for them, comments included. Where ids were made up, a
/// check whose id another rule has gets the next free one.
pub(super) fn add(workspace: &Workspace, checks: &[Check], has_own_ids: bool) -> Result<Added, ChecksError> {
    // A workspace without check files gets its first one.
    let files = read_checks(&workspace.root).unwrap_or_else(|_| CheckFiles::default());
    let mut known: HashMap<String, Value> =
        files.entries.iter().map(|entry| (entry.check.check_id.clone(), meaning(&entry.check))).collect();
    let (mut new, mut added) = (Vec::new(), Added::default());
    for check in checks {
        let means = meaning(check);
        let mut ids = iter::once(check.check_id.clone())
            .chain((2..).take_while(|_| !has_own_ids).map(|number| format!("{}-{number}", check.check_id)));
        let free = ids.find(|id| known.get(id).is_none_or(|other| *other == means));
        let Some(id) = free.filter(|id| !known.contains_key(id)) else {
            added.taken.push(check.check_id.clone());
            continue;
        };
        if id != check.check_id {
            added.renamed.push((check.check_id.clone(), id.clone()));
        }
        known.insert(id.clone(), means);
        new.push(Check { check_id: id, ..check.clone() });
    }
    if !new.is_empty() {
        add_checks(&workspace.root, &new)?.write(&workspace.root)?;
    }
    added.count = new.len();
    Ok(added)
}

/// What a check asks and from what on it fails: checks that agree in that are the same, whatever they are called.
fn meaning(check: &Check) -> Value {
    json!([rule_of(check), check.warn_if, check.fail_if])
}

/// Says what was added, for stderr.
pub(super) fn told(added: &Added) -> String {
    let noun = if added.count == 1 { "check" } else { "checks" };
    let taken = match &added.taken[..] {
        [] => String::new(),
        taken => format!("; there already: {}", taken.join(", ")),
    };
    let renamed =
        added.renamed.iter().map(|(was, is)| format!("; {was} is another rule, so it is added as {is}"));
    format!("added {} {noun} to {ADDED_TO}{taken}{}", added.count, renamed.collect::<String>())
}
