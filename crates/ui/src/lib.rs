//! The web UI as pages made from plain data.
//!
//! Every screen is a function from what it shows to HTML. `maud` escapes every value, [`text`] makes characters visible
//! that would steer a browser or hide on a page, and nothing here does IO, reads a clock or knows a transport: the
//! server looks things up and serves the pages, the command line writes a run as one file with the same parts.
//!
//! Pages are whole documents that read without scripts, and forms are plain forms. Scripts (in `assets`) only make a
//! page live: they follow a running run, send the chat without a reload, draw charts and add keyboard shortcuts.

pub mod approvals;
pub mod ask;
pub mod assets;
pub mod chart;
pub mod checks;
mod code;
mod colours;
mod diff;
mod icons;
pub mod keys;
pub mod ledger;
mod line_diff;
pub mod live;
pub mod overview;
mod parts;
pub mod plans;
pub mod problem;
pub mod report;
pub mod run;
pub mod runs;
pub mod settings;
mod shell;
pub mod sign_in;
pub mod tables;
pub mod text;

pub use diff::{DIFF_ROWS_MAX, diff_hash, table_page};
pub use maud::Markup;
pub use parts::Pager;
pub use shell::{Notice, Place, Shell, Theme, Viewer};
