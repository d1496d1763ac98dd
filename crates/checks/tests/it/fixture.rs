//! Reports to render: an ordinary one, and one whose every text attacks the format it is shown in.

use std::collections::BTreeMap;

use ordain_checks::{Check, CheckResult, CheckStatus, CodeFrom, FailedRow, RunReport, Severity, SkipReason};
use serde_json::{Value, json};

/// A result with nothing in it but its status.
pub(crate) fn result(id: &str, status: CheckStatus, severity: Severity) -> CheckResult {
    let params = json!({ "columns": ["id"] }).as_object().cloned().unwrap_or_default();
    let mut check = Check::new(id.to_owned(), "orders", ordain_checks::catalogue::Kind::NotNull, params);
    (check.check_name, check.severity) = (format!("{id} by name"), severity);
    CheckResult {
        status,
        understood: Some("orders: `id` must be there in every row".to_owned()),
        evaluated: Some(120),
        failed: Some(0),
        failed_pct: Some(0.0),
        code_from: Some(CodeFrom::Cache),
        duration_ms: 4.25,
        ..CheckResult::new(&check)
    }
}

/// A report over these results.
pub(crate) fn report(results: Vec<CheckResult>) -> RunReport {
    let counts = CheckStatus::ALL
        .into_iter()
        .map(|status| (status, results.iter().filter(|result| result.status == status).count() as u64))
        .collect();
    RunReport {
        run_id: "run-0007".to_owned(),
        schema_version: 1,
        workspace: "shop".to_owned(),
        started_at: "2026-03-01T08:00:00Z".to_owned(),
        duration_ms: 1234.5,
        counts,
        results,
    }
}

fn row(key: &[(&str, Value)], values: &[(&str, Value)]) -> FailedRow {
    let map = |cells: &[(&str, Value)]| -> BTreeMap<String, Value> {
        cells.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
    };
    FailedRow { key: map(key), values: map(values) }
}

/// One check of each status.
pub(crate) fn ordinary() -> RunReport {
    let mut pass = result("CHK-001", CheckStatus::Pass, Severity::Medium);
    pass.check_name = "Every order has a user".into();
    pass.summary = "all 120 orders have a user".into();
    pass.owner = Some("data-quality@example.com".to_owned());
    pass.tags = vec!["integrity".to_owned(), "join".to_owned(), "join".to_owned()];
    let mut warn = result("CHK-002", CheckStatus::Warn, Severity::Low);
    warn.check_name = "Few e-mail addresses are missing".into();
    warn.summary = "1 of 120 users has no e-mail address".into();
    (warn.failed, warn.failed_pct) = (Some(1), Some(0.83));
    warn.target_table = vec!["users".to_owned()];
    warn.samples = vec![row(&[("user_id", json!(17))], &[("email", Value::Null)])];
    warn.notes = vec!["column `nickname` of users is new and not used".to_owned()];
    let mut fail = result("CHK-003", CheckStatus::Fail, Severity::High);
    fail.check_name = "Unknown users in events".into();
    fail.kind = "hint".into();
    fail.target_table = vec!["events".to_owned(), "users".to_owned()];
    fail.summary = "30 of 120 events have a user_id that is missing from users".into();
    (fail.failed, fail.failed_pct) = (Some(30), Some(25.0));
    fail.samples = (0..7)
        .map(|at| {
            row(
                &[("event_id", json!(1000 + at))],
                &[("user_id", json!(900 + at)), ("name", json!("登録 完了"))],
            )
        })
        .collect();
    fail.artifacts = vec!["CHK-003/failed_rows.csv".to_owned()];
    fail.code_from = Some(CodeFrom::Rules);
    fail.recompiled = Some("column user_id of events changed integer → text".to_owned());
    fail.plan = Some(json!({"intent": "rows missing in another table", "tables": ["events", "users"],
        "steps": ["read both tables", "keep events whose user_id is not in users"]}));
    fail.code = Some("import pandas as pd\n\nevents = frame(\"events\")\nusers = frame(\"users\")\nmissing = events[~events[\"user_id\"].isin(users[\"user_id\"])]\n".to_owned());
    let mut error = result("CHK-004", CheckStatus::Error, Severity::Medium);
    error.check_name = "Totals agree".into();
    error.reason = Some("memory_limit".to_owned());
    error.summary = "the code used more than 512 MiB".into();
    (error.evaluated, error.failed, error.failed_pct) = (None, None, None);
    let mut skipped = result("CHK-005", CheckStatus::Skipped, Severity::Info);
    skipped.check_name = "Refunds have an order".into();
    skipped.reason = Some("missing_table".to_owned());
    skipped.skipped = Some(SkipReason::MissingTable);
    skipped.summary = "table `refunds` is not there".into();
    (skipped.evaluated, skipped.failed, skipped.failed_pct, skipped.code_from) = (None, None, None, None);
    report(vec![pass, warn, fail, error, skipped])
}

/// What attackers write into names and cells.
pub(crate) const HOSTILE: &str = "</title><script>alert(1)</script>\"' onload=x ]]> <!-- | `a` [x](javascript:y) \
     @everyone #1 \u{1b}[2J\u{0}\u{7}\u{202e}\u{fffe} =HYPERLINK(\"x\") ${7*7} \\ {{x}}\nnext\rline";

/// A report in which every text is hostile.
pub(crate) fn hostile() -> RunReport {
    let text = || HOSTILE.to_owned();
    let mut results: Vec<_> =
        CheckStatus::ALL.into_iter().map(|status| result(HOSTILE, status, Severity::High)).collect();
    for result in &mut results {
        result.check_id = format!("{HOSTILE}{}", result.status.name());
        result.check_name = format!("={HOSTILE}");
        result.summary = text();
        result.reason = Some(text());
        result.owner = Some(text());
        result.tags = vec![text()];
        result.target_table = vec![text()];
        result.kind = text();
        result.samples = vec![row(
            &[(HOSTILE, json!(HOSTILE))],
            &[("b", json!({"deep": [HOSTILE]})), (HOSTILE, json!(1))],
        )];
        (result.failed, result.failed_pct) = (Some(3), Some(2.5));
        result.artifacts = vec![text()];
        result.recompiled = Some(text());
        result.notes = vec![text()];
        result.code = Some(text());
        result.plan = Some(json!({HOSTILE: HOSTILE}));
        result.compiled_against = Some(json!({HOSTILE: HOSTILE}));
    }
    RunReport { workspace: text(), run_id: text(), ..report(results) }
}
