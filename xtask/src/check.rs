//! `cargo xtask check`: what must hold before a change lands, the quick parts first.

use anyhow::Result;

use crate::{
    step::{self, cargo, say},
    test, tidy,
};

pub(crate) fn run() -> Result<()> {
    step::run(cargo(["fmt", "--all", "--check"]))?;
    tidy::run()?;
    step::run(cargo(["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))?;
    test::run(&[])?;
    let mut doc = cargo(["doc", "--workspace", "--no-deps"]);
    doc.env("RUSTDOCFLAGS", "-D warnings");
    step::run(doc)?;
    say("everything holds");
    Ok(())
}
