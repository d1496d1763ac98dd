//! The list of a version's files: which they are, and what they hold.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path};

use ordain_store::{Published, Store};
use serde::{Deserialize, Serialize};

use super::{OWNER, VersionError, digest};
use crate::error::WorkspaceError;
use crate::{FILE, REPLAY, ScheduledTask, Workspace};

/// Files are kept in pieces of this size, so that one that grew at its end is sent from there on.
pub(super) const PIECE_BYTES: u64 = 8 << 20;
/// Pieces of all files of a version. Three versions of them are what the store lists.
const PIECES_MAX: usize = 3000;
/// The longest name.
const NAME_BYTES_MAX: usize = 500;
/// How deep folders may be.
const DEPTH_MAX: usize = 16;

/// Files that a workspace may have beside `ordain.toml`.
const FILES: [&str; 6] = [FILE, "policy.md", "helpers.py", "ordain.lock", "tools.lock.json", "eval.jsonl"];
/// Folders that belong to it with everything in them.
const FOLDERS: [&str; 2] = ["checks", DATA];
/// The folder whose files change from day to day.
pub(super) const DATA: &str = "data";
/// Endings of files with keys.
const KEYS: [&str; 8] = ["key", "pem", "p12", "pfx", "jks", "keystore", "kdbx", "env"];

/// The files of a version, by name.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct FileList {
    pub(super) files: BTreeMap<String, Listed>,
}

/// A file.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Listed {
    pub(super) bytes: u64,
    pub(super) sha256: String,
    /// The digests of its pieces, in order.
    pub(super) pieces: Vec<String>,
}

impl FileList {
    /// The list of a published version.
    pub(super) async fn of(store: &Store, published: &Published) -> Result<Self, VersionError> {
        let damaged = |message: &str| WorkspaceError {
            file: format!("version {}", published.version),
            line: None,
            message: message.to_owned(),
            hint: Some("publish again from a folder that has it: `ordain serve cluster publish`".to_owned()),
        };
        let Some(text) = store.kept_file(OWNER, &published.list).await? else {
            return Err(damaged("the list of its files is not in the store").into());
        };
        if digest(&text) != published.list {
            return Err(damaged("the list of its files is not the one that was published").into());
        }
        let list: Self = serde_json::from_slice(&text)
            .map_err(|error| damaged(&format!("the list of its files cannot be read: {error}")))?;
        if let Some(name) = list.files.keys().find(|name| !is_plain(name)) {
            return Err(damaged(&format!("it has a file of the name `{}`", name.escape_debug())).into());
        }
        Ok(list)
    }

    pub(super) fn text(&self) -> String {
        serde_json::json!(self).to_string()
    }

    /// The digest of each file.
    pub(super) fn digests(&self) -> BTreeMap<String, String> {
        self.files.iter().map(|(name, file)| (name.clone(), file.sha256.clone())).collect()
    }

    /// Whether only files of `data` differ.
    pub(super) fn has_same_code(&self, other: &BTreeMap<String, String>) -> bool {
        let code = |name: &str| !is_data(name);
        let ours = self.files.iter().filter(|(name, _)| code(name));
        let ours = ours.map(|(name, file)| (name, &file.sha256));
        ours.eq(other.iter().filter(|(name, _)| code(name)))
    }

    /// Refuses more pieces than a version may have.
    pub(super) fn check_room(&self, name: &str, pieces: usize) -> Result<(), WorkspaceError> {
        let taken: usize = self.files.values().map(|file| file.pieces.len().max(1)).sum();
        if taken + pieces.max(1) <= PIECES_MAX {
            return Ok(());
        }
        let most = ordain_types::format_bytes(PIECE_BYTES * PIECES_MAX as u64);
        let message = format!("with it, the workspace has more than {PIECES_MAX} files or {most}");
        Err(wrong(name, message, Some("put large tables into the database, or many small files into one")))
    }
}

/// Whether a file is data, which nodes take up while they serve.
pub(super) fn is_data(name: &str) -> bool {
    name.strip_prefix(DATA).is_some_and(|rest| rest.starts_with('/'))
}

