//! What the engine promises.

mod workspaces;
