//! The exit code of a run of checks, as a pure function.
//!
//! The codes are frozen: pipelines depend on them. The priority between them is 2, 130, 3, 1, 4, 0: what says most
//! about why the answer cannot be trusted wins.

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
    pub fn counts(self, result: &CheckResult) -> bool {
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

/// What happened around the results.
#[expect(clippy::struct_excessive_bools, reason = "each says one thing that happened or was asked for")]
#[derive(Debug, Clone, Copy, Default)]
pub struct Circumstances {
    /// The command or the configuration was wrong.
    pub is_misused: bool,
    /// Someone stopped the run.
    pub is_interrupted: bool,
    /// `--frozen` was given and something needs compiling or approval.
    pub is_frozen: bool,
    /// Checks that were skipped because they could not be evaluated do not count.
    pub allows_skipped: bool,
}

/// The exit code of a run.
pub fn exit_code(results: &[CheckResult], fail_on: FailOn, circumstances: Circumstances) -> u8 {
    if circumstances.is_misused {
        USAGE
    } else if circumstances.is_interrupted {
        INTERRUPTED
    } else if results.iter().any(|result| {
        // What `--frozen` left out has an exit code of its own.
        let is_left_open = result.is_open() && result.skipped != Some(SkipReason::Frozen);
        result.status == CheckStatus::Error || is_left_open && !circumstances.allows_skipped
    }) {
        ERROR
    } else if results.iter().any(|result| fail_on.counts(result)) {
        FAILED
    } else if circumstances.is_frozen {
        FROZEN
    } else {
        OK
    }
}
