//! Faults of the disk, by a library that is loaded into the process: no root, no mounts.

use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};

const VARIABLE: &str = "TESTKIT_FAULTS";

/// Starts this very program again with the library, unless it has it already.
///
/// # Errors
/// If there is no C compiler.
pub fn under_faults() -> Result<()> {
    if std::env::var_os(VARIABLE).is_some() {
        return Ok(());
    }
    // The folder stays for as long as the program that takes this one's place.
    let folder = tempfile::Builder::new().prefix("ordain-faults-").tempdir()?.keep();
    let (library, file) = (folder.join("faults.so"), folder.join("faults"));
    let mut cc = Command::new("cc");
    cc.args(["-shared", "-fPIC", "-O2", "-x", "c", "-", "-o"]).arg(&library);
    let mut compiling = cc.stdin(Stdio::piped()).spawn().context("cc")?;
    compiling.stdin.take().context("its input")?.write_all(include_bytes!("faults.c"))?;
    ensure!(compiling.wait()?.success(), "cc failed");
    fs_err::write(&file, [0; 16])?;
    let mut again = Command::new(std::env::current_exe()?);
    again.args(std::env::args_os().skip(1)).env("LD_PRELOAD", library).env(VARIABLE, file);
    Err(again.exec()).context("this program")
}

/// Sets what goes wrong from now on.
pub(super) fn set(is_full: bool, flushes: i64) -> Result<()> {
    let Some(path) = std::env::var_os(VARIABLE).map(PathBuf::from) else { return Ok(()) };
    // The file is written over, not replaced: it is mapped.
    let mut file = fs_err::OpenOptions::new().write(true).open(path)?;
    let mut bytes = i64::from(is_full).to_ne_bytes().to_vec();
    bytes.extend(flushes.to_ne_bytes());
    file.write_all(&bytes)?;
    Ok(())
}
