//! The behaviour of `ordain-engine` with a real store and real cells.

mod actions;
mod approvals;
mod asks;
mod code;
mod concurrency;
mod crash;
mod crash_steps;
mod files;
mod grants;
mod keys;
mod models;
mod plan_cache;
mod restarts;
mod reviews;
mod rogue;
mod seeds;
mod sql;
mod steps;
mod steps_refused;
mod steps_shapes;
mod tinydb;
mod workspaces;
mod world;
