//! Tools: MCP servers whose verbs plans may call.
//!
//! The owner names a server in `ordain.toml` ([`ToolSettings`]) and reviews what it offers once; the reviewed list is
//! pinned ([`Snapshot`]). [`Toolbox`] makes the calls. It starts a server's process or reaches its address, compares
//! what the server offers with what was reviewed, and gives back a bounded answer or a named cause. Secrets go to the
//! server alone, and are taken out of everything that comes back.
//!
//! [`Notify`] sends results of checks to an address, through the same toolbox.
//!
//! This crate knows nothing of tables, cells and runs: which calls may be made, and when, is decided by its callers.

mod error;
mod http;
mod mail;
mod notify;
mod session;
mod settings;
mod snapshot;
mod stdio;
mod told;
mod toolbox;

pub use error::ToolError;
pub use notify::{Notify, NotifyForm, NotifySettings, Occasion};
pub use settings::{Secrets, SettingsError, ToolSettings};
pub use snapshot::{Difference, Offer, Snapshot, SnapshotFile};
pub use told::{not_allowed, stubs, told};
pub use toolbox::{NOTIFY, Toolbox};
