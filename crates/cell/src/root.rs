//! What the zygote's root holds: the interpreter, its libraries, and next to nothing else.

use std::ffi::{CStr, CString, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use ordain_lockdown::config::Entry;

use crate::mount::Mount;

/// Folders with the system's shared libraries. A symbolic link stays a link.
const LIBRARIES: [&str; 5] = ["/lib", "/lib32", "/lib64", "/usr/lib", "/usr/lib64"];
/// Further files and folders that the interpreter and its packages read, where the host has them.
const OTHERS: [&str; 3] = ["/usr/share/zoneinfo", "/etc/ld.so.cache", "/etc/ld.so.conf"];
const DEVICES: [&str; 3] = ["/dev/null", "/dev/random", "/dev/urandom"];

/// Where a cell finds its profile's packages, wherever they lie on the host.
pub(crate) const PACKAGES: &str = "/packages";

/// Encodes the root for an interpreter whose files lie in `folders`, with the packages of a profile, mounted files, and a folder
/// on disk.
pub(crate) fn encode(
    folders: &[PathBuf],
    packages: Option<&Path>,
    mounts: &[Mount],
    scratch: Option<&CStr>,
) -> Vec<u8> {
    let mut root = Root::default();
    root.add_made();
    // An interpreter that lies below /tmp needs the folder itself; programs then find `TMPDIR` only.
    if !folders.iter().any(|folder| folder.starts_with("/tmp")) {
        root.add(&Entry::Link { path: c"/tmp", target: c"/work/tmp" });
    }
    if let Some(source) = packages.and_then(|packages| c_string(packages.as_os_str())) {
        root.add(&Entry::Folder { path: c"/packages", source: &source });
    }
    for path in LIBRARIES.iter().map(Path::new).chain(folders.iter().map(PathBuf::as_path)) {
        root.add_path(path);
    }
    for path in OTHERS.iter().chain(&DEVICES) {
        root.add_path(Path::new(path));
    }
    for mount in mounts {
        root.add(&Entry::Data { path: &mount.path, source: &mount.source });
    }
    if let Some(source) = scratch {
        root.add(&Entry::Scratch { path: c"/scratch", source });
    }
    root.encoded
}

#[derive(Default)]
struct Root {
    encoded: Vec<u8>,
    folders: Vec<PathBuf>,
}

impl Root {
    /// What is made rather than taken from the host.
    fn add_made(&mut self) {
        self.add(&Entry::Empty { path: c"/work" });
        // A user exists, so that libraries that ask for its name and home get an answer.
        self.add(&Entry::Text { path: c"/etc/passwd", text: c"cell:x:1000:1000:cell:/work:/nonexistent\n" });
        self.add(&Entry::Text { path: c"/etc/group", text: c"cell:x:1000:\n" });
    }

    fn add_path(&mut self, path: &Path) {
        let Ok(metadata) = std::fs::symlink_metadata(path) else { return };
        let is_inside = self.folders.iter().any(|folder| path.starts_with(folder));
        let Some(text) = c_string(path.as_os_str()).filter(|_| !is_inside) else { return };
        if metadata.is_symlink() {
            if let Some(target) =
                std::fs::read_link(path).ok().and_then(|target| c_string(target.as_os_str()))
            {
                self.add(&Entry::Link { path: &text, target: &target });
            }
        } else if metadata.is_dir() {
            self.folders.push(path.to_owned());
            self.add(&Entry::Folder { path: &text, source: &text });
        } else {
            self.add(&Entry::File { path: &text });
        }
    }

    fn add(&mut self, entry: &Entry<'_>) {
        let (kind, path, second) = entry.parts();
        self.encoded.push(kind);
        self.encoded.extend_from_slice(path.to_bytes_with_nul());
        if let Some(second) = second {
            self.encoded.extend_from_slice(second.to_bytes_with_nul());
        }
    }
}

fn c_string(text: &OsStr) -> Option<CString> {
    CString::new(text.as_bytes()).ok()
}

#[cfg(test)]
mod tests {
    use ordain_lockdown::config::Entries;

    use super::*;

    #[test]
    fn a_folder_inside_another_is_not_bound_twice_and_home_is_never_bound() {
        let encoded =
            encode(&[PathBuf::from("/usr/lib"), PathBuf::from("/usr/lib/python3")], None, &[], None);
        let mut entries = Entries::new(&encoded);
        let bound: Vec<_> = entries
            .by_ref()
            .filter_map(|entry| match entry {
                Entry::Folder { path, .. } => Some(path.to_str().unwrap().to_owned()),
                _ => None,
            })
            .collect();
        assert!(entries.is_finished());
        assert_eq!(bound.iter().filter(|path| path.starts_with("/usr/lib/")).count(), 0, "{bound:?}");
        for hidden in ["/", "/home", "/etc", "/tmp", "/proc", "/sys", "/dev", "/usr"] {
            assert!(!bound.iter().any(|path| path == hidden), "{hidden} is bound: {bound:?}");
        }
    }
}
