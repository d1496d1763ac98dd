//! Whether the process that began a run is still there.
//!
//! A process that claims idempotency keys holds a locked file in the workspace's state for as long as it lives. A lock
//! ends with its process, however that ends, so that a file which can be locked belongs to a dead one.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use crate::ledger::hex;

/// Says that this process is alive, until it is not.
#[derive(Debug)]
pub(crate) struct Alive {
    pub(crate) id: String,
    _locked: File,
}

impl Alive {
    pub(crate) fn begin(state: &Path) -> io::Result<Self> {
        let mut random = [0; 8];
        getrandom::fill(&mut random).map_err(io::Error::other)?;
        let id = hex(&random);
        let folder = folder(state);
        fs_err::create_dir_all(&folder)?;
        let locked = File::create_new(folder.join(&id))?;
        locked.try_lock()?;
        Ok(Self { id, _locked: locked })
    }
}

/// A process that is not there any more. Its file is locked meanwhile, so that only one process cleans up after it.
#[derive(Debug)]
pub(crate) struct Dead {
    pub(crate) id: String,
    path: PathBuf,
    _locked: File,
}

impl Dead {
    /// Forgets it: nothing is left to clean up.
    pub(crate) fn forget(self) {
        let _ = fs_err::remove_file(self.path);
    }
}

/// The processes that have died since somebody last looked.
pub(crate) fn dead(state: &Path) -> Vec<Dead> {
    let Ok(files) = std::fs::read_dir(folder(state)) else { return Vec::new() };
    let locked = files.flatten().filter_map(|file| {
        let path = file.path();
        // Opening anything but an ordinary file may wait.
        file.file_type().ok().filter(std::fs::FileType::is_file)?;
        let opened = File::open(&path).ok()?;
        opened.try_lock().ok()?;
        Some(Dead { id: file.file_name().to_str()?.to_owned(), path, _locked: opened })
    });
    locked.collect()
}

fn folder(state: &Path) -> PathBuf {
    state.join("running")
}
