//! The last runs of a check as a row of small bars: how much failed, and how it was graded.

use maud::{Markup, html};

use super::super::PastResult;
use super::super::words::{percent, visible};
use super::class;
use crate::result::{CheckResult, CheckStatus, RunReport};

/// Runs that are shown, this one included.
const RUNS_MAX: usize = 30;
const BAR_WIDTH: usize = 5;
const GAP: usize = 2;
const HEIGHT: usize = 24;
/// The height of a bar where nothing failed.
const LOWEST: usize = 6;
/// How many heights there are above it.
const STEPS: u8 = 18;

/// One bar.
struct Bar {
    status: CheckStatus,
    height: usize,
    told: String,
}

/// The check's last runs, the newest on the right.
pub(super) fn of(report: &RunReport, result: &CheckResult, history: &[PastResult]) -> Markup {
    let past = history.iter().filter(|past| past.check_id == result.check_id && past.run_id != report.run_id);
    let mut points: Vec<(CheckStatus, Option<f64>, &str)> =
        past.map(|past| (past.status, past.failed_pct, past.started_at.as_str())).collect();
    points.push((result.status, result.failed_pct, &report.started_at));
    let points = &points[points.len().saturating_sub(RUNS_MAX)..];
    let bars = bars(points);
    let width = bars.len() * (BAR_WIDTH + GAP);
    let label = label(points);
    html! {
        svg.sparkline role="img" aria-label=(label) width=(width) height=(HEIGHT) viewBox={ "0 0 " (width) " " (HEIGHT) } {
            title { (label) }
            @for (at, bar) in bars.iter().enumerate() {
                rect class=(class(bar.status)) x=(at * (BAR_WIDTH + GAP)) y=(HEIGHT - bar.height)
                    width=(BAR_WIDTH) height=(bar.height) rx="1" { title { (bar.told) } }
            }
        }
    }
}

/// Heights on the scale of the worst run shown, so that small shares can be told apart.
fn bars(points: &[(CheckStatus, Option<f64>, &str)]) -> Vec<Bar> {
    let worst = points.iter().filter_map(|point| point.1).fold(0.0, f64::max);
    points
        .iter()
        .map(|(status, share, at)| {
            let told = share.map(|share| format!(", {} failed", percent(share))).unwrap_or_default();
            Bar {
                status: *status,
                height: height(*status, *share, worst),
                told: visible(&format!("{at}: {}{told}", status.name())),
            }
        })
        .collect()
}

fn height(status: CheckStatus, share: Option<f64>, worst: f64) -> usize {
    match (status, share) {
        (CheckStatus::Error, _) => HEIGHT,
        (CheckStatus::Skipped, _) => 3,
        (_, Some(share)) if share > 0.0 && worst > 0.0 => {
            // The steps are few and small: this rounds a number between 0 and 1 to one of them.
            let step = (1..=STEPS).find(|step| share * f64::from(STEPS) <= worst * f64::from(*step));
            LOWEST + usize::from(step.unwrap_or(STEPS))
        }
        _ => LOWEST,
    }
}

fn label(points: &[(CheckStatus, Option<f64>, &str)]) -> String {
    let of = |status| points.iter().filter(|point| point.0 == status).count();
    let parts: Vec<_> = CheckStatus::ALL
        .into_iter()
        .filter(|status| of(*status) > 0)
        .map(|status| format!("{} {}", of(status), status.name()))
        .collect();
    format!("last {} runs: {}", points.len(), parts.join(", "))
}
