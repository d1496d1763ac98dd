//! `/v1/plans`: the plans that are kept and used again.

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use ordain_store::{CachedPlan, PlanMark, StoreError};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::answer;
use super::body::{Path, Query};
use super::caller::{Admin, May, Read};
use super::cursor;
use super::problem::Problem;
use super::schema::Plan;
use super::service::Service;

/// Which plans.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Which {
    /// Only plans of this kind: `ask`, `code` or `check`.
    kind: Option<String>,
    /// Items on the page: 1 to 500, 50 if it is not given.
    #[param(minimum = 1, maximum = 500)]
    limit: Option<u64>,
    /// Where the page begins: the `next_cursor` of the page before.
    cursor: Option<String>,
}

/// Kept plans: pinned ones first, then the last used.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PlanList {
    /// The plans.
    #[schema(value_type = Vec<Plan>)]
    plans: Vec<KeptPlan>,
    /// Where the next page begins, if there is one.
    next_cursor: Option<String>,
}

/// A plan, and whether it still holds.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct KeptPlan {
    #[serde(flatten)]
    plan: CachedPlan,
    /// Why it no longer holds, if it does not.
    stale: Option<String>,
}

impl KeptPlan {
    fn new(plan: CachedPlan, service: &Service) -> Self {
        let engine = service.engine();
        Self { stale: engine.settings().stale(&plan, &engine.store().schema()), plan }
    }
}

/// List kept plans
#[utoipa::path(get, path = "/v1/plans", tag = "plans", operation_id = "list_plans", params(Which),
    responses((status = 200, description = "The plans", body = PlanList)))]
pub(crate) async fn list(
    State(service): State<Service>,
    may: May<Read>,
    query: Query<Which>,
) -> Result<Response, Problem> {
    let limit = cursor::limit(query.limit)?;
    let after = query.cursor.as_deref().map(read_mark).transpose()?;
    let store = service.engine().store();
    let mut plans =
        store.plans_after(query.kind.as_deref(), may.caller.whose(), after.as_ref(), limit + 1).await?;
    let more = plans.len() as u64 > limit;
    plans.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    let next_cursor = plans.last().filter(|_| more).map(write_mark);
    let plans = plans.into_iter().map(|plan| KeptPlan::new(plan, &service)).collect();
    let headers = cursor::link("/v1/plans", next_cursor.as_deref());
    Ok((headers, answer::json(&PlanList { plans, next_cursor })).into_response())
}

/// A plan's place in the list. One that is used while the list is read moves to its beginning, and is not seen twice.
pub(crate) fn write_mark(plan: &CachedPlan) -> String {
    let pinned = if plan.pinned { "1" } else { "0" };
    cursor::write_texts([pinned, &plan.last_used_at, &plan.plan_id])
}

pub(crate) fn read_mark(cursor: &str) -> Result<PlanMark, Problem> {
    let [pinned, last_used_at, plan_id] = cursor::read_texts(cursor)?;
    Ok(PlanMark { pinned: pinned == "1", last_used_at, plan_id })
}

/// One kept plan
#[utoipa::path(get, path = "/v1/plans/{plan}", tag = "plans", operation_id = "get_plan",
    params(("plan" = String, Path, description = "the plan's id, or a beginning of it that no other has")),
    responses((status = 200, description = "The plan", body = Plan)))]
pub(crate) async fn get(
    State(service): State<Service>,
    may: May<Read>,
    Path(plan): Path<String>,
) -> Result<Response, Problem> {
    let plan = service.engine().store().plan(&plan).await?;
    // A caller that may not see the run that wrote a plan may not see its request.
    if service.run_seen_by(&may.caller, &plan.run_id).await.is_err() {
        return Err(StoreError::UnknownPlan { plan: plan.plan_id }.into());
    }
    Ok(answer::json(&KeptPlan::new(plan, &service)))
}

/// Forget a kept plan
#[utoipa::path(delete, path = "/v1/plans/{plan}", tag = "plans", operation_id = "evict_plan",
    params(("plan" = String, Path, description = "the plan's id")),
    responses((status = 200, description = "The plan that was forgotten", body = Plan)))]
pub(crate) async fn evict(
    State(service): State<Service>,
    _may: May<Admin>,
    Path(plan): Path<String>,
) -> Result<Response, Problem> {
    let plan = service.engine().store().evict_plan(&plan).await?;
    Ok(answer::json(&KeptPlan::new(plan, &service)))
}

/// Keep a plan and prefer it, whatever happens
#[utoipa::path(post, path = "/v1/plans/{plan}/pin", tag = "plans", operation_id = "pin_plan",
    params(("plan" = String, Path, description = "the plan's id")),
    responses((status = 200, description = "The plan is pinned", body = Plan)))]
pub(crate) async fn pin(
    State(service): State<Service>,
    _may: May<Admin>,
    Path(plan): Path<String>,
) -> Result<Response, Problem> {
    let plan = service.engine().store().pin_plan(&plan, true).await?;
    Ok(answer::json(&KeptPlan::new(plan, &service)))
}

/// Let a pinned plan go
#[utoipa::path(post, path = "/v1/plans/{plan}/unpin", tag = "plans", operation_id = "unpin_plan",
    params(("plan" = String, Path, description = "the plan's id")),
    responses((status = 200, description = "The plan is not pinned", body = Plan)))]
pub(crate) async fn unpin(
    State(service): State<Service>,
    _may: May<Admin>,
    Path(plan): Path<String>,
) -> Result<Response, Problem> {
    let plan = service.engine().store().pin_plan(&plan, false).await?;
    Ok(answer::json(&KeptPlan::new(plan, &service)))
}
