//! A run of checks as a piece of work, and what comes of it.

use std::collections::BTreeMap;

use ordain_engine::{Identity, Opened, Order, Origin};
use ordain_planner::Planner;
use ordain_types::{BoxFuture, RunKind, RunRecord, Strategy};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::file::CheckFiles;
use crate::{CheckProgress, Checks, ChecksError, RunReport, Selection};

/// Checks that run at once on a machine with many processors.
const JOBS_MAX: usize = 8;

/// A run of checks.
///
/// Written down, it is without the check files and what each machine decides: those are found again where it is read.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CheckTask {
    /// What is asked, for people.
    pub request: String,
    /// The checks.
    #[serde(skip)]
    pub files: CheckFiles,
    /// Which of them, and how.
    pub options: CheckOptions,
    /// Where it comes from.
    #[serde(flatten)]
    pub origin: Origin,
}

/// How checks are run.
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that a caller gives")]
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default)]
pub struct CheckOptions {
    /// Which checks.
    pub selection: Selection,
    /// Checks that run at once.
    #[serde(skip)]
    pub jobs: usize,
    /// Does not run checks whose data and rule are as they were; their last grade stands.
    pub if_changed: bool,
    /// Compiles nothing that needs a planner.
    pub frozen: bool,
    /// Compiles everything anew, whatever is kept.
    pub force: bool,
    /// Who writes code for hints.
    #[serde(skip)]
    pub planner: Planner,
    /// What filters call by name: `$day`.
    pub variables: BTreeMap<String, Value>,
    /// Whether it is only looked at what a rule finds. Such a run leaves no record and no result, but its code is kept.
    pub is_trial: bool,
    /// Whether no file has the check yet: code that is kept by its id was another rule's.
    pub is_new: bool,
}

impl CheckOptions {
    /// How many checks run at once on this machine.
    pub fn jobs_here() -> usize {
        std::thread::available_parallelism().map_or(2, usize::from).clamp(1, JOBS_MAX)
    }
}

impl Default for CheckOptions {
    fn default() -> Self {
        Self {
            selection: Selection::default(),
            jobs: 2,
            if_changed: false,
            frozen: false,
            force: false,
            planner: Planner::Rules,
            variables: BTreeMap::new(),
            is_trial: false,
            is_new: false,
        }
    }
}

/// What came of a run.
#[derive(Debug, Clone)]
pub struct CheckRun {
    /// The report.
    pub report: RunReport,
    /// Whether someone stopped it; the report holds what was finished.
    pub is_interrupted: bool,
}

impl CheckTask {
    /// What an idempotency key stands for.
    pub fn fingerprint(&self) -> String {
        let CheckOptions { selection, if_changed, frozen, force, variables, .. } = &self.options;
        let identity = Identity::of("check")
            .with("request", &self.request)
            .with("selection", selection)
            .with("if_changed", if_changed)
            .with("frozen", frozen)
            .with("force", force);
        // Without variables a run is known by what it was known by before there were any.
        if variables.is_empty() { identity.digest() } else { identity.with("variables", variables).digest() }
    }
}

impl Checks {
    /// A run of all checks in these files.
    pub fn task(&self, files: CheckFiles, who: &str, through: &str) -> CheckTask {
        CheckTask {
            request: "run all checks".to_owned(),
            files,
            options: CheckOptions::default(),
            origin: Origin::new(who, through),
        }
    }

    /// Runs checks as one run of the engine. Nothing was run now, and the record is that of an earlier run, where the
    /// idempotency key was used.
    pub fn run<'a>(
        &'a self,
        task: CheckTask,
        progress: &'a mut dyn CheckProgress,
    ) -> BoxFuture<'a, Result<(RunRecord, Option<CheckRun>), ChecksError>> {
        Box::pin(async move {
            let order = Order {
                kind: RunKind::Check,
                request: &task.request,
                strategy: Strategy::Direct,
                plan: None,
                planner: &task.options.planner,
                cache: !task.options.force,
                origin: &task.origin,
            };
            let head = match self.engine.open(&order, async { task.fingerprint() }).await? {
                Opened::Now(head) => head,
                Opened::Before(record) => return Ok((*record, None)),
            };
            match self.judge(&task, &head, progress).await {
                Ok((run, ran)) => Ok((self.engine.close(&order, &head, ran).await?, Some(run))),
                Err(error) => {
                    let of_engine = if let ChecksError::Engine(error) = &error { Some(error) } else { None };
                    self.engine.give_up(&order, &head.run_id, of_engine).await;
                    Err(error)
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_retry_of_checks_after_an_upgrade_is_known_again() {
        let task = CheckTask {
            request: "run all checks".to_owned(),
            files: CheckFiles::default(),
            options: CheckOptions {
                selection: Selection::only("c1"),
                force: true,
                ..CheckOptions::default()
            },
            origin: Origin::new("ada", "cli"),
        };
        assert_eq!(task.fingerprint(), "7597b7d91bdf727dee6cac433becc8f3");
    }
}
