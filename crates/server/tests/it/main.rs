//! Tests of the transports through their public surface, with real servers and real cells.

mod grpc;
