//! From counts to a grade.

use crate::check::Check;
use crate::result::CheckStatus;

/// What a run counted. It is kept, so that a change of thresholds needs no new run.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Counts {
    /// Whether the code says that the rule is broken.
    pub is_broken: bool,
    /// How many rows were looked at.
    pub evaluated: Option<u64>,
    /// How many of them fail.
    pub failed: Option<u64>,
}

impl Counts {
    /// The failing share in percent.
    #[expect(clippy::cast_precision_loss, reason = "a share needs no more digits")]
    pub fn failed_pct(&self) -> Option<f64> {
        match (self.evaluated, self.failed) {
            (Some(0), Some(_)) => Some(0.0),
            (Some(evaluated), Some(failed)) => Some(failed as f64 * 100.0 / evaluated as f64),
            _ => None,
        }
    }
}

/// The grade of what was counted, by the check's thresholds. Without any, one failing row is a failure. With `warn_if`
/// alone nothing is more than a warning; with `fail_if` alone less than that is a pass.
pub fn grade(check: &Check, counts: &Counts) -> CheckStatus {
    if !counts.is_broken {
        return CheckStatus::Pass;
    }
    if check.warn_if.is_none() && check.fail_if.is_none() {
        return CheckStatus::Fail;
    }
    // Code that counts no rows broke the rule once.
    let (failed, failed_pct) = (counts.failed.unwrap_or(1), counts.failed_pct());
    if check.fail_if.is_some_and(|threshold| threshold.is_passed(failed, failed_pct)) {
        return CheckStatus::Fail;
    }
    if check.warn_if.is_some_and(|threshold| threshold.is_passed(failed, failed_pct)) {
        return CheckStatus::Warn;
    }
    CheckStatus::Pass
}
