//! The behaviour of `ordain-engine` with a real store and real cells.

mod asks;
mod concurrency;
mod crash;
mod files;
mod plan_cache;
mod models;
mod tinydb;
mod workspaces;
mod world;
