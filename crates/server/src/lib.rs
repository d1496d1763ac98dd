//! The transports: how callers on other machines reach Ordain.
//!
//! [`grpc`] is the executor as a service, and the client that makes such a service an
//! [`ordain_cell::Executor`] again.

pub mod grpc;
