//! The report itself, as JSON, and the schema that it keeps to.

use serde_json::Value;

use crate::result::RunReport;

/// The JSON Schema of what [`render_json`] gives, made from the type itself.
pub fn run_report_schema() -> Value {
    let settings = schemars::generate::SchemaSettings::draft2020_12().for_serialize();
    let mut schema = settings.into_generator().into_root_schema_for::<RunReport>().to_value();
    schema["$id"] = "urn:ordain:run-report:v1".into();
    schema["title"] = "What one run of checks gave".into();
    schema["description"] =
        "Printed by `ordain check run --format json`. Fields are added within version 1; none is \
                             removed or changes its meaning."
            .into();
    schema
}

/// The report as JSON, indented, with a line break at the end.
pub fn render_json(report: &RunReport) -> String {
    // A report holds only text, numbers, lists and maps with text keys, and those can always be written.
    let mut text = serde_json::to_string_pretty(report).unwrap_or_default();
    text.push('\n');
    text
}
