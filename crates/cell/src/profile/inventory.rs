//! Every file of an installed profile as it was when it was set up, and whether it still is.
//!
//! The list has a line for each file: SHA-256, size, time of the last change, path. The manifest holds the list's own
//! hash. When a zygote starts, sizes, times, owners and rights are compared, which reads no file whose time is the
//! recorded one; a full check reads them all.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs::Metadata;
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::{Installed, ProfileError, data_dir};
use crate::files;

/// The list's name in the profile's folder.
pub(super) const FILE: &str = "files.txt";
/// The list of the largest profile has 4 MiB.
const BYTES_MAX: u64 = 64 << 20;

/// How closely files are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    /// By size, time, owner and rights; by content only where the time is another, as in a copy.
    Glance,
    /// By content.
    Content,
}

/// What is recorded of a file.
struct Recorded<'a> {
    sha256: &'a str,
    size: u64,
    modified_ns: i128,
}

/// Writes the list for a package folder into the profile's folder; gives the list's hash.
pub(super) fn write(site: &Path, folder: &Path) -> Result<String, ProfileError> {
    let mut files = Vec::new();
    walk(site, &mut |path, metadata| {
        if !metadata.is_dir() {
            files.push((path.to_owned(), modified_ns(metadata), metadata.len()));
        }
        Ok(())
    })?;
    files.sort();
    let mut list = String::new();
    for (path, modified_ns, size) in files {
        let sha256 = hash(&path).map_err(ProfileError::file(&path))?;
        let name = path.strip_prefix(site).ok().and_then(Path::to_str).filter(|name| !name.contains('\n'));
        let name = name.ok_or_else(|| ProfileError::Incomplete {
            tool: "the installer",
            what: format!("{} has no usable name", path.display()),
        })?;
        // Writing to a text cannot fail.
        let _ = writeln!(list, "{sha256} {size} {modified_ns} {name}");
    }
    let path = folder.join(FILE);
    fs_err::write(&path, &list).map_err(ProfileError::file(&path))?;
    Ok(ordain_types::hex(&Sha256::digest(&list)))
}

impl Installed {
    /// Reads every file of the profile and compares it with what was set up.
    pub fn verify(&self) -> Result<(), ProfileError> {
        self.look(Depth::Content)
    }

    /// Compares the profile's files with what was set up.
    pub(crate) fn look(&self, depth: Depth) -> Result<(), ProfileError> {
        let folder = self.site.parent().unwrap_or(&self.site);
        let damaged =
            |what: String| ProfileError::Damaged { profile: self.profile, folder: folder.into(), what };
        let list = read_list(&folder.join(FILE)).map_err(|error| damaged(format!("its list: {error}")))?;
        if ordain_types::hex(&Sha256::digest(&list)) != self.files_sha256 {
            return Err(damaged("its list of files was edited".into()));
        }
        let mut recorded: HashMap<&str, Recorded<'_>> = list.lines().filter_map(recorded).collect();
        walk(&self.site, &mut |path, metadata| {
            data_dir::ours_by(path, metadata)?;
            if metadata.is_dir() {
                return Ok(());
            }
            let name = path.strip_prefix(&self.site).unwrap_or(path).to_string_lossy();
            let Some(file) = recorded.remove(&*name) else {
                return Err(damaged(format!("`{name}` was added")));
            };
            if is_for_the_machine(&name) {
                return Ok(());
            }
            let is_same = file.size == metadata.len()
                && (depth == Depth::Glance && file.modified_ns == modified_ns(metadata)
                    || hash(path).map_err(ProfileError::file(path))? == file.sha256);
            if is_same { Ok(()) } else { Err(damaged(format!("`{name}` was changed"))) }
        })?;
        match recorded.keys().min() {
            Some(name) => Err(damaged(format!("`{name}` is missing"))),
            None => Ok(()),
        }
    }
}

/// Lists of certificates: tools that manage a machine add its own authorities to every such file they find. Cells have no
/// network, so nothing in them is trusted for what these files say; their owner and rights are looked at all the same.
fn is_for_the_machine(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|ending| ending == "pem")
}

fn recorded(line: &str) -> Option<(&str, Recorded<'_>)> {
    let mut parts = line.splitn(4, ' ');
    let (sha256, size, modified_ns) =
        (parts.next()?, parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    Some((parts.next()?, Recorded { sha256, size, modified_ns }))
}

fn read_list(path: &Path) -> io::Result<String> {
    let mut list = String::new();
    std::fs::File::open(path)?.take(BYTES_MAX).read_to_string(&mut list)?;
    Ok(list)
}

/// Calls `tell` for a folder and for everything in it, at any depth. Links are not followed.
fn walk(
    top: &Path,
    tell: &mut dyn FnMut(&Path, &Metadata) -> Result<(), ProfileError>,
) -> Result<(), ProfileError> {
    let metadata = fs_err::symlink_metadata(top).map_err(ProfileError::file(top))?;
    tell(top, &metadata)?;
    let mut folders: Vec<PathBuf> = vec![top.to_owned()];
    while let Some(folder) = folders.pop() {
        let failed = || ProfileError::file(&folder);
        for entry in std::fs::read_dir(&folder).map_err(failed())? {
            let entry = entry.map_err(failed())?;
            let (path, metadata) = (entry.path(), entry.metadata().map_err(failed())?);
            tell(&path, &metadata)?;
            if metadata.is_dir() {
                folders.push(path);
            }
        }
    }
    Ok(())
}

/// Of a file its content, of a link where it leads.
fn hash(path: &Path) -> io::Result<String> {
    if path.is_symlink() {
        return files::hash(std::fs::read_link(path)?.as_os_str().as_bytes());
    }
    files::hash(std::fs::File::open(path)?)
}

fn modified_ns(metadata: &Metadata) -> i128 {
    i128::from(metadata.mtime()) * 1_000_000_000 + i128::from(metadata.mtime_nsec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_may_add_its_authorities_to_lists_of_certificates_and_to_nothing_else() {
        assert!(is_for_the_machine("certifi/cacert.pem"));
        for name in ["certifi/core.py", "certifi/cacert.pem.py", "pem", "x.so"] {
            assert!(!is_for_the_machine(name), "{name}");
        }
    }
}
