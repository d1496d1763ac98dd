//! The HTTP service: a real server on a free port, a real workspace, and a client that writes its own bytes.

mod abuse;
mod asks;
mod client;
mod contract;
mod execs;
mod idempotency;
mod keys;
mod operations;
mod schemathesis;
mod world;
