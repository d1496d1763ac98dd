//! `/v1/models`: the names under which the workspace can be asked.
//!
//! A name chooses a strategy, for clients that can choose a model and nothing else. Who writes the plans is the
//! server's choice.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::answer;
use crate::http::body::Path;
use crate::http::caller::{May, Read};
use crate::http::problem::Problem;
use crate::http::requests::shortened;
use crate::http::service::Service;

/// The names, one for each strategy.
const MODELS: [&str; 4] = ["ordain-auto", "ordain-direct", "ordain-plan", "ordain-react"];
/// When the names were given, for clients that sort by it: 2026-01-01.
const CREATED: u64 = 1_767_225_600;

/// The names that can be used.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ModelList {
    /// Always `list`.
    #[schema(example = "list")]
    object: &'static str,
    /// The names.
    data: Vec<ModelEntry>,
}

/// A name under which the workspace can be asked.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ModelEntry {
    /// The name.
    #[schema(example = "ordain-auto")]
    id: &'static str,
    /// Always `model`.
    #[schema(example = "model")]
    object: &'static str,
    /// When it was made, in seconds since 1970.
    created: u64,
    /// Always `ordain`.
    #[schema(example = "ordain")]
    owned_by: &'static str,
}

/// List the names that a chat client can use as model
#[utoipa::path(get, path = "/v1/models", tag = "openai", operation_id = "list_models",
    responses((status = 200, description = "The names", body = ModelList)))]
pub(crate) async fn list(_may: May<Read>) -> Response {
    let data = MODELS.into_iter().map(entry).collect();
    answer::json(&ModelList { object: "list", data })
}

/// One of the names
#[utoipa::path(get, path = "/v1/models/{model}", tag = "openai", operation_id = "get_model",
    params(("model" = String, Path, description = "the name")),
    responses((status = 200, description = "The name is there", body = ModelEntry)))]
pub(crate) async fn get(
    State(_service): State<Service>,
    _may: May<Read>,
    Path(model): Path<String>,
) -> Result<Response, Problem> {
    match MODELS.into_iter().find(|id| *id == model) {
        Some(id) => Ok(answer::json(&entry(id))),
        None => Err(unknown(&model)),
    }
}

/// The strategy that a model name chooses, if it is one of ours.
pub(super) fn strategy(model: &str) -> Option<&'static str> {
    MODELS.into_iter().find(|id| *id == model)?.strip_prefix("ordain-")
}

/// There is no such name.
pub(super) fn unknown(model: &str) -> Problem {
    let detail = format!("there is no model `{}` here", shortened(model));
    Problem::new(StatusCode::NOT_FOUND, "model_not_found", detail.clone())
        .about("/model", detail)
        .hint("there are `ordain-auto`, `ordain-direct`, `ordain-plan` and `ordain-react`; the server chooses who writes the plans")
}

fn entry(id: &'static str) -> ModelEntry {
    ModelEntry { id, object: "model", created: CREATED, owned_by: "ordain" }
}
