//! `[backup]`: where copies of the store go, how often they are made, and how many are kept.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::file::BackupSection;
use super::{FILE, STATE, WorkspaceError};

/// What the workspace says about copies of its store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupSettings {
    /// The folder for copies.
    pub folder: PathBuf,
    /// How often a server makes one; never, if it is not said.
    pub every: Option<Duration>,
    /// How many are kept; all, if it is not said.
    pub keep: Option<usize>,
}

impl BackupSettings {
    pub(super) fn of(root: &Path, section: &BackupSection) -> Result<Self, WorkspaceError> {
        let wrong = |message: &str, hint: &str| WorkspaceError {
            file: FILE.to_owned(),
            line: None,
            message: message.to_owned(),
            hint: Some(hint.to_owned()),
        };
        let folder = section.to.as_deref().map(read_folder).transpose();
        let folder = folder.map_err(|(message, hint)| wrong(&format!("`backup.to`: {message}"), hint))?;
        // Copies that are not put elsewhere are beside the store.
        let folder = folder.map_or_else(|| root.join(STATE).join("backups"), |folder| root.join(folder));
        let every = section.every.map(|every| every.0);
        if every.is_some_and(|every| every < Duration::from_mins(1)) {
            return Err(wrong("`backup.every` is a minute or more", "write a time such as \"24h\""));
        }
        if section.keep == Some(0) {
            return Err(wrong("`backup.keep` is 1 or more", "leave it out to keep all copies"));
        }
        Ok(Self { folder, every, keep: section.keep })
    }
}

/// A folder as a path or as `file:///…`. Otherwise what is wrong, and what helps.
pub fn read_folder(place: &str) -> Result<PathBuf, (String, &'static str)> {
    const HINT: &str = "name a folder, as a path or as file:///FOLDER; a bucket or another machine is one where it is mounted";
    match place.split_once("://") {
        None if place.is_empty() => Err(("no folder is named".to_owned(), HINT)),
        None => Ok(place.into()),
        Some(("file", rest)) => match rest.strip_prefix("localhost").unwrap_or(rest) {
            path if path.starts_with('/') && !path.contains('%') => Ok(path.into()),
            _ => Err(("the address names no folder of this machine by its plain path".to_owned(), HINT)),
        },
        Some((scheme, _)) => {
            let shown: String = scheme.escape_debug().take(20).collect();
            Err((format!("an address `{shown}://` is no folder"), HINT))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_for_copies_is_a_folder() {
        for (place, folder) in [
            ("/mnt/x", "/mnt/x"),
            ("copies", "copies"),
            ("file:///mnt/x", "/mnt/x"),
            ("file://localhost/mnt/x", "/mnt/x"),
        ] {
            assert_eq!(read_folder(place).unwrap(), PathBuf::from(folder));
        }
        for place in ["", "s3://bucket/x", "https://host/x", "file://host/x", "file://", "file:///a%20b"] {
            assert!(read_folder(place).is_err(), "{place}");
        }
    }
}
