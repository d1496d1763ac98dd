//! Carries out what the workspace schedules, for as long as the server serves.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ordain_checks::{Due, Schedules};
use ordain_workspace::ScheduledTask;
use tokio::sync::Mutex;
use tokio::task::JoinHandle;

use super::caller::Caller;
use super::live::LiveRun;
use super::order::WorkOrder;
use super::problem::{CHECKS_BUSY, Problem, STILL_RUNNING};
use super::service::Service;

impl Service {
    /// Looks every minute what is due. A schedule whose last run still goes on waits for its end.
    pub(crate) async fn keep_schedules(self) {
        let Some(checks) = self.inner.options.checks.clone() else { return };
        let schedules = Schedules::new(checks, self.inner.planner.clone());
        // One run of checks goes on at a time.
        let checks_turn = Arc::new(Mutex::new(()));
        let mut going_on: HashMap<String, JoinHandle<()>> = HashMap::new();
        loop {
            let now = unix_seconds();
            going_on.retain(|_, task| !task.is_finished());
            match schedules.due(now).await {
                Ok(due) => {
                    for due in due {
                        let (service, schedules) = (self.clone(), schedules.clone());
                        let turn = Arc::clone(&checks_turn);
                        going_on
                            .entry(due.scheduled.name.clone())
                            .or_insert_with(|| tokio::spawn(service.carry_out_due(schedules, due, turn)));
                    }
                }
                Err(error) => self.inner.log.trouble(Schedules::WHO, &error.to_string()),
            }
            tokio::time::sleep(Duration::from_secs(60 - now.rem_euclid(60).unsigned_abs())).await;
        }
    }

    /// Carries out what is due. What could not begin stays due, and is tried again a minute later.
    async fn carry_out_due(self, schedules: Schedules, due: Due, checks_turn: Arc<Mutex<()>>) {
        let is_checks = matches!(due.scheduled.task, ScheduledTask::Checks { .. });
        let turn = if is_checks { Some(checks_turn.lock().await) } else { None };
        let ended = match self.begin_scheduled(&due) {
            Ok(run) => run.ended().await,
            Err(problem) => return self.inner.log.trouble(&due.scheduled.name, &problem.detail),
        };
        drop(turn);
        let run = match &*ended {
            Ok(record) => Some(&record.run_id),
            Err(problem) if matches!(problem.code.as_str(), STILL_RUNNING | CHECKS_BUSY) => return,
            Err(_) => None,
        };
        if let Err(error) = schedules.done(&due, run).await {
            self.inner.log.trouble(&due.scheduled.name, &error.to_string());
        }
    }

    fn begin_scheduled(&self, due: &Due) -> Result<Arc<LiveRun>, Problem> {
        if matches!(due.scheduled.task, ScheduledTask::Code { .. }) {
            self.must_take_code()?;
        }
        let caller = Caller { id: Schedules::WHO.to_owned(), key: None };
        let task = &due.scheduled.task;
        let (name, kind, request) = (due.scheduled.name.clone(), task.kind(), task.request().to_owned());
        let claim = due.idempotency_key();
        self.begin(&caller, WorkOrder::Scheduled { name, kind, request, claim }, ())
    }
}

fn unix_seconds() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}
