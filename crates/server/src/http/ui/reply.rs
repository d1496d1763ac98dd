//! Pages, parts of pages, problems and files as responses.

use std::io::Write as _;
use std::sync::OnceLock;

use axum::extract::Path;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use flate2::Compression;
use flate2::write::GzEncoder;
use ordain_ui::{Notice, assets};

use crate::http::problem::Problem;

/// Nothing comes from elsewhere, nothing runs that is not a file of this server, and no other page may frame it.
pub(crate) const POLICY: &str =
    "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";
/// Shorter bodies are sent as they are.
const COMPRESSED_FROM: usize = 1400;
/// Assets have their hash in the address, so what is there never changes.
const FOR_EVER: &str = "public, max-age=31536000, immutable";

/// A page or a part of one.
pub(crate) fn html(headers: &HeaderMap, body: String) -> Response {
    let mut response = compressed(headers, body.into_bytes());
    let told = response.headers_mut();
    told.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    told.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    // Without a referrer browsers name no origin with a form, and the origin is what tells own forms from others.
    told.insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    response
}

/// Now, for dates on pages.
pub(crate) fn unix_millis() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// Whether a script asks for a part of a page, and not a browser for a whole one.
pub(crate) fn is_part(headers: &HeaderMap) -> bool {
    headers.contains_key("hx-request")
}

fn compressed(headers: &HeaderMap, body: Vec<u8>) -> Response {
    if body.len() < COMPRESSED_FROM || !takes_gzip(headers) {
        return body.into_response();
    }
    let packed = packed(&body, Compression::fast()).unwrap_or_default();
    gzipped(if packed.is_empty() { return body.into_response() } else { packed })
}

fn gzipped(packed: Vec<u8>) -> Response {
    let mut response = packed.into_response();
    response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    response.headers_mut().insert(header::VARY, HeaderValue::from_static("Accept-Encoding"));
    response
}

fn packed(bytes: &[u8], level: Compression) -> std::io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), level);
    encoder.write_all(bytes)?;
    encoder.finish()
}

fn takes_gzip(headers: &HeaderMap) -> bool {
    let accepted =
        headers.get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or_default();
    accepted.split(',').any(|coding| coding.split(';').next().unwrap_or_default().trim() == "gzip")
}

/// `GET /assets/{hash}/{name}`: a file that pages load.
pub(crate) async fn asset(
    headers: HeaderMap,
    Path((hash, name)): Path<(String, String)>,
) -> Result<Response, Problem> {
    static PACKED: [OnceLock<Vec<u8>>; assets::ALL.len()] = [const { OnceLock::new() }; assets::ALL.len()];
    let (place, asset) = assets::find(&hash, &name)
        .ok_or_else(|| Problem::new(StatusCode::NOT_FOUND, "no_such_route", "there is no such file"))?;
    let mut response = if takes_gzip(&headers) {
        let pack = || packed(asset.content.as_bytes(), Compression::best()).unwrap_or_default();
        gzipped(PACKED[place].get_or_init(pack).clone())
    } else {
        asset.content.into_response()
    };
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(asset.media_type));
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static(FOR_EVER));
    Ok(response)
}

/// How a problem is shown: to programs as JSON, to people as a page or a part of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProblemForm {
    /// As the route's protocol has it.
    Program,
    /// A whole page.
    Page,
    /// A part of a page that stays.
    Part,
}

impl ProblemForm {
    /// What the caller of a route wants. The API is for programs, whatever they accept.
    pub(crate) fn wanted(route: &str, headers: &HeaderMap) -> Self {
        let accepts = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let is_api =
            route.starts_with("/v1/") || route.starts_with("/docs") || !accepts.contains("text/html");
        match (is_api, is_part(headers)) {
            (true, _) => Self::Program,
            (false, true) => Self::Part,
            (false, false) => Self::Page,
        }
    }

    /// The problem as HTML, if it is to be that.
    pub(crate) fn render(self, problem: &Problem) -> Option<(&'static str, String)> {
        let shown = ordain_ui::problem::Problem {
            title: &problem.title,
            detail: &problem.detail,
            hint: problem.hint.as_deref(),
            request_id: &problem.request_id,
        };
        let body = match self {
            Self::Program => return None,
            Self::Page => ordain_ui::problem::page(shown),
            Self::Part => ordain_ui::problem::part(shown).into_string(),
        };
        Some(("text/html; charset=utf-8", body))
    }
}

/// What to tell after a form was carried out. The address has only a word, so that nobody can make a link that says
/// something else.
pub(crate) fn notice(word: Option<&str>) -> Option<Notice> {
    let (is_problem, text) = match word? {
        "approve" => (false, "Committed."),
        "reject" => (false, "Rejected. Nothing was changed."),
        "undo" => (false, "Taken back."),
        "cancel" => (false, "Cancelled and rolled back."),
        "rated" => (false, "Thank you. The rating is in the ledger."),
        "ended" => (false, "It had ended already."),
        "saved" => (false, "Saved. Run it to see what it finds."),
        "draft_gone" => {
            (true, "There is no such change any more: it was saved, or its page was open for too long.")
        }
        "already" => (true, "Somebody decided on this run meanwhile. This is how it stands now."),
        "conflict" => (true, "Not done: rows that this run touches have changed meanwhile."),
        "rebased" => {
            (true, "Run again on the rows of today: more differs than derived columns, so look at it again.")
        }
        "changed" => (true, "Not committed: the diff is not the one that you were shown. Look at it again."),
        _ => return None,
    };
    Some(Notice { is_problem, text: text.to_owned() })
}
