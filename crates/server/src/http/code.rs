//! `POST /v1/code`: answers a question about files with code.

use std::sync::Arc;

use axum::response::Response;
use ordain_engine::{CodeTask, Origin};
use ordain_types::SourceFile;
use serde::Deserialize;
use utoipa::ToSchema;

use super::answer::{RunAnswers, RunHeaders};
use super::caller::Caller;
use super::files::{Form, NewFile, Posted, Uploads, WithFiles, Work, route_with_files};
use super::live::LiveRun;
use super::order::WorkOrder;
use super::problem::Problem;
use super::service::Service;
use super::session_book::session_name;

/// A question about files.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewCode {
    /// What is asked, in words.
    #[schema(example = "how many items were sold?", max_length = 1_048_576)]
    request: String,
    /// The files.
    #[serde(default)]
    files: Vec<NewFile>,
    /// The plan for it: Python code. Without it a planner writes one, or a kept one is used.
    #[serde(default)]
    plan: Option<String>,
    /// Who writes the plan: `auto` is whom the server was started with, `rules` the built-in reader, else a model of `model.others`.
    #[serde(default)]
    #[schema(example = "auto")]
    model: Option<String>,
    /// Write a new plan even if the cache has one, and do not keep it.
    #[serde(default)]
    no_cache: bool,
    /// Keep variables for later tasks of the same session and caller.
    #[serde(default)]
    session: Option<String>,
    /// Keep what was computed before a failure, marked as partial.
    #[serde(default)]
    allow_partial: bool,
}

route_with_files! {
    /// Answer a question about files with code
    ///
    /// The code sees the files and the workspace's tables, to read. The answer is the run's record; what the code left in
    /// `artifacts` can be downloaded.
    route "/v1/code", "code", NewCode, CodeForm,
    known: "request, plan, model, no_cache, session and allow_partial",
    needed: request, texts: [plan, model, session], flags: [no_cache, allow_partial]
}

impl Work for NewCode {
    async fn begin(
        self,
        service: &Service,
        caller: &Caller,
        uploads: Uploads,
        (claim, through): (Option<String>, &str),
    ) -> Result<Arc<LiveRun>, Problem> {
        let session = session_name(caller, self.session.as_deref())?;
        let entered = service.enter_session(caller, session.as_deref())?;
        let task = CodeTask {
            files: uploads.named()?,
            plan: self.plan.map(|code| SourceFile { code, name: "plan.py".to_owned() }),
            planner: service.planner(self.model.as_deref()).await?,
            cache: !self.no_cache,
            session,
            allow_partial: self.allow_partial,
            origin: Origin { idempotency_key: claim, ..Origin::new(&caller.id, through) },
            ..CodeTask::new(&self.request, "", "")
        };
        service.begin(caller, WorkOrder::Code(Box::new(task)), (uploads, entered))
    }
}
