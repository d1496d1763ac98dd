//! Chores of the repository, as `cargo xtask CHORE`.
//!
//! One language does it all, so a chore works wherever the code builds. The dependencies are few on purpose: the
//! first `cargo xtask test` on a clean checkout should start soon.

mod attacks;
mod bench;
mod check;
mod conformance;
mod fuzz;
mod lock;
mod mutants;
mod needs;
mod policy;
mod simulate;
mod step;
mod test;
mod tidy;
mod understanding;
mod vendor;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

use step::say;

#[derive(Debug, Parser)]
#[command(name = "cargo xtask", about = "Chores of the repository")]
struct Cli {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Debug, Subcommand)]
enum Chore {
    /// What must hold besides the tests: format, tidy, licences, lints, documentation
    Check,
    /// Everything that must hold before a change lands: `check`, then all tests, with what they need installed
    Test {
        /// Repeat what depends on chance many times, and try every fuzz target for five minutes; takes hours
        #[arg(long)]
        long: bool,
        /// Passed on to the test programs, such as the name of a test
        #[arg(last = true)]
        rest: Vec<String>,
    },
    /// The rules of the repository that no lint knows
    Tidy,
    /// Which licences, sources and crates dependencies may have, as deny.toml says
    Policy,
    /// Run hostile programs in cells and judge whether each was contained
    Attacks(attacks::Args),
    /// Measure against named peers, or one build against another, with optimised programs
    #[command(disable_help_flag = true)]
    Bench(bench::Args),
    /// Run outside cases of data checks against the built-in kinds
    Conformance(conformance::Args),
    /// Run outside cases of requests in words, and fail at harm and false answers
    Understanding(understanding::Args),
    /// Try a reader of hostile input with spoiled input for a while
    Fuzz(fuzz::Args),
    /// Carry out schedules of work and faults on stores, and compare rows and ledger after each step
    Simulate(simulate::Args),
    /// Break each promise about data in a copy of the tree, and show that its test notices
    Mutants(mutants::Args),
    /// Compare the front-end files of others with what their packages publish
    Vendor,
    /// Write the hash-locked requirement files of the Python profiles
    Lock {
        /// Take the newest versions instead of keeping the locked ones
        #[arg(long)]
        upgrade: bool,
    },
}

fn main() -> ExitCode {
    match carry_out(Cli::parse().chore) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn carry_out(chore: Chore) -> Result<()> {
    match chore {
        Chore::Check => check::run(),
        Chore::Test { rest, long } => test::run(&rest, long),
        Chore::Tidy => tidy::run(),
        Chore::Policy => policy::run(),
        Chore::Attacks(args) => attacks::run(&args),
        Chore::Bench(args) => bench::run(&args),
        Chore::Conformance(args) => conformance::run(&args),
        Chore::Understanding(args) => understanding::run(&args),
        Chore::Fuzz(args) => fuzz::run(&args),
        Chore::Simulate(args) => simulate::run(&args),
        Chore::Mutants(args) => mutants::run(&args),
        Chore::Vendor => vendor::run(),
        Chore::Lock { upgrade } => lock::run(upgrade),
    }
}
