//! A run of checks as a piece of work, and what comes of it.

use std::sync::{Arc, Mutex, PoisonError};

use ordain_checks::file::CheckFiles;
use ordain_checks::{RunReport, Selection};
use ordain_engine::{EngineError, Head, Identity, Order, Origin, Programs, ProgramsRan};
use ordain_planner::{Planner, Progress};
use ordain_types::{BoxFuture, RunKind, RunRecord, Strategy};

use crate::Checks;

/// Checks that run at once on a machine with many processors.
const JOBS_MAX: usize = 8;

/// A run of checks.
#[derive(Debug, Clone)]
pub struct CheckTask {
    /// What is asked, for people.
    pub request: String,
    /// The checks.
    pub files: CheckFiles,
    /// Which of them, and how.
    pub options: CheckOptions,
    /// Where it comes from.
    pub origin: Origin,
}

/// How checks are run.
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that a caller gives")]
#[derive(Debug, Clone)]
pub struct CheckOptions {
    /// Which checks.
    pub selection: Selection,
    /// Checks that run at once.
    pub jobs: usize,
    /// Does not run checks whose data and rule are as they were; their last grade stands.
    pub if_changed: bool,
    /// Compiles nothing that needs a planner.
    pub frozen: bool,
    /// Compiles everything anew, whatever is kept.
    pub force: bool,
    /// Who writes code for hints.
    pub planner: Planner,
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
        let CheckOptions { selection, if_changed, frozen, force, .. } = &self.options;
        Identity::of("check")
            .with("request", &self.request)
            .with("selection", selection)
            .with("if_changed", if_changed)
            .with("frozen", frozen)
            .with("force", force)
            .digest()
    }
}

/// A run of checks on the engine's road.
#[derive(Debug)]
struct CheckWork {
    checks: Checks,
    task: CheckTask,
    /// What came of it.
    run: Mutex<Option<CheckRun>>,
}

impl Programs for CheckWork {
    fn order(&self) -> Order<'_> {
        let task = &self.task;
        Order {
            kind: RunKind::Check,
            request: &task.request,
            strategy: Strategy::Direct,
            plan: None,
            planner: &task.options.planner,
            cache: !task.options.force,
            origin: &task.origin,
        }
    }

    fn fingerprint(&self) -> String {
        self.task.fingerprint()
    }

    fn run<'a>(
        &'a self,
        head: &'a Head,
        progress: &'a mut dyn Progress,
    ) -> BoxFuture<'a, Result<ProgramsRan, EngineError>> {
        Box::pin(async move {
            let (run, ran) = self.checks.judge(&self.task, head, progress).await?;
            *self.run.lock().unwrap_or_else(PoisonError::into_inner) = Some(run);
            Ok(ran)
        })
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

    /// Runs checks. Nothing was run now, and the record is that of an earlier run, where the idempotency key was used.
    pub fn run<'a>(
        &'a self,
        task: CheckTask,
        progress: &'a mut dyn Progress,
    ) -> BoxFuture<'a, Result<(RunRecord, Option<CheckRun>), EngineError>> {
        Box::pin(async move {
            let work = Arc::new(CheckWork { checks: self.clone(), task, run: Mutex::default() });
            let programs = Arc::clone(&work) as Arc<dyn Programs>;
            let record = self.engine.carry_out_programs(programs, progress).await?;
            let run = work.run.lock().unwrap_or_else(PoisonError::into_inner).take();
            Ok((record, run))
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
