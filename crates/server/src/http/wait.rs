//! How long an answer waits for its run: RFC 7240's `Prefer: wait=N` and `respond-async`.

use std::time::Duration;

use axum::http::HeaderMap;

/// How long an answer waits if nothing is said.
const WAIT: Duration = Duration::from_secs(30);
/// How long it waits at most.
const WAIT_MAX: Duration = Duration::from_mins(5);

/// What the caller prefers, and whether it said so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Wait {
    /// How long to wait for the end of the run.
    pub(crate) time: Duration,
    /// Whether the caller asked for it.
    pub(crate) is_asked: bool,
}

impl Wait {
    /// Reads the preference. What is not understood is ignored, as the RFC says.
    pub(crate) fn read(headers: &HeaderMap) -> Self {
        let mut wait = Self { time: WAIT, is_asked: false };
        for value in headers.get_all("prefer") {
            for part in value.to_str().unwrap_or_default().split([',', ';']) {
                let part = part.trim();
                if part.eq_ignore_ascii_case("respond-async") {
                    // A time to wait may be given as well; it wins.
                    if !wait.is_asked {
                        wait = Self { time: Duration::ZERO, is_asked: true };
                    }
                } else if let Some((name, seconds)) = part.split_once('=')
                    && name.trim().eq_ignore_ascii_case("wait")
                    && let Ok(seconds) = seconds.trim().parse::<u64>()
                {
                    wait = Self { time: Duration::from_secs(seconds).min(WAIT_MAX), is_asked: true };
                }
            }
        }
        wait
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_preference_is_read_and_bounded() {
        let read = |text: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert("prefer", text.parse().unwrap());
            Wait::read(&headers)
        };
        assert_eq!(Wait::read(&HeaderMap::new()), Wait { time: WAIT, is_asked: false });
        assert_eq!(read("respond-async").time, Duration::ZERO);
        assert_eq!(read("respond-async, wait=10").time, Duration::from_secs(10));
        assert_eq!(read("wait=3; respond-async").time, Duration::from_secs(3));
        assert_eq!(read("wait=99999").time, WAIT_MAX);
        assert_eq!(read("wait=soon").time, WAIT);
    }
}
