//! Problems in the shape that `OpenAI` clients read.
//!
//! Those clients try a failed call again by themselves, so an answer also says whether another try makes sense.

use std::fmt::Write as _;

use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::http::problem::Problem;

/// Tells a client library whether to try again by itself.
pub(super) const SHOULD_RETRY: HeaderName = HeaderName::from_static("x-should-retry");

/// Why a call was not carried out.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct OpenAiError {
    /// What went wrong.
    error: OpenAiErrorDetails,
}

/// What went wrong.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct OpenAiErrorDetails {
    /// What went wrong and what would help, for people.
    message: String,
    /// The kind of error, in `OpenAI`'s words.
    #[serde(rename = "type")]
    kind: String,
    /// The part of the body that is wrong.
    param: Option<String>,
    /// A stable name of the kind of problem, the same as on the other routes.
    code: Option<String>,
}

/// The body that tells a problem.
pub(crate) fn body(problem: &Problem) -> Value {
    let message = match &problem.hint {
        Some(hint) => format!("{}; {hint}", problem.detail),
        None => problem.detail.clone(),
    };
    let mut error = json!({ "message": message, "type": kind(problem.status),
        "param": problem.errors.first().map(|part| param(&part.pointer)), "code": problem.code });
    if let Some(run) = &problem.run_id {
        error["run_id"] = Value::from(run.as_str());
    }
    json!({ "error": error })
}

/// The answer that tells a problem; the frame writes its body.
pub(super) fn answer(mut problem: Problem) -> Response {
    // A body that means nothing is a 400 to these clients.
    if problem.status == StatusCode::UNPROCESSABLE_ENTITY.as_u16() {
        problem.status = StatusCode::BAD_REQUEST.as_u16();
        "Bad Request".clone_into(&mut problem.title);
    }
    let is_conflict = problem.status == StatusCode::CONFLICT.as_u16();
    let mut response = problem.into_response();
    if is_conflict {
        // The same call would meet the same conflict, and libraries try this status again.
        response.headers_mut().insert(SHOULD_RETRY, HeaderValue::from_static("false"));
    }
    response
}

fn kind(status: u16) -> &'static str {
    match status {
        401 => "authentication_error",
        403 => "permission_error",
        429 => "rate_limit_error",
        500.. => "server_error",
        _ => "invalid_request_error",
    }
}

/// `/messages/0/content` as these clients write it: `messages[0].content`.
fn param(pointer: &str) -> String {
    let mut param = String::new();
    for part in pointer.split('/').filter(|part| !part.is_empty()) {
        if part.bytes().all(|byte| byte.is_ascii_digit()) {
            let _ = write!(param, "[{part}]");
        } else {
            if !param.is_empty() {
                param.push('.');
            }
            param.push_str(&part.replace("~1", "/").replace("~0", "~"));
        }
    }
    param
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_names_its_part_as_clients_do() {
        let problem = Problem::unprocessable("bad_body", "/messages/2/content/0/type", "no").hint("yes");
        let told = body(&problem);
        assert_eq!(told["error"]["param"], "messages[2].content[0].type");
        assert_eq!(told["error"]["message"], "no; yes");
        assert_eq!(told["error"]["type"], "invalid_request_error");
        assert_eq!(answer(problem).status(), StatusCode::BAD_REQUEST);
    }

    #[test]
    fn a_conflict_is_not_to_be_tried_again() {
        let conflict = answer(Problem::new(StatusCode::CONFLICT, "wrong_state", "no"));
        assert_eq!(conflict.headers()[SHOULD_RETRY], "false");
        let busy = answer(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "runs_full", "no").after(1));
        assert!(!busy.headers().contains_key(SHOULD_RETRY));
        assert_eq!(busy.headers()["retry-after"], "1");
    }
}
