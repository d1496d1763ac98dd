//! A store under a schedule of work and faults that one number decides.
//!
//! The same number gives the same schedule: plans of several clients, approvals, undo, others who write and who change
//! the schema, clocks that jump, a full disk, a flush that fails, a process that is killed, a connection that is lost.
//! After every step a checker, which shares nothing with the product, compares the rows in the database with what the
//! ledger says was done to them. A schedule with a difference is made as short as possible before it is told.

mod checker;
mod faults;
mod machine;
mod schedule;

use std::fmt::Write as _;

use anyhow::Result;

pub use faults::under_faults;
pub use schedule::{Base, Schedule, Step};

use machine::Machine;

/// How often a schedule is tried again to make it shorter.
const SHORTENINGS_MAX: usize = 120;

/// What a schedule came to that did not go as it must.
#[derive(Debug)]
pub struct Difference {
    seed: u64,
    base: Base,
    steps: Vec<Step>,
    message: String,
}

impl std::fmt::Display for Difference {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut text = format!("seed {} on {}: {}", self.seed, self.base, self.message);
        for (place, step) in self.steps.iter().enumerate() {
            write!(text, "\n  {place:2} {step:?}")?;
        }
        formatter.write_str(&text)
    }
}

/// Carries out the schedule of a number on a database.
///
/// # Errors
/// Where the machine of the simulator itself fails.
pub async fn run(seed: u64, base: Base) -> Result<Option<Difference>> {
    let schedule = Schedule::of(seed, base);
    let Some(message) = carry_out(&schedule).await? else { return Ok(None) };
    let (steps, message) = shortened(schedule, message).await?;
    Ok(Some(Difference { seed, base, steps, message }))
}

async fn carry_out(schedule: &Schedule) -> Result<Option<String>> {
    let mut machine = Machine::new(schedule.base).await?;
    for (place, step) in schedule.steps.iter().enumerate() {
        if let Some(message) = machine.step(step).await? {
            return Ok(Some(format!("at step {place}: {message}")));
        }
    }
    Ok(None)
}

/// Leaves out steps one by one, as long as the schedule still ends in a difference.
async fn shortened(mut schedule: Schedule, mut message: String) -> Result<(Vec<Step>, String)> {
    let (mut place, mut tries) = (schedule.steps.len(), 0);
    while place > 0 && tries < SHORTENINGS_MAX {
        (place, tries) = (place - 1, tries + 1);
        let mut shorter = schedule.clone();
        shorter.steps.remove(place);
        if let Some(same) = carry_out(&shorter).await? {
            (schedule, message) = (shorter, same);
            place = place.min(schedule.steps.len());
        }
    }
    Ok((schedule.steps, message))
}
