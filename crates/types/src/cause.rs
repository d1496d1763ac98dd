//! Why a cell's job ended.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Why a job ended. Exactly one holds for every job, and the supervisor decides which: what the
/// code says about itself is a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The code ran to its end.
    Ok,
    /// The code raised an exception that it did not catch.
    Error,
    /// The wall-clock limit passed.
    Timeout,
    /// The CPU-time limit passed.
    CpuLimit,
    /// The code asked for more memory than its limit.
    MemoryLimit,
    /// The code wrote more to stdout and stderr than its limit.
    OutputLimit,
    /// A program of Ordain's own wrote more to disk than its limit.
    DiskLimit,
    /// The code left more artifacts, or larger ones, than its limit.
    ArtifactLimit,
    /// The code asked for more processes and threads than its limit.
    ProcessLimit,
    /// The cell died of a signal.
    Crash,
    /// The cell ended without giving a result.
    NoResult,
    /// The cell broke the rules of the wire.
    ProtocolError,
    /// The code was refused before it ran.
    Rejected,
    /// The code kept others from writing for longer than it may.
    LockLimit,
    /// The workspace's data could not be had while the code ran.
    StoreFailed,
}

impl Cause {
    /// The cause as it is written in records and on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Error => "error",
            Self::Timeout => "timeout",
            Self::CpuLimit => "cpu_limit",
            Self::MemoryLimit => "memory_limit",
            Self::OutputLimit => "output_limit",
            Self::DiskLimit => "disk_limit",
            Self::ArtifactLimit => "artifact_limit",
            Self::ProcessLimit => "process_limit",
            Self::Crash => "crash",
            Self::NoResult => "no_result",
            Self::ProtocolError => "protocol_error",
            Self::Rejected => "rejected",
            Self::LockLimit => "lock_limit",
            Self::StoreFailed => "store_failed",
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_form_is_the_serialised_form() {
        for cause in [Cause::Ok, Cause::CpuLimit, Cause::NoResult, Cause::ProtocolError] {
            let serialised = serde_json::to_value(cause).unwrap();
            assert_eq!(serialised, cause.as_str());
        }
    }
}
