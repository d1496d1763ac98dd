//! Checks as other programs see them: reports, exit codes, imports, exports and contracts.

mod browser;
mod exit;
mod fixture;
mod report;
mod validators;
