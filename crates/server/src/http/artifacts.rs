//! `GET /v1/runs/{run}/artifacts/{name}`: a file that a run left.
//!
//! Code wrote the file, so it is hostile: it is always a download, never shown in place, its kind is never guessed,
//! and where a browser opens it all the same it can neither run scripts nor reach anything.

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use ordain_types::Artifact;

use super::body::Path;
use super::caller::{Caller, May, Read};
use super::frame::Context;
use super::problem::Problem;
use super::service::Service;

/// Download a file that a run left
#[utoipa::path(get, path = "/v1/runs/{run}/artifacts/{name}", tag = "runs", operation_id = "get_artifact",
    params(
        ("run" = String, Path, description = "the run's id"),
        ("name" = String, Path, description = "the file's name, as the run's record has it"),
    ),
    responses((status = 200, description = "The file", body = Vec<u8>, content_type = "application/octet-stream")))]
pub(crate) async fn download(
    State(service): State<Service>,
    may: May<Read>,
    Extension(context): Extension<Context>,
    Path((run, name)): Path<(String, String)>,
) -> Result<Response, Problem> {
    context.is_about(&run);
    of_run(&service, &may.caller, &run, &name).await
}

/// A file of a run that the caller may see, as a download.
pub(crate) async fn of_run(
    service: &Service,
    caller: &Caller,
    run: &str,
    name: &str,
) -> Result<Response, Problem> {
    let (artifact, bytes) = content_of(service, caller, run, name).await?;
    Ok((headers(&artifact.name, &artifact.media_type, &artifact.sha256), bytes).into_response())
}

/// A file of a run that the caller may see, as the run left it.
pub(crate) async fn content_of(
    service: &Service,
    caller: &Caller,
    run: &str,
    name: &str,
) -> Result<(Artifact, Vec<u8>), Problem> {
    let record = service.run_seen_by(caller, run).await?;
    let missing = || {
        let detail = "the run left no file of that name";
        Problem::new(StatusCode::NOT_FOUND, "unknown_artifact", detail)
            .hint("`outcome.artifacts` of the run's record lists its files")
    };
    // Only a name that the record lists is ever looked for on disk.
    let artifact = record.outcome.artifacts.iter().find(|artifact| artifact.name == name);
    let artifact = artifact.ok_or_else(missing)?;
    let engine = service.engine();
    // The record is held against the ledger, and the file against the record.
    let Some(bytes) = engine.artifact_content(&record.run_id, artifact).await? else {
        engine.artifact(&record.run_id, &artifact.name).ok_or_else(missing)?;
        let detail = "the file is not the one that the run left, so it is not given out";
        return Err(Problem::new(StatusCode::CONFLICT, "altered_artifact", detail)
            .hint("somebody changed it in `.ordain/artifacts`"));
    };
    Ok((artifact.clone(), bytes))
}

fn headers(name: &str, media_type: &str, sha256: &str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let told = [
        (header::CONTENT_TYPE, media_type.to_owned()),
        (header::CONTENT_DISPOSITION, disposition(name)),
        (header::ETAG, format!("\"{sha256}\"")),
        (header::CONTENT_SECURITY_POLICY, "sandbox; default-src 'none'; frame-ancestors 'none'".to_owned()),
    ];
    for (name, value) in told {
        let value = HeaderValue::from_str(&value);
        headers.insert(name, value.unwrap_or(HeaderValue::from_static("application/octet-stream")));
    }
    headers.insert("cross-origin-resource-policy", HeaderValue::from_static("same-origin"));
    headers
}

/// The name for the download: RFC 6266, with every byte that is not plain escaped.
fn disposition(name: &str) -> String {
    let escaped = name.bytes().fold(String::new(), |text, byte| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'_' => text + &char::from(byte).to_string(),
        _ => format!("{text}%{byte:02X}"),
    });
    format!("attachment; filename*=UTF-8''{escaped}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_add_a_header_or_end_its_quotes() {
        assert_eq!(
            disposition("a b\r\nSet-Cookie: x\".html"),
            "attachment; filename*=UTF-8''a%20b%0D%0ASet-Cookie%3A%20x%22.html"
        );
        assert_eq!(disposition("Größe.png"), "attachment; filename*=UTF-8''Gr%C3%B6%C3%9Fe.png");
    }
}
