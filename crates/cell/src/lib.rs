//! Runs verified code in a jailed cell.
//!
//! A **zygote** is a CPython process with everything imported, already on a minimal read-only root without network.
//! It is forked into **cells**: each gets its own namespaces, work folder, Landlock domain and system-call filter,
//! warms up, waits in a **pool**, runs one job and dies. The supervisor, this crate, holds a cell by a process
//! descriptor, a socket (the wire), two pipes (stdout and stderr) and a descriptor of its work folder, and it alone
//! decides how a job ended.
//!
//! Everything that comes from a cell is hostile: bounded, validated, never a panic.
//!
//! Only [`ordain_verify::VerifiedCode`] runs. What code may call outside its cell is a [`Host`], which the caller
//! gives; this crate knows neither SQL nor any model.

mod artifact;
mod capture;
mod cell;
mod compiled;
mod control;
mod error;
mod executor;
mod files;
mod filter;
mod group;
mod host;
mod isolation;
mod job;
mod mount;
mod pool;
pub mod profile;
mod record;
pub mod resident;
mod root;
mod scratch;
mod session;
mod shared;
mod wire;
mod zygote;

pub use artifact::{Artifact, Refusal, name_problem};
pub use error::CellError;
pub use executor::{ExecutionFuture, Executor, Load, LocalExecutor, LocalOptions, Shared, Sharing};
pub use files::hash_files;
pub use host::{Host, HostCall, HostError, HostFuture, NoHost};
pub use isolation::{Isolation, Layer, Level, probe};
pub use job::{Discard, Execution, FailingRows, InputFile, Job, JudgedBy, Output, Raised, Stream, Timing};
pub use record::{Record, write_json_line};
pub use scratch::Scratch;
pub use wire::{FRAME_BYTES_MAX, UNFOLDED_BYTES_MAX, unfolded_bytes};
pub use zygote::{FRAMES_SOURCE, READING_SOURCE};
