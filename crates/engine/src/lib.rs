//! The one pipeline from a request to a committed change.
//!
//! The engine sees all parts and knows no transport. It begins with a [`Workspace`]: a folder with `ordain.toml`, a
//! policy, seeds and helpers, read strictly, so that a slip of the pen is an error with a line and not a rule that
//! silently does not hold.

mod example;
mod workspace;

pub use example::{EXAMPLES, Example, InitError, init};
pub use workspace::{Approval, Model, Workspace, WorkspaceError};
