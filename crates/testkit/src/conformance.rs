//! Runs outside cases of data checks against the built-in kinds: each case becomes a check, is compiled, verified and
//! run by real pandas in a real cell, and what comes out is held against what the case says.
//!
//! The cases are data of another project and stay outside this repository; their folder is given. A case agrees if its
//! verdict, its failing rows (by row number and value) and its observed figure agree, as far as the case gives them.
//! A case that expects an exception agrees if the check is refused or ends in an error, and never if it is graded.

mod cases;
mod compare;
mod known;
mod report;
mod run;

use std::path::Path;

use anyhow::Result;

pub use report::{Outcome, Report, Tally};

/// Runs every case in a folder that is meant for pandas.
pub async fn run(folder: &Path) -> Result<Report> {
    let prepared = cases::prepare(folder).await?;
    let outcomes = run::all(&prepared).await?;
    Ok(Report::new(&prepared, outcomes))
}
