//! Work that runs by the clock: which is due, and carrying it out once.
//!
//! A due time is carried out under an idempotency key made of the schedule's name and the time, and noted in the store
//! when its run has ended. So it is carried out once, also if the process dies in between and starts again, and if
//! several processes share a database.

use std::collections::BTreeSet;

use ordain_engine::{Ask, CodeTask, Origin};
use ordain_planner::Planner;
use ordain_store::{ScheduleMark, StoreError};
use ordain_types::{BoxFuture, RunId, RunRecord};
use ordain_workspace::{Scheduled, ScheduledTask, Workspace};

use crate::{CheckOptions, CheckProgress, CheckRun, CheckTask, Checks, ChecksError, read_checks};

/// How late a due time may be noticed and still count as in time, in seconds.
const IN_TIME: i64 = 300;
/// Who asks for scheduled work, and through what, in the ledger.
const SCHEDULE: &str = "schedule";

/// A due time of a schedule that is not done with.
#[derive(Debug, Clone)]
pub struct Due {
    /// What is due.
    pub scheduled: Scheduled,
    /// Since when, in seconds since 1970.
    pub at: i64,
}

/// The schedules of a workspace.
#[derive(Debug, Clone)]
pub struct Schedules {
    checks: Checks,
    planner: Planner,
}

impl Due {
    /// The key under which this time is carried out once.
    pub fn idempotency_key(&self) -> String {
        format!("{SCHEDULE} {} {}", self.scheduled.name, self.at)
    }
}

impl Schedules {
    /// Who asks for scheduled work, in the ledger.
    pub const WHO: &str = SCHEDULE;

    /// The schedules of the workspace that these checks belong to. `planner` writes plans.
    pub fn new(checks: Checks, planner: Planner) -> Self {
        Self { checks, planner }
    }

    /// Every schedule of a workspace: its own, then one for each time at which checks are due.
    pub fn of(workspace: &Workspace) -> Result<Vec<Scheduled>, ChecksError> {
        let files = match read_checks(&workspace.root) {
            Err(ChecksError::NoFiles) => return Ok(workspace.schedules.clone()),
            files => files?,
        };
        let enabled = files.entries.iter().map(|entry| &entry.check).filter(|check| check.enabled);
        let written: BTreeSet<&str> = enabled.filter_map(|check| check.schedule.as_deref()).collect();
        let of_checks = written.into_iter().filter_map(Scheduled::of_checks);
        Ok(workspace.schedules.iter().cloned().chain(of_checks).collect())
    }

    /// What is due at a time, in seconds since 1970. A schedule that is seen for the first time, or was written
    /// differently before, counts from now on.
    pub async fn due(&self, now: i64) -> Result<Vec<Due>, ChecksError> {
        let marks = self.checks.store().schedule_marks().await?;
        let mut due = Vec::new();
        for scheduled in Self::of(self.checks.workspace())? {
            // A time that has not come was written by a clock that was wrong: it counts as now.
            let known = marks.get(&scheduled.name);
            let known = known.filter(|mark| mark.schedule == scheduled.written && mark.at <= now);
            let Some(mark) = known else {
                self.mark(&scheduled, now, None).await?;
                continue;
            };
            let Some(at) = scheduled.schedule.last_until(now).filter(|at| *at > mark.at) else { continue };
            if scheduled.catch_up || at >= now - IN_TIME {
                due.push(Due { scheduled, at });
            } else {
                self.mark(&scheduled, at, None).await?;
            }
        }
        Ok(due)
    }

    /// Notes that a due time is done with.
    pub async fn done(&self, due: &Due, run: Option<&RunId>) -> Result<(), StoreError> {
        self.mark(&due.scheduled, due.at, run).await
    }

    /// Carries out scheduled work, as a run like any other: once for a key, under the id that the caller has told already.
    pub fn run<'a>(
        &'a self,
        task: ScheduledTask,
        (idempotency_key, run_id): (Option<String>, Option<RunId>),
        progress: &'a mut dyn CheckProgress,
    ) -> BoxFuture<'a, Result<(RunRecord, Option<CheckRun>), ChecksError>> {
        let origin = Origin { idempotency_key, run_id, ..Origin::new(SCHEDULE, SCHEDULE) };
        let planner = self.planner.clone();
        let engine = &self.checks.engine;
        Box::pin(async move {
            match task {
                ScheduledTask::Ask(request) => {
                    let ask = Ask { planner, origin, ..Ask::new(&request, SCHEDULE, SCHEDULE) };
                    Ok((engine.ask_with(ask, progress).await?, None))
                }
                ScheduledTask::Code { request, files } => {
                    let new = CodeTask::new(&request, SCHEDULE, SCHEDULE);
                    let task = CodeTask { files, planner, origin, ..new };
                    Ok((engine.code_with(task, progress).await?.record, None))
                }
                ScheduledTask::Checks { request, selection } => {
                    let files = read_checks(&self.checks.workspace().root)?;
                    let has_hints = files.entries.iter().any(|entry| entry.check.is_words());
                    let planner = if has_hints { planner } else { Planner::Rules };
                    let jobs = CheckOptions::jobs_here();
                    let options = CheckOptions { selection, jobs, planner, ..CheckOptions::default() };
                    let new = self.checks.task(files, SCHEDULE, SCHEDULE);
                    self.checks.run(CheckTask { request, options, origin, ..new }, progress).await
                }
            }
        })
    }

    async fn mark(&self, scheduled: &Scheduled, at: i64, run: Option<&RunId>) -> Result<(), StoreError> {
        let mark = ScheduleMark { schedule: scheduled.written.clone(), at, run_id: run.cloned() };
        self.checks.store().mark_schedule(&scheduled.name, &mark).await
    }
}
