//! One module for each subcommand.

pub(crate) mod bench;
pub(crate) mod exec;
pub(crate) mod python;
