//! Carries out a call: begins the run that the HTTP route would begin, tells how it goes, and answers with its record.

use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use ordain_store::{EntryNote, StoreError};
use ordain_types::{RunKind, RunRecord};
use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ProgressNotificationParam, ProgressToken,
};
use rmcp::service::RequestContext;
use serde_json::{Value, json};

use super::super::body;
use super::super::caller::{Caller, Scope};
use super::super::checks::run::{self as check_run, NewCheckRun, Wanted};
use super::super::code::NewCode;
use super::super::exec::NewExec;
use super::super::files::{self, Work};
use super::super::live::{LiveRun, RunEvent};
use super::super::problem::Problem;
use super::super::requests::{NewRequest, shortened};
use super::super::runs::{Decision, HowToApprove};
use super::super::service::Service;
use super::super::tables;
use super::tools::{AboutRun, AboutTables, Action};
use super::{Mcp, THROUGH, tell};

/// How long a client with tasks waits for an answer before it is given a task.
const TASK_AFTER: Duration = Duration::from_secs(2);

/// Changes of one row that are told.
const EVENTS_MAX: u64 = 50;

impl Mcp {
    pub(super) async fn carry_out(
        &self,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, Problem> {
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        if request.name == "run" {
            return self.about_run(read(arguments)?, context).await;
        }
        if request.name == "tables" {
            return self.about_tables(read(arguments)?).await;
        }
        self.caller.must(Scope::Run)?;
        let run = self.begin(&request.name, arguments).await?;
        let has_tasks = context.client_capabilities().is_some_and(|client| client.supports_tasks());
        tokio::select! {
            () = follow(&run, context) => {}
            () = tokio::time::sleep(TASK_AFTER), if has_tasks => return Ok(super::tasks::begun(&run)),
            () = context.ct.cancelled() => run.cancel(),
        }
        match &*run.ended().await {
            Ok(record) => self.ended(record.clone(), context).await,
            Err(problem) => Err(problem.clone()),
        }
    }

    async fn begin(&self, name: &str, arguments: Value) -> Result<Arc<LiveRun>, Problem> {
        let (service, caller) = (&self.service, &self.caller);
        match name {
            "ask" => {
                let ask = read::<NewRequest>(arguments)?.into_ask(service, caller, THROUGH).await?;
                service.begin(caller, ask, ())
            }
            "check" => {
                caller.must_see_every_table()?;
                let mut wanted = Wanted::selected(service, read::<NewCheckRun>(arguments)?).await?;
                THROUGH.clone_into(&mut wanted.through);
                check_run::begin(service, caller, wanted, None)
            }
            "code" => with_files::<NewCode>(service, caller, arguments).await,
            _ => with_files::<NewExec>(service, caller, arguments).await,
        }
    }

    /// What a client is given for a run that has ended: a question where it can ask its person, else the record.
    pub(super) async fn ended(
        &self,
        record: RunRecord,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, Problem> {
        if self.asks(&record, context) {
            return self.ask_to_approve(record, context).await;
        }
        Ok(self.result(&record).await.into())
    }

    /// A run's record as a result. A run of checks has its report beside the record.
    pub(super) async fn result(&self, record: &RunRecord) -> CallToolResult {
        let report = if record.kind == RunKind::Check && record.error.is_none() {
            check_run::report_of(&self.service, record).await.ok()
        } else {
            None
        };
        tell::record(record, report.as_ref(), self.pages.as_deref())
    }

    async fn about_run(
        &self,
        about: AboutRun,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, Problem> {
        let decision = match about.action {
            Action::Show => {
                let live = self.service.live_seen_by(&self.caller, &about.run).await;
                if let Some(live) = live.filter(|run| !run.is_over()) {
                    return Ok(tell::going_on(&live).into());
                }
                let record = self.service.run_seen_by(&self.caller, &about.run).await?;
                return self.ended(record, context).await;
            }
            Action::Approve => Decision::Approve(HowToApprove::default()),
            Action::Reject => Decision::Reject,
            Action::Undo => Decision::Undo,
        };
        Ok(self.decide(&about.run, decision).await?.into())
    }

    /// The tables that the caller may see and the verbs that it may use, or what happened to a row.
    async fn about_tables(&self, about: AboutTables) -> Result<CallToolResponse, Problem> {
        self.caller.must(Scope::Read)?;
        if let Some(key) = &about.key {
            let table = about.table.as_deref().ok_or_else(|| {
                Problem::new(StatusCode::BAD_REQUEST, "bad_request", "`key` needs the `table` of the row")
            })?;
            let history =
                tables::history_seen_by(&self.service, &self.caller, [table, key], None, EVENTS_MAX).await?;
            return Ok(tell::listed(json!({ "events": history.events })).into());
        }
        let engine = self.service.engine_for(&self.caller);
        let mut tables = tables::shown(engine.store()).await?;
        if let Some(name) = &about.table {
            tables.retain(|info| info.table.name == *name);
            if tables.is_empty() {
                return Err(StoreError::UnknownTable { table: shortened(name), nearest: None }.into());
            }
        }
        let seen: Vec<&str> = tables.iter().map(|info| info.table.name.as_str()).collect();
        let catalog = &engine.settings().catalog;
        let verbs = catalog
            .actions
            .iter()
            .filter(|action| action.writes.iter().all(|table| seen.contains(&table.as_str())));
        let verbs: Vec<Value> = verbs
            .map(|action| {
                json!({ "name": action.name, "words": action.words, "description": action.description,
                    "params": action.params, "requires": action.requires, "writes": action.writes })
            })
            .collect();
        Ok(tell::listed(json!({ "tables": tables, "verbs": verbs })).into())
    }

    /// Carries out a decision, if this connection may make it.
    pub(super) async fn decide(&self, run: &str, decision: Decision) -> Result<CallToolResult, Problem> {
        self.must_decide()?;
        let seen = self.service.run_seen_by(&self.caller, run).await?;
        let note = EntryNote::by(&self.caller.id, THROUGH);
        let record = self.service.decide(seen.run_id.as_str(), decision, note).await?;
        Ok(self.result(&record).await)
    }
}

/// Begins work that comes with files.
async fn with_files<T: Work>(
    service: &Service,
    caller: &Caller,
    arguments: Value,
) -> Result<Arc<LiveRun>, Problem> {
    service.must_take_code()?;
    let mut new: T = read(arguments)?;
    let uploads = files::keep(&mut new, service)?;
    new.begin(service, caller, uploads, (None, THROUGH)).await
}

fn read<T: serde::de::DeserializeOwned>(arguments: Value) -> Result<T, Problem> {
    body::from_value(arguments, "call")
}

/// Tells the client of stages and checks, where it asked to be told, until the run has ended.
async fn follow(run: &Arc<LiveRun>, context: &RequestContext<RoleServer>) {
    let Some(token) = context.meta.get_progress_token() else {
        run.ended().await;
        return;
    };
    let mut place = 0;
    loop {
        let (events, is_over) = run.events_after(place);
        for event in &events {
            place = event.id;
            if let Some(told) = progress(event, &token) {
                // A client that is gone needs no progress; its end is noticed elsewhere.
                let _ = context.peer.notify_progress(told).await;
            }
        }
        if is_over {
            return;
        }
        run.more_than(place).await;
    }
}

#[expect(clippy::cast_precision_loss, reason = "a run has a few thousand events at most")]
fn progress(event: &RunEvent, token: &ProgressToken) -> Option<ProgressNotificationParam> {
    let data: Value = serde_json::from_str(&event.data).ok()?;
    let message = match &*event.name {
        "stage" => data["stage"].as_str()?.to_owned(),
        "check" => format!("{} {}", data["check_id"].as_str()?, data["status"].as_str()?),
        _ => return None,
    };
    Some(ProgressNotificationParam::new(token.clone(), event.id as f64).with_message(message))
}
