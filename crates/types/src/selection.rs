//! Which checks a command is about: `id:CHK-1,tag:integrity`.

use serde::{Deserialize, Serialize};

use crate::{CheckStatus, nearest};

/// A selection. A check is in it if, of each kind of term that is given, one term fits.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Selection {
    /// Ids; a `*` at the end stands for any rest, here and below.
    pub ids: Vec<String>,
    /// Words that owners gave.
    pub tags: Vec<String>,
    /// Who answers for them.
    pub owners: Vec<String>,
    /// Tables that they look at.
    pub tables: Vec<String>,
    /// How much a failure weighs.
    pub severities: Vec<String>,
    /// What they gave last.
    pub statuses: Vec<CheckStatus>,
    /// The one of that id, whatever characters the id has.
    pub only: Option<String>,
    /// Those that have this schedule, written exactly so.
    pub schedule: Option<String>,
    /// Whether only those are meant that something changed for.
    pub changed: bool,
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

    /// Whether a check that had this status in its last run is wanted.
    pub fn holds_status(&self, last: Option<CheckStatus>) -> bool {
        self.statuses.is_empty() || last.is_some_and(|last| self.statuses.contains(&last))
    }
}

fn status(word: &str) -> Option<CheckStatus> {
    CheckStatus::ALL.into_iter().find(|status| status.name().eq_ignore_ascii_case(word))
}
