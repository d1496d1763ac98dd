//! Python packages that a workspace asks for beyond its profile, and the lock file that holds them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ordain_cell::profile::{DataDir, PackageLock, ProfileError, Progress, lock_packages, wrong_package};

use super::FILE;
use super::error::WorkspaceError;

/// The lock file, beside `ordain.toml`.
const LOCK: &str = "ordain.lock";

/// The packages under `[python]`.
#[derive(Debug, Clone)]
pub struct OwnPackages {
    path: PathBuf,
    asked: Vec<String>,
    /// The lock file, or why it cannot be read.
    lock: Result<Option<Arc<PackageLock>>, String>,
}

impl OwnPackages {
    pub(super) fn read(root: &Path, asked: Vec<String>) -> Result<Self, WorkspaceError> {
        if let Some((package, hint)) = asked.iter().find_map(|asked| Some((asked, wrong_package(asked)?))) {
            return Err(WorkspaceError {
                file: FILE.to_owned(),
                line: None,
                message: format!("`{package}` under `packages` of `[python]` is no package"),
                hint: Some(hint.to_owned()),
            });
        }
        let path = root.join(LOCK);
        let lock = if asked.is_empty() { Ok(None) } else { PackageLock::read(&path) };
        let lock = lock.map(|lock| lock.map(Arc::new)).map_err(|error| error.to_string());
        Ok(Self { path, asked, lock })
    }

    /// The packages as they are asked for.
    pub fn asked(&self) -> &[String] {
        &self.asked
    }

    /// The modules that they make importable, as far as they are locked.
    pub fn modules(&self) -> Vec<String> {
        self.locked().ok().flatten().map(|lock| lock.modules().to_vec()).unwrap_or_default()
    }

    /// The lock file, if packages are asked for. One that is missing or was made for other packages is an error.
    pub fn locked(&self) -> Result<Option<Arc<PackageLock>>, ProfileError> {
        if self.asked.is_empty() {
            return Ok(None);
        }
        let problem = match &self.lock {
            Ok(Some(lock)) if lock.asked() == self.asked => return Ok(Some(Arc::clone(lock))),
            Ok(Some(_)) => "was made for other packages than `[python]` asks for",
            Ok(None) => "is missing",
            Err(_) => return PackageLock::read(&self.path).map(|lock| lock.map(Arc::new)),
        };
        Err(ProfileError::Lock { path: self.path.clone(), problem: problem.to_owned() })
    }

    /// Locks the packages anew.
    pub fn lock(&self, data_dir: &DataDir, progress: &mut dyn Progress) -> Result<PackageLock, ProfileError> {
        lock_packages(&self.asked, &self.path, data_dir, progress)
    }

    /// Where profiles with these packages are.
    pub fn data_dir(&self) -> Result<DataDir, ProfileError> {
        Ok(DataDir::from_env()?.with_packages(self.locked()?))
    }
}
