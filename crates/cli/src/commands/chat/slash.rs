//! What a person may say in a conversation that is not a request: `/diff`, `/undo` …

use std::io::{self, Write};

use ordain_types::RunRecord;

use super::Chat;
use crate::failure::Failure;
use crate::show::diff::Extent;
use crate::show::{code, diff, run as show_run};
use crate::workspace;

const HELP: &str = "\
/diff [RUN]      the rows that the last change is about
/plan [RUN]      who wrote the last run's plan, and the code
/undo [RUN]      take the last change back
/approve [RUN]   commit a change that waits
/reject [RUN]    drop a change that waits
/help            this
/quit            the end (also Ctrl-D)

RUN is a run's id or the beginning of it.";

/// One command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Slash {
    Diff(Option<String>),
    Plan(Option<String>),
    Undo(Option<String>),
    Approve(Option<String>),
    Reject(Option<String>),
    Help,
    Quit,
}

impl Slash {
    /// Reads a command, the slash taken off.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        const NAMES: [&str; 8] = ["diff", "plan", "undo", "approve", "reject", "help", "quit", "exit"];
        let mut words = text.split_whitespace();
        let name = words.next().unwrap_or_default();
        let run = words.next().map(str::to_owned);
        match name {
            "diff" => Ok(Self::Diff(run)),
            "plan" => Ok(Self::Plan(run)),
            "undo" => Ok(Self::Undo(run)),
            "approve" => Ok(Self::Approve(run)),
            "reject" => Ok(Self::Reject(run)),
            "help" | "?" => Ok(Self::Help),
            "quit" | "exit" => Ok(Self::Quit),
            _ => Err(match ordain_types::nearest(name, NAMES) {
                Some(nearest) => format!("there is no `/{name}`; did you mean `/{nearest}`?"),
                None => format!("there is no `/{name}`; /help lists what there is"),
            }),
        }
    }
}

impl Chat {
    /// Carries a command out. A failure is shown, and the conversation goes on.
    pub(super) async fn carry_out(&mut self, command: Slash) -> io::Result<()> {
        let run = match command {
            Slash::Help => return writeln!(io::stdout(), "{HELP}"),
            Slash::Quit => return Ok(()),
            Slash::Diff(ref run)
            | Slash::Plan(ref run)
            | Slash::Undo(ref run)
            | Slash::Approve(ref run)
            | Slash::Reject(ref run) => run.clone(),
        };
        let last = if matches!(command, Slash::Plan(_)) { &self.last } else { &self.changed };
        let Some(id) = run.or_else(|| last.clone()) else {
            return writeln!(io::stderr(), "nothing in this conversation changed anything yet, or waits to");
        };
        let (store, note) = (self.engine.store(), workspace::note());
        let found = match &command {
            Slash::Undo(_) => store.undo(&id, note).await,
            Slash::Approve(_) => store.approve(&id, note).await,
            Slash::Reject(_) => store.reject(&id, note).await,
            _ => store.run(&id).await,
        };
        let record = match found {
            Ok(record) => record,
            Err(error) => {
                Failure::from(error).report();
                return Ok(());
            }
        };
        tell(&command, &record)
    }
}

fn tell(command: &Slash, record: &RunRecord) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match command {
        Slash::Diff(_) if record.diff.is_empty() => writeln!(out, "that run changed nothing"),
        Slash::Diff(_) => diff::write(&mut out, &record.diff, Extent::Short { run: record.run_id.as_str() }),
        Slash::Plan(_) => {
            writeln!(out, "plan {}", show_run::plan(record))?;
            record.plan.steps.iter().try_for_each(|step| code::write(&mut out, &step.code, ""))
        }
        Slash::Undo(_) | Slash::Approve(_) | Slash::Reject(_) => {
            writeln!(out, "run {} is {}. {}", record.run_id, record.state, record.receipt.text)
        }
        Slash::Help | Slash::Quit => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_names_a_run_or_means_the_last_one() {
        assert_eq!(Slash::parse("undo 06ew"), Ok(Slash::Undo(Some("06ew".to_owned()))));
        assert_eq!(Slash::parse("diff"), Ok(Slash::Diff(None)));
    }

    #[test]
    fn an_unknown_command_is_told_the_nearest_one() {
        assert_eq!(Slash::parse("aprove"), Err("there is no `/aprove`; did you mean `/approve`?".to_owned()));
    }
}
