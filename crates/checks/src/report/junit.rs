//! `JUnit` XML: a suite for each table, a case for each check. A suite fails if and only if the run does: what has not
//! passed and does not count is skipped.
//!
//! Severity, owner and tags are properties of the suite, named after the check: that is the one place where every
//! schema of this format allows them.

use std::fmt::Write;

use super::words::{failed, sentence, value};
use crate::exit::{Ending, Gate};
use crate::result::{CheckResult, RunReport};

/// Failing rows told in the text of a failure.
const ROWS_MAX: usize = 20;
/// The report as `JUnit` XML.
pub fn render_junit(report: &RunReport, gate: Gate) -> String {
    let suites = suites(report);
    let all: Vec<&CheckResult> = report.results.iter().collect();
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(
        out,
        "<testsuites name=\"{}\" {} time=\"{}\">",
        escape(&report.workspace),
        numbers(&all, gate, u8::from(gate.is_interrupted)),
        seconds(report.duration_ms)
    );
    for (table, results) in &suites {
        write_suite(&mut out, report, table, results, gate);
    }
    if gate.is_interrupted {
        write_interrupted(&mut out, report);
    }
    out.push_str("</testsuites>\n");
    out
}

/// What a run that was stopped has beside the checks that were finished.
fn write_interrupted(out: &mut String, report: &RunReport) {
    let at = escape(&report.started_at);
    let _ = writeln!(
        out,
        "  <testsuite name=\"(the run)\" tests=\"1\" failures=\"0\" errors=\"1\" skipped=\"0\" time=\"0.000\" timestamp=\"{at}\">"
    );
    out.push_str("    <properties>\n");
    property(out, "run_id", &report.run_id);
    out.push_str("    </properties>\n    <testcase name=\"every check is finished\" classname=\"(the run)\" time=\"0.000\">\n");
    out.push_str("      <error type=\"interrupted\" message=\"somebody stopped the run\"/>\n");
    out.push_str("    </testcase>\n  </testsuite>\n");
}

/// The checks by the table that they judge, in the order in which tables first appear.
fn suites(report: &RunReport) -> Vec<(&str, Vec<&CheckResult>)> {
    let mut suites: Vec<(&str, Vec<&CheckResult>)> = Vec::new();
    for result in &report.results {
        let table = result.target_table.first().map_or("(no table)", String::as_str);
        match suites.iter_mut().find(|(name, _)| *name == table) {
            Some((_, results)) => results.push(result),
            None => suites.push((table, vec![result])),
        }
    }
    suites
}

fn write_suite(out: &mut String, report: &RunReport, table: &str, results: &[&CheckResult], gate: Gate) {
    let time: f64 = results.iter().map(|result| result.duration_ms).sum();
    let skipped = results.iter().filter(|result| gate.ending(result) == Ending::NotCounted).count();
    let _ = writeln!(
        out,
        "  <testsuite name=\"{}\" {} skipped=\"{skipped}\" time=\"{}\" timestamp=\"{}\">",
        escape(table),
        numbers(results, gate, 0),
        seconds(time),
        escape(&report.started_at)
    );
    out.push_str("    <properties>\n");
    property(out, "run_id", &report.run_id);
    for result in results {
        property(out, &format!("{}.severity", result.check_id), result.severity.name());
        if let Some(place) = &result.location {
            property(
                out,
                &format!("{}.location", result.check_id),
                &format!("{}:{}", place.file, place.line),
            );
        }
        if let Some(owner) = &result.owner {
            property(out, &format!("{}.owner", result.check_id), owner);
        }
        if !result.tags.is_empty() {
            property(out, &format!("{}.tags", result.check_id), &result.tags.join(","));
        }
    }
    out.push_str("    </properties>\n");
    for result in results {
        write_case(out, table, result, gate);
    }
    out.push_str("  </testsuite>\n");
}

fn property(out: &mut String, name: &str, value: &str) {
    let _ = writeln!(out, "      <property name=\"{}\" value=\"{}\"/>", escape(name), escape(value));
}

fn write_case(out: &mut String, table: &str, result: &CheckResult, gate: Gate) {
    let name = escape(&format!("{} {}", result.check_id, result.check_name));
    let head = format!(
        "    <testcase name=\"{name}\" classname=\"{}\" time=\"{}\"",
        escape(table),
        seconds(result.duration_ms)
    );
    let message = escape(&sentence(result));
    let _ = match gate.ending(result) {
        Ending::Passed => writeln!(out, "{head}/>"),
        Ending::Failed => writeln!(
            out,
            "{head}>\n      <failure type=\"{}\" message=\"{message}\">{}</failure>\n    </testcase>",
            escape(&result.kind),
            rows(result)
        ),
        Ending::NotEvaluated => {
            let kind = escape(&kind_of_error(result));
            writeln!(out, "{head}>\n      <error type=\"{kind}\" message=\"{message}\"/>\n    </testcase>")
        }
        Ending::NotCounted => {
            let word = result.status.name();
            writeln!(out, "{head}>\n      <skipped message=\"{word}: {message}\"/>\n    </testcase>")
        }
    };
}

/// The kind of an error, by which tools put errors together: why a check was skipped, a limit, the name of an exception;
/// `error` for what is told in a sentence alone.
fn kind_of_error(result: &CheckResult) -> String {
    if let Some(skipped) = result.skipped {
        return skipped.name().to_owned();
    }
    let first = result.reason.as_deref().unwrap_or_default().split(':').next().unwrap_or_default();
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    if !first.is_empty() && first.chars().all(is_name) { first.to_owned() } else { "error".to_owned() }
}

/// The failing rows, one a line.
fn rows(result: &CheckResult) -> String {
    let mut out = String::new();
    let counted = failed(result);
    if !counted.is_empty() {
        let _ = writeln!(out, "failed: {}", escape(&counted));
    }
    for row in result.samples.iter().take(ROWS_MAX) {
        let cells: Vec<_> =
            row.key.iter().chain(&row.values).map(|(name, cell)| format!("{name}={}", value(cell))).collect();
        let _ = writeln!(out, "{}", escape(&cells.join(", ")));
    }
    out
}

/// How many there are of each, besides errors of the run itself.
fn numbers(results: &[&CheckResult], gate: Gate, more: u8) -> String {
    let count = |ending: Ending| results.iter().filter(|result| gate.ending(result) == ending).count();
    let (failures, errors) = (count(Ending::Failed), count(Ending::NotEvaluated) + usize::from(more));
    format!("tests=\"{}\" failures=\"{failures}\" errors=\"{errors}\"", results.len() + usize::from(more))
}

fn seconds(millis: f64) -> String {
    format!("{:.3}", millis.max(0.0) / 1000.0)
}

/// Text for XML 1.0: what it reserves is escaped, what it cannot hold at all becomes a replacement character.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\t' => out.push_str("&#9;"),
            '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            _ => out.push(character),
        }
    }
    out
}
