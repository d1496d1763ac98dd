//! What was not looked at is green nowhere: every status, every format, every way to end a run.

use ordain_checks::exit::{self, Ending, FailOn, Gate, exit_code};
use ordain_checks::report::{
    Format, TextOptions, render, render_csv, render_json, render_junit, render_markdown, render_sarif,
    render_text,
};
use ordain_checks::{CheckResult, CheckStatus, Mark, RunReport, Severity, SkipReason, Tone};
use serde_json::Value;

use crate::fixture::{report, result};

/// Every way in which a result can stand, with each severity.
fn every_result() -> Vec<CheckResult> {
    let skipped = SkipReason::ALL.map(|reason| (CheckStatus::Skipped, Some(reason)));
    let others = CheckStatus::ALL.map(|status| (status, None));
    let stands = others.into_iter().chain(skipped);
    let results = stands.flat_map(|(status, skipped)| {
        Severity::ALL.map(|severity| CheckResult { skipped, ..result("CHK-1", status, severity) })
    });
    results.collect()
}

fn every_gate() -> Vec<Gate> {
    let levels = ["info", "low", "medium", "high", "critical", "warn", "never"];
    let gates = levels.into_iter().flat_map(|level| {
        let fail_on: FailOn = level.parse().unwrap();
        [(false, false), (true, false), (false, true)].map(|(allows_skipped, is_interrupted)| Gate {
            fail_on,
            allows_skipped,
            is_interrupted,
        })
    });
    gates.collect()
}

fn is_green(result: &CheckResult) -> bool {
    result.status == CheckStatus::Pass
}

fn one(result: &CheckResult) -> RunReport {
    report(vec![result.clone()])
}

#[test]
fn only_a_pass_is_green_and_every_other_way_to_stand_has_a_word_of_its_own() {
    let mut words = Vec::new();
    for result in every_result() {
        let mark = result.mark();
        assert_eq!(mark.tone == Tone::Good, is_green(&result), "{mark:?}");
        assert_eq!(mark.letter == '.', is_green(&result), "{mark:?}");
        assert_eq!(mark.is_open, result.is_open());
        if !words.contains(&(mark.word, result.status, result.skipped)) {
            words.push((mark.word, result.status, result.skipped));
        }
    }
    let distinct: std::collections::BTreeSet<&str> = words.iter().map(|(word, ..)| *word).collect();
    assert_eq!(distinct.len(), words.len(), "{words:?}");
    assert_eq!(Mark::of(CheckStatus::Skipped, Some(SkipReason::NoRows)).word, "no rows");
}

#[test]
fn no_format_shows_what_was_not_looked_at_as_passed() {
    for result in every_result() {
        let report = one(&result);
        let text = render_text(&report, TextOptions { width: 100, color: true });
        assert_eq!(text.contains("\u{1b}[32m"), is_green(&result), "{text}");
        assert_eq!(text.contains("PASS"), is_green(&result), "{text}");
        let markdown = render_markdown(&report);
        assert_eq!(markdown.contains('✅'), is_green(&result), "{markdown}");
        let json: Value = serde_json::from_str(&render_json(&report)).unwrap();
        assert_eq!(json["counts"]["PASS"] == 1, is_green(&result), "{json}");
        assert_eq!(json["results"][0]["status"] == "PASS", is_green(&result), "{json}");
        let csv = render_csv(&report);
        assert_eq!(csv.contains(",PASS,"), is_green(&result), "{csv}");
        for gate in every_gate() {
            let junit = render_junit(&report, gate);
            let is_bare = junit.contains("time=\"0.004\"/>");
            assert_eq!(is_bare, is_green(&result), "{junit}");
            let sarif: Value = serde_json::from_str(&render_sarif(&report, gate)).unwrap();
            let found = &sarif["runs"][0]["results"][0];
            assert_eq!(found["kind"] == "pass", is_green(&result), "{found}");
        }
    }
}

#[test]
fn junit_sarif_and_the_exit_code_always_agree() {
    for result in every_result() {
        for gate in every_gate() {
            let report = one(&result);
            let code = exit_code(&report.results, gate);
            let junit = render_junit(&report, gate);
            let does_fail = junit.contains("<failure ") || junit.contains("<error ");
            assert_eq!(does_fail, code != exit::OK, "{code} {gate:?} {junit}");
            assert_eq!(junit.contains("<failure "), gate.ending(&result) == Ending::Failed, "{junit}");
            let sarif: Value = serde_json::from_str(&render_sarif(&report, gate)).unwrap();
            let run = &sarif["runs"][0];
            let found = run["results"].as_array().unwrap().iter();
            let notified = run["invocations"][0]["toolExecutionNotifications"].as_array().unwrap().iter();
            let does_fail = found.chain(notified).any(|told| told["level"] == "error");
            assert_eq!(does_fail, code != exit::OK, "{code} {gate:?} {sarif}");
            assert_eq!(run["invocations"][0]["exitCode"], code);
            let is_successful = run["invocations"][0]["executionSuccessful"] == true;
            assert_eq!(is_successful, matches!(code, exit::OK | exit::FAILED), "{sarif}");
        }
    }
}

#[test]
fn every_format_names_the_reason_why_a_check_was_skipped() {
    for reason in SkipReason::ALL {
        let mut skipped = result("CHK-1", CheckStatus::Skipped, Severity::Medium);
        (skipped.skipped, skipped.reason) = (Some(reason), Some(format!("{}: because", reason.name())));
        for format in Format::ALL.into_iter().filter(|format| *format != Format::Html) {
            let options = TextOptions { width: 200, color: false };
            let text = render(&one(&skipped), format, options, Gate::default()).unwrap();
            let name = reason.name();
            let escaped = name.replace('_', "&#95;");
            assert!(text.contains(name) || text.contains(&escaped), "{format}: {text}");
        }
    }
}
