//! What measurements need before they start: Python, a runtime, the program itself.

use std::io;
use std::process::Command;

use anyhow::{Context as _, bail};
use ordain_cell::profile::{self, DataDir, Installed, Profile, Silent};
use tokio::runtime::{Builder, Runtime};

/// The installed profile; set up first if it is missing or damaged.
pub(crate) fn python(profile: Profile) -> anyhow::Result<Installed> {
    let installed = profile::ensure(profile, &DataDir::from_env()?, &mut Silent);
    installed.with_context(|| format!("the Python profile `{profile}` could not be set up"))
}

/// The `ordain` that was built beside this program, to be started as a process of its own.
pub(crate) fn ordain() -> anyhow::Result<Command> {
    let program = std::env::current_exe()?.with_file_name("ordain");
    if !program.is_file() {
        bail!("{} is not there\nhint: `cargo xtask bench` builds both programs", program.display());
    }
    Ok(Command::new(program))
}

/// A runtime on this thread alone.
pub(crate) fn one_thread() -> io::Result<Runtime> {
    Builder::new_current_thread().enable_all().build()
}

/// A runtime beside so many threads, or as many as there are processors.
pub(crate) fn threads(count: Option<usize>) -> io::Result<Runtime> {
    let mut builder = Builder::new_multi_thread();
    if let Some(count) = count {
        builder.worker_threads(count);
    }
    builder.enable_all().build()
}
