//! What the store promises, on SQLite and on PostgreSQL alike.

mod world;

mod acknowledged;
mod company;
mod conditions;
mod conflicts;
mod eyes;
mod faults;
mod files;
mod followers;
mod formats;
mod hidden_writes;
mod ids;
mod in_place;
mod keys;
mod ledger;
mod outbox;
mod pending;
mod queries;
mod queue;
mod row_history;
mod rows;
mod runs;
mod seeds;
mod statements;
mod trust;
mod values;
