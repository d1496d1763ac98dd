//! Takes the files that code left in its artifacts folder.
//!
//! The folder is read through a descriptor of the cell's work folder that the supervisor has held since before the
//! code ran, when the cell is dead or stopped. No path is resolved in the cell's terms: nothing above the folder, no
//! symbolic link, no device and no pipe is ever opened.

mod content;
mod name;

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use ordain_types::Limits;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RenameFlags, ResolveFlags};
use rustix::io::Errno;
use serde::Serialize;
use sha2::{Digest, Sha256};

pub use name::problem as name_problem;
pub(crate) use name::{is_deceptive, is_plain, shown};

/// Entries looked at beyond those that may be taken; a folder with more is cut off.
const ENTRIES_BEYOND_LIMIT: usize = 200;
/// How many refusals are listed one by one.
const REFUSALS_MAX: usize = 100;

/// A file that code left.
#[derive(Debug, Serialize)]
pub struct Artifact {
    /// Its name: plain, printable, without separators.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// What it is, by name and content together.
    pub media_type: &'static str,
    /// The hash of its content, in hexadecimal; empty where the job had its artifacts taken unseen.
    pub sha256: String,
    /// What a reader should know before opening it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<&'static str>,
    #[serde(skip)]
    content: File,
}

/// A file that was not taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Refusal {
    /// Its name, with everything unprintable escaped.
    pub name: String,
    /// Why.
    pub reason: String,
}

impl Artifact {
    /// A file that came from an executor elsewhere, examined again here. `None` if its name may not cross the border.
    pub fn received(name: &str, content: File) -> io::Result<Option<Self>> {
        if !is_plain(name) {
            return Ok(None);
        }
        let bytes = content.metadata()?.len();
        (&content).seek(SeekFrom::Start(0))?;
        examine(content, name, bytes, Keep::Descriptor).map(Some)
    }

    /// Its content. The size is within the job's limit.
    pub fn read(&self) -> io::Result<Vec<u8>> {
        let mut content = &self.content;
        content.seek(SeekFrom::Start(0))?;
        let mut bytes = Vec::new();
        content.take(self.bytes).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Writes it into a folder under its own name, whole or not at all. An existing file is never replaced.
    pub fn save(&self, folder: &Path) -> io::Result<PathBuf> {
        // Several threads may save files of the same name, so each gets a partial file of its own.
        static SAVED: AtomicU64 = AtomicU64::new(0);
        let number = SAVED.fetch_add(1, Ordering::Relaxed);
        let path = folder.join(&self.name);
        let partial = folder.join(format!(".{}-{number}.part", std::process::id()));
        // What code read goes with it: it is its owner's alone, whatever the process's mask says.
        let mut target = File::options().write(true).create_new(true).mode(0o600).open(&partial)?;
        let saved = self.copy_to(&mut target).and_then(|()| take_name(&partial, &path));
        if saved.is_err() {
            let _ = std::fs::remove_file(&partial);
        }
        saved.map(|()| path)
    }

    fn copy_to(&self, target: &mut File) -> io::Result<()> {
        let mut content = &self.content;
        content.seek(SeekFrom::Start(0))?;
        io::copy(&mut content.take(self.bytes), target)?;
        target.flush()
    }
}

/// Gives a partial file its name, unless something has that name.
fn take_name(partial: &Path, path: &Path) -> io::Result<()> {
    match rustix::fs::renameat_with(CWD, partial, CWD, path, RenameFlags::NOREPLACE) {
        // A filesystem that knows no such renaming knows links.
        Err(Errno::INVAL | Errno::NOSYS) => {
            std::fs::hard_link(partial, path)?;
            std::fs::remove_file(partial)
        }
        renamed => Ok(renamed?),
    }
}

/// What was found in an artifacts folder.
#[derive(Debug, Default)]
pub(crate) struct Collected {
    pub(crate) artifacts: Vec<Artifact>,
    pub(crate) refused: Vec<Refusal>,
    /// The limit that was passed first, in words.
    pub(crate) over_limit: Option<String>,
}

/// How the content of an artifact is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keep {
    /// From the file itself: the cell is dead, so the file can no longer change.
    Descriptor,
    /// As a copy: a session's cell goes on.
    Copy,
    /// From the file itself, which nobody but the program that asked for it will open: it is neither hashed nor looked at.
    Unseen,
}

/// Whether code left anything at all.
pub(crate) fn is_empty(work: &OwnedFd) -> bool {
    open_folder(work.as_fd(), "artifacts")
        .and_then(|folder| entries(&folder, 1))
        .is_ok_and(|names| names.is_empty())
}

/// Takes what may be taken.
pub(crate) fn collect(work: &OwnedFd, limits: &Limits, keep: Keep) -> Collected {
    let mut collected = Collected::default();
    let Ok(folder) = open_folder(work.as_fd(), "artifacts") else {
        collected.refuse(b"artifacts", "the artifacts folder was replaced by something else".to_owned());
        return collected;
    };
    let seen_max = limits.artifacts as usize + ENTRIES_BEYOND_LIMIT;
    let mut names = entries(&folder, seen_max + 1).unwrap_or_default();
    if names.len() > seen_max {
        collected.pass_limit(format!("it left more than {} artifacts", limits.artifacts));
        collected.refuse(b"...", format!("more than {seen_max} files; the rest was not looked at"));
    }
    names.sort();
    let mut room = limits.artifact_bytes;
    for name in names {
        collected.take(&folder, &name, limits, &mut room, keep);
    }
    collected
}

