//! Puts a job's input files into a cell's work folder.
//!
//! The cell gets copies: whatever the code does to them, the originals stay as they are. They are written through
//! the supervisor's own descriptor of the work folder, before the job is handed over.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use ordain_types::{Limits, format_bytes};
use rustix::fs::{FileType, Mode, OFlags};
use sha2::{Digest as _, Sha256};

use crate::artifact::{beneath, is_plain, open_folder, shown};
use crate::cell::Cell;
use crate::error::CellError;
use crate::job::InputFile;

/// How many files a job may have.
pub(crate) const FILES_MAX: usize = 1000;

/// Opens every input and looks at name, kind and size, before a cell is taken.
pub(crate) fn open(files: &[InputFile], limits: &Limits) -> Result<Vec<(String, File)>, CellError> {
    if files.len() > FILES_MAX {
        return Err(wrong("…", format!("is one of {} files; {FILES_MAX} is the limit", files.len())));
    }
    let mut seen = HashSet::new();
    let mut room = limits.work_bytes();
    let mut opened = Vec::with_capacity(files.len());
    for file in files {
        if !is_plain(&file.name) {
            return Err(wrong(&file.name, "has a name that is not plain".to_owned()));
        }
        if !seen.insert(&file.name) {
            return Err(wrong(&file.name, "is given twice".to_owned()));
        }
        let (content, bytes) =
            open_one(file).map_err(|error| wrong(&file.name, format!("cannot be read: {error}")))?;
        if bytes > limits.file_bytes {
            let (size, limit) = (format_bytes(bytes), format_bytes(limits.file_bytes));
            return Err(wrong(
                &file.name,
                format!("has {size}, more than the limit of {limit} for one file"),
            ));
        }
        if bytes > room {
            let limit = format_bytes(limits.work_bytes());
            return Err(wrong(&file.name, format!("does not fit: all files together may have {limit}")));
        }
        room -= bytes;
        opened.push((file.name.clone(), content));
    }
    Ok(opened)
}

/// The SHA-256 of each file's content, in hexadecimal; none for one that cannot be read. Files may be larger than memory.
pub async fn hash_files(files: Vec<InputFile>) -> Vec<Option<String>> {
    let count = files.len();
    if count == 0 {
        return Vec::new();
    }
    let hashed = tokio::task::spawn_blocking(move || {
        files.iter().map(|file| hash_one(file).ok()).collect::<Vec<Option<String>>>()
    });
    hashed.await.unwrap_or_else(|_| vec![None; count])
}

fn hash_one(file: &InputFile) -> io::Result<String> {
    hash(open_one(file)?.0)
}

/// The SHA-256 of everything that can be read.
pub(crate) fn hash(mut content: impl Read) -> io::Result<String> {
    const PIECE_BYTES: usize = 1 << 18;
    let mut hash = Sha256::new();
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        let read = content.read(&mut piece)?;
        if read == 0 {
            break;
        }
        hash.update(&piece[..read]);
    }
    Ok(ordain_types::hex(&hash.finalize()))
}

pub(crate) fn open_one(file: &InputFile) -> io::Result<(File, u64)> {
    // Asking first keeps a pipe from blocking the open.
    let metadata = std::fs::metadata(&file.path)?;
    if !metadata.is_file() {
        let kind = if metadata.is_dir() { "it is a folder" } else { "it is not an ordinary file" };
        return Err(io::Error::new(io::ErrorKind::InvalidInput, kind));
    }
    let content = File::open(&file.path)?;
    let bytes = content.metadata()?.len();
    Ok((content, bytes))
}

/// Copies opened inputs into a cell's work folder. Files of a session replace earlier ones of the same name.
///
/// The cell itself makes the empty files, because the work folder belongs to its user namespace and takes new files
/// from no one else; the supervisor then fills them.
pub(crate) async fn place(cell: &mut Cell, files: Vec<(String, File)>) -> Result<(), CellError> {
    if files.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    cell.make_files(&names).await?;
    let work = Arc::clone(cell.work());
    let placed = tokio::task::spawn_blocking(move || place_now(&work, files)).await;
    placed.map_err(|_| CellError::Lost)?
}

fn place_now(work: &OwnedFd, files: Vec<(String, File)>) -> Result<(), CellError> {
    let replaced = |error: io::Error| wrong("data", format!("has no folder to go to: {error}"));
    let folder = open_folder(work.as_fd(), "data").map_err(replaced)?;
    for (name, mut content) in files {
        let copied = open_made(&folder, &name).and_then(|mut copy| io::copy(&mut content, &mut copy));
        copied.map_err(|error| wrong(&name, format!("could not be copied into the cell: {error}")))?;
    }
    Ok(())
}

fn open_made(folder: &OwnedFd, name: &str) -> io::Result<File> {
    let flags = OFlags::WRONLY | OFlags::TRUNC | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::openat2(folder, name, flags, Mode::empty(), beneath())?;
    if FileType::from_raw_mode(rustix::fs::fstat(&file)?.st_mode) != FileType::RegularFile {
        return Err(io::Error::other("it was replaced by something else"));
    }
    rustix::fs::fchmod(&file, Mode::RUSR | Mode::RGRP | Mode::ROTH)?;
    Ok(File::from(file))
}

pub(crate) fn wrong(name: &str, problem: String) -> CellError {
    CellError::File { name: shown(name.as_bytes()), problem }
}
