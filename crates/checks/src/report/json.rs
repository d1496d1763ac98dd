//! The report itself, as JSON, and the schema that it keeps to.

use crate::result::RunReport;

/// The JSON Schema of what [`render_json`] gives, version 1.
pub const RUN_REPORT_SCHEMA: &str = include_str!("../../schema/run-report.v1.json");

/// The report as JSON, indented, with a line break at the end.
pub fn render_json(report: &RunReport) -> String {
    // A report holds only text, numbers, lists and maps with text keys, and those can always be written.
    let mut text = serde_json::to_string_pretty(report).unwrap_or_default();
    text.push('\n');
    text
}
