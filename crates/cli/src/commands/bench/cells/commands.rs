//! `ordain exec` as a whole process, with a resident helper that has been left behind by an earlier command.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use ordain_cell::profile::Profile;
use tempfile::TempDir;

use super::peers;

/// How long a helper may take to get its cells ready.
const READY_TIME_MAX: Duration = Duration::from_mins(1);

/// A runtime folder of its own, whose helpers end with it.
pub(super) struct Commands {
    folder: TempDir,
}

impl Commands {
    pub(super) fn new() -> anyhow::Result<Self> {
        Ok(Self { folder: TempDir::with_prefix("ordain-bench-")? })
    }

    /// The time of one command, once there is a helper for it.
    pub(super) fn exec(&self, profile: Profile, code: &str) -> anyhow::Result<Duration> {
        let program = self.folder.path().join(format!("{profile}.py"));
        if !program.exists() {
            std::fs::write(&program, code)?;
            peers::time(&mut self.command(profile, &program))?;
            self.wait_for_helper(profile)?;
        }
        peers::time(&mut self.command(profile, &program))
    }

    fn command(&self, profile: Profile, program: &Path) -> Command {
        let mut command = self.ordain();
        command.args(["exec", "--profile", profile.name()]).arg(program);
        command
    }

    fn ordain(&self) -> Command {
        let mut command = Command::new("/proc/self/exe");
        command.current_dir(self.folder.path());
        command.env("XDG_RUNTIME_DIR", self.folder.path()).env("ORDAIN_RESIDENT", "on");
        command.env_remove("ORDAIN_WORKSPACE");
        command
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
        let _ = peers::time(self.ordain().args(["resident", "stop"]));
    }
}
