//! A folder that all nodes have in common, for the content of files; the database then knows only what files there are.
//!
//! A content is at `OWNER/NAME/DIGEST`, with owner and name as digests, so that no name is a path.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;
use tokio::task::spawn_blocking;

use super::digest;
use crate::error::StoreError;

/// Keeps a content, whole or not at all.
pub(super) async fn keep(folder: &Path, owner: &str, name: &str, content: &[u8]) -> Result<(), StoreError> {
    let (path, content) = (path(folder, owner, name, &digest(content)), content.to_vec());
    carried_out(folder, move || {
        let place = path.parent().unwrap_or(&path);
        fs_err::create_dir_all(place)?;
        let mut file = NamedTempFile::new_in(place)?;
        file.write_all(&content)?;
        file.as_file().sync_all()?;
        file.persist(&path)?;
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
    let path = path(folder, owner, name, sha256);
    carried_out(folder, move || match fs_err::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        content => content.map(Some),
    })
    .await
}

/// Removes a content that is not needed any more, and the folders of its name and owner if nothing else is in them.
pub(super) async fn remove(folder: &Path, owner: &str, name: &str, sha256: &str) -> Result<(), StoreError> {
    let path = path(folder, owner, name, sha256);
    carried_out(folder, move || {
        match fs_err::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        for place in path.ancestors().skip(1).take(2) {
            // One that is not empty stays.
            let _ = std::fs::remove_dir(place);
        }
        Ok(())
    })
    .await
}

fn path(folder: &Path, owner: &str, name: &str, sha256: &str) -> PathBuf {
    let is_digest = sha256.bytes().all(|byte| byte.is_ascii_hexdigit());
    let sha256 = if is_digest { sha256 } else { "none" };
    folder.join(digest(owner.as_bytes())).join(digest(name.as_bytes())).join(sha256)
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
