//! A folder that all nodes have in common, for the content of files. Which files there are, the database knows.
//!
//! A file is at `OWNER/NAME/DIGEST`, with owner and name as digests, so that no name is a path.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;
use tokio::task::spawn_blocking;

use super::digest;
use crate::error::StoreError;

/// Keeps a content, whole or not at all.
pub(super) async fn keep(folder: &Path, owner: &str, name: &str, content: &[u8]) -> Result<(), StoreError> {
    let (place, content) = (place(folder, owner, name), content.to_vec());
    carried_out(folder, move || {
        fs_err::create_dir_all(&place)?;
        let mut file = NamedTempFile::new_in(&place)?;
        file.write_all(&content)?;
        file.as_file().sync_all()?;
        file.persist(place.join(digest(&content)))?;
        Ok(())
    })
    .await
}

/// Reads a content; `None` if it is not there, because it was just replaced or removed.
pub(super) async fn read(
    folder: &Path,
    owner: &str,
    name: &str,
    sha256: &str,
) -> Result<Option<Vec<u8>>, StoreError> {
    let is_digest = sha256.bytes().all(|byte| byte.is_ascii_hexdigit());
    let path = place(folder, owner, name).join(if is_digest { sha256 } else { "none" });
    carried_out(folder, move || match fs_err::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        content => content.map(Some),
    })
    .await
}

/// Removes the contents of a name that are not the newest one.
pub(super) async fn remove_older(
    folder: &Path,
    owner: &str,
    name: &str,
    newest: &str,
) -> Result<(), StoreError> {
    let (place, newest) = (place(folder, owner, name), newest.to_owned());
    carried_out(folder, move || {
        for entry in fs_err::read_dir(place)? {
            let entry = entry?;
            let name = entry.file_name();
            // One that begins with a dot is being written.
            if name != newest.as_str() && !name.to_string_lossy().starts_with('.') {
                gone(fs_err::remove_file(entry.path()))?;
            }
        }
        Ok(())
    })
    .await
}

/// Removes all contents of an owner, or those of one name.
pub(super) async fn remove(folder: &Path, owner: &str, name: Option<&str>) -> Result<(), StoreError> {
    let of_owner = folder.join(digest(owner.as_bytes()));
    let path = name.map_or(of_owner, |name| place(folder, owner, name));
    carried_out(folder, move || gone(fs_err::remove_dir_all(path))).await
}

fn place(folder: &Path, owner: &str, name: &str) -> PathBuf {
    folder.join(digest(owner.as_bytes())).join(digest(name.as_bytes()))
}

/// What is gone already need not be removed.
fn gone(removed: io::Result<()>) -> io::Result<()> {
    removed.or_else(|error| if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) })
}

async fn carried_out<T: Send + 'static>(
    folder: &Path,
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<T, StoreError> {
    let done = spawn_blocking(work).await.map_err(io::Error::other).flatten();
    done.map_err(|error| StoreError::Declaration {
        what: format!("the folder for files `{}`", folder.display()),
        message: error.to_string(),
        hint: Some(
            "see that it is there on every node and can be written: `files` under `[store]`".to_owned(),
        ),
    })
}
