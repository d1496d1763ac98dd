//! `cargo xtask test`: gets what the tests need, then runs all of them.

use anyhow::Result;

use crate::{
    needs,
    step::{self, cargo, say},
};

/// `rest` goes to the test programs; with it, only tests that match are run.
pub(crate) fn run(rest: &[String]) -> Result<()> {
    needs::all()?;
    // Plain `cargo test` names every test in its output and is there wherever cargo is.
    let mut targets = cargo(["test", "--workspace", "--all-targets"]);
    let mut examples = cargo(["test", "--workspace", "--doc"]);
    if !rest.is_empty() {
        targets.arg("--").args(rest);
        examples.arg("--").args(rest);
    }
    step::run(targets)?;
    step::run(examples)?;
    say("all tests passed");
    Ok(())
}
