//! The behaviour of `ordain-planner` through its public surface.

mod briefs;
mod choices;
mod exchanges;
mod live;
mod providers;
mod server;
mod world;
