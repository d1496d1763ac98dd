//! Listings of folders, with hashes, to compare before and after.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};

/// Every entry below some folders: what it is, and the hash of its content.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Listing(BTreeMap<PathBuf, String>);

/// The first bytes of a core file on every architecture here: ELF, with its type at byte 16.
const ELF: &[u8] = b"\x7fELF";
const ELF_CORE: u8 = 4;
const ELF_TYPE_AT: usize = 16;

impl Listing {
    /// Lists folders, leaving out what lies below `without`.
    pub(super) fn of(folders: &[&Path], without: &[&Path]) -> Result<Self> {
        let mut listing = Self::default();
        for folder in folders {
            listing.add(folder, without)?;
        }
        Ok(listing)
    }

    fn add(&mut self, folder: &Path, without: &[&Path]) -> Result<()> {
        for entry in fs_err::read_dir(folder)? {
            let path = entry?.path();
            if without.contains(&path.as_path()) {
                continue;
            }
            let kind = fs_err::symlink_metadata(&path)?.file_type();
            let what = if kind.is_dir() {
                self.add(&path, without)?;
                "folder".to_owned()
            } else if kind.is_file() {
                hash_file(&path)?
            } else if kind.is_symlink() {
                format!("link to {}", fs_err::read_link(&path)?.display())
            } else {
                "special".to_owned()
            };
            self.0.insert(path, what);
        }
        Ok(())
    }

    /// What was added, removed or changed since an earlier listing, for people.
    pub(super) fn changes_since(&self, before: &Self) -> Vec<String> {
        let mut changes = Vec::new();
        for (path, what) in &self.0 {
            match before.0.get(path) {
                None => changes.push(format!("{} is new", shown(path))),
                Some(earlier) if earlier != what => changes.push(format!("{} changed", shown(path))),
                Some(_) => {}
            }
        }
        let gone = before.0.keys().filter(|path| !self.0.contains_key(*path));
        changes.extend(gone.map(|path| format!("{} is gone", shown(path))));
        changes
    }

    /// Entries that were not there in an earlier listing.
    fn new_since<'a>(&'a self, before: &'a Self) -> impl Iterator<Item = &'a PathBuf> {
        self.0.keys().filter(|path| !before.0.contains_key(*path))
    }

    /// New files that are core files by name or content.
    pub(super) fn core_files_since(&self, before: &Self) -> Vec<String> {
        self.new_since(before)
            .filter(|path| {
                let start = start_of(path).unwrap_or_default();
                is_core_file(&path.file_name().unwrap_or_default().to_string_lossy(), &start)
            })
            .map(|path| shown(path))
            .collect()
    }

    /// New entries of that name, wherever they are.
    pub(super) fn named_since(&self, name: &str, before: &Self) -> Vec<String> {
        let is_named = |path: &&PathBuf| path.file_name().is_some_and(|it| it == name);
        self.new_since(before).filter(is_named).map(|path| shown(path)).collect()
    }
}

/// Whether a file is a core file by its name or the start of its content.
pub(super) fn is_core_file(name: &str, start: &[u8]) -> bool {
    name.starts_with("core") || (start.starts_with(ELF) && start.get(ELF_TYPE_AT) == Some(&ELF_CORE))
}

/// Where the host's kernel puts core files: folders that can be listed, or why that cannot be known.
pub(super) fn core_folders() -> Result<Vec<PathBuf>> {
    const PATTERN: &str = "/proc/sys/kernel/core_pattern";
    // A program that takes core files keeps them in one of these.
    const TAKEN: [&str; 3] = ["/var/lib/systemd/coredump", "/var/lib/apport/coredump", "/var/crash"];
    let pattern = std::fs::read_to_string(PATTERN).context("failed to read where core files go")?;
    let folders = match pattern.trim() {
        taken if taken.starts_with('|') => TAKEN.map(PathBuf::from).to_vec(),
        path if path.starts_with('/') => Path::new(path).parent().map(Path::to_owned).into_iter().collect(),
        // Relative to the cell's own folder, which goes with it; what it left there is in the record.
        _ => Vec::new(),
    };
    Ok(folders.into_iter().filter(|folder| folder.is_dir()).collect())
}

/// The hash of a file's content, in hexadecimal.
pub(super) fn hash_file(path: &Path) -> Result<String> {
    let mut file = fs_err::File::open(path)?;
    let mut sum = Sha256::new();
    let mut piece = vec![0; 64 * 1024];
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(ordain_types::hex(&sum.finalize())),
            length => sum.update(&piece[..length]),
        }
    }
}

/// The hash of some bytes, in hexadecimal.
pub(super) fn hash(bytes: &[u8]) -> String {
    ordain_types::hex(&Sha256::digest(bytes))
}

fn start_of(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut start = Vec::new();
    if fs_err::symlink_metadata(path)?.is_file() {
        fs_err::File::open(path)?.take(64).read_to_end(&mut start)?;
    }
    Ok(start)
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().escape_debug().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_change_is_told() {
        let root = std::env::temp_dir().join(format!("ordain-listing-{}", std::process::id()));
        let sub = root.join("sub");
        fs_err::create_dir_all(&sub).unwrap();
        fs_err::write(root.join("kept"), "1").unwrap();
        fs_err::write(root.join("changed"), "1").unwrap();
        fs_err::write(sub.join("gone"), "1").unwrap();
        let before = Listing::of(&[&root], &[]).unwrap();
        assert!(Listing::of(&[&root], &[]).unwrap().changes_since(&before).is_empty());
        fs_err::write(root.join("changed"), "2").unwrap();
        fs_err::remove_file(sub.join("gone")).unwrap();
        fs_err::write(sub.join("core.7"), "").unwrap();
        let mut core = b"\x7fELF".to_vec();
        core.resize(16, 0);
        core.extend([4, 0]);
        fs_err::write(sub.join("innocent"), core).unwrap();
        fs_err::os::unix::fs::symlink("/etc/passwd", root.join("pwned")).unwrap();
        let after = Listing::of(&[&root], &[]).unwrap();
        let changes = after.changes_since(&before).join("\n");
        for expected in ["changed changed", "sub/gone is gone", "sub/core.7 is new", "pwned is new"] {
            assert!(changes.contains(expected), "{expected} is not in\n{changes}");
        }
        assert!(!changes.contains("kept"), "{changes}");
        assert_eq!(after.core_files_since(&before).len(), 2);
        assert_eq!(after.named_since("pwned", &before).len(), 1);
        assert!(Listing::of(&[&root], &[&sub]).unwrap().0.keys().all(|path| !path.starts_with(&sub)));
        fs_err::remove_dir_all(&root).unwrap();
    }
}
