//! Plans for requests to a store, by rules.

use crate::brief::Brief;
use crate::exchange::Reply;

/// Writes the plan.
pub fn plan(brief: &Brief) -> Reply {
    let _ = brief;
    Reply::Refusal("the rule planner has no rule for this; a model is needed".to_owned())
}