/// The names of a workspace's files.
pub(super) fn names(workspace: &Workspace) -> Result<BTreeSet<String>, WorkspaceError> {
    let root = &workspace.root;
    let mut names = usual(root)?;
    let seeds = workspace.tables.iter().filter_map(|table| table.seed.clone());
    let scheduled = workspace.schedules.iter().flat_map(|scheduled| match &scheduled.task {
        ScheduledTask::Code { files, .. } => files.clone(),
        _ => Vec::new(),
    });
    let replies = workspace.model.name.strip_prefix(REPLAY).map(|path| root.join(path));
    let tools = workspace.tools.names().filter_map(|name| workspace.tools.settings(name));
    let programs = tools.flat_map(|tool| tool.command.iter().map(|word| root.join(word)));
    let programs = programs.filter(|path| path.is_file());
    for path in seeds.chain(scheduled).chain(replies).chain(programs) {
        // What is elsewhere is none of its files.
        if let Ok(name) = path.strip_prefix(root) {
            names.insert(named(name)?);
        }
    }
    for further in &workspace.files {
        let path = root.join(further);
        if path.is_dir() {
            walk(root, Path::new(further), 0, &mut names)?;
        } else if path.exists() {
            names.insert(named(Path::new(further))?);
        } else {
            let hint = "it stands in `files` of `[workspace]`: take it out, or put the file there";
            return Err(wrong(further, "there is no such file".to_owned(), Some(hint)));
        }
    }
    for name in &names {
        let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending).to_lowercase();
        if !is_plain(name) || KEYS.contains(&ending.as_str()) {
            let message = "it may hold a secret, or its name is odd, so the workspace is not published";
            let hint = "keys belong into the environment of each node; move the file out of the workspace";
            return Err(wrong(name, message.to_owned(), Some(hint)));
        }
    }
    Ok(names)
}

/// The names of what is in a folder and belongs to every workspace.
pub(super) fn usual(root: &Path) -> Result<BTreeSet<String>, WorkspaceError> {
    let there = FILES.into_iter().filter(|name| root.join(name).exists());
    let mut names: BTreeSet<String> = there.map(str::to_owned).collect();
    for folder in FOLDERS.into_iter().filter(|folder| root.join(folder).is_dir()) {
        walk(root, Path::new(folder), 0, &mut names)?;
    }
    Ok(names)
}

/// Adds what is in a folder, without hidden files.
fn walk(
    root: &Path,
    folder: &Path,
    depth: usize,
    names: &mut BTreeSet<String>,
) -> Result<(), WorkspaceError> {
    let shown = folder.display().to_string();
    if depth > DEPTH_MAX {
        return Err(wrong(&shown, "it is too deep".to_owned(), None));
    }
    let entries = fs_err::read_dir(root.join(folder));
    for entry in entries.map_err(|error| WorkspaceError::unreadable(&shown, &error))? {
        let entry = entry.map_err(|error| WorkspaceError::unreadable(&shown, &error))?;
        let name = folder.join(entry.file_name());
        if entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            walk(root, &name, depth + 1, names)?;
        } else {
            names.insert(named(&name)?);
        }
        if names.len() > PIECES_MAX {
            let message = format!("the workspace has more than {PIECES_MAX} files");
            return Err(wrong(&shown, message, Some("put many small files into one")));
        }
    }
    Ok(())
}

/// A path within the workspace as a name: its parts with slashes in between.
fn named(path: &Path) -> Result<String, WorkspaceError> {
    let parts = path.components().filter(|part| !matches!(part, Component::CurDir));
    let name = parts.collect::<std::path::PathBuf>();
    match name.to_str() {
        Some(name) => Ok(name.to_owned()),
        None => Err(wrong(&path.display().to_string(), "its name is not UTF-8".to_owned(), None)),
    }
}

/// Whether a name leads to a file below the root that is not hidden.
fn is_plain(name: &str) -> bool {
    let is_part = |part: &str| !part.is_empty() && !part.starts_with('.') && !part.contains('\0');
    name.len() <= NAME_BYTES_MAX && name.split('/').all(is_part)
}

pub(super) fn wrong(file: &str, message: String, hint: Option<&str>) -> WorkspaceError {
    WorkspaceError { file: file.to_owned(), line: None, message, hint: hint.map(str::to_owned) }
}
