//! Pages of lists: an opaque mark of where the next page begins.
//!
//! A mark names the last item of the page before, so that a list which grows meanwhile gives no item twice.

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;
use utoipa::IntoParams;

use super::problem::Problem;

/// Items on a page, if nothing is said.
const LIMIT: u64 = 50;
/// Items on a page, at most.
const LIMIT_MAX: u64 = 500;

/// Which page of a list.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Page {
    /// Items on the page: 1 to 500, 50 if it is not given.
    #[param(minimum = 1, maximum = 500)]
    pub(crate) limit: Option<u64>,
    /// Where the page begins: the `next_cursor` of the page before.
    pub(crate) cursor: Option<String>,
}

impl Page {
    /// How many items.
    pub(crate) fn limit(&self) -> Result<u64, Problem> {
        limit(self.limit)
    }

    /// The last item of the page before.
    pub(crate) fn after(&self) -> Result<Option<String>, Problem> {
        self.cursor.as_deref().map(read).transpose()
    }
}

/// A number of items within its bounds.
pub(crate) fn limit(given: Option<u64>) -> Result<u64, Problem> {
    match given {
        None => Ok(LIMIT),
        Some(limit @ 1..=LIMIT_MAX) => Ok(limit),
        Some(_) => {
            let message = format!("`limit` is from 1 to {LIMIT_MAX}");
            Err(Problem::new(StatusCode::BAD_REQUEST, "bad_query", message.clone()).about("limit", message))
        }
    }
}

/// Reads a mark.
pub(crate) fn read(cursor: &str) -> Result<String, Problem> {
    let wrong = || {
        let detail = "`cursor` is not one that this server gave";
        Problem::new(StatusCode::BAD_REQUEST, "bad_cursor", detail).about("cursor", detail)
    };
    let bytes = URL_SAFE_NO_PAD.decode(cursor).map_err(|_| wrong())?;
    let text = String::from_utf8(bytes).map_err(|_| wrong())?;
    let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    if is_plain { Ok(text) } else { Err(wrong()) }
}

/// Makes a mark.
pub(crate) fn write(last: &str) -> String {
    URL_SAFE_NO_PAD.encode(last)
}

/// The `Link` to the next page.
pub(crate) fn link(path: &str, cursor: Option<&str>) -> HeaderMap {
    let mut headers = HeaderMap::new();
    if let Some(cursor) = cursor
        && let Ok(value) = HeaderValue::from_str(&format!("<{path}?cursor={cursor}>; rel=\"next\""))
    {
        headers.insert(header::LINK, value);
    }
    headers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_reads_back_and_others_are_refused() {
        assert_eq!(read(&write("01k-7")).unwrap(), "01k-7");
        for wrong in ["", "!!", "AAAA", &write("a' OR 1=1"), &write("")] {
            assert_eq!(read(wrong).unwrap_err().status, 400, "{wrong}");
        }
    }
}
