//! What cells are compared with: a plain interpreter, and one in bubblewrap.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use ordain_cell::profile::Installed;

/// `python3 -c CODE`, started and ended, with the profile's packages to import.
pub(crate) fn python(data: &Installed, code: &str) -> anyhow::Result<Duration> {
    let mut command = Command::new(&data.interpreter.executable);
    time(command.env("PYTHONPATH", &data.site).args(["-c", code]))
}

/// The same inside bubblewrap with all its namespaces; `None` where it is not installed.
pub(crate) fn bubblewrap(data: &Installed, code: &str) -> anyhow::Result<Option<Duration>> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let Some(program) =
        std::env::split_paths(&path).map(|folder| folder.join("bwrap")).find(|path| path.exists())
    else {
        return Ok(None);
    };
    let mut command = Command::new(program);
    command.args([
        "--unshare-all",
        "--die-with-parent",
        "--new-session",
        "--ro-bind",
        "/",
        "/",
        "--dev",
        "/dev",
    ]);
    command.args(["--proc", "/proc", "--tmpfs", "/tmp"]);
    command.arg(&data.interpreter.executable).args(["-c", code]);
    time(&mut command).map(Some)
}

pub(crate) fn time(command: &mut Command) -> anyhow::Result<Duration> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let started = Instant::now();
    let status = command.status().with_context(|| format!("cannot start {command:?}"))?;
    let taken = started.elapsed();
    if !status.success() {
        bail!("{command:?} ended with {status}");
    }
    Ok(taken)
}
