//! The transports: how callers on other machines reach Ordain.
//!
//! [`grpc`] is the executor as a service, and the client that makes such a service an
//! [`ordain_cell::Executor`] again. [`http`] serves one workspace over HTTP: requests, given code, runs, tables, plans
//! and the ledger. [`cluster`] joins several of these servers. [`trace`] tells collectors of `OpenTelemetry` what happened, where one is
//! configured.

pub mod cluster;
mod figures;
pub mod grpc;
pub mod http;
mod listen;
pub mod trace;

pub use listen::{Address, Listener, SocketFile, listen, listen_at};
