//! The executor as a gRPC service, and the client that makes such a service an [`ordain_cell::Executor`] again.
//!
//! The messages are those of `proto/ordain/executor/v1/executor.proto`. A job travels as text; the executor judges it
//! again with its own verifier, because a [`ordain_verify::VerifiedCode`] cannot be made by anything else. Host calls
//! flow back to the caller, so that an executor never holds a database password.

mod convert;
pub mod log;
mod pool;
#[expect(
    clippy::allow_attributes,
    clippy::large_enum_variant,
    clippy::pedantic,
    reason = "the code is made by the gRPC code generator"
)]
pub mod proto;
mod remote;
pub mod server;
mod status;

pub use pool::{ExecutorPool, MemberState, PoolOptions};
pub use remote::{ConnectError, RemoteExecutor, RemoteOptions, RemoteTls};
#[cfg(test)]
pub(crate) use status::of_cell as status_of;
