//! What a run of checks has to tell the addresses that its owner named. The messages go through the outbox.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::report::words::{by_weight, sentence};
use crate::{CheckResult, CheckStatus, RunReport};
use ordain_tools::{NOTIFY, NotifyForm, Occasion, Toolbox};
use ordain_types::Call;
use serde_json::{Value, json};

/// Results that one message names.
const RESULTS_MAX: usize = 50;
/// The status of every check in its last run.
pub(crate) type Before = BTreeMap<String, CheckStatus>;

/// The messages of a run, one for each address that wants to hear of it.
pub(crate) fn messages(toolbox: &Toolbox, report: &RunReport, before: &Before) -> Vec<Call> {
    let wanted = toolbox.notify().filter_map(|(name, notify)| {
        let told = told(report, before, notify.settings.on);
        let is_due = notify.settings.on == Occasion::Always || !told.is_empty();
        is_due.then(|| (name, message(report, &told, before, notify.settings.form)))
    });
    let call = |(n, (name, arguments)): (u32, (&str, Value))| Call {
        n,
        kind: NOTIFY.to_owned(),
        name: format!("notify.{name}"),
        arguments,
        lane: format!("notify.{name}"),
        undo: None,
        result: None,
        undoes: None,
        taken_back: None,
    };
    (1..).zip(wanted).map(call).collect()
}

/// The results that an address hears of, what weighs most first.
fn told<'a>(report: &'a RunReport, before: &Before, on: Occasion) -> Vec<&'a CheckResult> {
    let is_told = |result: &&CheckResult| match on {
        Occasion::Always | Occasion::Problem => result.is_open() || is_problem(result.status),
        // A check that passes from its first run on is no news.
        Occasion::Change => {
            before.get(&result.check_id).copied().unwrap_or(CheckStatus::Pass) != result.status
        }
    };
    by_weight(&report.results).into_iter().filter(is_told).collect()
}

fn is_problem(status: CheckStatus) -> bool {
    matches!(status, CheckStatus::Warn | CheckStatus::Fail | CheckStatus::Error)
}

fn message(report: &RunReport, told: &[&CheckResult], before: &Before, form: NotifyForm) -> Value {
    let shown = told.iter().take(RESULTS_MAX);
    if form != NotifyForm::Json {
        let counts = report.counts.iter().filter(|(_, count)| **count > 0);
        let counts: Vec<String> =
            counts.map(|(status, count)| format!("{count} {}", status.name())).collect();
        let title = format!("{}: {}", report.workspace, counts.join(", "));
        let mut text = title.clone();
        for result in shown {
            let (status, severity) = (result.status.name(), result.severity.name());
            let _ = write!(text, "\n{status} ({severity}) {}: {}", result.check_id, sentence(result));
        }
        return match form {
            NotifyForm::Mail => {
                json!({ "subject": title, "text": format!("{text}\n\nRun {}\n", report.run_id) })
            }
            _ => json!({ "text": text }),
        };
    }
    // Values of rows stay in the workspace.
    let results = shown.map(|result| {
        json!({
            "check_id": result.check_id,
            "check_name": result.check_name,
            "status": result.status,
            "skipped": result.skipped,
            "status_before": before.get(&result.check_id),
            "severity": result.severity,
            "owner": result.owner,
            "tables": result.target_table,
            "rule": result.rule,
            "understood": result.understood,
            "summary": sentence(result),
            "failed": result.failed,
            "evaluated": result.evaluated,
        })
    });
    json!({
        "workspace": report.workspace,
        "run_id": report.run_id,
        "started_at": report.started_at,
        "counts": report.counts,
        "results": results.collect::<Vec<_>>(),
        "results_left_out": told.len().saturating_sub(RESULTS_MAX),
    })
}

#[cfg(test)]
mod tests {
    use crate::{Check, SkipReason};
    use serde_json::Map;

    use super::*;

    #[test]
    fn no_message_says_passed_of_what_was_not_looked_at() {
        let skipped = SkipReason::ALL.map(|reason| (CheckStatus::Skipped, Some(reason)));
        let others = CheckStatus::ALL.map(|status| (status, None));
        for (status, skipped) in others.into_iter().chain(skipped) {
            let check = Check::new("C".to_owned(), "t", crate::catalogue::Kind::Unique, Map::new());
            let result = CheckResult { status, skipped, ..CheckResult::new(&check) };
            let report = RunReport {
                run_id: "r".to_owned(),
                schema_version: 1,
                workspace: "w".to_owned(),
                started_at: String::new(),
                duration_ms: 0.0,
                counts: BTreeMap::from([(status, 1)]),
                results: vec![result.clone()],
            };
            let is_told = !told(&report, &Before::new(), Occasion::Problem).is_empty();
            assert_eq!(is_told, result.is_open() || is_problem(status), "{status:?} {skipped:?}");
            for form in [NotifyForm::Json, NotifyForm::Slack, NotifyForm::Mail] {
                let text = message(&report, &[&result], &Before::new(), form).to_string();
                assert_eq!(text.contains("PASS"), status == CheckStatus::Pass, "{text}");
            }
        }
    }
}
