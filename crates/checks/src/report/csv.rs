//! One line for each check, for spreadsheets.

use ::csv::{Terminator, WriterBuilder};

use super::words::sentence;
use crate::result::{CheckResult, RunReport};

const HEADING: [&str; 20] = [
    "run_id",
    "check_id",
    "check_name",
    "status",
    "reason",
    "severity",
    "owner",
    "tags",
    "target_table",
    "kind",
    "evaluated",
    "failed",
    "failed_pct",
    "summary",
    "code_from",
    "recompiled",
    "started_at",
    "duration_ms",
    "rule",
    "understood",
];

/// The report as CSV.
pub fn render_csv(report: &RunReport) -> String {
    let mut writer = WriterBuilder::new().terminator(Terminator::Any(b'\n')).from_writer(Vec::new());
    // Writing to memory does not fail.
    let _ = writer.write_record(HEADING);
    for result in &report.results {
        let _ = writer.write_record(line(report, result));
    }
    String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
}

fn line(report: &RunReport, result: &CheckResult) -> [String; 20] {
    let number = |number: Option<u64>| number.map(|number| number.to_string()).unwrap_or_default();
    [
        harmless(&report.run_id),
        harmless(&result.check_id),
        harmless(&result.check_name),
        result.status.name().to_owned(),
        harmless(result.reason.as_deref().unwrap_or_default()),
        result.severity.name().to_owned(),
        harmless(result.owner.as_deref().unwrap_or_default()),
        harmless(&result.tags.join(" ")),
        harmless(&result.target_table.join(",")),
        harmless(&result.kind),
        number(result.evaluated),
        number(result.failed),
        result.failed_pct.map(|share| share.to_string()).unwrap_or_default(),
        harmless(&sentence(result)),
        result.code_from.map(|from| from.name().to_owned()).unwrap_or_default(),
        harmless(result.recompiled.as_deref().unwrap_or_default()),
        harmless(&report.started_at),
        format!("{:.3}", result.duration_ms),
        harmless(&result.rule),
        harmless(result.understood.as_deref().unwrap_or_default()),
    ]
}

/// Spreadsheets compute what begins with one of these; an apostrophe makes it text.
pub(crate) fn harmless(text: &str) -> String {
    if text.starts_with(['=', '+', '-', '@', '\t', '\r']) { format!("'{text}") } else { text.to_owned() }
}
