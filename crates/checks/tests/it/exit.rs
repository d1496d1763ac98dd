//! The exit code: a test for each row of the table, and the priority between the rows.

use ordain_checks::exit::{FailOn, Gate, exit_code};
use ordain_checks::{CheckResult, CheckStatus, Severity, SkipReason};

use crate::fixture::result;

fn of(status: CheckStatus, severity: Severity) -> CheckResult {
    result("A", status, severity)
}

#[track_caller]
fn check(fail_on: &str, results: &[CheckResult], expected: u8) {
    let gate = Gate { fail_on: fail_on.parse().unwrap(), ..Gate::default() };
    assert_eq!(exit_code(results, gate), expected, "--fail-on {fail_on}");
}

#[test]
fn nothing_found_is_0() {
    check("low", &[], 0);
    check(
        "info",
        &[of(CheckStatus::Pass, Severity::Critical), of(CheckStatus::Skipped, Severity::Critical)],
        0,
    );
}

#[test]
fn what_could_not_be_evaluated_is_3_unless_allowed() {
    let skipped = |reason| CheckResult { skipped: Some(reason), ..of(CheckStatus::Skipped, Severity::Info) };
    for (reason, code) in [
        (SkipReason::NotCompiled, 3),
        (SkipReason::NotUnderstood, 3),
        (SkipReason::MissingTable, 3),
        (SkipReason::EmptyTable, 3),
        (SkipReason::NoRows, 0),
        (SkipReason::Disabled, 0),
        (SkipReason::UpstreamFailed, 0),
        (SkipReason::Filtered, 0),
    ] {
        check("never", &[skipped(reason)], code);
        let lax = Gate { allows_skipped: true, ..Gate::default() };
        assert_eq!(exit_code(&[skipped(reason)], lax), 0, "{reason:?}");
    }
}

#[test]
fn by_default_every_failure_above_info_is_1() {
    let default = FailOn::default().to_string();
    check(&default, &[of(CheckStatus::Fail, Severity::Info)], 0);
    for severity in [Severity::Low, Severity::Medium, Severity::High, Severity::Critical] {
        check(&default, &[of(CheckStatus::Fail, severity)], 1);
    }
}

#[test]
fn a_failure_counts_from_its_severity_on() {
    for least in Severity::ALL {
        for severity in Severity::ALL {
            check(least.name(), &[of(CheckStatus::Fail, severity)], u8::from(severity >= least));
        }
    }
}

#[test]
fn a_warning_is_0_unless_asked() {
    let warning = [of(CheckStatus::Warn, Severity::Critical)];
    for fail_on in ["info", "low", "critical", "never"] {
        check(fail_on, &warning, 0);
    }
    check("warn", &warning, 1);
    check("warn", &[of(CheckStatus::Fail, Severity::Info)], 1);
}

#[test]
fn never_fails_on_nothing_but_still_tells_errors() {
    check("never", &[of(CheckStatus::Fail, Severity::Critical)], 0);
    check("never", &[of(CheckStatus::Error, Severity::Info)], 3);
}

#[test]
fn an_error_is_3_whatever_its_severity() {
    for severity in Severity::ALL {
        check("critical", &[of(CheckStatus::Error, severity)], 3);
    }
}

#[test]
fn frozen_is_4_whatever_is_allowed() {
    for allows_skipped in [false, true] {
        let gate = Gate { allows_skipped, ..Gate::default() };
        assert_eq!(exit_code(&[of(CheckStatus::Pass, Severity::High), frozen()], gate), 4);
    }
}

fn frozen() -> CheckResult {
    CheckResult { skipped: Some(SkipReason::Frozen), ..of(CheckStatus::Skipped, Severity::Info) }
}

#[test]
fn interruption_is_130() {
    assert_eq!(exit_code(&[], Gate { is_interrupted: true, ..Gate::default() }), 130);
}

#[test]
fn the_priority_is_130_then_3_then_1_then_4_then_0() {
    let mut results =
        vec![frozen(), of(CheckStatus::Fail, Severity::High), of(CheckStatus::Error, Severity::High)];
    assert_eq!(exit_code(&results, Gate { is_interrupted: true, ..Gate::default() }), 130);
    for expected in [3, 1, 4, 0] {
        assert_eq!(exit_code(&results, Gate::default()), expected);
        results.pop();
    }
}

#[test]
fn an_unknown_word_to_fail_on_is_told_with_the_known_ones() {
    let error = "hgih".parse::<FailOn>().unwrap_err().to_string();
    assert!(error.contains("hgih") && error.contains("critical, warn or never"), "{error}");
}
