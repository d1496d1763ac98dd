//! `cargo xtask lock`: writes the hash-locked requirement files of the Python profiles.
//!
//! Each `NAME.in` says what a profile promises; `NAME.txt` says what that means down to the hash of every file, for
//! all Pythons from 3.11 on at once. Only packages with ready-made wheels are taken: a source package would run its
//! own build program on the user's machine.

use std::{
    path::PathBuf,
    process::{Command, Stdio},
};

use anyhow::{Context, Result};

use crate::step::{self, find_program, root, say};

/// The smallest first: a larger profile includes the smaller one's `.in` file.
const PROFILES: [&str; 3] = ["core", "data", "full"];
/// The resolver that wrote the present files; another version may order or annotate them differently.
const UV: &str = "uv==0.13.7";

pub(crate) fn run(upgrade: bool) -> Result<()> {
    let uv = uv()?;
    for profile in PROFILES {
        let mut command = Command::new(&uv);
        command
            .args(["pip", "compile", &format!("{profile}.in"), "--output-file", &format!("{profile}.txt")])
            .args(["--universal", "--python-version", "3.11", "--generate-hashes", "--only-binary", ":all:"])
            .args(["--no-emit-index-url", "--no-annotate", "--no-python-downloads"])
            .args(["--custom-compile-command", "cargo xtask lock"])
            .current_dir(root().join("crates/cell/python/profiles"))
            // uv prints the whole file, too.
            .stdout(Stdio::null());
        if upgrade {
            command.arg("--upgrade");
        }
        step::run(command)?;
    }
    say("run `cargo test -p ordain-cell` to see that the profiles still are what they promise");
    Ok(())
}

/// uv from the search path, or from a folder below `target` made for it.
fn uv() -> Result<PathBuf> {
    if let Some(uv) = find_program("uv") {
        return Ok(uv);
    }
    let folder = root().join("target/lock-tools");
    let uv = folder.join("bin/uv");
    if !uv.is_file() {
        let mut environment = Command::new("python3");
        environment.args(["-m", "venv"]).arg(&folder);
        step::run(environment)?;
        let mut install = Command::new(folder.join("bin/python"));
        install.args(["-m", "pip", "install", "--quiet", UV]);
        step::run(install).context("uv, which resolves the profiles, could not be installed")?;
    }
    Ok(uv)
}
