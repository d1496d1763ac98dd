//! The HTTP service: a real server on a free port, a real workspace, and a client that writes its own bytes.

mod abuse;
mod asks;
mod browser;
mod chat;
mod checks;
pub(crate) mod client;
mod clients;
mod contract;
mod execs;
mod idempotency;
mod keys;
mod mcp;
mod mcp_suite;
mod metrics;
mod openai;
mod openai_retries;
mod openai_stream;
mod operations;
mod schemathesis;
mod scopes;
mod strategies;
mod streams;
mod traces;
mod ui;
mod ui_access;
mod ui_ways;
pub(crate) mod world;
