//! How figures, values and hostile text are put into words, the same in every format.

use std::fmt::Write;

use serde_json::Value;

use crate::check::Severity;
use crate::result::{CheckResult, CheckStatus, CodeFrom, RunReport, SkipReason};

ordain_types::names!(SkipReason, name {
    Disabled = "disabled", MissingTable = "missing_table", EmptyTable = "empty_table", NoRows = "no_rows",
    Learning = "learning", UpstreamFailed = "upstream_failed", NotUnderstood = "not_understood",
    NotCompiled = "not_compiled", Frozen = "frozen", Filtered = "filtered",
});

ordain_types::names!(Severity, name {
    Info = "info", Low = "low", Medium = "medium", High = "high", Critical = "critical",
});

ordain_types::names!(CodeFrom, name {
    Cache = "cache", Planner = "planner", Rules = "rules", Builtin = "builtin",
});

/// The results that weigh most first: by status, then by severity, then in the order of the files.
pub fn by_weight(results: &[CheckResult]) -> Vec<&CheckResult> {
    let mut sorted: Vec<&CheckResult> = results.iter().collect();
    sorted.sort_by_key(|result| {
        let place = match result.status {
            CheckStatus::Error => 0,
            CheckStatus::Skipped if result.is_open() => 0,
            CheckStatus::Fail => 1,
            CheckStatus::Warn => 2,
            CheckStatus::Skipped => 3,
            CheckStatus::Pass => 4,
        };
        (place, std::cmp::Reverse(result.severity))
    });
    sorted
}

/// How many checks have a status.
pub fn count(report: &RunReport, status: CheckStatus) -> u64 {
    report.counts.get(&status).copied().unwrap_or_default()
}

/// `3 of 120 (2.5 %)`, or nothing if nothing was counted.
pub(super) fn failed(result: &CheckResult) -> String {
    match (result.failed, result.evaluated) {
        (Some(failed), Some(evaluated)) => match result.failed_pct {
            Some(share) if failed > 0 => format!("{failed} of {evaluated} ({})", percent(share)),
            _ => format!("{failed} of {evaluated}"),
        },
        (Some(failed), None) => failed.to_string(),
        (None, _) => String::new(),
    }
}

/// `2.5 %`; a share that is not nothing never reads as nothing.
pub fn percent(share: f64) -> String {
    if share > 0.0 && share < 0.01 {
        return "<0.01 %".to_owned();
    }
    let text = format!("{share:.2}");
    format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
}

/// The sentence that says most: why it was not evaluated, or what was found.
pub fn sentence(result: &CheckResult) -> String {
    match (&result.reason, result.summary.is_empty()) {
        (Some(reason), true) => reason.clone(),
        (Some(reason), false) if matches!(result.status, CheckStatus::Error | CheckStatus::Skipped) => {
            if result.summary.contains(reason.as_str()) {
                result.summary.clone()
            } else if reason.contains(result.summary.as_str()) {
                reason.clone()
            } else {
                format!("{reason}: {}", result.summary)
            }
        }
        _ if result.kept_from.is_some() => format!("{} (not run again)", result.summary),
        _ => result.summary.clone(),
    }
}

/// `850 ms`, `12.3 s` or `4 min 10 s`.
pub fn duration(millis: f64) -> String {
    let seconds = millis / 1000.0;
    if millis < 1.0 {
        format!("{millis:.1} ms")
    } else if millis < 1000.0 {
        format!("{millis:.0} ms")
    } else if seconds < 60.0 {
        format!("{seconds:.1} s")
    } else {
        format!("{:.0} min {:.0} s", (seconds / 60.0).floor(), seconds % 60.0)
    }
}

/// A cell's value as people read it.
pub(super) fn value(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "null".to_owned(),
        other => other.to_string(),
    }
}

/// The text with everything that would act on a terminal, or hide on a page, made visible.
pub(super) fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' | '\r' | '\t' => shown.push(' '),
            _ if acts(character) => {
                let _ = write!(shown, "\\u{{{:x}}}", u32::from(character));
            }
            _ => shown.push(character),
        }
    }
    shown
}

/// Whether a character steers a terminal or the direction of text instead of being seen.
pub(super) fn acts(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// The text, cut to so many characters.
pub fn cut(text: &str, characters_max: usize) -> String {
    if text.chars().count() <= characters_max {
        return text.to_owned();
    }
    let kept: String = text.chars().take(characters_max.saturating_sub(1)).collect();
    format!("{kept}…")
}

/// The columns of the failing rows, those of the keys first.
pub fn sample_columns(result: &CheckResult) -> (Vec<&str>, Vec<&str>) {
    let mut keys: Vec<&str> = Vec::new();
    let mut values: Vec<&str> = Vec::new();
    for row in &result.samples {
        keys.extend(
            row.key.keys().map(String::as_str).filter(|name| !keys.contains(name)).collect::<Vec<_>>(),
        );
        values.extend(
            row.values.keys().map(String::as_str).filter(|name| !values.contains(name)).collect::<Vec<_>>(),
        );
    }
    values.retain(|name| !keys.contains(name));
    (keys, values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_share_never_reads_as_nothing() {
        assert_eq!(percent(0.0), "0 %");
        assert_eq!(percent(0.0001), "<0.01 %");
        assert_eq!(percent(2.5), "2.5 %");
        assert_eq!(percent(100.0), "100 %");
    }

    #[test]
    fn text_that_would_act_is_made_visible() {
        assert_eq!(visible("a\u{1b}[2Jb\nc\u{202e}d"), "a\\u{1b}[2Jb c\\u{202e}d");
    }

    #[test]
    fn durations_are_in_the_unit_that_fits() {
        let shown: Vec<_> = [0.25, 850.0, 12_340.0, 250_000.0].into_iter().map(duration).collect();
        assert_eq!(shown, ["0.2 ms", "850 ms", "12.3 s", "4 min 10 s"]);
    }
}
