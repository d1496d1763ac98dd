//! Points in time as text: ISO 8601, read leniently and written in UTC.

/// Whether `text` is a date or a date with a time, in ISO 8601 as Python's `isoformat()` and `str()` write it:
/// `2025-10-03`, `2025-10-03T09:16:59.628898`, `2025-10-03 09:16+02:00`, `2025-10-03T09:16:59Z`.
pub fn is_timestamp(text: &str) -> bool {
    let Some((date, rest)) = text.split_at_checked(10) else { return false };
    if !is_date(date) {
        return false;
    }
    match rest.as_bytes().first() {
        None => true,
        Some(b'T' | b' ') => is_time_with_zone(&rest[1..]),
        Some(_) => false,
    }
}

/// Writes milliseconds since 1970 as `2025-10-03T09:16:59.628Z`.
pub fn format_unix_millis(millis: u64) -> String {
    let (days, millis_of_day) = (millis / 86_400_000, millis % 86_400_000);
    let (year, month, day) = civil_from_days(days);
    let (seconds, fraction) = (millis_of_day / 1000, millis_of_day % 1000);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{fraction:03}Z")
}

fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    if bytes.len() != 10 || bytes[4] != b'-' || bytes[7] != b'-' {
        return false;
    }
    let (Some(year), Some(month), Some(day)) =
        (number(&bytes[..4]), number(&bytes[5..7]), number(&bytes[8..10]))
    else {
        return false;
    };
    year >= 1 && (1..=12).contains(&month) && (1..=days_in_month(year, month)).contains(&day)
}

fn is_time_with_zone(text: &str) -> bool {
    let zone_at = text.find(['Z', '+', '-']).unwrap_or(text.len());
    let (time, zone) = text.split_at(zone_at);
    is_time(time) && is_zone(zone)
}

fn is_time(text: &str) -> bool {
    let (clock, fraction) = match text.split_once('.') {
        Some((clock, fraction)) => (clock, Some(fraction)),
        None => (text, None),
    };
    if let Some(fraction) = fraction
        && (clock.len() != 8 || fraction.is_empty() || fraction.len() > 9 || !all_digits(fraction))
    {
        return false;
    }
    let mut parts = clock.split(':');
    let limits = [23, 59, 59];
    let mut count = 0;
    for (part, limit) in parts.by_ref().take(3).zip(limits) {
        if part.len() != 2 || number(part.as_bytes()).is_none_or(|value| value > limit) {
            return false;
        }
        count += 1;
    }
    count >= 2 && parts.next().is_none()
}

fn is_zone(text: &str) -> bool {
    let Some(offset) = text.strip_prefix(['+', '-']) else { return text.is_empty() || text == "Z" };
    let digits: String = offset.chars().filter(|c| *c != ':').collect();
    let shaped = match offset.len() {
        2 | 4 => !offset.contains(':'),
        5 => offset.as_bytes()[2] == b':',
        _ => false,
    };
    shaped
        && all_digits(&digits)
        && number(&digits.as_bytes()[..2]).is_some_and(|hours| hours <= 18)
        && number(&digits.as_bytes()[2..]).is_none_or(|minutes| minutes <= 59)
}

fn all_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

fn number(digits: &[u8]) -> Option<u32> {
    if digits.is_empty() {
        return None;
    }
    digits
        .iter()
        .try_fold(0_u32, |sum, byte| byte.is_ascii_digit().then(|| sum * 10 + u32::from(byte - b'0')))
}

fn days_in_month(year: u32, month: u32) -> u32 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        _ => 31,
    }
}

/// The proleptic Gregorian date of a day counted from 1970-01-01, by eras of 400 years that begin in March.
fn civil_from_days(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn python_timestamps_are_recognised_and_near_misses_are_not() {
        for right in [
            "2025-10-03",
            "2025-10-03T09:16:59.628898",
            "2025-10-03 09:16:59",
            "2025-10-03T09:16",
            "2025-10-03T09:16:59Z",
            "2024-02-29T23:59:59+05:30",
            "2025-10-03T09:16:59-0800",
        ] {
            assert!(is_timestamp(right), "{right}");
        }
        for wrong in [
            "",
            "2025-13-03",
            "2025-02-29",
            "2025-1-3",
            "03/10/2025",
            "2025-10-03T",
            "2025-10-03T24:00:00",
            "2025-10-03T09:16:59.",
            "2025-10-03T09",
            "2025-10-03T09:16:59+99:00",
            "2025-10-0é",
            "yesterday at noon",
        ] {
            assert!(!is_timestamp(wrong), "{wrong}");
        }
    }

    #[test]
    fn milliseconds_are_written_in_utc() {
        assert_eq!(format_unix_millis(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(format_unix_millis(1_709_251_199_999), "2024-02-29T23:59:59.999Z");
        assert_eq!(format_unix_millis(1_759_483_019_628), "2025-10-03T09:16:59.628Z");
    }
}
