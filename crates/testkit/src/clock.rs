//! The time of day of a process, which a test can move while the process runs.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context as _, ensure};

/// Moves the time of day of processes that have [`Clock::variables`] in their environment.
#[derive(Debug)]
pub struct Clock {
    folder: tempfile::TempDir,
}

impl Clock {
    /// A clock that shows the machine's time.
    ///
    /// # Panics
    /// If there is no C compiler.
    pub fn new() -> Self {
        let clock = Self { folder: tempfile::tempdir().expect("a folder") };
        clock.compile().expect("a clock for the tests");
        clock.set_ahead(0);
        clock
    }

    /// What a process finds in its environment.
    pub fn variables(&self) -> [(&'static str, PathBuf); 2] {
        [("LD_PRELOAD", self.library()), ("TESTKIT_CLOCK", self.folder.path().join("ahead"))]
    }

    /// From now on the clock is so many seconds ahead of the machine's.
    ///
    /// # Panics
    /// If its file cannot be written.
    pub fn set_ahead(&self, seconds: i64) {
        // The file is written over, not replaced: processes have mapped it.
        let path = self.folder.path().join("ahead");
        let opened = fs_err::OpenOptions::new().create(true).truncate(false).write(true).open(path);
        opened.and_then(|mut file| file.write_all(&seconds.to_ne_bytes())).expect("the clock's file");
    }

    fn library(&self) -> PathBuf {
        self.folder.path().join("clock.so")
    }

    fn compile(&self) -> anyhow::Result<()> {
        let mut cc = Command::new("cc");
        cc.args(["-shared", "-fPIC", "-O2", "-x", "c", "-", "-o"]).arg(self.library());
        let mut compiling = cc.stdin(Stdio::piped()).spawn().context("cc")?;
        compiling.stdin.take().context("its input")?.write_all(include_bytes!("clock.c"))?;
        ensure!(compiling.wait()?.success(), "cc failed");
        Ok(())
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::new()
    }
}
