//! The files of the repository.

use std::{
    fs,
    path::{Component, Path, PathBuf},
};

use anyhow::{Context, Result};

/// Folders that are made, or written by others.
const MADE: [&str; 8] =
    [".git", "target", "made", "vendor", "node_modules", "__pycache__", ".ordain", ".venv"];

/// A file, by its path from the root, with `/` between the parts.
#[derive(Debug)]
pub(super) struct File {
    pub(super) path: String,
    /// `None` when it is not text.
    pub(super) text: Option<String>,
}

impl File {
    /// The ending of the name, without the dot.
    pub(super) fn ending(&self) -> &str {
        Path::new(&self.path).extension().and_then(|ending| ending.to_str()).unwrap_or("")
    }

    /// The name without the folders.
    pub(super) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// The lines with their numbers, none when it is not text.
    pub(super) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.as_deref().unwrap_or("").lines().enumerate().map(|(index, line)| (index + 1, line))
    }
}

/// Every file below `root` that someone wrote, ordered by path.
pub(super) fn read_all(root: &Path) -> Result<Vec<File>> {
    let mut files = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        let place = root.join(&folder);
        for entry in fs::read_dir(&place).with_context(|| format!("failed to list `{}`", place.display()))? {
            let entry = entry?;
            let path = folder.join(entry.file_name());
            let kind = entry.file_type()?;
            if kind.is_dir() && !MADE.iter().any(|made| entry.file_name() == *made) {
                folders.push(path);
            } else if kind.is_file() && entry.file_name() != ".git" {
                let bytes = fs::read(entry.path())?;
                files.push(File { path: slashes(&path), text: String::from_utf8(bytes).ok() });
            }
        }
    }
    files.sort_by(|left, right| left.path.cmp(&right.path));
    Ok(files)
}

/// The path with `/` between its parts, `.` and `..` worked out; `None` when it leaves the repository.
pub(super) fn normal(path: &Path) -> Option<String> {
    let mut parts = Vec::new();
    for component in path.components() {
        match component {
            Component::Normal(part) => parts.push(part.to_string_lossy().into_owned()),
            Component::ParentDir => drop(parts.pop()?),
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(parts.join("/"))
}

fn slashes(path: &Path) -> String {
    normal(path).unwrap_or_default()
}
