//! Durations and sizes as people write them: `30s`, `512MiB`.

use std::time::Duration;

/// Why a written duration or size was not understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QuantityError {
    /// Not a duration.
    #[error("`{0}` is not a duration; write a number and a unit, such as `500ms`, `30s`, `2m` or `90d`")]
    Duration(String),
    /// A duration of nothing, or of more than a year.
    #[error("`{0}` is too short or too long; durations are above zero and at most 366 days")]
    DurationRange(String),
    /// Not a size.
    #[error("`{0}` is not a size; write a number and a unit, such as `64KiB`, `512MiB` or `2GiB`")]
    Bytes(String),
    /// A size of nothing, or of more than a pebibyte.
    #[error("`{0}` is too small or too large; sizes are at least a byte and at most 1048576GiB")]
    BytesRange(String),
}

/// Reads a duration; a bare number counts seconds.
pub fn parse_duration(text: &str) -> Result<Duration, QuantityError> {
    let wrong = || QuantityError::Duration(shorten(text));
    let (number, unit) = split(text).ok_or_else(wrong)?;
    let seconds = match unit.to_ascii_lowercase().as_str() {
        "ms" => number / 1000.0,
        "" | "s" | "sec" => number,
        "m" | "min" => number * 60.0,
        "h" => number * 3600.0,
        "d" => number * 86_400.0,
        _ => return Err(wrong()),
    };
    // A year is longer than anything may run, and far inside what a clock can hold.
    let outside = || QuantityError::DurationRange(shorten(text));
    let duration = Duration::try_from_secs_f64(seconds).map_err(|_| outside())?;
    if duration.is_zero() || duration > Duration::from_hours(366 * 24) {
        return Err(outside());
    }
    Ok(duration)
}

/// Reads a size; a bare number counts bytes, `MB` is decimal and `MiB` binary.
pub fn parse_bytes(text: &str) -> Result<u64, QuantityError> {
    let wrong = || QuantityError::Bytes(shorten(text));
    let (number, unit) = split(text).ok_or_else(wrong)?;
    let factor: f64 = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "kb" => 1e3,
        "mb" => 1e6,
        "gb" => 1e9,
        "k" | "kib" => 1024.0,
        "m" | "mib" => 1024.0 * 1024.0,
        "g" | "gib" => 1024.0 * 1024.0 * 1024.0,
        "tb" => 1e12,
        "t" | "tib" => 1024.0 * 1024.0 * 1024.0 * 1024.0,
        _ => return Err(wrong()),
    };
    let bytes = number * factor;
    // 2^50 bytes is a pebibyte; above it the number is a slip of the pen.
    if !(1.0..=1_125_899_906_842_624.0).contains(&bytes) {
        return Err(QuantityError::BytesRange(shorten(text)));
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked just above")]
    Ok(bytes.round() as u64)
}

/// Writes a size as [`parse_bytes`] reads it.
#[expect(clippy::cast_precision_loss, reason = "one decimal is shown")]
pub fn format_bytes(bytes: u64) -> String {
    for (unit, size) in [("GiB", 1_u64 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)] {
        if bytes >= size {
            let number = format!("{:.1}", bytes as f64 / size as f64);
            return format!("{}{unit}", number.trim_end_matches(".0"));
        }
    }
    format!("{bytes}B")
}

/// Writes a duration as [`parse_duration`] reads it.
pub fn format_duration(duration: Duration) -> String {
    let millis = duration.as_millis();
    if millis.is_multiple_of(1000) { format!("{}s", millis / 1000) } else { format!("{millis}ms") }
}

fn split(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number = text[..end].parse().ok()?;
    Some((number, text[end..].trim()))
}

fn shorten(text: &str) -> String {
    text.chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_with_and_without_a_unit() {
        assert_eq!(parse_duration("30s"), Ok(Duration::from_secs(30)));
        assert_eq!(parse_duration("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(parse_duration("1.5m"), Ok(Duration::from_secs(90)));
        assert_eq!(parse_duration("7"), Ok(Duration::from_secs(7)));
        for wrong in ["", "s", "-1s", "0s", "3 fortnights", "1e9s", "9999999999999h", "é"] {
            assert!(parse_duration(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn sizes_are_read_in_decimal_and_binary_units() {
        assert_eq!(parse_bytes("512MiB"), Ok(512 << 20));
        assert_eq!(parse_bytes("1MB"), Ok(1_000_000));
        assert_eq!(parse_bytes("64k"), Ok(64 << 10));
        assert_eq!(parse_bytes("100"), Ok(100));
        for wrong in ["", "MiB", "-5MiB", "0", "12 elephants", "99999999999GiB"] {
            assert!(parse_bytes(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_quantity_out_of_bounds_is_not_said_to_be_none() {
        for text in ["0d", "0s", "9999h"] {
            assert!(matches!(parse_duration(text), Err(QuantityError::DurationRange(_))), "{text}");
        }
        for text in ["0", "9999TiB"] {
            assert!(matches!(parse_bytes(text), Err(QuantityError::BytesRange(_))), "{text}");
        }
    }

    #[test]
    fn written_quantities_read_back() {
        for bytes in [1, 1024, 512 << 20, 3 << 30] {
            assert_eq!(parse_bytes(&format_bytes(bytes)), Ok(bytes));
        }
        for millis in [1, 250, 1000, 90_000] {
            let duration = Duration::from_millis(millis);
            assert_eq!(parse_duration(&format_duration(duration)), Ok(duration));
        }
    }
}
