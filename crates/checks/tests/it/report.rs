//! Every format, on an ordinary report and on one whose every text is hostile.

use ordain_checks::exit::Gate;
use ordain_checks::report::{
    Format, TextOptions, render, render_csv, render_json, render_junit, render_markdown, render_sarif,
    render_text, run_report_schema,
};
use ordain_checks::{CheckStatus, RunReport, Severity, SkipReason};

use serde_json::json;

use crate::fixture::{hostile, ordinary, report, result};
use crate::validators::{assert_json, assert_xml};

const SARIF: &str = include_str!("schemas/sarif-2.1.0.json");
const JUNIT: &str = include_str!("schemas/junit.xsd");

fn plain(width: usize) -> TextOptions {
    TextOptions { width, color: false }
}

#[test]
fn json_keeps_to_the_schema_that_is_shipped() {
    for report in [ordinary(), hostile(), report(Vec::new())] {
        assert_json(&run_report_schema().to_string(), &render_json(&report));
    }
}

#[test]
fn json_is_read_back_as_the_same_report() {
    for report in [ordinary(), hostile()] {
        assert_eq!(serde_json::from_str::<RunReport>(&render_json(&report)).unwrap(), report);
    }
}

#[test]
fn code_that_is_not_compiled_is_not_called_kept() {
    let mut frozen = result("CHK-9", CheckStatus::Skipped, Severity::High);
    (frozen.skipped, frozen.code_from) = (Some(SkipReason::Frozen), None);
    let kept = result("CHK-8", CheckStatus::Pass, Severity::High);
    let text = render_text(&report(vec![kept.clone(), frozen.clone()]), plain(100));
    assert!(text.ends_with(" · code: 1 kept, 1 not compiled\n"), "{text}");
    let text = render_text(&report(vec![frozen]), plain(100));
    assert!(text.ends_with(" · code: 1 not compiled\n"), "{text}");
    let text = render_text(&report(vec![kept]), plain(100));
    assert!(text.ends_with(" · all code kept\n"), "{text}");
}

#[test]
fn junit_keeps_to_its_schema() {
    for report in [ordinary(), hostile(), report(Vec::new())] {
        assert_xml(JUNIT, &render_junit(&report, Gate::default()));
    }
}

