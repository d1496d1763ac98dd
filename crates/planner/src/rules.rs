//! The reader: plans without a model.
//!
//! It reads a request as words, finds intent and slots in them by a small lexicon and the workspace's own schema and
//! values, and writes ordinary commented plan code. The code takes its values from `user_request`, so that it serves
//! every request of the same shape. Where a slot is missing it asks; where nothing fits it says so.

pub mod files;
pub mod roles;
pub mod words;

use crate::brief::{Brief, Task};
use crate::exchange::Reply;

/// The version of these rules. It is part of the fingerprint of every plan that they wrote: better rules write it anew.
pub const RULES_VERSION: u32 = 4;

/// Writes a plan for a brief.
pub fn plan(brief: &Brief) -> Reply {
    match brief.task {
        Task::Ask => crate::reader::plan(brief),
        Task::Check => crate::reader::rule::plan(brief),
        Task::Code => files::plan(brief),
    }
}
