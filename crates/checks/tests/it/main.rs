//! Checks as other programs see them, and as they run with real tables, a real store and real cells.

mod check_changes;
mod check_compiled;
mod check_kinds;
mod check_readings;
mod check_sizes;
mod check_tables;
mod check_trust;
mod check_unread;
mod checks;
mod contracts;
mod exit;
mod fixture;
mod green;
mod import;
mod readings;
mod report;
mod schema;
mod spread;
mod sql;
mod validators;
