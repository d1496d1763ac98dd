//! The messages and services of `ordain.executor.v1`, made from the proto file and checked in (`tests/it/generated.rs` holds it).

include!("../../generated/ordain.executor.v1.rs.in");

/// The descriptors of the proto file, for reflection.
pub const DESCRIPTORS: &[u8] = include_bytes!("../../generated/executor_descriptor.bin");
