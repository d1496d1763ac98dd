//! Finds and reads a workspace's check files.

use std::collections::BTreeSet;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use ordain_workspace::{CHECK_FILE_BYTES_MAX, inside};

use crate::ChecksError;
use crate::compiled::COMPILED;
use crate::file::{CheckFiles, Problem};

/// The folder with check files.
const FOLDER: &str = "checks";

/// Reads every check file of a workspace, in the order of their names. Problems are in what is given back.
pub fn read_checks(root: &Path) -> Result<CheckFiles, ChecksError> {
    read_changed(root, None)
}

/// The same as if one file, named as it is shown, held another text.
pub(crate) fn read_changed(root: &Path, changed: Option<(&str, &str)>) -> Result<CheckFiles, ChecksError> {
    let mut names: BTreeSet<String> = changed.iter().map(|(name, _)| (*name).to_owned()).collect();
    let entries = match fs_err::read_dir(root.join(FOLDER)) {
        Ok(entries) => entries.collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(ChecksError::state("list the check files")(error)),
    };
    for entry in entries {
        let path = entry.map_err(ChecksError::state("list the check files"))?.path();
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        if matches!(ending, "json" | "yaml" | "yml") {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            names.insert(format!("{FOLDER}/{name}"));
        }
        names.remove(COMPILED);
    }
    if names.is_empty() {
        return Err(ChecksError::NoFiles);
    }
    let mut files = CheckFiles::default();
    for name in names {
        match changed.filter(|(changed, _)| *changed == name) {
            Some((_, text)) => files.read(&name, text),
            None => read_one(&mut files, root, &name),
        }
    }
    files.finish();
    Ok(files)
}

fn read_one(files: &mut CheckFiles, root: &Path, shown: &str) {
    let problem = |message: String, hint: &str| Problem {
        file: shown.to_owned(),
        line: 1,
        check_id: None,
        message,
        hint: Some(hint.to_owned()),
    };
    match inside::text(root, shown, CHECK_FILE_BYTES_MAX) {
        Ok(text) => files.read(shown, &text.unwrap_or_default()),
        Err(error) => {
            let message = format!("it cannot be read: {}", error.message);
            files.problems.push(problem(message, error.hint.as_deref().unwrap_or("check the file")));
        }
    }
}

/// Writes a file whole or not at all, so that nobody ever reads half of it. A device or a pipe is written to: it is nobody's to
/// replace.
pub fn write_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if fs_err::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir()) {
        return fs_err::OpenOptions::new().write(true).open(path)?.write_all(bytes);
    }
    let folder = path.parent().unwrap_or(Path::new("."));
    fs_err::create_dir_all(folder)?;
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let partial: PathBuf = folder.join(format!(".{name}.{}.part", std::process::id()));
    let written = fs_err::write(&partial, bytes).and_then(|()| fs_err::rename(&partial, path));
    if written.is_err() {
        let _ = fs_err::remove_file(&partial);
    }
    written
}