#[test]
fn junit_has_a_suite_for_each_table_and_tells_failures_errors_and_skips_apart() {
    let xml = render_junit(&ordinary(), Gate::default());
    assert!(
        xml.contains(r#"<testsuites name="shop" tests="5" failures="1" errors="2" time="1.234">"#),
        "{xml}"
    );
    for table in ["orders", "users", "events"] {
        assert_eq!(xml.matches(&format!("<testsuite name=\"{table}\"")).count(), 1, "{xml}");
    }
    assert!(xml.contains(
        r#"<failure type="hint" message="30 of 120 events have a user_id that is missing from users">"#
    ));
    assert!(xml.contains("event_id=1000, name=登録 完了, user_id=900"));
    assert!(
        xml.contains(
            r#"<error type="memory_limit" message="memory_limit: the code used more than 512 MiB"/>"#
        )
    );
    // Not evaluated is not green.
    assert!(
        xml.contains(
            r#"<error type="missing_table" message="missing_table: table `refunds` is not there"/>"#
        )
    );
    let mut off = result("CHK-006", CheckStatus::Skipped, Severity::Low);
    off.skipped = Some(SkipReason::Disabled);
    assert!(render_junit(&report(vec![off.clone()]), Gate::default()).contains("<skipped message="));
    off.skipped = Some(SkipReason::Frozen);
    assert!(render_junit(&report(vec![off]), Gate::default()).contains("<error type="));
    assert!(xml.contains(r#"<property name="CHK-003.severity" value="high"/>"#));
    // Tools put errors together by their type: it is a word, and the sentence is the message.
    for (skipped, reason, kind) in [
        (
            Some(SkipReason::NotUnderstood),
            "not_understood: I do not understand “blorp”: say it otherwise",
            "not_understood",
        ),
        (None, "ZeroDivisionError: division by zero", "ZeroDivisionError"),
        (None, "column `price` holds text, and a sum is of numbers; declare its type", "error"),
    ] {
        let mut open = result("CHK-007", CheckStatus::Error, Severity::Low);
        (open.skipped, open.reason) = (skipped, Some(reason.to_owned()));
        let xml = render_junit(&report(vec![open]), Gate::default());
        assert!(xml.contains(&format!("<error type=\"{kind}\" message=")), "{xml}");
    }
}

#[test]
fn sarif_keeps_to_its_schema() {
    for report in [ordinary(), hostile(), report(Vec::new())] {
        assert_json(SARIF, &render_sarif(&report, Gate::default()));
    }
}

#[test]
fn sarif_tells_a_check_that_could_not_be_evaluated_as_a_notification() {
    let log: serde_json::Value = serde_json::from_str(&render_sarif(&ordinary(), Gate::default())).unwrap();
    let run = &log["runs"][0];
    let results = run["results"].as_array().unwrap();
    let told: Vec<_> = results
        .iter()
        .map(|result| (result["ruleId"].as_str().unwrap(), result["level"].as_str().unwrap()))
        .collect();
    assert_eq!(told, [("CHK-001", "none"), ("CHK-002", "warning"), ("CHK-003", "error")]);
    assert_eq!(run["invocations"][0]["executionSuccessful"], false);
    let told = &run["invocations"][0]["toolExecutionNotifications"];
    assert_eq!(
        (&told[0]["associatedRule"]["id"], &told[1]["associatedRule"]["id"]),
        (&json!("CHK-004"), &json!("CHK-005"))
    );
}

#[test]
fn csv_has_a_line_for_each_check_and_nothing_that_a_spreadsheet_computes() {
    for report in [ordinary(), hostile()] {
        let text = render_csv(&report);
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let lines: Vec<csv::StringRecord> = reader.records().collect::<Result<_, _>>().unwrap();
        assert_eq!(lines.len(), 5);
        for cell in lines.iter().flatten() {
            assert!(!cell.starts_with(['=', '+', '-', '@', '\t', '\r']), "{cell}");
        }
    }
}

#[test]
fn the_table_says_everything_without_colour() {
    let text = render_text(&ordinary(), plain(100));
    let expected = "\
STATUS  CHECK  FAILED  SUMMARY
ERROR CHK-004 SKIPPED CHK-005 FAIL CHK-003 WARN CHK-002 PASS CHK-001";
    // What weighs most comes first.
    let first_words = |line: &str| line.split_whitespace().take(2).collect::<Vec<_>>().join(" ");
    let heading = text.lines().next().unwrap().split_whitespace().collect::<Vec<_>>().join("  ");
    let rows: Vec<String> = text.lines().skip(1).take(5).map(first_words).collect();
    assert_eq!(format!("{heading}\n{}", rows.join(" ")), expected, "{text}");
    assert!(text.contains("recompiled because column user_id of events changed integer → text"), "{text}");
    assert!(text.contains("… and 25 more"), "{text}");
    assert!(text.contains("all failing rows: CHK-003/failed_rows.csv"), "{text}");
    assert!(
        text.ends_with(
            "5 checks · 1 pass · 1 warn · 1 fail · 1 error · 1 skipped · 2 not evaluated · 1.2 s · code: 3 kept, 1 by the reader\n"
        ),
        "{text}"
    );
    assert!(!text.contains('\u{1b}'), "{text}");
}

#[test]
fn no_line_of_the_table_is_wider_than_the_terminal() {
    use unicode_width::UnicodeWidthStr;
    for width in [40, 60, 80, 100, 200] {
        for report in [ordinary(), hostile()] {
            let text = render_text(&report, plain(width));
            // The totals are one line, as they are.
            let lines: Vec<_> = text.lines().collect();
            for line in &lines[..lines.len() - 1] {
                let is_path = line.starts_with("  all failing rows");
                assert!(is_path || line.width() <= width, "{width}: {} {line}", line.width());
            }
        }
    }
}

#[test]
fn colour_is_only_around_statuses_and_hostile_text_brings_none() {
    let text = render_text(&hostile(), TextOptions { width: 100, color: true });
    for (at, _) in text.match_indices('\u{1b}') {
        let ours = ["[0m", "[32m", "[33m", "[1;31m", "[1;35m", "[35m", "[2m"];
        assert!(ours.iter().any(|code| text[at + 1..].starts_with(code)), "{text}");
    }
    for format in [render_text(&hostile(), plain(100)), render_markdown(&hostile())] {
        assert!(!format.contains(['\u{1b}', '\u{0}', '\u{7}', '\u{202e}', '\r']), "{format}");
    }
}

#[test]
fn markdown_tables_keep_their_shape_whatever_the_cells_hold() {
    let text = render_markdown(&hostile());
    let columns = |line: &str| line.matches('|').count();
    let mut lines = text.lines().peekable();
    let mut tables = 0;
    while let Some(line) = lines.next() {
        if lines.peek().is_some_and(|next| next.starts_with("|---")) {
            tables += 1;
            let width = columns(line);
            lines.next();
            while let Some(row) = lines.next_if(|row| row.starts_with('|')) {
                assert_eq!(columns(row), width, "{row}");
            }
        }
    }
    assert_eq!(tables, 4, "{text}");
    assert!(!text.contains("<script") && !text.contains('@') && !text.contains("]("), "{text}");
}

#[test]
fn markdown_tells_the_whole_reason_of_a_check_that_was_not_evaluated_and_counts_it() {
    let mut report = ordinary();
    let why = format!("the reader does not understand this rule: {}, the end", "word ".repeat(80));
    for result in report.results.iter_mut().filter(|result| result.is_open()) {
        (result.summary, result.reason) = (String::new(), Some(why.clone()));
    }
    let text = render_markdown(&report);
    assert!(text.contains(" · 2 not evaluated · "), "{text}");
    assert_eq!(text.matches(", the end").count(), 2, "{text}");
}

#[test]
fn every_format_is_read_by_its_name_and_renders() {
    for format in Format::ALL {
        assert_eq!(format.to_string().parse::<Format>().unwrap(), format);
        let text = render(&ordinary(), format, TextOptions::default(), Gate::default());
        assert_eq!(text.is_none(), format == Format::Html, "{format}");
    }
    let error = "jnuit".parse::<Format>().unwrap_err();
    assert_eq!(error.nearest.as_deref(), Some("junit"));
}

#[test]
fn ten_thousand_checks_are_rendered_in_every_format() {
    let mut report = ordinary();
    let results = report.results.clone();
    report.results = results.into_iter().cycle().take(10_000).collect();
    for format in Format::ALL {
        let text = render(&report, format, TextOptions::default(), Gate::default()).unwrap_or_default();
        assert!(format != Format::Markdown || text.len() < 1 << 20, "a job summary may not pass a mebibyte");
    }
}
