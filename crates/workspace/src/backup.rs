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
    /// The address that each copy is sent to as well.
    pub address: Option<String>,
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
        let place = section.to.as_deref().map(BackupPlace::read).transpose();
        let (folder, address) = match place.map_err(|(message, hint)| wrong(&message, hint))? {
            Some(BackupPlace::Folder(folder)) => (root.join(folder), None),
            Some(BackupPlace::Address(address)) => (own_folder(root), Some(address)),
            None => (own_folder(root), None),
        };
        let every = section.every.map(|every| every.0);
        if every.is_some_and(|every| every < Duration::from_mins(1)) {
            return Err(wrong("`backup.every` is a minute or more", "write a time such as \"24h\""));
        }
        if section.keep == Some(0) {
            return Err(wrong("`backup.keep` is 1 or more", "leave it out to keep all copies"));
        }
        Ok(Self { folder, address, every, keep: section.keep })
    }
}

/// Copies that are not put elsewhere are beside the store.
fn own_folder(root: &Path) -> PathBuf {
    root.join(STATE).join("backups")
}

/// Where copies go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BackupPlace {
    /// A folder of this machine.
    Folder(PathBuf),
    /// An address that takes files by PUT.
    Address(String),
}

impl BackupPlace {
    /// A path, `file:///…`, or `https://…`. Otherwise what is wrong, and what helps.
    pub fn read(place: &str) -> Result<Self, (String, &'static str)> {
        const HINT: &str =
            "name a folder, file:///FOLDER, or an address https://HOST/PATH that takes files by PUT";
        let folder = |path: &str| Ok(Self::Folder(path.into()));
        match place.split_once("://") {
            None if place.is_empty() => Err(("no folder is named".to_owned(), HINT)),
            None => folder(place),
            Some(("file", rest)) => match rest.strip_prefix("localhost").unwrap_or(rest) {
                path if path.starts_with('/') && !path.contains('%') => folder(path),
                _ => Err(("the address names no folder of this machine by its plain path".to_owned(), HINT)),
            },
            Some(("https", rest)) if is_plain(rest) => Ok(Self::Address(place.to_owned())),
            Some(("http", rest)) if is_plain(rest) && is_here(rest) => Ok(Self::Address(place.to_owned())),
            Some((scheme, _)) => {
                let shown: String = scheme.escape_debug().take(20).collect();
                Err((format!("copies cannot be sent to this `{shown}://`"), HINT))
            }
        }
    }
}

/// Whether an address has a host and a path, and neither a password nor a query.
fn is_plain(rest: &str) -> bool {
    let is_usual = |sign: char| sign.is_ascii_alphanumeric() || "-._~/:[]".contains(sign);
    rest.starts_with(|sign: char| sign.is_ascii_alphanumeric() || sign == '[') && rest.chars().all(is_usual)
}

/// Whether an address is on this machine, so that nobody can listen in.
fn is_here(rest: &str) -> bool {
    let rest_of = |host| rest.strip_prefix(host).is_some_and(|behind: &str| behind.starts_with([':', '/']));
    ["localhost", "127.0.0.1", "[::1]"].into_iter().any(rest_of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_for_copies_is_a_folder_or_an_address_over_tls() {
        for (place, folder) in [
            ("/mnt/x", "/mnt/x"),
            ("copies", "copies"),
            ("file:///mnt/x", "/mnt/x"),
            ("file://localhost/mnt/x", "/mnt/x"),
        ] {
            assert_eq!(BackupPlace::read(place).unwrap(), BackupPlace::Folder(folder.into()));
        }
        for place in
            ["https://host/x", "https://[fe80::1]:8443/a/b", "http://127.0.0.1:80/x", "http://localhost/x"]
        {
            assert_eq!(BackupPlace::read(place).unwrap(), BackupPlace::Address(place.to_owned()));
        }
        for place in [
            "",
            "s3://bucket/x",
            "file://host/x",
            "file://",
            "file:///a%20b",
            "https://",
            "https://user:word@host/x",
            "https://host/x?sig=1",
            "http://host/x",
            "http://127.0.0.1.example.org/x",
            "https://host/x y",
        ] {
            assert!(BackupPlace::read(place).is_err(), "{place}");
        }
    }
}
