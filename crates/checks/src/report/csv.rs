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
        let _ = writer.write_record(line(report, result).map(|cell| harmless(&cell)));
    }
    String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
}

fn line(report: &RunReport, result: &CheckResult) -> [String; 20] {
    let number = |number: Option<u64>| number.map(|number| number.to_string()).unwrap_or_default();
    [
        report.run_id.clone(),
        result.check_id.clone(),
        result.check_name.clone(),
        result.status.name().to_owned(),
        result.reason.clone().unwrap_or_default(),
        result.severity.name().to_owned(),
        result.owner.clone().unwrap_or_default(),
        result.tags.join(" "),
        result.target_table.join(","),
        result.kind.clone(),
        number(result.evaluated),
        number(result.failed),
        result.failed_pct.map(|share| share.to_string()).unwrap_or_default(),
        sentence(result),
        result.code_from.map(|from| from.name().to_owned()).unwrap_or_default(),
        result.recompiled.clone().unwrap_or_default(),
        report.started_at.clone(),
        format!("{:.3}", result.duration_ms),
        result.rule.clone(),
        result.understood.clone().unwrap_or_default(),
    ]
}

/// Spreadsheets compute what begins with one of these; an apostrophe makes it text.
pub(crate) fn harmless(text: &str) -> String {
    if text.starts_with(['=', '+', '-', '@', '\t', '\r']) { format!("'{text}") } else { text.to_owned() }
}
