//! Runs hostile programs through an executor and judges, from outside, whether each was contained.
//!
//! A program is a Python file whose header says what it tries, which causes count as contained and what the host
//! must find true afterwards ([`Program`]). A round runs a folder of them:
//!
//! ```text
//! runner (this process)                          executor (the same program again, as a process of its own)
//!   plants canaries and listeners                  a LocalExecutor under the open contract: only the jail defends
//!   sends programs, one after the other  ──────►   runs each in a fresh cell
//!   looks at files, processes, memory, log         writes record, output and artifacts to a folder
//!   judges (pure, see `judge`)           ◄──────   says when each ended
//! ```
//!
//! The two are processes of their own so that nothing the judge believes comes from the process under attack, and so
//! that its memory, its descendants and its end can be looked at from outside. What cannot be checked counts as not
//! holding.

mod client;
mod end;
mod evidence;
mod judge;
mod listeners;
mod listing;
mod observed;
mod plant;
mod processes;
mod program;
mod protocol;
mod pulse;
mod report;
mod round;
mod serve;
mod table;
mod tables;
mod word;

pub use program::{Class, HeaderError, Program, ProgramLimits};
pub use report::{Judged, Report, Verdict};
pub use round::{Options, run};
pub use serve::serve_if_asked;
pub use table::table;
pub use word::Word;
