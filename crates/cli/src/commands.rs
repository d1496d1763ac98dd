//! One module for each subcommand.

pub(crate) mod bench;
pub(crate) mod bench_verify;
pub(crate) mod verify;
