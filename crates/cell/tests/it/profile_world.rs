//! A throw-away data folder, a listener, and programs that stand in for `python3` and its installers.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use ordain_cell::profile::{DataDir, Interpreter, Phase, ProfileError, Progress};

use crate::world::Folder;

/// A folder for data and programs.
pub(crate) struct Scratch(Folder);

impl Scratch {
    pub(crate) fn new() -> Self {
        Self(Folder::new())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// The data folder inside it.
    pub(crate) fn data_dir(&self) -> DataDir {
        DataDir::at(self.path().join("data")).unwrap()
    }

    /// Puts an executable script on a search path of its own, and returns that search path.
    pub(crate) fn script(&self, name: &str, text: &str) -> PathBuf {
        let folder = self.path().join("bin");
        fs::create_dir_all(&folder).unwrap();
        // A shell writes it: a file that this process had open for writing might still be open in a program that
        // another test is just starting, and then can't be executed.
        let status = Command::new("/bin/sh")
            .args(["-c", "rm -f \"$0\" && printf %s \"$1\" >\"$0\" && chmod 755 \"$0\""])
            .arg(folder.join(name))
            .arg(text)
            .status()
            .unwrap();
        assert!(status.success());
        folder
    }

    /// The names in the folder that holds profiles, without the lock files and the memory of interpreters.
    pub(crate) fn folders(&self) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.path().join("data/python")) else { return Vec::new() };
        let mut names: Vec<_> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| Path::new(name).extension().is_none_or(|end| end != "lock" && end != "json"))
            .collect();
        names.sort();
        names
    }
}

/// Records every event.
#[derive(Debug, Default)]
pub(crate) struct Listener {
    pub(crate) phases: Vec<(Phase, Option<usize>)>,
    pub(crate) counts: Vec<usize>,
    pub(crate) packages: Vec<String>,
    pub(crate) messages: Vec<String>,
}

impl Progress for Listener {
    fn phase(&mut self, phase: Phase, total: Option<usize>) {
        self.phases.push((phase, total));
    }

    fn done(&mut self, count: usize) {
        self.counts.push(count);
    }

    fn package(&mut self, name: &str) {
        self.packages.push(name.to_owned());
    }

    fn message(&mut self, message: &str) {
        self.messages.push(message.to_owned());
    }
}

/// The machine's Python, as a real set-up found it.
pub(crate) fn real_python(data_dir: &DataDir) -> Interpreter {
    use ordain_cell::profile::{self, Profile, Silent};
    profile::ensure(Profile::Core, data_dir, &mut Silent).unwrap().interpreter
}

/// The whole chain of an error, as the edge prints it.
pub(crate) fn chain(error: &ProfileError) -> String {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(error) = source {
        text = format!("{text}: {error}");
        source = error.source();
    }
    text
}
