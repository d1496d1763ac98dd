//! SARIF 2.1.0, for code scanning.
//!
//! A check is a rule. What it found is a result of that rule, with the table as logical location and the file of checks
//! as physical one, since viewers show nothing without a file. A check that could not be evaluated is no result: it is
//! a notification of the tool.

use serde_json::{Value, json};

use super::words::sentence;
use crate::check::Severity;
use crate::exit::{self, Ending, Gate, exit_code};
use crate::result::{CheckResult, CheckStatus, RunReport};

/// Where a workspace keeps its checks.
const CHECKS_FILE: &str = "checks/checks.json";

/// The report as SARIF 2.1.0.
pub fn render_sarif(report: &RunReport, gate: Gate) -> String {
    let exit = exit_code(&report.results, gate);
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "Ordain",
                "version": env!("CARGO_PKG_VERSION"),
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": report.results.iter().map(rule).collect::<Vec<_>>(),
            }},
            "automationDetails": {"id": format!("ordain-checks/{}", report.run_id)},
            "invocations": [{
                "executionSuccessful": matches!(exit, exit::OK | exit::FAILED),
                "exitCode": exit,
                "toolExecutionNotifications": notifications(report, gate),
            }],
            "results": results(report, gate),
            "columnKind": "unicodeCodePoints",
        }],
    });
    let mut text = serde_json::to_string_pretty(&log).unwrap_or_default();
    text.push('\n');
    text
}

fn rule(result: &CheckResult) -> Value {
    json!({
        "id": result.check_id,
        "name": result.check_name,
        "shortDescription": {"text": text(&result.check_name)},
        "fullDescription": {"text": text(result.understood.as_deref().unwrap_or(&result.rule))},
        "defaultConfiguration": {"level": level(result.severity)},
        "properties": {
            "tags": tags(result),
            "severity": result.severity.name(),
            "kind": result.kind,
            "owner": result.owner,
        },
    })
}

/// Tags without repetition, as the schema asks.
fn tags(result: &CheckResult) -> Vec<&str> {
    let mut tags: Vec<&str> = Vec::new();
    for tag in &result.tags {
        if !tags.contains(&tag.as_str()) {
            tags.push(tag);
        }
    }
    tags
}

fn results(report: &RunReport, gate: Gate) -> Vec<Value> {
    let judged = report.results.iter().enumerate().filter(|(_, result)| !result.is_open());
    judged.map(|(at, result)| found(at, result, gate)).collect()
}

fn found(at: usize, result: &CheckResult, gate: Gate) -> Value {
    let is_counted = gate.ending(result) == Ending::Failed;
    let (kind, level) = match result.status {
        // Whatever makes the run fail is an error, and nothing else is.
        CheckStatus::Fail | CheckStatus::Warn if is_counted => ("fail", "error"),
        CheckStatus::Fail | CheckStatus::Warn if result.severity == Severity::Info => ("fail", "note"),
        CheckStatus::Fail | CheckStatus::Warn => ("fail", "warning"),
        CheckStatus::Pass => ("pass", "none"),
        CheckStatus::Skipped | CheckStatus::Error => ("notApplicable", "none"),
    };
    json!({
        "ruleId": result.check_id,
        "ruleIndex": at,
        "kind": kind,
        "level": level,
        "message": {"text": text(&format!("{}: {}", result.check_name, sentence(result)))},
        "locations": [{
            "physicalLocation": place(result),
            "logicalLocations": result.target_table.iter()
                .map(|table| json!({"fullyQualifiedName": table, "kind": "table"})).collect::<Vec<_>>(),
        }],
        "partialFingerprints": {"ordainCheck/v1": result.check_id},
        "properties": {
            "status": result.status,
            "skipped": result.skipped,
            "evaluated": result.evaluated,
            "failed": result.failed,
            "failed_pct": result.failed_pct,
            "samples": result.samples,
            "code_from": result.code_from,
        },
    })
}

/// Where the check is written; viewers show nothing without a file.
fn place(result: &CheckResult) -> Value {
    let (file, line) = result.location.as_ref().map_or((CHECKS_FILE, 1), |place| (&place.file, place.line));
    json!({"artifactLocation": {"uri": file}, "region": {"startLine": line}})
}

fn notifications(report: &RunReport, gate: Gate) -> Vec<Value> {
    let open = report.results.iter().enumerate().filter(|(_, result)| result.is_open());
    let notified = open.map(|(at, result)| {
        let is_counted = gate.ending(result) == Ending::NotEvaluated;
        json!({
            "level": if is_counted { "error" } else { "warning" },
            "message": {"text": text(&sentence(result))},
            "associatedRule": {"id": result.check_id, "index": at},
            "locations": [{"physicalLocation": place(result)}],
        })
    });
    let stopped = gate.is_interrupted.then(|| {
        json!({"level": "error", "message": {"text": "somebody stopped the run: not every check is finished"}})
    });
    notified.chain(stopped).collect()
}

/// A message may not be empty.
fn text(text: &str) -> &str {
    if text.is_empty() { "(nothing said)" } else { text }
}

const fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Info => "note",
        Severity::Low | Severity::Medium => "warning",
        Severity::High | Severity::Critical => "error",
    }
}
