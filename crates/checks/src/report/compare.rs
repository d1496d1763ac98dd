//! How two runs differ.

use serde::Serialize;

use crate::result::{CheckResult, CheckStatus, RunReport};

/// A check that two runs give differently. A run that did not look at it has no status.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Names the check.
    pub check_id: String,
    /// What people call it.
    pub check_name: String,
    /// Its grade in the first run.
    pub before: Option<CheckStatus>,
    /// Its grade in the second.
    pub after: Option<CheckStatus>,
    /// How many rows failed in the first.
    pub failed_before: Option<u64>,
    /// How many in the second.
    pub failed_after: Option<u64>,
}

/// The checks that two runs give differently: those of the second in its order, then those that only the first has.
pub fn differences(before: &RunReport, after: &RunReport) -> Vec<Difference> {
    let find =
        |report: &'_ RunReport, id: &str| report.results.iter().find(|result| result.check_id == id).cloned();
    let now = after.results.iter().map(|now| (find(before, &now.check_id), Some(now.clone())));
    let gone = before.results.iter().filter(|was| find(after, &was.check_id).is_none());
    let both = now.chain(gone.map(|was| (Some(was.clone()), None)));
    both.filter_map(|(was, now)| difference(was.as_ref(), now.as_ref())).collect()
}

fn difference(was: Option<&CheckResult>, now: Option<&CheckResult>) -> Option<Difference> {
    let seen = |result: Option<&CheckResult>| (result.map(|it| it.status), result.and_then(|it| it.failed));
    let ((before, failed_before), (after, failed_after)) = (seen(was), seen(now));
    let named = now.or(was).filter(|_| seen(was) != seen(now))?;
    Some(Difference {
        check_id: named.check_id.clone(),
        check_name: named.check_name.clone(),
        before,
        after,
        failed_before,
        failed_after,
    })
}
