//! `[[schedules]]`: requests, questions about files and checks that run by the clock.

use std::path::Path;

use ordain_checks::{Schedule, Selection};
use serde::de::{Deserialize, Deserializer, Error as _};

use super::{FILE, WorkspaceError, inside};
use crate::schedules::{Scheduled, ScheduledTask};

/// A longer name is no name.
const NAME_BYTES_MAX: usize = 100;

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
