//! The behaviour of `ordain-planner` through its public surface.

mod briefs;
mod choices;
mod examples;
mod exchanges;
mod files;
mod live;
mod providers;
mod reader;
mod server;
mod world;
