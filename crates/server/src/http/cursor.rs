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
    let bytes = URL_SAFE_NO_PAD.decode(cursor).map_err(|_| wrong())?;
    let text = String::from_utf8(bytes).map_err(|_| wrong())?;
    let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    if is_plain { Ok(text) } else { Err(wrong()) }
}

/// Reads a mark of several texts.
pub(crate) fn read_texts<const N: usize>(cursor: &str) -> Result<[String; N], Problem> {
    let mark = read(cursor)?;
    let texts: Option<Vec<String>> = mark.split('-').map(unhexed).collect();
    texts.and_then(|texts| texts.try_into().ok()).ok_or_else(wrong)
}

/// Makes a mark of several texts, whatever they hold.
pub(crate) fn write_texts<const N: usize>(texts: [&str; N]) -> String {
    write(&texts.map(|text| ordain_types::hex(text.as_bytes())).join("-"))
}

fn unhexed(digits: &str) -> Option<String> {
    let byte = |at: usize| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
    let bytes: Option<Vec<u8>> = (0..digits.len()).step_by(2).map(byte).collect();
    // No name and no time holds a zero byte, which some databases do not take.
    String::from_utf8(bytes?).ok().filter(|text| !text.contains('\0'))
}

fn wrong() -> Problem {
    let detail = "`cursor` is not one that this server gave";
    Problem::new(StatusCode::BAD_REQUEST, "bad_cursor", detail).about("cursor", detail)
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

    #[test]
    fn marks_of_texts_sort_as_texts_do_and_come_back_whole() {
        let mut ids = ["b", "a_1", "ä", "a", "A b", "~", ""];
        ids.sort_unstable();
        assert!(ids.map(|id| ordain_types::hex(id.as_bytes())).is_sorted());
        for id in ids {
            let mark = write_texts([id, "2026-11-15T00:00:00Z"]);
            assert_eq!(read_texts::<2>(&mark).unwrap(), [id, "2026-11-15T00:00:00Z"]);
            assert_eq!(read_texts::<3>(&mark).unwrap_err().status, 400);
        }
        for odd in ["abc", "zz-61", "ff-61", "é"] {
            assert_eq!(read_texts::<2>(&write(odd)).unwrap_err().status, 400, "{odd}");
        }
    }
}
