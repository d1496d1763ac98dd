//! `cargo xtask check`: what must hold besides the tests, the quick parts first.

use anyhow::Result;

use crate::{
    policy,
    step::{self, cargo, say},
    tidy,
};

pub(crate) fn run() -> Result<()> {
    step::run(cargo(["fmt", "--all", "--check"]))?;
    tidy::run()?;
    policy::run()?;
    step::run(cargo(["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))?;
    let mut doc = cargo(["doc", "--workspace", "--no-deps"]);
    // A module's own documentation is for its maintainers too, and may point into it.
    doc.env("RUSTDOCFLAGS", "-D warnings -A rustdoc::private_intra_doc_links");
    step::run(doc)?;
    say("everything but the tests holds");
    Ok(())
}
