//! The behaviour of `ordain-server` over real connections, with real cells and a real store.

mod http;
