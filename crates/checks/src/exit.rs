//! The exit code of a run of checks, as a pure function.
//!
//! The codes are frozen: pipelines depend on them. The priority between them is 130, 3, 1, 4, 0: what says most about
//! why the answer cannot be trusted wins. Wrong usage and invalid configuration end with 2 before anything runs.

use std::fmt;
use std::str::FromStr;

use crate::check::Severity;
use crate::result::{CheckResult, CheckStatus, SkipReason};

/// Nothing at or above `--fail-on` was found.
pub const OK: u8 = 0;
/// At least one check failed that counts.
pub const FAILED: u8 = 1;
/// Wrong usage or invalid configuration.
pub const USAGE: u8 = 2;
/// At least one check could not be evaluated.
pub const ERROR: u8 = 3;
/// Something needs compiling or approval, and `--frozen` forbids it.
pub const FROZEN: u8 = 4;
/// Interrupted; what finished is kept.
pub const INTERRUPTED: u8 = 130;

/// From what on a run has failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailOn {
    /// A FAIL of at least this severity.
    Severity(Severity),
    /// Any FAIL or WARN.
    Warn,
    /// Nothing.
    Never,
}

impl Default for FailOn {
    /// A FAIL of any severity above info.
    fn default() -> Self {
        Self::Severity(Severity::Low)
    }
}

impl FailOn {
    /// Whether a result makes the run a failed one.
    fn counts(self, result: &CheckResult) -> bool {
        match (self, result.status) {
            (Self::Severity(least), CheckStatus::Fail) => result.severity >= least,
            (Self::Warn, CheckStatus::Fail | CheckStatus::Warn) => true,
            _ => false,
        }
    }
}

impl fmt::Display for FailOn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Severity(severity) => severity.name(),
            Self::Warn => "warn",
            Self::Never => "never",
        })
    }
}

/// A word that `--fail-on` does not know.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is not something to fail on; write info, low, medium, high, critical, warn or never")]
pub struct UnknownFailOn(String);

impl FromStr for FailOn {
    type Err = UnknownFailOn;

    fn from_str(text: &str) -> Result<Self, UnknownFailOn> {
        let severity = Severity::named(text);
        match (severity, text) {
            (Some(severity), _) => Ok(Self::Severity(severity)),
            (None, "warn") => Ok(Self::Warn),
            (None, "never") => Ok(Self::Never),
            (None, _) => Err(UnknownFailOn(text.chars().take(40).collect())),
        }
    }
}

/// What decides, besides the results, how a run ends. Every report says the same as the exit code.
#[derive(Debug, Clone, Copy, Default)]
pub struct Gate {
    /// From what on the run has failed.
    pub fail_on: FailOn,
    /// Checks that were skipped because they could not be evaluated do not count.
    pub allows_skipped: bool,
    /// Someone stopped the run.
    pub is_interrupted: bool,
}

/// What a result is to the end of its run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// It passed.
    Passed,
    /// It makes the run a failed one.
    Failed,
    /// It makes the run one of which not everything is known.
    NotEvaluated,
    /// It has not passed, and the run does not end otherwise for it.
    NotCounted,
}

impl Gate {
    /// What a result is to the end of its run.
    pub fn ending(self, result: &CheckResult) -> Ending {
        let is_forgiven = self.allows_skipped
            && result.status == CheckStatus::Skipped
            && result.skipped != Some(SkipReason::Frozen);
        if result.status == CheckStatus::Pass {
            Ending::Passed
        } else if self.fail_on.counts(result) {
            Ending::Failed
        } else if result.is_open() && !is_forgiven {
            Ending::NotEvaluated
        } else {
            Ending::NotCounted
        }
    }
}

/// The exit code of a run.
pub fn exit_code(results: &[CheckResult], gate: Gate) -> u8 {
    let ends = |ending: Ending| results.iter().filter(move |result| gate.ending(result) == ending);
    if gate.is_interrupted {
        INTERRUPTED
    } else if ends(Ending::NotEvaluated).any(|result| result.skipped != Some(SkipReason::Frozen)) {
        ERROR
    } else if ends(Ending::Failed).next().is_some() {
        FAILED
    } else if ends(Ending::NotEvaluated).next().is_some() {
        FROZEN
    } else {
        OK
    }
}
