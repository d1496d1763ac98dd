//! Which files a command gives to code, and what the code may use.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use ordain_cell::profile::Profile;
use ordain_cell::{CellError, InputFile, LocalExecutor};
use ordain_engine::{CodeTask, EngineSettings};
use ordain_files::profile_for_files;
use ordain_types::{Limits, parse_bytes, parse_duration};
use ordain_workspace::Workspace;

use crate::engine;
use crate::failure::Failure;
use crate::resident;

/// Above this a file is shown to cells in place instead of being copied into their memory.
const COPIED_BYTES_MAX: u64 = 16 << 20;

/// Files, and limits of the code that reads them.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct FileArgs {
    /// A file, or a folder of files; may be given several times
    #[arg(long, short, value_name = "PATH")]
    pub(crate) file: Vec<PathBuf>,
    /// How long the code may run [default: the workspace's, else 30s]
    #[arg(long, value_parser = parse_duration)]
    timeout: Option<Duration>,
    /// How much memory it may use [default: the workspace's, else 512MiB]
    #[arg(long, value_parser = parse_bytes)]
    memory: Option<u64>,
    /// How large one file may be [default: the workspace's, else 50MiB]
    #[arg(long, value_parser = parse_bytes)]
    file_limit: Option<u64>,
}

/// Files and limits, resolved.
#[derive(Debug)]
pub(crate) struct Setup {
    pub(crate) workspace: Workspace,
    files: Vec<PathBuf>,
    limits: Limits,
}

impl Setup {
    /// Flags come before what the workspace says.
    pub(crate) fn new(args: &FileArgs, workspace: Workspace) -> Result<Self, Failure> {
        let mut limits = workspace.limits.clone();
        limits.wall = args.timeout.unwrap_or(limits.wall);
        limits.memory_bytes = args.memory.unwrap_or(limits.memory_bytes);
        limits.file_bytes = args.file_limit.unwrap_or(limits.file_bytes);
        let mut files = Vec::new();
        for path in &args.file {
            files.extend(expand(path)?);
        }
        Ok(Self { workspace, files, limits })
    }

    /// The packages that the files, or a session, need.
    pub(crate) fn profile(&self, is_session: bool) -> Profile {
        let names: Vec<String> = self.files.iter().map(|path| name_of(path)).collect();
        let of_files = profile_for_files(names.iter().map(String::as_str));
        if is_session { Profile::Full } else { of_files }
    }

    /// An executor that shows large files to its cells in place.
    pub(crate) fn executor(&self) -> Result<Arc<LocalExecutor>, CellError> {
        let mounts = self.large().map(|path| InputFile { name: name_of(path), path: path.clone() }).collect();
        engine::executor(Some(&self.workspace), resident::find(), |cells| {
            (cells.limits, cells.mounts) = (self.limits.clone(), mounts);
        })
    }

    /// Gives the files to a task.
    pub(crate) fn give(&self, task: &mut CodeTask) {
        task.files.clone_from(&self.files);
        task.mounted = self.large().map(|path| name_of(path)).collect();
    }

    /// What the workspace says, with these limits.
    pub(crate) fn settings(&self) -> EngineSettings {
        EngineSettings { limits: self.limits.clone(), ..EngineSettings::of(&self.workspace) }
    }

    /// Files above the size up to which they are copied. One that cells could not be shown, or whose name or size is
    /// refused anyway, is left to the copy, which tells what is wrong.
    fn large(&self) -> impl Iterator<Item = &PathBuf> {
        let is_twin =
            |path: &Path| self.files.iter().filter(|other| name_of(other) == name_of(path)).count() > 1;
        self.files.iter().filter(move |path| {
            let Ok(metadata) = std::fs::metadata(path) else { return false };
            let can_be_shown = metadata.permissions().mode() & 0o004 != 0;
            let is_wanted = (COPIED_BYTES_MAX..=self.limits.file_bytes).contains(&metadata.len());
            metadata.is_file()
                && is_wanted
                && can_be_shown
                && !is_twin(path)
                && ordain_cell::name_problem(&name_of(path)).is_none()
        })
    }
}

/// A file as it is; a folder's files in the order of their names, hidden ones left out.
fn expand(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    if !path.exists() {
        let message = format!("there is no file `{}`", path.display());
        return Err(Failure::usage(message, "look at the path; it is relative to the current folder"));
    }
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let unreadable = |error: std::io::Error| {
        let message = format!("the folder `{}` cannot be read: {error}", path.display());
        Failure::usage(message, "give the files one by one")
    };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(path).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
        if !is_hidden && entry.path().is_file() {
            files.push(entry.path());
        }
    }
    files.sort();
    Ok(files)
}

fn name_of(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}
