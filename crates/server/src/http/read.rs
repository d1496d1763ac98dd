//! `/v1/read`: what the reader understands of a request, while it is being typed. Nothing is carried out.

use axum::extract::State;
use axum::response::Response;
use ordain_planner::reader::Explained;
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use super::answer;
use super::body::Query;
use super::caller::{Caller, May, Read};
use super::problem::Problem;
use super::service::Service;

/// The longest text that is read while it is typed.
const PREFIX_BYTES_MAX: usize = 2_000;

/// What is typed.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Typed {
    /// The request as far as it is typed, at most 2,000 bytes.
    prefix: String,
}

/// What the reader understands of a text.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "it describes what the reader gives")]
pub(crate) struct WhatIsRead {
    /// The text.
    request: String,
    /// Its words and signs, in order.
    tokens: Vec<UnderstoodToken>,
    /// What it means as it is: one reading is acted on, several are asked about.
    readings: Vec<UnderstoodReading>,
    /// The word at which the reader stopped, if there is no reading. A last word that may still become a known one is none.
    #[schema(required = true)]
    not_understood: Option<UnknownWord>,
    /// What may come next, best first, at most 40.
    next: Vec<NextWord>,
}

/// A word or a sign.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "it describes what the reader gives")]
pub(crate) struct UnderstoodToken {
    /// As it is written.
    text: String,
    /// Where it begins and ends, in bytes of UTF-8.
    at: [u64; 2],
    /// `action`, `table`, `column`, `metric`, `value`, `number`, `day`, `time`, `text`, `sign`, `filler`, `word` or `unknown`.
    kind: String,
    /// Everything that it may mention: `column inventory.price`.
    mentions: Vec<String>,
}

/// One reading.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "it describes what the reader gives")]
pub(crate) struct UnderstoodReading {
    /// In words.
    reading: String,
    /// The code that would carry it out, where there is some.
    #[schema(required = true)]
    code: Option<String>,
    /// The values that the code takes from the request.
    #[schema(value_type = Vec<Object>)]
    params: Vec<serde_json::Value>,
}

/// The word at which the reader stopped.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "it describes what the reader gives")]
pub(crate) struct UnknownWord {
    /// As it is written.
    text: String,
    /// Where it begins and ends, in bytes of UTF-8.
    at: [u64; 2],
    /// Whether the word itself is known, and only not in this place.
    is_known: bool,
    /// A word that is spelled almost like it.
    #[schema(required = true)]
    nearest: Option<String>,
    /// Why it cannot be taken, where it is understood.
    reason: Option<String>,
}

/// Something that may come next.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "it describes what the reader gives")]
pub(crate) struct NextWord {
    /// The words to add, or to replace an unfinished last word with; empty where it is a number or a day.
    text: String,
    /// `action`, `table`, `column`, `metric`, `value`, `number`, `day` or `word`.
    kind: String,
}

/// What the reader understands of a text
#[utoipa::path(get, path = "/v1/read", tag = "read", operation_id = "read", params(Typed),
    responses((status = 200, description = "The words, the readings, and what may come next", body = WhatIsRead)))]
pub(crate) async fn read(
    State(service): State<Service>,
    may: May<Read>,
    typed: Query<Typed>,
) -> Result<Response, Problem> {
    Ok(answer::json(&read_typed(&service, &may.caller, &typed.prefix).await?))
}

/// What the reader understands of what a caller has typed so far.
pub(crate) async fn read_typed(service: &Service, caller: &Caller, text: &str) -> Result<Explained, Problem> {
    if text.len() > PREFIX_BYTES_MAX {
        let message = format!("`prefix` has at most {PREFIX_BYTES_MAX} bytes");
        let problem = Problem::new(axum::http::StatusCode::BAD_REQUEST, "bad_query", message.clone());
        return Err(problem.about("prefix", message));
    }
    Ok(service.engine_for(caller).read(text).await?)
}
