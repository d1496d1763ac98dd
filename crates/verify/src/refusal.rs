//! What the findings of refused code mean for those who are to put it right.

use ordain_types::{ErrorClass, Trouble};

use crate::{Finding, Severity};

/// Findings that are told at once.
const FINDINGS_TOLD: usize = 12;
/// Characters of a line that a finding quotes.
const LINE_CHARS_MAX: usize = 100;

/// What the verifier's findings mean for the planner: all of them, each with its line where there are several.
pub fn refusal(findings: &[Finding], code: &str) -> Trouble {
    let errors: Vec<&Finding> =
        findings.iter().filter(|finding| finding.severity == Severity::Error).collect();
    let mut told: Vec<String> =
        errors.iter().take(FINDINGS_TOLD).map(|finding| described(finding, code, errors.len() > 1)).collect();
    if errors.len() > FINDINGS_TOLD {
        told.push(format!("and {} more of this kind", errors.len() - FINDINGS_TOLD));
    }
    Trouble {
        class: ErrorClass::Verify,
        code: errors.first().map_or_else(|| "rejected".to_owned(), |finding| finding.code.to_string()),
        message: if told.is_empty() { "the plan was refused".to_owned() } else { told.join("; ") },
        line: errors.first().map(|finding| finding.line as u64),
        hint: errors.first().and_then(|finding| finding.hint.clone()),
    }
}

/// A finding in words; one of several quotes its line and brings its own hint.
fn described(finding: &Finding, code: &str, is_one_of_several: bool) -> String {
    let Finding { line, message, hint, .. } = finding;
    let quoted = code.lines().nth(line.saturating_sub(1)).map(str::trim).filter(|_| is_one_of_several);
    let quoted = quoted.map(|text| format!(" `{}`", text.chars().take(LINE_CHARS_MAX).collect::<String>()));
    let hint = hint.as_ref().filter(|_| is_one_of_several).map(|hint| format!(" ({hint})"));
    format!("line {line}{}: {message}{}", quoted.unwrap_or_default(), hint.unwrap_or_default())
}
