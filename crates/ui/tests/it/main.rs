//! Reports as files, on an ordinary run and on one whose every text is hostile.

#[path = "../../../checks/tests/it/fixture.rs"]
mod fixture;

use fixture::{HOSTILE, hostile, ordinary};
use ordain_checks::report::PastResult;
use ordain_checks::{Check, CheckStatus, Severity, SkipReason};
use ordain_ui::Viewer;
use ordain_ui::checks::{CheckPage, Grid, Row, grid};
use ordain_ui::overview::Overview;
use ordain_ui::report::checks;

#[test]
fn a_report_has_no_script_no_address_and_no_markup_from_data() {
    for report in [ordinary(), hostile()] {
        let page = checks(&report, &history());
        assert!(!page.contains("<script") && !page.contains("src=") && !page.contains("href=\"/"), "{page}");
        assert!(!page.contains("http://") && !page.contains("https://") && !page.contains("url("));
        assert!(!page.contains(HOSTILE));
        assert_eq!((page.matches("<title>").count(), page.matches("<h1>").count()), (1, 1));
        assert!(page.contains("default-src 'none'"));
    }
}

#[test]
fn a_report_shows_status_history_code_plan_and_failing_rows() {
    let page = checks(&ordinary(), &history());
    for part in [
        "Unknown users in events",
        "30 of 120",
        "the first 7 of 30",
        "登録 完了",
        "rows missing in another table",
        "of the last",
        "recompiled because",
    ] {
        assert!(page.contains(part), "{part}");
    }
    assert_eq!(page.matches("class=\"result ").count(), 5);
}

#[test]
fn no_page_shows_what_was_not_looked_at_as_passed() {
    let skipped = SkipReason::ALL.map(|reason| (CheckStatus::Skipped, Some(reason)));
    let others = CheckStatus::ALL.map(|status| (status, None));
    for (status, skipped) in others.into_iter().chain(skipped) {
        let mut result = fixture::result("CHK-1", status, Severity::High);
        result.skipped = skipped;
        let report = fixture::report(vec![result.clone()]);
        let past = PastResult::of(&report, &result);
        let viewer = Viewer::default();
        let check = Check::new(
            "CHK-1".to_owned(),
            "orders",
            ordain_checks::catalogue::Kind::NotNull,
            serde_json::Map::default(),
        );
        let rows = vec![Row { check: check.clone(), history: vec![past.clone()], duration_ms: None }];
        let page = CheckPage {
            check,
            file: "checks/checks.json".to_owned(),
            line: 1,
            compiled: None,
            stale: None,
            history: vec![past.clone()],
            result: Some(result.clone()),
        };
        let start = Overview { checks: vec![(Some(past.mark()), 1)], ..Overview::default() };
        let file = checks(&report, &[]);
        let pages = [
            file.split("</style>").nth(1).unwrap_or_default().to_owned(),
            grid(&Grid { rows, ..Grid::default() }, &viewer).into_string(),
            ordain_ui::checks::page(&page, &viewer).into_string(),
            ordain_ui::overview::page(&start).into_string(),
        ];
        for shown in pages {
            let is_green =
                shown.contains("\"good\"") || shown.contains("chip good") || shown.contains(">passed<");
            assert_eq!(is_green, status == CheckStatus::Pass, "{status:?} {skipped:?} {shown}");
            assert!(shown.contains(past.mark().word), "{status:?} {skipped:?} {shown}");
        }
    }
}

#[test]
fn a_report_of_ten_thousand_checks_is_made() {
    let mut report = ordinary();
    let results = report.results.clone();
    report.results = results.into_iter().cycle().take(10_000).collect();
    assert!(checks(&report, &[]).len() > 1 << 20);
}

/// Earlier runs of the ordinary report's checks, as random-looking as real ones.
fn history() -> Vec<PastResult> {
    let statuses =
        [CheckStatus::Pass, CheckStatus::Pass, CheckStatus::Warn, CheckStatus::Fail, CheckStatus::Error];
    (0..200_u32)
        .map(|at| PastResult {
            check_id: format!("CHK-00{}", at % 5 + 1),
            run_id: format!("run-{}", at / 5),
            started_at: format!("2026-02-{:02}T08:00:00Z", at / 8 + 1),
            status: statuses[(at as usize * 7 + at as usize / 5) % statuses.len()],
            skipped: None,
            failed: Some(u64::from(at % 13)),
            failed_pct: Some(f64::from(at % 13) * 2.1),
        })
        .collect()
}
