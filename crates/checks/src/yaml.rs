//! Reads and writes YAML as plain JSON values.
//!
//! Files of checks come from anywhere, so reading is bounded: how deep a document is nested and how many values it has
//! once its aliases are followed. A few lines of aliases can otherwise stand for more values than fit into memory.

mod read;
mod write;

pub use read::{YamlError, read};
pub use write::write;
