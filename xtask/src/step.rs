//! Runs the programs that a chore consists of, loudly.

use std::{
    env,
    ffi::{OsStr, OsString},
    io::{self, Write},
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail};

/// The repository's root folder.
pub(crate) fn root() -> &'static Path {
    // The manifest of this program is one folder below.
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."))
}

/// Tells the user something, on stderr.
pub(crate) fn say(text: &str) {
    // A closed stderr is no reason to stop.
    let _ = writeln!(io::stderr(), "xtask: {text}");
}

/// `cargo`, the one that runs this program, started in the repository's root.
pub(crate) fn cargo<I, S>(arguments: I) -> Command
where
    I: IntoIterator<Item = S>,
    S: AsRef<OsStr>,
{
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")));
    command.args(arguments).current_dir(root());
    command
}

/// Says what is run, runs it with its output shown, and fails when it fails.
pub(crate) fn run(mut command: Command) -> Result<()> {
    let line = describe(&command);
    say(&line);
    let status = command.status().with_context(|| format!("`{line}` could not be started"))?;
    if !status.success() {
        bail!("`{line}` failed ({status})");
    }
    Ok(())
}

/// Says what is run, runs it, shows and gives back what it printed, and fails when it fails.
pub(crate) fn output(mut command: Command) -> Result<String> {
    let line = describe(&command);
    say(&line);
    let output = command
        .stderr(std::process::Stdio::inherit())
        .output()
        .with_context(|| format!("`{line}` could not be started"))?;
    let _ = io::stdout().write_all(&output.stdout);
    if !output.status.success() {
        bail!("`{line}` failed ({})", output.status);
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The first program of this name on the search path.
pub(crate) fn find_program(name: &str) -> Option<PathBuf> {
    let folders = env::var_os("PATH")?;
    env::split_paths(&folders).map(|folder| folder.join(name)).find(|path| path.is_file())
}

fn describe(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or_default();
    let words = std::iter::once(program).chain(command.get_args());
    words.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ")
}