/// Names of files left in the work folder itself, which are not collected.
pub(crate) fn left_behind(work: &OwnedFd) -> Vec<String> {
    const OWN: [&[u8]; 3] = [b"artifacts", b"data", b"tmp"];
    const SHOWN_MAX: usize = 20;
    let mut names = entries(work, SHOWN_MAX + OWN.len()).unwrap_or_default();
    names.retain(|name| !OWN.contains(&name.as_slice()) && !name.starts_with(b"."));
    names.sort();
    names.iter().take(SHOWN_MAX).map(|name| shown(name)).collect()
}

impl Collected {
    fn refuse(&mut self, name: &[u8], reason: String) {
        if self.refused.len() < REFUSALS_MAX {
            self.refused.push(Refusal { name: shown(name), reason });
        }
    }

    fn pass_limit(&mut self, detail: String) {
        self.over_limit.get_or_insert(detail);
    }

    fn take(&mut self, folder: &OwnedFd, name: &[u8], limits: &Limits, room: &mut u64, keep: Keep) {
        let plain = match std::str::from_utf8(name).ok().map(name::problem) {
            Some(None) => std::str::from_utf8(name).unwrap_or_default(),
            Some(Some(problem)) => return self.refuse(name, problem.to_owned()),
            None => return self.refuse(name, "its name is not UTF-8".to_owned()),
        };
        let (file, bytes) = match open_regular(folder, plain) {
            Ok(opened) => opened,
            Err(reason) => return self.refuse(name, reason),
        };
        if self.artifacts.len() >= limits.artifacts as usize {
            self.pass_limit(format!("it left more than {} artifacts", limits.artifacts));
            return self.refuse(name, format!("more than {} artifacts", limits.artifacts));
        }
        if bytes > *room {
            let limit = ordain_types::format_bytes(limits.artifact_bytes);
            self.pass_limit(format!("it left artifacts of more than {limit} together"));
            return self.refuse(name, format!("artifacts together are larger than {limit}"));
        }
        match examine(file, plain, bytes, keep) {
            Ok(artifact) => {
                *room -= artifact.bytes;
                self.artifacts.push(artifact);
            }
            Err(error) => self.refuse(name, format!("it could not be read: {error}")),
        }
    }
}

/// Opens one entry if it is an ordinary file, and says how large it is.
fn open_regular(folder: &OwnedFd, name: &str) -> Result<(File, u64), String> {
    let unreadable = |error: Errno| format!("it could not be read: {error}");
    let status = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).map_err(unreadable)?;
    let kind = match FileType::from_raw_mode(status.st_mode) {
        FileType::RegularFile => None,
        FileType::Symlink => Some("a symbolic link"),
        FileType::Directory => Some("a folder; write files to the artifacts folder itself"),
        FileType::Fifo => Some("a pipe"),
        FileType::Socket => Some("a socket"),
        _ => Some("a device"),
    };
    if let Some(kind) = kind {
        return Err(format!("it is {kind}"));
    }
    // Between the two calls a running session could have put a pipe there: opening must not wait for a writer, and
    // what was opened is looked at again.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = rustix::fs::openat2(folder, name, flags, Mode::empty(), beneath()).map_err(unreadable)?;
    let status = rustix::fs::fstat(&file).map_err(unreadable)?;
    if FileType::from_raw_mode(status.st_mode) != FileType::RegularFile {
        return Err("it is not an ordinary file".to_owned());
    }
    Ok((File::from(file), u64::try_from(status.st_size).unwrap_or(u64::MAX)))
}

/// Reads a file once: hashes it, looks at what it is, copies it where it must be kept apart.
fn examine(file: File, name: &str, bytes: u64, keep: Keep) -> io::Result<Artifact> {
    let mut copy = match keep {
        Keep::Unseen => {
            return Ok(Artifact {
                name: name.to_owned(),
                bytes,
                media_type: content::UNKNOWN,
                sha256: String::new(),
                warnings: Vec::new(),
                content: file,
            });
        }
        Keep::Descriptor => None,
        Keep::Copy => {
            Some(File::from(rustix::fs::memfd_create("artifact", rustix::fs::MemfdFlags::CLOEXEC)?))
        }
    };
    let mut hash = Sha256::new();
    let mut look = content::ContentScan::new(name);
    let mut piece = vec![0; 64 * 1024];
    let mut length = 0;
    let mut reader = (&file).take(bytes);
    loop {
        let read = reader.read(&mut piece)?;
        if read == 0 {
            break;
        }
        length += read as u64;
        hash.update(&piece[..read]);
        look.at(&piece[..read]);
        if let Some(copy) = &mut copy {
            copy.write_all(&piece[..read])?;
        }
    }
    let (media_type, warnings) = look.finish();
    Ok(Artifact {
        name: name.to_owned(),
        bytes: length,
        media_type,
        sha256: ordain_types::hex(&hash.finalize()),
        warnings,
        content: copy.unwrap_or(file),
    })
}

/// Opens a folder below `parent` without following anything out of it.
pub(crate) fn open_folder(parent: BorrowedFd<'_>, name: &str) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::openat2(parent, name, flags, Mode::empty(), beneath())?)
}

/// Nothing above the folder, no link, no other filesystem.
pub(crate) fn beneath() -> ResolveFlags {
    ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS | ResolveFlags::NO_XDEV
}

/// At most `count_max` names of a folder.
fn entries(folder: &OwnedFd, count_max: usize) -> io::Result<Vec<Vec<u8>>> {
    let mut names = Vec::new();
    for entry in rustix::fs::Dir::read_from(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name == b"." || name == b".." {
            continue;
        }
        names.push(name.to_owned());
        if names.len() >= count_max {
            break;
        }
    }
    Ok(names)
}
