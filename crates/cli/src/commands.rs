//! One module for each subcommand.

pub(crate) mod approve;
pub(crate) mod ask;
pub(crate) mod bench;
pub(crate) mod chat;
pub(crate) mod check;
pub(crate) mod config;
pub(crate) mod decide;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod eval;
pub(crate) mod exec;
pub(crate) mod executor;
pub(crate) mod init;
pub(crate) mod keys;
pub(crate) mod ledger;
pub(crate) mod models;
pub(crate) mod plans;
pub(crate) mod python;
pub(crate) mod reject;
pub(crate) mod reseed;
pub(crate) mod runs;
pub(crate) mod serve;
pub(crate) mod tables;
pub(crate) mod undo;
pub(crate) mod verify;
