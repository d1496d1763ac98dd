//! The behaviour of `ordain-engine` with a real store and real cells.

mod asks;
mod concurrency;
mod crash;
mod files;
mod tinydb;
mod workspaces;
mod world;
