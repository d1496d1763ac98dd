//! Tests of the transports through their public surface, with real servers, real cells and real stores.

mod browser;
mod generated;
mod grpc;
mod http;
mod roads;
