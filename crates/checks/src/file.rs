//! Check files: read with the position of every mistake, and added to without losing a byte of what was there.

mod edit;
mod json;
mod node;
mod record;
mod yaml;

use std::collections::{HashMap, HashSet};

use ordain_types::nearest;
use ordain_workspace::CHECK_FILE_BYTES_MAX;

use crate::check::Check;
use node::{Content, Node};

pub use edit::{append, change, remove};
pub use record::FIELDS;

/// Checks of one workspace.
pub const CHECKS_MAX: usize = 100_000;

/// A check and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckEntry {
    /// The check.
    pub check: Check,
    /// The file, as it is shown.
    pub file: String,
    /// The line at which its record begins.
    pub line: u32,
}

/// What is wrong with a check file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {message}")]
pub struct Problem {
    /// The file, as it is shown.
    pub file: String,
    /// The line.
    pub line: u32,
    /// The check, where it is known.
    pub check_id: Option<String>,
    /// What is wrong.
    pub message: String,
    /// What would help.
    pub hint: Option<String>,
}

/// What a workspace's check files hold.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CheckFiles {
    /// The checks, in the order of the files.
    pub entries: Vec<CheckEntry>,
    /// What is wrong.
    pub problems: Vec<Problem>,
}

impl CheckFiles {
    /// Reads one more file. Its ending tells how: `.json`, `.yaml` or `.yml`.
    pub fn read(&mut self, file: &str, text: &str) {
        let problem = |line: u32, message: String, hint: &str| Problem {
            file: file.to_owned(),
            line,
            check_id: None,
            message,
            hint: Some(hint.to_owned()),
        };
        if text.len() as u64 > CHECK_FILE_BYTES_MAX {
            let message = format!("the file has {} bytes; {CHECK_FILE_BYTES_MAX} is the limit", text.len());
            self.problems.push(problem(1, message, "split it into several files"));
            return;
        }
        let is_yaml = [".yaml", ".yml"].iter().any(|ending| file.ends_with(ending));
        match if is_yaml { yaml::parse(text) } else { json::parse(text) } {
            Ok(root) => self.take(file, &root),
            Err(error) => self.problems.push(problem(error.line, error.message, error.hint)),
        }
    }

    /// The id of the form `CHK-007` behind the highest that there is.
    pub fn free_id(&self) -> String {
        let number = |entry: &CheckEntry| entry.check.check_id.strip_prefix("CHK-")?.parse::<u32>().ok();
        let highest = self.entries.iter().filter_map(number).max().unwrap_or_default();
        format!("CHK-{:03}", u64::from(highest) + 1)
    }

    /// Looks at the checks as a whole: ids must be different, and what they depend on must be there.
    pub fn finish(&mut self) {
        let mut seen = HashMap::new();
        for entry in &self.entries {
            if let Some((file, line)) = seen.insert(entry.check.check_id.clone(), (&entry.file, entry.line)) {
                self.problems.push(Problem {
                    file: entry.file.clone(),
                    line: entry.line,
                    check_id: Some(entry.check.check_id.clone()),
                    message: format!(
                        "`{}` is the id of another check too, at {file}:{line}",
                        entry.check.check_id
                    ),
                    hint: Some("give each check an id of its own".to_owned()),
                });
            }
        }
        let ids: HashSet<&str> = self.entries.iter().map(|entry| entry.check.check_id.as_str()).collect();
        for entry in &self.entries {
            for wanted in &entry.check.depends_on {
                if ids.contains(wanted.as_str()) {
                    continue;
                }
                self.problems.push(Problem {
                    file: entry.file.clone(),
                    line: entry.line,
                    check_id: Some(entry.check.check_id.clone()),
                    message: format!("it depends on `{wanted}`, which is no check"),
                    hint: nearest(wanted, ids.iter().copied()).map(|name| format!("did you mean `{name}`?")),
                });
            }
        }
        self.find_circles();
    }

    fn find_circles(&mut self) {
        let checks: Vec<&Check> = self.entries.iter().map(|entry| &entry.check).collect();
        for circle in crate::order::circles(&checks) {
            let Some(entry) = self.entries.iter().find(|entry| entry.check.check_id == circle[0]) else {
                continue;
            };
            let message = if circle.len() == 1 {
                "it depends on itself".to_owned()
            } else {
                format!("it depends on itself, by way of {}", circle[1..].join(", "))
            };
            self.problems.push(Problem {
                file: entry.file.clone(),
                line: entry.line,
                check_id: Some(circle[0].clone()),
                message,
                hint: Some("take one of them out of `depends_on`".to_owned()),
            });
        }
    }

    fn take(&mut self, file: &str, root: &Node) {
        for record in records(root) {
            if self.entries.len() >= CHECKS_MAX {
                self.problems.push(Problem {
                    file: file.to_owned(),
                    line: record.line,
                    check_id: None,
                    message: format!("there are more than {CHECKS_MAX} checks"),
                    hint: Some("split them over several workspaces".to_owned()),
                });
                return;
            }
            let mut reader = record::Reader::new(file, record.line, &mut self.problems);
            if let Some(check) = reader.check(record) {
                self.entries.push(CheckEntry { check, file: file.to_owned(), line: record.line });
            }
        }
    }
}

/// One record as a file of checks is read, or what is wrong with it.
pub fn read_record(record: &serde_json::Value) -> Result<Check, Problem> {
    let mut files = CheckFiles::default();
    files.read("checks.json", &record.to_string());
    match files.problems.pop() {
        Some(problem) => Err(problem),
        None => files.entries.pop().map(|entry| entry.check).ok_or_else(|| Problem {
            file: "checks.json".to_owned(),
            line: 1,
            check_id: None,
            message: "it is no check".to_owned(),
            hint: Some("write {\"check_id\": …}".to_owned()),
        }),
    }
}

/// The records of a document: its list, the list under `checks`, or the document itself.
fn records(root: &Node) -> &[Node] {
    match &root.content {
        Content::List(records) => records.as_slice(),
        Content::Map(members) => match members.iter().find(|member| member.name == "checks") {
            Some(member) => match &member.value.content {
                Content::List(records) => records.as_slice(),
                _ => std::slice::from_ref(&member.value),
            },
            None => std::slice::from_ref(root),
        },
        Content::Null => &[],
        _ => std::slice::from_ref(root),
    }
}

#[cfg(test)]
mod tests;
