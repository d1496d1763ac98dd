//! The messages and services of `ordain.executor.v1`, made from the proto file when the crate is built.

tonic::include_proto!("ordain.executor.v1");

/// The descriptors of the proto file, for reflection.
pub const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/executor_descriptor.bin"));
