//! Runs as tasks, for clients that prefer to come back: a task's id is its run's id, and its state is the store's.

use axum::http::StatusCode;
use ordain_types::{RunRecord, RunState};
use rmcp::RoleServer;
use rmcp::model::{
    CallToolResponse, CallToolResult, CreateTaskResult, DetailedTask, GetTaskResult, JsonObject, Task,
    TaskPayload, TaskStatus, UpdateTaskParams,
};
use rmcp::service::RequestContext;
use serde_json::Value;

use super::super::caller::Scope;
use super::super::live::LiveRun;
use super::super::problem::Problem;
use super::{Mcp, approval, tell};

/// How often a client should look.
const LOOK_EVERY_MS: u64 = 1000;

/// The task of a run that goes on.
pub(super) fn begun(run: &LiveRun) -> CallToolResponse {
    CreateTaskResult::new(of_run(run)).into()
}

impl Mcp {
    /// Where a run stands.
    pub(super) async fn task(
        &self,
        run: &str,
        context: &RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, Problem> {
        if let Some(live) = self.service.live_seen_by(&self.caller, run).await {
            match live.outcome().as_deref() {
                None => {
                    return Ok(GetTaskResult::new(DetailedTask::new(of_run(&live), TaskPayload::Working)));
                }
                Some(Err(problem)) => {
                    let payload = completed(&tell::problem(problem));
                    return Ok(GetTaskResult::new(DetailedTask::new(of_run(&live), payload)));
                }
                Some(Ok(_)) => {}
            }
        }
        let record = self.service.run_seen_by(&self.caller, run).await?;
        let payload = if record.error.as_ref().is_some_and(|error| error.code == "cancelled") {
            TaskPayload::Cancelled
        } else if self.asks(&record, context) {
            TaskPayload::InputRequired { input_requests: approval::questions(&record)? }
        } else {
            completed(&self.result(&record).await)
        };
        Ok(GetTaskResult::new(DetailedTask::new(of_record(&record), payload)))
    }

    /// Takes the answer to the question of a held run.
    pub(super) async fn answer_task(&self, request: UpdateTaskParams) -> Result<(), Problem> {
        let record = self.service.run_seen_by(&self.caller, &request.task_id).await?;
        if record.state != RunState::Held {
            let detail = format!("run `{}` is {} and asks nothing", record.run_id, record.state);
            return Err(Problem::new(StatusCode::CONFLICT, "wrong_state", detail));
        }
        let answer = approval::answer_in(Some(&request.input_responses))?;
        self.settle(&record, &answer).await.map(|_| ())
    }

    /// Ends a run that goes on.
    pub(super) async fn stop_task(&self, run: &str) -> Result<(), Problem> {
        self.caller.must(Scope::Run)?;
        self.service.cancel_run(&self.caller, run).await.map(|_| ())
    }
}

fn completed(result: &CallToolResult) -> TaskPayload {
    let result = match serde_json::to_value(result) {
        Ok(Value::Object(result)) => result,
        _ => JsonObject::new(),
    };
    TaskPayload::Completed { result }
}

fn of_run(run: &LiveRun) -> Task {
    let stage = run.stages().pop().map(|(stage, _)| stage);
    let task = Task::new(run.about.run_id.as_str(), TaskStatus::Working, &run.started_at, &run.started_at);
    task.with_poll_interval_ms(LOOK_EVERY_MS).with_status_message(stage.unwrap_or_else(|| "begun".to_owned()))
}

fn of_record(record: &RunRecord) -> Task {
    let (run, started) = (record.run_id.as_str(), &record.started_at);
    let task = Task::new(run, TaskStatus::Completed, started, started).with_poll_interval_ms(LOOK_EVERY_MS);
    task.with_status_message(record.receipt.text.as_str())
}
