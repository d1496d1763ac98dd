//! `[[schedules]]`: requests, questions about files and checks that run by the clock.

use std::path::{Path, PathBuf};

use ordain_types::{RunKind, Selection};
use serde::de::{Deserialize, Deserializer, Error as _};

use super::schedule::Schedule;
use super::{FILE, WorkspaceError, inside};

/// A longer name is no name.
const NAME_BYTES_MAX: usize = 100;
/// Begins the names of schedules that check files make.
const OF_CHECKS: &str = "checks:";

/// Work that runs by the clock.
#[derive(Debug, Clone)]
pub struct Scheduled {
    /// Its name, unique in the workspace.
    pub name: String,
    /// When it is due.
    pub schedule: Schedule,
    /// The same as it is written.
    pub written: String,
    /// Whether a time that was missed is carried out later, once for all missed times.
    pub catch_up: bool,
    /// What is carried out.
    pub task: ScheduledTask,
}

/// What is carried out by a schedule.
#[derive(Debug, Clone, PartialEq)]
pub enum ScheduledTask {
    /// A request about the tables.
    Ask(String),
    /// A question about files of the workspace.
    Code {
        /// What is asked.
        request: String,
        /// The files.
        files: Vec<PathBuf>,
    },
    /// Checks.
    Checks {
        /// What the run is called.
        request: String,
        /// Which of them.
        selection: Selection,
    },
}

impl Scheduled {
    /// The schedule of all checks that are written with it.
    pub fn of_checks(written: &str) -> Option<Self> {
        Some(Self {
            name: format!("{OF_CHECKS} {written}"),
            schedule: written.parse().ok()?,
            written: written.to_owned(),
            catch_up: true,
            task: ScheduledTask::Checks {
                request: format!("run checks due at {written}"),
                selection: Selection::scheduled(written),
            },
        })
    }

    /// Whether a name is one that check files make.
    fn is_of_checks(name: &str) -> bool {
        name.starts_with(OF_CHECKS)
    }
}

impl ScheduledTask {
    /// The kind of its runs.
    pub fn kind(&self) -> RunKind {
        match self {
            Self::Ask(_) => RunKind::Ask,
            Self::Code { .. } => RunKind::Code,
            Self::Checks { .. } => RunKind::Check,
        }
    }

    /// What is asked.
    pub fn request(&self) -> &str {
        match self {
            Self::Ask(request) | Self::Code { request, .. } | Self::Checks { request, .. } => request,
        }
    }
}

#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ScheduleSection {
    name: String,
    schedule: WrittenSchedule,
    ask: Option<String>,
    code: Option<String>,
    #[serde(default)]
    files: Vec<String>,
    checks: Option<String>,
    #[serde(default = "yes")]
    catch_up: bool,
}

#[derive(Debug)]
struct WrittenSchedule(String, Schedule);

ordain_types::written_as_text!(WrittenSchedule);

impl<'de> Deserialize<'de> for WrittenSchedule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        match text.parse() {
            Ok(schedule) => Ok(Self(text, schedule)),
            Err(error) => Err(D::Error::custom(format!("`{text}` is no schedule: {error}"))),
        }
    }
}

fn yes() -> bool {
    true
}

/// Reads the schedules, each with a name of its own and one thing to do.
pub(super) fn read(root: &Path, sections: Vec<ScheduleSection>) -> Result<Vec<Scheduled>, WorkspaceError> {
    let mut read: Vec<Scheduled> = Vec::new();
    for section in sections {
        let name = section.name.clone();
        let scheduled = section.scheduled(root).and_then(|scheduled| {
            let is_taken = read.iter().any(|other| other.name == name);
            if is_taken { Err("there are two of that name".to_owned()) } else { Ok(scheduled) }
        });
        read.push(scheduled.map_err(|message| WorkspaceError {
            file: FILE.to_owned(),
            line: None,
            message: format!("the schedule `{name}`: {message}"),
            hint: Some("give it a name, a `schedule`, and one of `ask`, `code` and `checks`".to_owned()),
        })?);
    }
    Ok(read)
}

