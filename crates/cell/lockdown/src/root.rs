//! Builds the zygote's root: nothing but what the interpreter needs, read-only.

use core::ffi::CStr;

use crate::config::{Entries, Entry};
use crate::step::{At, Failure, Outcome, Step};
use crate::sys::{self, EEXIST, EINVAL};

const MS_NOSUID: u64 = 2;
const MS_NODEV: u64 = 4;
const MS_NOEXEC: u64 = 8;
const MS_BIND: u64 = 0x1000;
const MS_REC: u64 = 0x4000;
const MS_PRIVATE: u64 = 0x4_0000;
const ATTRIBUTE_READ_ONLY: u64 = 1;
const ATTRIBUTE_NOSUID: u64 = 2;
const ATTRIBUTE_NODEV: u64 = 4;
const ATTRIBUTE_NOEXEC: u64 = 8;

/// Where the old root hangs while the new one is filled. Host paths are read through it.
const OLD_ROOT: &CStr = c"/.old";
const PATH_BYTES_MAX: usize = 4096;

/// Changes into a new root that holds just the entries.
pub fn build(entries: Entries<'_>) -> Outcome<()> {
    // 1. Nothing mounted from here on may reach the host, and nothing the host mounts may reach in.
    sys::mount(None, c"/", None, MS_REC | MS_PRIVATE, None).at(Step::PrivateMounts)?;
    // 2. An empty filesystem is mounted where every host has a folder. It covers the host's /tmp only until the
    //    next step moves it away, so that entries below /tmp can still be bound.
    sys::mount(
        Some(c"ordain"),
        c"/tmp",
        Some(c"tmpfs"),
        MS_NOSUID | MS_NODEV,
        Some(c"size=4m,nr_inodes=4k,mode=755"),
    )
    .at(Step::MountRoot)?;
    sys::make_folder(c"/tmp/.old", 0o700).at(Step::Populate)?;
    // 3. It becomes the root; the old root hangs below it for as long as files are bound from there.
    sys::pivot_root(c"/tmp", c"/tmp/.old").at(Step::PivotRoot)?;
    sys::change_folder(c"/").at(Step::PivotRoot)?;
    // 4. The entries, each read-only before the next is made.
    let mut entries = entries;
    for entry in entries.by_ref() {
        make(entry)?;
    }
    if !entries.is_finished() {
        return Err(Failure { step: Step::Config, errno: EINVAL });
    }
    // 5. The host's files are let go: no path and no descriptor leads back but that of /proc, which cells close.
    sys::detach(OLD_ROOT).at(Step::DetachOldRoot)?;
    sys::remove_folder(OLD_ROOT).at(Step::DetachOldRoot)?;
    // 6. The root itself takes no further file.
    sys::add_mount_attributes(c"/", ATTRIBUTE_READ_ONLY | ATTRIBUTE_NOSUID).at(Step::SealRoot)
}

/// Mounts a cell's work folder: in memory, with a size, a number of files, and nothing executable.
pub fn mount_work(path: &CStr, options: &CStr) -> Outcome<()> {
    sys::mount(Some(c"work"), path, Some(c"tmpfs"), MS_NOSUID | MS_NODEV | MS_NOEXEC, Some(options))
        .at(Step::MountWork)
}

fn make(entry: Entry<'_>) -> Outcome<()> {
    let (_, path, _) = entry.parts();
    make_parents(path).at(Step::Populate)?;
    match entry {
        Entry::Empty { path } => make_folder(path).at(Step::Populate),
        Entry::Link { path, target } => sys::make_link(target, path).at(Step::Populate),
        Entry::Text { path, text } => {
            let file = create(path).at(Step::Populate)?;
            let written = if text.is_empty() { Ok(()) } else { sys::write(file, text.to_bytes()) };
            sys::close(file).and(written).at(Step::Populate)
        }
        Entry::Folder { path, source } => {
            make_folder(path).at(Step::Populate)?;
            bind(source, path, ATTRIBUTE_READ_ONLY | ATTRIBUTE_NOSUID | ATTRIBUTE_NODEV)
        }
        Entry::File { path } => {
            let file = create(path).at(Step::Populate)?;
            sys::close(file).at(Step::Populate)?;
            // A device stays usable (no NODEV); writing to it is a matter for Landlock.
            bind(path, path, ATTRIBUTE_NOSUID)
        }
        Entry::Data { path, source } => {
            let file = create(path).at(Step::Populate)?;
            sys::close(file).at(Step::Populate)?;
            let attributes = ATTRIBUTE_READ_ONLY | ATTRIBUTE_NOSUID | ATTRIBUTE_NODEV | ATTRIBUTE_NOEXEC;
            bind(source, path, attributes)
        }
        Entry::Scratch { path, source } => {
            make_folder(path).at(Step::Populate)?;
            bind(source, path, ATTRIBUTE_NOSUID | ATTRIBUTE_NODEV | ATTRIBUTE_NOEXEC)
        }
    }
}

fn bind(source: &CStr, path: &CStr, attributes: u64) -> Outcome<()> {
    let mut buffer = [0; PATH_BYTES_MAX];
    let source = join(OLD_ROOT, source, &mut buffer).ok_or(Failure { step: Step::Bind, errno: EINVAL })?;
    sys::mount(Some(source), path, None, MS_BIND | MS_REC, None).at(Step::Bind)?;
    sys::add_mount_attributes(path, attributes).at(Step::Bind)
}

fn create(path: &CStr) -> Result<i32, i32> {
    const O_WRONLY_CREAT_CLOEXEC: i32 = 0o1 | 0o100 | 0o2_000_000;
    sys::open_at(sys::CURRENT_FOLDER, path, O_WRONLY_CREAT_CLOEXEC, 0o644)
}

fn make_folder(path: &CStr) -> Result<(), i32> {
    match sys::make_folder(path, 0o755) {
        Err(EEXIST) => Ok(()),
        made => made,
    }
}

/// Makes every folder above `path`.
fn make_parents(path: &CStr) -> Result<(), i32> {
    let bytes = path.to_bytes();
    let mut buffer = [0; PATH_BYTES_MAX];
    if bytes.len() >= buffer.len() || bytes.first() != Some(&b'/') {
        return Err(EINVAL);
    }
    for (at, _) in bytes.iter().enumerate().skip(1).filter(|(_, byte)| **byte == b'/') {
        buffer[..at].copy_from_slice(&bytes[..at]);
        buffer[at] = 0;
        make_folder(CStr::from_bytes_until_nul(&buffer).map_err(|_| EINVAL)?)?;
    }
    Ok(())
}

fn join<'a>(folder: &CStr, path: &CStr, buffer: &'a mut [u8; PATH_BYTES_MAX]) -> Option<&'a CStr> {
    let (folder, path) = (folder.to_bytes(), path.to_bytes_with_nul());
    let joined = buffer.get_mut(..folder.len() + path.len())?;
    joined[..folder.len()].copy_from_slice(folder);
    joined[folder.len()..].copy_from_slice(path);
    CStr::from_bytes_until_nul(joined).ok()
}
