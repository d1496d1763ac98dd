//! Puts the file that a transformation made where its owner wants it.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use ordain_checks::{Check, kinds};

use super::cells::CheckFindings;
use super::read::write_file;
use super::sources::hash_of;

/// The file with what transformations wrote last, each by its path.
const WRITTEN: &str = "written.json";

/// Puts the file in its place. One that somebody else wrote or changed is left alone.
pub(super) fn publish(
    root: &Path,
    state: &Path,
    check: &Check,
    found: &mut CheckFindings,
) -> Result<(), String> {
    let output = kinds::output(check).map_err(|error| error.to_string())?;
    let made = found.artifacts.first().ok_or("its table did not come out of the cell")?;
    let failed = |error: io::Error| format!("{output} cannot be written: {error}");
    let mut written: BTreeMap<String, String> = fs_err::read(state.join(WRITTEN))
        .ok()
        .and_then(|text| serde_json::from_slice(&text).ok())
        .unwrap_or_default();
    let target = root.join(output);
    must_be_inside(root, &target).map_err(failed)?;
    if target.exists() && written.get(output) != Some(&hash_of(&target).map_err(failed)?) {
        return Err(format!(
            "{output} was not written by this transformation, or was changed since; move it away"
        ));
    }
    let bytes = fs_err::read(Path::new(made)).map_err(failed)?;
    write_file(&target, &bytes).map_err(failed)?;
    written.insert(output.to_owned(), hash_of(&target).map_err(failed)?);
    let text = serde_json::to_vec(&written).map_err(io::Error::from).map_err(failed)?;
    write_file(&state.join(WRITTEN), &text).map_err(failed)?;
    found.summary = format!("written to {output}: {}", found.summary);
    Ok(())
}

/// A link in the path may lead out of the workspace.
fn must_be_inside(root: &Path, target: &Path) -> io::Result<()> {
    let there = target.ancestors().skip(1).find(|folder| folder.exists()).unwrap_or(root);
    let is_link = fs_err::symlink_metadata(target).is_ok_and(|metadata| metadata.is_symlink());
    if is_link || !fs_err::canonicalize(there)?.starts_with(fs_err::canonicalize(root)?) {
        return Err(io::Error::other("a link leads out of the workspace"));
    }
    Ok(())
}
