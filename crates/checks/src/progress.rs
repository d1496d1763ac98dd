//! What a run of checks tells those who watch it, and how they stop it.

use ordain_planner::{Progress, Quiet};
use ordain_types::BoxFuture;

use crate::result::CheckResult;

/// Takes what happens in a run of checks as it happens, and can end it early.
pub trait CheckProgress: Progress {
    /// So many checks will be run.
    fn expect(&mut self, _checks: usize) {}
    /// One check is done.
    fn checked(&mut self, _result: &CheckResult) {}
    /// Ends when the run is to stop. What has finished by then is kept.
    fn stopped(&self) -> BoxFuture<'static, ()> {
        Box::pin(std::future::pending())
    }
}

impl CheckProgress for Quiet {}
