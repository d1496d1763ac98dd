//! Checks as other programs see them: reports, exit codes, imports, exports and contracts.

mod contracts;
mod exit;
mod fixture;
mod green;
mod import;
mod report;
mod schema;
mod spread;
mod validators;
