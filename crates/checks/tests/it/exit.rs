//! The exit code: a test for each row of the table, and the priority between the rows.

use ordain_checks::exit::{Circumstances, FailOn, exit_code};
use ordain_checks::{CheckResult, CheckStatus, Severity, SkipReason};

use crate::fixture::result;

const CALM: Circumstances =
    Circumstances { is_misused: false, is_interrupted: false, is_frozen: false, allows_skipped: false };

fn of(status: CheckStatus, severity: Severity) -> CheckResult {
    result("A", status, severity)
}

#[track_caller]
fn check(fail_on: &str, results: &[CheckResult], expected: u8) {
    assert_eq!(exit_code(results, fail_on.parse().unwrap(), CALM), expected, "--fail-on {fail_on}");
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
        (SkipReason::MissingTable, 3),
        (SkipReason::Disabled, 0),
        (SkipReason::Frozen, 0),
        (SkipReason::UpstreamFailed, 0),
        (SkipReason::Filtered, 0),
    ] {
        check("never", &[skipped(reason)], code);
        let lax = Circumstances { allows_skipped: true, ..CALM };
        assert_eq!(exit_code(&[skipped(reason)], FailOn::default(), lax), 0, "{reason:?}");
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
fn frozen_is_4() {
    let frozen = Circumstances { is_frozen: true, ..CALM };
    assert_eq!(exit_code(&[of(CheckStatus::Pass, Severity::High)], FailOn::default(), frozen), 4);
}

#[test]
fn misuse_is_2() {
    assert_eq!(exit_code(&[], FailOn::default(), Circumstances { is_misused: true, ..CALM }), 2);
}

#[test]
fn interruption_is_130() {
    assert_eq!(exit_code(&[], FailOn::default(), Circumstances { is_interrupted: true, ..CALM }), 130);
}

#[test]
fn the_priority_is_2_then_130_then_3_then_1_then_4_then_0() {
    let mut results = vec![of(CheckStatus::Fail, Severity::High), of(CheckStatus::Error, Severity::High)];
    let mut all =
        Circumstances { is_misused: true, is_interrupted: true, is_frozen: true, allows_skipped: false };
    let code = |results: &[CheckResult], all| exit_code(results, FailOn::default(), all);
    assert_eq!(code(&results, all), 2);
    all.is_misused = false;
    assert_eq!(code(&results, all), 130);
    all.is_interrupted = false;
    assert_eq!(code(&results, all), 3);
    results.pop();
    assert_eq!(code(&results, all), 1);
    results.pop();
    assert_eq!(code(&results, all), 4);
    all.is_frozen = false;
    assert_eq!(code(&results, all), 0);
}

#[test]
fn an_unknown_word_to_fail_on_is_told_with_the_known_ones() {
    let error = "hgih".parse::<FailOn>().unwrap_err().to_string();
    assert!(error.contains("hgih") && error.contains("critical, warn or never"), "{error}");
}
