//! Decides whether and when a call that failed is tried again.

use std::time::Duration;

use super::ProviderError;

/// Calls of one request, the first included.
pub(super) const ATTEMPTS_MAX: u32 = 3;
const FIRST_DELAY: Duration = Duration::from_millis(500);
const DELAY_MAX: Duration = Duration::from_secs(20);

/// How long to wait before the next attempt; `None` if there is no use in one.
///
/// `random` is between 0 and 1: callers that failed together must not come back together.
pub(super) fn delay(error: &ProviderError, attempt: u32, random: f64, left: Duration) -> Option<Duration> {
    if !error.is_passing() || attempt >= ATTEMPTS_MAX {
        return None;
    }
    let grown = FIRST_DELAY.saturating_mul(2u32.saturating_pow(attempt.saturating_sub(1))).min(DELAY_MAX);
    let delay = error.retry_after().unwrap_or_else(|| grown.mul_f64(0.5 + random.clamp(0.0, 1.0) / 2.0));
    // Waiting beyond the end of the call would only hide the reason.
    (delay < left).then_some(delay)
}

/// Reads `retry-after-ms` and `retry-after`, where they are numbers.
pub(super) fn asked_delay(header: impl Fn(&str) -> Option<String>) -> Option<Duration> {
    let number =
        |name: &str| header(name)?.trim().parse::<f64>().ok().filter(|number| (0.0..1e9).contains(number));
    let millis = number("retry-after-ms").map(|millis| Duration::from_secs_f64(millis / 1000.0));
    millis.or_else(|| number("retry-after").map(Duration::from_secs_f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn busy(retry_after: Option<Duration>) -> ProviderError {
        ProviderError::RateLimit { provider: "p".to_owned(), message: String::new(), retry_after }
    }

    #[test]
    fn delays_grow_honour_what_is_asked_and_end() {
        let minute = Duration::from_mins(1);
        assert_eq!(delay(&busy(None), 1, 1.0, minute), Some(Duration::from_millis(500)));
        assert_eq!(delay(&busy(None), 2, 0.0, minute), Some(Duration::from_millis(500)));
        assert_eq!(delay(&busy(None), 3, 0.0, minute), None);
        assert_eq!(delay(&busy(Some(Duration::from_secs(7))), 1, 0.3, minute), Some(Duration::from_secs(7)));
        assert_eq!(delay(&busy(Some(Duration::from_secs(70))), 1, 0.3, minute), None);
        assert_eq!(delay(&ProviderError::ContextTooLong { message: String::new() }, 1, 0.0, minute), None);
    }

    #[test]
    fn milliseconds_come_before_seconds_and_dates_are_ignored() {
        let of = |pairs: &'static [(&str, &str)]| {
            asked_delay(|name| {
                pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
            })
        };
        assert_eq!(of(&[("retry-after-ms", "250"), ("retry-after", "9")]), Some(Duration::from_millis(250)));
        assert_eq!(of(&[("retry-after", "2")]), Some(Duration::from_secs(2)));
        assert_eq!(of(&[("retry-after", "Wed, 21 Oct 2026 07:28:00 GMT")]), None);
        assert_eq!(of(&[("retry-after", "-1")]), None);
    }
}
