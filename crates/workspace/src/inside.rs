//! Reads the files of a workspace.
//!
//! A workspace may come from anybody. A file of it counts only if it is an ordinary file below the workspace's root: no
//! link that leads out of it, no device, no pipe. And never more is read than the file's limit, whatever its length is
//! said to be.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use super::error::WorkspaceError;

/// The text of a file; `None` if there is no such file.
pub fn text(root: &Path, name: &str, bytes_max: u64) -> Result<Option<String>, WorkspaceError> {
    let Some(file) = open(root, Path::new(name)).map_err(|message| refused(name, message))? else {
        return Ok(None);
    };
    let mut bytes = Vec::new();
    let read = file.take(bytes_max + 1).read_to_end(&mut bytes);
    read.map_err(|error| WorkspaceError::unreadable(name, &error))?;
    if bytes.len() as u64 > bytes_max {
        let message = format!("the file has more than {}", ordain_types::format_bytes(bytes_max));
        return Err(WorkspaceError {
            hint: Some("it is read with every request; keep it short".to_owned()),
            ..refused(name, message)
        });
    }
    let text = String::from_utf8(bytes).map_err(|_| refused(name, "the text is not UTF-8".to_owned()))?;
    Ok(Some(text))
}

/// Refuses a path that a workspace names and that is not one of its own files. One that does not exist is left to
/// whoever needs it.
pub fn check(root: &Path, named: &Path) -> Result<(), String> {
    open(root, named).map(drop)
}

/// Opens an ordinary file below the root; `None` if there is none.
fn open(root: &Path, path: &Path) -> Result<Option<File>, String> {
    const FLAGS: OFlags = OFlags::RDONLY.union(OFlags::CLOEXEC).union(OFlags::NONBLOCK).union(OFlags::NOCTTY);
    let path = path.strip_prefix(root).unwrap_or(path);
    let folder = rustix::fs::openat(CWD, root, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())
        .map_err(|errno| format!("the folder `{}`: {}", root.display(), std::io::Error::from(errno)))?;
    let below = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    let file = match rustix::fs::openat2(&folder, path, FLAGS, Mode::empty(), below) {
        Ok(file) => File::from(file),
        Err(Errno::NOENT) => return Ok(None),
        Err(Errno::XDEV) => return Err("it leads out of the workspace, so it is not read".to_owned()),
        // What cannot be opened for reading in this way is a socket or a device without a driver.
        Err(Errno::NXIO | Errno::NODEV) => return Err(NOT_ORDINARY.to_owned()),
        Err(errno) => return Err(std::io::Error::from(errno).to_string()),
    };
    let is_ordinary = file.metadata().map_err(|error| error.to_string())?.is_file();
    if is_ordinary { Ok(Some(file)) } else { Err(NOT_ORDINARY.to_owned()) }
}

/// Refuses a folder below the root in which something is neither an ordinary file nor a folder, down to so many levels: a
/// link in it leads what is written there to somebody else's files.
pub(crate) fn check_folder(root: &Path, name: &str, levels: u32) -> Result<(), String> {
    const FLAGS: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
    let below = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    let failed = |errno: Errno| format!("`{name}`: {}", std::io::Error::from(errno));
    let top = rustix::fs::openat(CWD, root, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).map_err(failed)?;
    let folder = match rustix::fs::openat2(&top, name, FLAGS, Mode::empty(), below) {
        Ok(folder) => folder,
        Err(Errno::NOENT) => return Ok(()),
        Err(Errno::LOOP | Errno::NOTDIR | Errno::XDEV) => {
            return Err(format!("`{name}` is not a folder, so nothing is kept there"));
        }
        Err(errno) => return Err(failed(errno)),
    };
    for entry in rustix::fs::Dir::read_from(&folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let file = entry.file_name();
        if matches!(file.to_bytes(), b"." | b"..") {
            continue;
        }
        let within = format!("{name}/{}", file.to_string_lossy());
        let stat = match rustix::fs::statat(&folder, file, AtFlags::SYMLINK_NOFOLLOW) {
            // Another process has removed it.
            Err(Errno::NOENT) => continue,
            stat => stat.map_err(failed)?,
        };
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory if levels > 1 => check_folder(root, &within, levels - 1)?,
            FileType::Directory | FileType::RegularFile | FileType::Socket => {}
            _ => return Err(format!("`{within}` is a link or a device, so the workspace is not used")),
        }
    }
    Ok(())
}

const NOT_ORDINARY: &str = "it is not an ordinary file, so it is not read";

fn refused(name: &str, message: String) -> WorkspaceError {
    WorkspaceError { file: name.to_owned(), line: None, message, hint: None }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// What comes of reading a file that the test makes in a workspace.
    fn check(make: impl Fn(&Path), expected: &str) {
        let outside = tempfile::tempdir().unwrap();
        let root = outside.path().join("workspace");
        fs_err::create_dir_all(root.join("tables")).unwrap();
        fs_err::write(outside.path().join("secret"), "SECRET").unwrap();
        make(&root);
        let told = match text(&root, "policy.md", 16) {
            Ok(Some(text)) => text,
            Ok(None) => "nothing".to_owned(),
            Err(error) => error.message,
        };
        assert_eq!(told, expected);
    }

    #[test]
    fn what_a_stranger_puts_in_the_place_of_a_file_is_not_read() {
        const OUT: &str = "it leads out of the workspace, so it is not read";
        let link = |target: &'static str| move |root: &Path| symlink(target, root.join("policy.md")).unwrap();
        check(link("../secret"), OUT);
        check(link("/etc/passwd"), OUT);
        check(link("/dev/zero"), OUT);
        check(link("tables/../../secret"), OUT);
        check(link("/proc/self/environ"), OUT);
        check(|root| fs_err::create_dir(root.join("policy.md")).unwrap(), NOT_ORDINARY);
        check(
            |root| {
                let path = root.join("policy.md");
                rustix::fs::mknodat(CWD, &path, rustix::fs::FileType::Fifo, Mode::from_raw_mode(0o600), 0)
                    .unwrap();
            },
            NOT_ORDINARY,
        );
        check(
            |root| drop(std::os::unix::net::UnixListener::bind(root.join("policy.md")).unwrap()),
            NOT_ORDINARY,
        );
        check(
            |root| {
                fs_err::create_dir(root.join("linked")).unwrap();
                fs_err::remove_dir(root.join("linked")).unwrap();
                symlink("..", root.join("linked")).unwrap();
                symlink("linked/secret", root.join("policy.md")).unwrap();
            },
            OUT,
        );
    }

    #[test]
    fn a_file_is_read_up_to_its_limit() {
        check(|root| fs_err::write(root.join("policy.md"), "be kind").unwrap(), "be kind");
        check(
            |root| fs_err::write(root.join("policy.md"), [b'x'; 17]).unwrap(),
            "the file has more than 16B",
        );
        check(|root| fs_err::write(root.join("policy.md"), [0xff]).unwrap(), "the text is not UTF-8");
        check(|_| (), "nothing");
        check(
            |root| {
                fs_err::write(root.join("tables/policy.md"), "inside").unwrap();
                symlink("tables/policy.md", root.join("policy.md")).unwrap();
            },
            "inside",
        );
    }
}
