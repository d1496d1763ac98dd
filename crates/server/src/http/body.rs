//! Reads what callers send: bounded in size and time, strict about its kind, and clear about what is wrong.

use std::fmt::Write;
use std::ops::Deref;

use axum::body::{Body, Bytes, HttpBody as _};
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use http_body_util::BodyExt as _;
use ordain_types::format_bytes;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::problem::Problem;
use super::service::Service;
use super::uploads;

/// The longest name in a JSON body.
const NAME_BYTES_MAX: usize = 16 << 10;
/// What is repeated of an error at most.
const SAID_BYTES_MAX: usize = 500;

/// A JSON body of at most `MAX` bytes.
#[derive(Debug)]
pub(crate) struct Json<T, const MAX: usize>(pub(crate) T);

/// The names in a path.
#[derive(Debug)]
pub(crate) struct Path<T>(pub(crate) T);

impl<T: DeserializeOwned + Send> FromRequestParts<Service> for Path<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, service: &Service) -> Result<Self, Problem> {
        let path = axum::extract::Path::<T>::from_request_parts(parts, service).await;
        path.map(|path| Self(path.0)).map_err(|_| {
            let detail = "a name in the path is not text in UTF-8";
            Problem::new(StatusCode::BAD_REQUEST, "bad_path", detail)
        })
    }
}

/// The parameters behind the question mark.
#[derive(Debug)]
pub(crate) struct Query<T>(pub(crate) T);

impl<T> Deref for Query<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: DeserializeOwned, const MAX: usize> FromRequest<Service> for Json<T, MAX> {
    type Rejection = Problem;

    async fn from_request(request: Request, service: &Service) -> Result<Self, Problem> {
        if !is_json(request.headers()) {
            return Err(wrong_media_type("application/json"));
        }
        let bytes = read(request.into_body(), MAX, service).await?;
        parse(&bytes).map(Self)
    }
}

impl<T: DeserializeOwned> FromRequestParts<Service> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _service: &Service) -> Result<Self, Problem> {
        let query = axum::extract::Query::<T>::try_from_uri(&parts.uri);
        query.map(|query| Self(query.0)).map_err(|error| {
            let message = error.body_text();
            let message = message.rsplit("string: ").next().unwrap_or_default();
            let message = message.replace("invalid digit found in string", "it is not a whole number");
            Problem::new(
                StatusCode::BAD_REQUEST,
                "bad_query",
                format!("the query is not understood: {message}"),
            )
        })
    }
}

/// Reads a JSON body that may be left out.
pub(crate) async fn read_optional<T: DeserializeOwned + Default>(
    body: Body,
    headers: &HeaderMap,
    bytes_max: usize,
    service: &Service,
) -> Result<T, Problem> {
    let bytes = read(body, bytes_max, service).await?;
    if bytes.is_empty() {
        return Ok(T::default());
    }
    if media_type(headers) != "application/json" {
        return Err(wrong_media_type("application/json"));
    }
    parse(&bytes)
}

/// Reads a whole body, within its size and the time for it.
pub(crate) async fn read(body: Body, bytes_max: usize, service: &Service) -> Result<Bytes, Problem> {
    let time = service.inner.options.body_time;
    match tokio::time::timeout(time, gather(body, bytes_max)).await {
        Err(_elapsed) => Err(too_slow(time)),
        Ok(read) => read,
    }
}

/// Puts the pieces of a body into one place as they come: keeping them all to join them at the end would take twice the
/// memory that the caller's share allows.
async fn gather(mut body: Body, bytes_max: usize) -> Result<Bytes, Problem> {
    let told = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    let mut whole = Vec::with_capacity(told.min(bytes_max));
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| {
            uploads::problem(&error).unwrap_or_else(|| {
                let detail = "the body ended before it was whole";
                Problem::new(StatusCode::BAD_REQUEST, "body_cut_off", detail)
            })
        })?;
        let piece = frame.into_data().unwrap_or_default();
        if whole.len() + piece.len() > bytes_max {
            return Err(too_large(bytes_max));
        }
        whole.extend_from_slice(&piece);
    }
    Ok(whole.into())
}

/// Reads JSON, and says where it is wrong.
pub(crate) fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    check_names(bytes)?;
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let value: T = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        if error.inner().is_data() && is_list(bytes) { no_list() } else { not_wanted(&error, "body") }
    })?;
    reader.end().map_err(|error| not_json(&error, "body"))?;
    if is_list(bytes) { Err(no_list()) } else { Ok(value) }
}

/// Whether a body is a list. Values without their names would be taken by their places.
fn is_list(bytes: &[u8]) -> bool {
    bytes.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[')
}

fn no_list() -> Problem {
    let detail = "the body must be a JSON object, each value with its name; it is a list";
    Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "bad_body", detail)
}

/// Reads a value that stands in a larger message, such as the arguments of a tool.
pub(crate) fn from_value<T: DeserializeOwned>(value: Value, what: &str) -> Result<T, Problem> {
    serde_path_to_error::deserialize(value).map_err(|error| not_wanted(&error, what))
}

/// Refuses a body with a name that is longer than any that is known here.
pub(crate) fn check_names(bytes: &[u8]) -> Result<(), Problem> {
    if bytes.len() > NAME_BYTES_MAX && has_giant_name(bytes) {
        let detail = format!("a name in the body is longer than {}", format_bytes(NAME_BYTES_MAX as u64));
        return Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "bad_body", detail));
    }
    Ok(())
}

