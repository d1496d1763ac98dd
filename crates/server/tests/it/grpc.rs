//! The gRPC executor.

mod abuse;
mod certificates;
mod execute;
mod host;
mod kept;
mod link;
mod metrics;
mod pool;
mod rogue;
mod service;
mod sessions;
mod tls;
pub(crate) mod world;
