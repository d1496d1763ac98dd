//! `ordain exec` as a whole process, with a resident helper that has been left behind by an earlier command.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::setup;
use anyhow::{Context as _, bail};
use ordain_cell::profile::Profile;
use ordain_cell::resident::Note;
use tempfile::TempDir;

use super::peers;

/// How long a helper may take to get its cells ready.
const READY_TIME_MAX: Duration = Duration::from_mins(1);

/// A runtime folder of its own, whose helpers end with it.
pub(crate) struct Commands {
    folder: TempDir,
}

impl Commands {
    pub(crate) fn new() -> anyhow::Result<Self> {
        Ok(Self { folder: TempDir::with_prefix("ordain-bench-")? })
    }

    /// The time of one command, once there is a helper for it.
    pub(crate) fn exec(&self, profile: Profile, code: &str) -> anyhow::Result<Duration> {
        let program = self.folder.path().join(format!("{profile}.py"));
        if !program.exists() {
            std::fs::write(&program, code)?;
            peers::time(&mut self.command(profile, &program)?)?;
            self.wait_for_helper(profile)?;
        }
        peers::time(&mut self.command(profile, &program)?)
    }

    fn command(&self, profile: Profile, program: &Path) -> anyhow::Result<Command> {
        let mut command = self.ordain()?;
        command.args(["exec", "--profile", profile.name()]).arg(program);
        Ok(command)
    }

    /// A command that finds the helpers of this folder.
    pub(crate) fn ordain(&self) -> anyhow::Result<Command> {
        let mut command = setup::ordain()?;
        command.current_dir(self.folder.path());
        command.env("XDG_RUNTIME_DIR", self.folder.path()).env("ORDAIN_RESIDENT", "on");
        command.env_remove("ORDAIN_WORKSPACE");
        Ok(command)
    }

    /// The process numbers of its helpers.
    pub(crate) fn helpers(&self) -> anyhow::Result<Vec<u32>> {
        let mut found = Vec::new();
        for entry in std::fs::read_dir(self.folder.path().join("ordain"))? {
            let path = entry?.path();
            if path.extension().is_some_and(|ending| ending == "lock") {
                let note: Note = serde_json::from_slice(&std::fs::read(&path)?)?;
                found.push(u32::try_from(note.process)?);
            }
        }
        Ok(found)
    }

    fn wait_for_helper(&self, profile: Profile) -> anyhow::Result<()> {
        let started = Instant::now();
        let is_ready = || -> std::io::Result<bool> {
            let names = std::fs::read_dir(self.folder.path().join("ordain"))?;
            Ok(names.flatten().any(|entry| {
                let name = entry.file_name().to_string_lossy().into_owned();
                name.starts_with(profile.name()) && name.contains(".sock")
            }))
        };
        while !is_ready().context("no helper was left behind")? {
            if started.elapsed() > READY_TIME_MAX {
                bail!("the resident helper of `{profile}` did not get ready");
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(())
    }
}

impl Drop for Commands {
    fn drop(&mut self) {
        let stop = || peers::time(self.ordain()?.args(["config", "resident", "stop"]));
        let _ = stop();
    }
}
