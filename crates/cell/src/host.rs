//! What code in a cell may call outside of it.
//!
//! The cell crate carries calls; it does not know what they mean. The engine implements [`Host`] over its open
//! transaction, so that no cell ever holds a database handle or a password.

use std::pin::Pin;

use serde::Deserialize;
use serde_json::{Map, Value};

/// A call that code made. Everything in it is hostile.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostCall {
    /// The function's name.
    pub name: String,
    /// Its arguments, by name.
    pub arguments: Map<String, Value>,
}

/// Why a call was refused. It becomes an exception (`ordain.HostError`) in the cell, so it must hold no path, secret
/// or name that the code may not know.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct HostError {
    /// A short stable word, such as `unknown_function`.
    pub kind: String,
    /// What went wrong, for the code's author.
    pub message: String,
}

impl HostError {
    /// A refusal of that kind.
    pub fn new(kind: &str, message: impl Into<String>) -> Self {
        Self { kind: kind.to_owned(), message: message.into() }
    }
}

/// The answer to a call, when it comes.
pub type HostFuture<'a> = Pin<Box<dyn Future<Output = Result<Value, HostError>> + Send + 'a>>;

/// Answers the calls of one job.
pub trait Host: Send {
    /// Answers one call. The future is dropped, not awaited, when the job passes its deadline.
    fn call(&mut self, call: HostCall) -> HostFuture<'_>;
}

/// A host that offers nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoHost;

impl Host for NoHost {
    fn call(&mut self, call: HostCall) -> HostFuture<'_> {
        let refusal = HostError::new(
            "unknown_function",
            format!("there is no host function `{}` here", shorten(&call.name)),
        );
        Box::pin(std::future::ready(Err(refusal)))
    }
}

fn shorten(name: &str) -> String {
    name.chars().filter(|character| !character.is_control()).take(80).collect()
}
