//! `cargo xtask test`: gets what the tests need, then runs all of them; before that, what `cargo xtask check` looks at.
//! With `--long`, tests that depend on chance draw a new seed and repeat more often (`ordain_testkit::long`), and fuzz
//! targets run for longer.

use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Result;

use crate::{
    check, fuzz, needs,
    step::{self, cargo, say},
};

/// How long `--long` tries each fuzz target.
const FUZZ_SECONDS: u64 = 300;

/// `rest` goes to the test programs; with it, only tests that match are run, and nothing else.
pub(crate) fn run(rest: &[String], is_long: bool) -> Result<()> {
    needs::all()?;
    if rest.is_empty() {
        check::run()?;
    }
    // Plain `cargo test` names every test in its output and is there wherever cargo is. It goes on after a failure,
    // so that one look shows all of them.
    let mut targets = cargo(["test", "--workspace", "--all-targets", "--no-fail-fast"]);
    let mut examples = cargo(["test", "--workspace", "--doc", "--no-fail-fast"]);
    if is_long {
        let seed = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs().to_string();
        say(&format!("property tests draw from the seed {seed}; `PROPTEST_RNG_SEED={seed}` repeats it"));
        targets.env("ORDAIN_TEST_LONG", "1").env("PROPTEST_RNG_SEED", seed);
    }
    if !rest.is_empty() {
        targets.arg("--").args(rest);
        examples.arg("--").args(rest);
    }
    let outcomes = [step::run(targets), step::run(examples)];
    outcomes.into_iter().collect::<Result<Vec<_>>>()?;
    if is_long && rest.is_empty() {
        fuzz::all(FUZZ_SECONDS)?;
    }
    say("all tests passed");
    Ok(())
}