impl ScheduleSection {
    fn scheduled(self, root: &Path) -> Result<Scheduled, String> {
        if self.name.is_empty()
            || self.name.len() > NAME_BYTES_MAX
            || self.name.contains(char::is_control)
            || Scheduled::is_of_checks(&self.name)
        {
            return Err(format!(
                "a name has 1 to {NAME_BYTES_MAX} bytes of text and does not begin with `checks:`"
            ));
        }
        if self.code.is_none() && !self.files.is_empty() {
            return Err("`files` are for `code`".to_owned());
        }
        let task = match (self.ask, self.code, self.checks) {
            (Some(request), None, None) => ScheduledTask::Ask(request),
            (None, Some(request), None) => {
                for file in &self.files {
                    inside::check(root, Path::new(file)).map_err(|message| format!("`{file}`: {message}"))?;
                }
                let files = self.files.iter().map(|file| root.join(file)).collect();
                ScheduledTask::Code { request, files }
            }
            (None, None, Some(terms)) => {
                let mut selection = Selection::default();
                selection.add(&terms).map_err(|error| format!("{error}; {}", error.hint))?;
                ScheduledTask::Checks { request: format!("run checks {terms}").trim().to_owned(), selection }
            }
            _ => return Err("it has not exactly one of `ask`, `code` and `checks`".to_owned()),
        };
        let WrittenSchedule(written, schedule) = self.schedule;
        Ok(Scheduled { name: self.name, schedule, written, catch_up: self.catch_up, task })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Environment, Workspace, file};
    use super::*;

    fn read(text: &str) -> Result<Vec<Scheduled>, WorkspaceError> {
        let workspace = Workspace::from_parts(Path::new("/shop"), file::parse(text)?, Environment::of([]))?;
        Ok(workspace.schedules)
    }

    #[test]
    fn a_schedule_has_a_name_a_time_and_one_thing_to_do() {
        let text = "[[schedules]]\nname = \"stock\"\nschedule = \"0 6 * * * Europe/Berlin\"\nask = \"how many?\"\n\
            [[schedules]]\nname = \"rules\"\nschedule = \"@daily\"\nchecks = \"tag:daily\"\ncatch_up = false\n";
        let read_ones = read(text).unwrap();
        assert_eq!(read_ones[0].task, ScheduledTask::Ask("how many?".to_owned()));
        assert_eq!((read_ones[0].catch_up, read_ones[1].catch_up), (true, false));
        assert_eq!(read_ones[1].task.request(), "run checks tag:daily");
    }

    #[test]
    fn what_is_wrong_with_a_schedule_is_named() {
        let one = |name: &str, schedule: &str, rest: &str| {
            let text = format!("[[schedules]]\nname = \"{name}\"\nschedule = \"{schedule}\"\n{rest}\n");
            read(&text).unwrap_err().to_string()
        };
        assert!(one("a", "0 25 * * *", "ask = \"x\"").starts_with("ordain.toml:3"));
        assert!(one("a", "@daily", "").contains("exactly one"));
        assert!(one("a", "@daily", "ask = \"x\"\ncode = \"y\"").contains("exactly one"));
        assert!(one("a", "@daily", "ask = \"x\"\nfiles = [\"a.csv\"]").contains("`files` are for `code`"));
        assert!(one("a", "@daily", "checks = \"colour:red\"").contains("colour:red"));
        assert!(one("checks: x", "@daily", "ask = \"x\"").contains("does not begin with"));
        let twice = "[[schedules]]\nname = \"a\"\nschedule = \"@daily\"\nask = \"x\"\n".repeat(2);
        assert!(read(&twice).unwrap_err().to_string().contains("two of that name"));
    }
}
