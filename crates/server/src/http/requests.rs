//! `POST /v1/requests`: asks something of the workspace's data.

use axum::Extension;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use ordain_engine::{Ask, Mode, Planner};
use ordain_types::{Outline, SourceFile, Strategy};
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::answer::{self, RunAnswers, RunHeaders};
use super::body::Json;
use super::caller::{Caller, May, Run};
use super::frame::Context;
use super::problem::Problem;
use super::service::Service;

/// The largest body: a request and a plan with room to spare.
const BODY_MAX: usize = 4 << 20;

/// What is asked, and how it is to be carried out.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own in the body")]
pub(crate) struct NewRequest {
    /// What is asked, in words.
    #[schema(example = "do you have round sunglasses under $100?", max_length = 1_048_576)]
    request: String,
    /// The plan for it: Python code. Without it a planner writes one, or a kept one is used.
    #[serde(default)]
    plan: Option<String>,
    /// Show what would change, and change nothing.
    #[serde(default)]
    dry_run: bool,
    /// Keep the change for approval.
    #[serde(default)]
    hold: bool,
    /// Who writes the plan: `auto` is whom the server was started with, `rules` the built-in reader, else a model of `model.others`.
    #[serde(default)]
    #[schema(example = "auto")]
    model: Option<String>,
    /// How the plan grows: `auto`, `direct`, `plan` or `react`.
    #[serde(default)]
    #[schema(example = "auto")]
    strategy: Option<String>,
    /// Stop when there is an outline, and wait for a decision on it.
    #[serde(default)]
    show_plan: bool,
    /// The outline to carry out: `goal` and `steps`.
    #[serde(default)]
    outline: Option<Value>,
    /// Write a new plan even if the cache has one, and do not keep it.
    #[serde(default)]
    no_cache: bool,
    /// The run to go on from: the plan finds its answer and the results of its calls in `inputs["earlier"]`.
    #[serde(default)]
    #[schema(min_length = 1, max_length = 26)]
    continues: Option<String>,
    /// The conversation that the request is a turn of.
    #[serde(default)]
    #[schema(min_length = 1, max_length = 200)]
    conversation: Option<String>,
}

/// Ask something of the workspace's data
///
/// The answer is the run's record, also when the run was refused, failed or rolled back: its `state` says so. A run
/// that takes longer than `Prefer: wait=N` (30 seconds if it is not given) is answered with 202 and its place.
#[utoipa::path(
    post,
    path = "/v1/requests",
    tag = "requests",
    operation_id = "ask",
    params(RunHeaders),
    request_body = NewRequest,
    responses(RunAnswers)
)]
pub(crate) async fn create(
    State(service): State<Service>,
    may: May<Run>,
    Extension(context): Extension<Context>,
    headers: HeaderMap,
    Json(body): Json<NewRequest, BODY_MAX>,
) -> Result<Response, Problem> {
    let mut ask = body.into_ask(&service, &may.caller, "http").await?;
    ask.origin.idempotency_key = answer::idempotency_key(&headers, &may.caller.id)?;
    let run = service.begin(&may.caller, ask, ())?;
    answer::of_run(run, &context, &headers).await
}

impl NewRequest {
    /// What the engine is asked, and over which protocol.
    pub(crate) async fn into_ask(
        self,
        service: &Service,
        caller: &Caller,
        through: &str,
    ) -> Result<Ask, Problem> {
        let mode = match (self.dry_run, self.hold) {
            (true, true) => {
                let message = "a dry run changes nothing, so there is nothing to hold";
                return Err(Problem::unprocessable("bad_body", "/hold", message));
            }
            (true, false) => Mode::DryRun,
            (false, true) => Mode::Hold,
            (false, false) => Mode::Commit,
        };
        let strategy = strategy_named(self.strategy.as_deref())?;
        let outline = self.outline.map(outline_of).transpose()?;
        if self.plan.is_some() {
            service.must_take_code()?;
        }
        if let Some(name) = &self.conversation
            && (name.is_empty() || name.len() > 200 || name.contains('\0'))
        {
            let message = "a conversation's name has 1 to 200 bytes of text";
            return Err(Problem::unprocessable("bad_body", "/conversation", message));
        }
        let continues = match &self.continues {
            None => None,
            Some(run) => {
                let run = service.run_seen_by(caller, run).await?.run_id;
                Some(Box::new(service.engine_for(caller).continued(run.as_str()).await?))
            }
        };
        Ok(Ask {
            continues,
            plan: self.plan.map(|code| SourceFile { code, name: "plan.py".to_owned() }),
            planner: service.planner(self.model.as_deref()).await?,
            strategy,
            outline,
            show_plan: self.show_plan,
            cache: !self.no_cache,
            conversation: self.conversation.map(|name| caller.own(&name)),
            mode,
            ..Ask::new(&self.request, &caller.id, through)
        })
    }
}

impl Service {
    /// The planner of that name: the server's own, the reader, or a model that the operator lists for callers.
    pub(crate) async fn planner(&self, name: Option<&str>) -> Result<Planner, Problem> {
        let own = &self.inner.planner;
        let options = &self.inner.options;
        let name = match name {
            None | Some("auto") => return Ok(own.clone()),
            Some(name) if name == own.name() || name == options.model.name => return Ok(own.clone()),
            Some(name) => name,
        };
        let chosen =
            ordain_planner::choose_listed(&options.model, name, |name| options.environment.get(name));
        let planner = chosen.await.map(|choice| choice.planner).map_err(|error| {
            let mut problem = Problem::unprocessable(&error.code.replace('-', "_"), "/model", error.message);
            problem.hint = error.hint;
            problem
        })?;
        self.inner.metrics.has_model(&planner.name());
        Ok(planner)
    }
}

/// The strategy of that name; `auto` if none is named.
pub(crate) fn strategy_named(name: Option<&str>) -> Result<Strategy, Problem> {
    let Some(name) = name else { return Ok(Strategy::Auto) };
    name.parse().map_err(|message: String| Problem::unprocessable("unknown_strategy", "/strategy", message))
}

/// The outline in a body.
pub(crate) fn outline_of(value: Value) -> Result<Outline, Problem> {
    Outline::read(value).map_err(|problems| {
        let message = format!("the outline cannot be carried out: {}", problems.join("; "));
        Problem::unprocessable("bad_outline", "/outline", message)
    })
}

/// A caller's word as it may be repeated.
pub(crate) fn shortened(text: &str) -> String {
    text.chars().filter(|shown| !shown.is_control()).take(60).collect()
}
