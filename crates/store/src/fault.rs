//! A seam at which tests make store operations fail.
//!
//! Every statement passes [`Faults::strike`] before it is sent, and a commit passes it once more after it was
//! acknowledged, which stands for an acknowledgement that never arrived.

use std::fmt;

/// Decides which operation fails. Absent outside tests.
pub trait Faults: fmt::Debug + Send + Sync {
    /// Whether the operation that is about to be sent fails instead. `operation` is one of `begin`, `read`,
    /// `write`, `commit`, `committed` and `checkpoint`.
    fn strike(&self, operation: &'static str) -> bool;
}
