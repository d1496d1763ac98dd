//! `cargo xtask understanding`: how well requests in words are understood, on outside cases.
//!
//! The cases stay outside this repository, so their folder is given. What the owners of its workspaces declare is part of
//! the repository (`crates/testkit/understanding`); those of the shop and of the bike shop begin with the examples.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::step::{self, root, say};

/// What an owner writes for a workspace.
const DECLARED: [&str; 3] = ["ordain.toml", "helpers.py", "policy.md"];

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  cargo xtask understanding --cases ../cases/understanding\n  cargo xtask understanding --cases ../cases/understanding --bin target/release/ordain"
)]
pub(crate) struct Args {
    /// The folder with `run.py` and the cases; without it nothing is run
    #[arg(long, value_name = "DIR")]
    cases: Option<PathBuf>,
    /// The program to try
    #[arg(long, value_name = "PATH", default_value = "target/debug/ordain")]
    bin: PathBuf,
    /// Fail if more cases than this end in a change that nobody asked for
    #[arg(long, value_name = "N", default_value_t = 0)]
    harm_max: u64,
    /// Fail if more cases than this get a false answer
    #[arg(long, value_name = "N", default_value_t = 0)]
    false_max: u64,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let Some(cases) = &args.cases else {
        say("skipped: the cases are not part of this repository; give their folder with --cases DIR");
        return Ok(());
    };
    let script =
        std::path::absolute(cases.join("run.py")).with_context(|| format!("no `{}`", cases.display()))?;
    let bin = std::path::absolute(&args.bin)?;
    if !bin.is_file() {
        bail!("there is no program `{}`: build it (`cargo build`), or name one with --bin", bin.display());
    }
    let mut command = Command::new("python3");
    command.arg(script).arg("--bin").arg(bin).args(["--kind", "ask,chat,check,code", "--show", "HARM,false"]);
    command.arg("--workspaces").arg(declared()?);
    let output = step::output(command)?;
    let line = output.lines().rfind(|line| line.starts_with("understanding: "));
    let line = line.context("`run.py` ended without its last line, `understanding: …`")?;
    for (verdict, most) in [("HARM", args.harm_max), ("false", args.false_max)] {
        let found = count(line, verdict).with_context(|| format!("no number of {verdict} in `{line}`"))?;
        if found > most {
            bail!("{found} cases are {verdict}, at most {most} may be");
        }
    }
    Ok(())
}

/// Puts what owners declare together, by workspace.
fn declared() -> Result<PathBuf> {
    let folder = root().join("target/understanding");
    for (example, name) in [("sunglasses", "shop"), ("sunglasses", "sales"), ("bike-parts", "bike")] {
        copy(&root().join("examples").join(example), &folder.join(name))?;
    }
    // What differs from an example, and trades without one.
    let own = root().join("crates/testkit/understanding");
    for entry in fs::read_dir(&own).with_context(|| format!("failed to read `{}`", own.display()))? {
        let entry = entry?;
        copy(&entry.path(), &folder.join(entry.file_name()))?;
    }
    Ok(folder)
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).with_context(|| format!("failed to make `{}`", to.display()))?;
    for name in DECLARED.into_iter().filter(|name| from.join(name).is_file()) {
        fs::copy(from.join(name), to.join(name))
            .with_context(|| format!("failed to copy `{}`", from.join(name).display()))?;
    }
    Ok(())
}

/// The number before a verdict: 52 of `192 right, 52 declined`.
fn count(line: &str, verdict: &str) -> Option<u64> {
    let words: Vec<&str> = line.split([' ', ',']).filter(|word| !word.is_empty()).collect();
    let place = words.iter().position(|word| *word == verdict)?;
    words.get(place.checked_sub(1)?)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::count;

    #[test]
    fn the_numbers_of_the_last_line_are_read() {
        let line = "understanding: 192 right, 52 declined, 1 beside, 3 false, 2 HARM of 245";
        assert_eq!(
            [count(line, "HARM"), count(line, "false"), count(line, "other")],
            [Some(2), Some(3), None]
        );
    }
}
