//! Saves artifacts where the user wants them.

use std::io;
use std::path::{Path, PathBuf};

use ordain_cell::Execution;

/// Makes the folder if it is missing, and sees that it can be written to, before anything runs.
pub(super) fn prepare(folder: &Path) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let probe = folder.join(format!(".ordain-{}", std::process::id()));
    std::fs::File::create_new(&probe)?;
    std::fs::remove_file(&probe)
}

/// Saves every artifact; a name that is taken, or any other failure, is reported for that one.
pub(super) fn save_all(folder: Option<&Path>, execution: &Execution) -> Vec<Result<PathBuf, String>> {
    let Some(folder) = folder else { return Vec::new() };
    execution
        .artifacts
        .iter()
        .map(|artifact| {
            artifact.save(folder).map_err(|error| match error.kind() {
                io::ErrorKind::AlreadyExists => {
                    format!("`{}` already exists in {}", artifact.name, folder.display())
                }
                _ => format!("`{}` could not be saved: {error}", artifact.name),
            })
        })
        .collect()
}
