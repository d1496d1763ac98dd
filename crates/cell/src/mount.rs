//! Files of the host that every cell of an executor sees in place, read-only.
//!
//! An input file is copied into each cell and counts as its memory; that is no way for a table of two gigabytes that
//! twenty jobs read. A mounted file is bound into the zygote's root before the host's root is let go, so cells share
//! the host's own page cache, and the kernel refuses every write.

use std::collections::HashSet;
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;

use crate::artifact::is_plain;
use crate::error::CellError;
use crate::files::{FILES_MAX, open_one, wrong};
use crate::job::InputFile;

/// Where cells find mounted files; `python/runner.py` has the same path.
const MOUNTS: &str = "/mounts";
/// The right of everybody to read.
const OTHERS_MAY_READ: u32 = 0o004;

/// A file that can be bound into a root.
#[derive(Debug, Clone)]
pub(crate) struct Mount {
    /// Its path in the root.
    pub(crate) path: CString,
    /// Its path on the host, free of links: a link would be followed inside the new root.
    pub(crate) source: CString,
}

/// Looks at name, kind and rights of every file, before a zygote is started.
pub(crate) fn prepare(files: &[InputFile]) -> Result<Vec<Mount>, CellError> {
    if files.len() > FILES_MAX {
        return Err(wrong("…", format!("is one of {} mounts; {FILES_MAX} is the limit", files.len())));
    }
    let mut seen = HashSet::new();
    files
        .iter()
        .map(|file| {
            if !is_plain(&file.name) {
                return Err(wrong(&file.name, "has a name that is not plain".to_owned()));
            }
            if !seen.insert(&file.name) {
                return Err(wrong(&file.name, "is given twice".to_owned()));
            }
            prepare_one(file)
        })
        .collect()
}

fn prepare_one(file: &InputFile) -> Result<Mount, CellError> {
    let unreadable = |error| wrong(&file.name, format!("cannot be read: {error}"));
    let (content, _) = open_one(file).map_err(unreadable)?;
    let mode = content.metadata().map_err(unreadable)?.mode();
    // The superuser's zygote changes to another user, to whom the file's permissions apply.
    if rustix::process::geteuid().is_root() && mode & OTHERS_MAY_READ == 0 {
        let problem = "can be read by its owner alone, so cells cannot be shown it; allow others to read it, or copy it";
        return Err(wrong(&file.name, problem.to_owned()));
    }
    let source = std::fs::canonicalize(&file.path).map_err(unreadable)?;
    let unnamed = |_| wrong(&file.name, "has a path that no system call can take".to_owned());
    Ok(Mount {
        path: CString::new(format!("{MOUNTS}/{}", file.name)).map_err(unnamed)?,
        source: CString::new(source.as_os_str().as_bytes()).map_err(unnamed)?,
    })
}