/// Whether a text before a colon is longer than a name may be. A parser would copy it several times before it said that
/// it does not know it.
fn has_giant_name(bytes: &[u8]) -> bool {
    let mut rest = bytes;
    while let Some(open) = rest.iter().position(|byte| *byte == b'"') {
        let mut end = open + 1;
        while rest.get(end).is_some_and(|byte| *byte != b'"') {
            end += if rest[end] == b'\\' { 2 } else { 1 };
        }
        let behind = rest.get(end + 1..).unwrap_or_default();
        let next = behind.iter().find(|byte| !byte.is_ascii_whitespace());
        if end - open > NAME_BYTES_MAX && next == Some(&b':') {
            return true;
        }
        rest = behind;
    }
    false
}

/// What an error says, cut: it may repeat a value of the body.
struct Said(String);

impl Write for Said {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let room = SAID_BYTES_MAX - self.0.len();
        self.0.push_str(&text[..text.floor_char_boundary(room)]);
        if text.len() > room { Err(std::fmt::Error) } else { Ok(()) }
    }
}

fn not_wanted(error: &serde_path_to_error::Error<serde_json::Error>, what: &str) -> Problem {
    let mut said = Said(String::new());
    if write!(said, "{}", error.inner()).is_err() {
        said.0.push('…');
    }
    // What Rust calls a structure is an object to whoever sends JSON.
    let message = match said.0.split_once("expected struct ") {
        Some((before, rest)) => {
            let place = rest.find(" at line ").map_or("", |at| &rest[at..]);
            format!("{before}expected an object with names{place}")
        }
        None => said.0,
    };
    let pointer = pointer(error.path());
    if error.inner().is_data() {
        let detail = format!("the {what} is not what is asked for here: {message}");
        return Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "bad_body", detail).about(&pointer, message);
    }
    not_json(error.inner(), what)
}

/// Says where a text stops being JSON.
fn not_json(error: &serde_json::Error, what: &str) -> Problem {
    let (line, column) = (error.line(), error.column());
    let detail = if error.is_eof() {
        format!("the {what} is not JSON: it ends before it is whole")
    } else {
        format!("the {what} is not JSON: something else is expected in line {line}, column {column}")
    };
    Problem::new(StatusCode::BAD_REQUEST, "bad_json", detail)
}

/// The body is of a kind that is not taken here.
pub(crate) fn wrong_media_type(wanted: &str) -> Problem {
    let detail = format!("the body must be `{wanted}`");
    Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "wrong_media_type", detail)
        .hint(format!("send the header `Content-Type: {wanted}`"))
}

/// The body is larger than is taken here.
pub(crate) fn too_large(bytes_max: usize) -> Problem {
    let limit = format_bytes(bytes_max as u64);
    Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "body_too_large", format!("the body is larger than {limit}"))
}

/// The body took too long.
pub(crate) fn too_slow(time: std::time::Duration) -> Problem {
    let detail = format!("the body did not arrive within {} seconds", time.as_secs());
    Problem::new(StatusCode::REQUEST_TIMEOUT, "body_too_slow", detail)
}

/// The kind of a body, without its parameters.
pub(crate) fn media_type(headers: &HeaderMap) -> String {
    let given = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    given.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

fn is_json(headers: &HeaderMap) -> bool {
    media_type(headers) == "application/json"
}

fn pointer(path: &serde_path_to_error::Path) -> String {
    use serde_path_to_error::Segment;
    path.iter().fold(String::new(), |pointer, segment| match segment {
        Segment::Seq { index } => format!("{pointer}/{index}"),
        Segment::Map { key } | Segment::Enum { variant: key } => {
            format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"))
        }
        Segment::Unknown => pointer,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_part_is_named_by_a_pointer() {
        type Body = std::collections::BTreeMap<String, Vec<u8>>;
        let problem = parse::<Body>(br#"{"a":[1],"b/c":[1,"x"]}"#).unwrap_err();
        assert_eq!((problem.status, problem.errors[0].pointer.as_str()), (422, "/b~1c/1"));
    }

    #[test]
    fn values_without_names_are_not_taken_by_their_places() {
        #[derive(Debug, serde::Deserialize)]
        struct Body {
            _request: String,
            _within: Option<Box<Body>>,
        }
        for list in ["[]", r#" ["do it", null]"#] {
            let problem = parse::<Body>(list.as_bytes()).unwrap_err();
            assert_eq!(problem.status, 422);
            assert!(problem.detail.contains("must be a JSON object"), "{}", problem.detail);
        }
        for wrong in ["3", r#"{"_request": "x", "_within": [1]}"#, r#"{"_request": "x", "_within": []}"#] {
            let problem = parse::<Body>(wrong.as_bytes()).unwrap_err();
            assert!(!problem.detail.contains("struct"), "{}", problem.detail);
        }
    }

    #[test]
    fn what_is_not_json_or_has_something_behind_it_is_refused() {
        for wrong in ["", "{", "[1,]", "1 2", "\u{feff}1", "nul"] {
            assert_eq!(parse::<serde_json::Value>(wrong.as_bytes()).unwrap_err().status, 400, "{wrong}");
        }
        let deep = "[".repeat(100_000);
        assert_eq!(parse::<serde_json::Value>(deep.as_bytes()).unwrap_err().status, 400);
    }
}
