//! The transports: how callers on other machines reach Ordain.
//!
//! [`http`] serves one workspace over HTTP: requests, given code, runs, tables, plans and the ledger.

pub mod http;
