//! Which checks a command is about: `id:CHK-1,tag:integrity`.

use ordain_types::nearest;
use serde::{Deserialize, Serialize};

use crate::check::Check;
use crate::result::CheckStatus;

/// A selection. A check is in it if, of each kind of term that is given, one term fits.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Selection {
    ids: Vec<String>,
    tags: Vec<String>,
    owners: Vec<String>,
    tables: Vec<String>,
    severities: Vec<String>,
    statuses: Vec<CheckStatus>,
    only: Option<String>,
    schedule: Option<String>,
    changed: bool,
}

/// Why a selection was not understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{term}` selects nothing that is known")]
pub struct SelectionError {
    /// The term.
    pub term: String,
    /// What would help.
    pub hint: String,
}

const KINDS: [&str; 7] = ["id", "tag", "owner", "table", "severity", "status", "state"];

impl Selection {
    /// The one check of that id, whatever characters the id has.
    pub fn only(id: &str) -> Self {
        Self { only: Some(id.to_owned()), ..Self::default() }
    }

    /// The checks that have this schedule, written exactly so.
    pub fn scheduled(schedule: &str) -> Self {
        Self { schedule: Some(schedule.to_owned()), ..Self::default() }
    }

    /// Adds the terms of a text. A bare word is an id.
    pub fn add(&mut self, text: &str) -> Result<(), SelectionError> {
        for term in text.split(',').map(str::trim).filter(|term| !term.is_empty()) {
            let (kind, value) = term.split_once(':').unwrap_or(("id", term));
            let list = match kind {
                "id" => &mut self.ids,
                "tag" => &mut self.tags,
                "owner" => &mut self.owners,
                "table" => &mut self.tables,
                "severity" => &mut self.severities,
                "status" if status(value).is_some() => {
                    self.statuses.extend(status(value));
                    continue;
                }
                "state" if value == "changed" => {
                    self.changed = true;
                    continue;
                }
                other => {
                    let hint = match (other, nearest(other, KINDS)) {
                        ("status", _) => "a status is pass, warn, fail, error or skipped".to_owned(),
                        ("state", _) => "the only state is `state:changed`".to_owned(),
                        (_, Some(name)) => format!("did you mean `{name}:{value}`?"),
                        _ => format!("terms are {}", KINDS.map(|kind| format!("{kind}:…")).join(", ")),
                    };
                    return Err(SelectionError { term: term.to_owned(), hint });
                }
            };
            list.push(value.to_owned());
        }
        Ok(())
    }

    /// Whether only checks that something changed for are wanted.
    pub fn wants_changed(&self) -> bool {
        self.changed
    }

    /// Whether a check that had this status in its last run is wanted.
    pub fn holds_status(&self, last: Option<CheckStatus>) -> bool {
        self.statuses.is_empty() || last.is_some_and(|last| self.statuses.contains(&last))
    }

    /// Whether a check is in the selection, changes and its last status aside.
    pub fn holds(&self, check: &Check) -> bool {
        let fits = |wanted: &[String], given: &[&str]| {
            wanted.is_empty() || wanted.iter().any(|wanted| given.iter().any(|given| matches(wanted, given)))
        };
        let severity = format!("{:?}", check.severity).to_lowercase();
        self.only.as_ref().is_none_or(|only| *only == check.check_id)
            && (self.schedule.is_none() || self.schedule == check.schedule)
            && fits(&self.ids, &[&check.check_id])
            && fits(&self.tags, &check.tags.iter().map(String::as_str).collect::<Vec<_>>())
            && fits(&self.owners, &[check.owner.as_deref().unwrap_or("")])
            && fits(&self.tables, &check.target_table.iter().map(String::as_str).collect::<Vec<_>>())
            && fits(&self.severities, &[&severity])
    }
}

fn status(word: &str) -> Option<CheckStatus> {
    CheckStatus::ALL.into_iter().find(|status| status.name().eq_ignore_ascii_case(word))
}

/// Whether a name is meant; a `*` at the end stands for any rest.
fn matches(wanted: &str, given: &str) -> bool {
    match wanted.strip_suffix('*') {
        Some(start) => given.starts_with(start),
        None => given == wanted,
    }
}
