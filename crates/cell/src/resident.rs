//! The resident helper: keeps a zygote warm between commands, so that a command need not import pandas again.
//!
//! A helper is a process of the same user and the same program. It holds the zygote and some idle cells of one profile, and
//! gives a cell away by its descriptors to each command that asks: from then on the command speaks with the cell directly,
//! and the helper only waits for its end. It never sees code, files or results, opens no workspace, and has neither
//! arguments nor variables of the command that started it but where Python is.
//!
//! Helpers are found by name. The name is a hash of the program's file, of the profile with its packages, and of everything
//! that cells inherit from the process that starts them: limits, namespaces, control groups, processors. So a cell of a
//! helper is what a cell of the command itself would be, or there is no such helper.
//!
//! Each helper has two files in a folder that belongs to the user alone: a lock that it holds for as long as it lives, and,
//! once it has idle cells, a socket. A command that finds no socket, or gets no cell in time, starts a zygote of its own and
//! leaves a helper behind for the next one.

mod borrow;
mod registry;
mod serve;
mod surroundings;

use std::ffi::OsString;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

pub(crate) use borrow::Lender;
pub use registry::{Helper, Note, list};
pub use serve::{IDLE_TIME_MAX, detach, serve};

use crate::isolation::Level;
use crate::profile::Installed;

/// Where helpers are found, and how one is started.
#[derive(Debug, Clone)]
pub struct Resident {
    folder: PathBuf,
    starts_with: Option<Vec<OsString>>,
}

impl Resident {
    /// The helpers of this user: in the runtime folder, or in a folder below `/tmp` where there is none. `None` if
    /// neither can be had for this user alone.
    pub fn of_this_user() -> Option<Self> {
        let user = rustix::process::geteuid().as_raw();
        let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
        // `sudo` may leave the variable of another user, whose folder it is.
        let is_own = |folder: &PathBuf| {
            folder.is_absolute() && folder.metadata().is_ok_and(|metadata| metadata.uid() == user)
        };
        let folder = match runtime.filter(is_own) {
            Some(runtime) => runtime.join("ordain"),
            None => PathBuf::from(format!("/tmp/ordain-{user}")),
        };
        Self::at(folder)
    }

    /// The helpers in a folder, made if it is missing. `None` if anybody but this user could enter it.
    pub fn at(folder: PathBuf) -> Option<Self> {
        // An error shows in what is found there next.
        let _ = std::fs::DirBuilder::new().mode(0o700).create(&folder);
        let metadata = folder.symlink_metadata().ok()?;
        let is_private = metadata.is_dir()
            && metadata.uid() == rustix::process::geteuid().as_raw()
            && metadata.mode() & 0o777 == 0o700;
        is_private.then_some(Self { folder, starts_with: None })
    }

    /// Starts a helper where one was missing. With these arguments, a profile and a level of isolation after them, this
    /// program becomes a helper.
    #[must_use]
    pub fn started_with<S: Into<OsString>>(mut self, arguments: impl IntoIterator<Item = S>) -> Self {
        self.starts_with = Some(arguments.into_iter().map(Into::into).collect());
        self
    }

    fn folder(&self) -> &Path {
        &self.folder
    }

    /// The lock and the socket of the helper whose cells are like those that this process would make.
    fn files(&self, installed: &Installed, minimum: Level) -> Option<Files> {
        let name = surroundings::name(installed, minimum)?;
        let path = |ending: &str| self.folder.join(format!("{}-{name}.{ending}", installed.profile));
        Some(Files { lock: path("lock"), socket: path("sock") })
    }
}

/// The files of one helper.
#[derive(Debug, Clone)]
struct Files {
    lock: PathBuf,
    socket: PathBuf,
}
