//! Why a cell's job ended.

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

crate::names!(Cause, as_str {
    Ok = "ok", Error = "error", Timeout = "timeout", CpuLimit = "cpu_limit",
    MemoryLimit = "memory_limit", OutputLimit = "output_limit", DiskLimit = "disk_limit",
    ArtifactLimit = "artifact_limit", ProcessLimit = "process_limit", Crash = "crash",
    NoResult = "no_result", ProtocolError = "protocol_error", Rejected = "rejected",
    LockLimit = "lock_limit", StoreFailed = "store_failed",
});

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
