//! What the store promises, on SQLite and on PostgreSQL alike.

mod world;

mod conditions;
mod conflicts;
mod faults;
mod files;
mod ids;
mod in_place;
mod keys;
mod ledger;
mod outbox;
mod pending;
mod queries;
mod queue;
mod rows;
mod runs;
mod seeds;
mod statements;
mod trust;
