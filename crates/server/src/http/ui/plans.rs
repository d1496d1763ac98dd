//! The plans that are kept.

use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Redirect, Response};
use ordain_store::{CachedPlan, StoreError};
use ordain_ui::plans::Shown;
use ordain_ui::{Pager, Place};
use serde::Deserialize;

use super::visit::{Nothing, Sent, Turned, Visit};
use crate::http::body::Query;
use crate::http::caller::{Admin, Read};
use crate::http::plans::{read_mark, write_mark};
use crate::http::service::Service;

/// Plans on a page.
const PLANS_SHOWN: usize = 50;

/// Which page.
#[derive(Debug, Deserialize)]
pub(super) struct Which {
    cursor: Option<String>,
}

/// The list.
pub(super) async fn list(visit: Visit<Read>, query: Query<Which>) -> Result<Response, Turned> {
    let service = &visit.service;
    let after = query.cursor.as_deref().map(read_mark).transpose()?;
    let mut plans = service
        .engine()
        .store()
        .plans_after(None, visit.caller.whose(), after.as_ref(), PLANS_SHOWN as u64 + 1)
        .await?;
    let more = plans.len() > PLANS_SHOWN;
    plans.truncate(PLANS_SHOWN);
    let pager = Pager {
        first: after.map(|_| "/plans".to_owned()),
        next: plans.last().filter(|_| more).map(|plan| format!("/plans?cursor={}", write_mark(plan))),
    };
    let plans: Vec<Shown> = plans.into_iter().map(|plan| shown(service, plan)).collect();
    visit.page(Place::Plans, "Plans", &ordain_ui::plans::list(&plans, &pager)).await
}

fn shown(service: &Service, plan: CachedPlan) -> Shown {
    let engine = service.engine();
    Shown { stale: engine.settings().stale(&plan, &engine.store().schema()), plan }
}

/// One plan.
pub(super) async fn page(visit: Visit<Read>, Path(plan): Path<String>) -> Result<Response, Turned> {
    let service = &visit.service;
    let plan = service.engine().store().plan(&plan).await?;
    // A caller that may not see the run that wrote a plan may not see its request.
    if service.run_seen_by(&visit.caller, &plan.run_id).await.is_err() {
        return Err(StoreError::UnknownPlan { plan: plan.plan_id }.into());
    }
    let plan = shown(service, plan);
    visit.page(Place::Plans, "Plan", &ordain_ui::plans::page(&plan, &visit.viewer)).await
}

/// Keeps and prefers a plan.
pub(super) async fn pin(
    State(service): State<Service>,
    Path(plan): Path<String>,
    _sent: Sent<Admin, Nothing>,
) -> Result<Response, Turned> {
    back(&service.engine().store().pin_plan(&plan, true).await?)
}

/// Lets a pinned plan go.
pub(super) async fn unpin(
    State(service): State<Service>,
    Path(plan): Path<String>,
    _sent: Sent<Admin, Nothing>,
) -> Result<Response, Turned> {
    back(&service.engine().store().pin_plan(&plan, false).await?)
}

/// Forgets a plan.
pub(super) async fn evict(
    State(service): State<Service>,
    Path(plan): Path<String>,
    _sent: Sent<Admin, Nothing>,
) -> Result<Response, Turned> {
    service.engine().store().evict_plan(&plan).await?;
    Ok(Redirect::to("/plans").into_response())
}

#[expect(clippy::unnecessary_wraps, reason = "it ends handlers that can fail")]
fn back(plan: &CachedPlan) -> Result<Response, Turned> {
    Ok(Redirect::to(&format!("/plans/{}", ordain_ui::text::in_path(&plan.plan_id))).into_response())
}
