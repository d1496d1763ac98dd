//! Where profiles live, and which Python they are made with.

use std::{
    env,
    ffi::{OsStr, OsString},
    fs::Metadata,
    io,
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{PackageLock, ProfileError};

/// Names the folder for profiles.
const DATA_DIR_VARIABLE: &str = "ORDAIN_DATA_DIR";
/// Names the Python to use instead of `python3` from the search path.
const PYTHON_VARIABLE: &str = "ORDAIN_PYTHON";
/// Names the lock file of further packages, for a process that is in no workspace.
pub(crate) const LOCK_VARIABLE: &str = "ORDAIN_PYTHON_LOCK";

/// The folder that holds installed profiles, with the settings that decide which Python they are for.
///
/// It is read from the environment once and passed down, so that one process never mixes two answers.
#[derive(Debug, Clone)]
pub struct DataDir {
    root: PathBuf,
    python: Option<PathBuf>,
    search_path: OsString,
    packages: Option<Arc<PackageLock>>,
}

impl DataDir {
    /// What the environment says: `ORDAIN_DATA_DIR`, else `XDG_DATA_HOME/ordain`, else `~/.local/share/ordain`;
    /// `ORDAIN_PYTHON`, else `python3` on `PATH`.
    pub fn from_env() -> Result<Self, ProfileError> {
        let read =
            |path: PathBuf| PackageLock::read(&path)?.ok_or_else(|| ProfileError::no_lock(path.clone()));
        let lock = set(LOCK_VARIABLE).map(read).transpose()?;
        let root = set(DATA_DIR_VARIABLE)
            // The base directory specification says that a relative path there is to be ignored.
            .or_else(|| {
                set("XDG_DATA_HOME").filter(|path| path.is_absolute()).map(|path| path.join("ordain"))
            })
            .or_else(|| set("HOME").map(|home| home.join(".local/share/ordain")))
            .ok_or(ProfileError::NoDataDir)?;
        Ok(Self { packages: lock.map(Arc::new), ..Self::at(root)? })
    }

    /// The same as [`DataDir::from_env`] for everything but the folder.
    pub fn at(root: impl AsRef<Path>) -> Result<Self, ProfileError> {
        let root = std::path::absolute(root.as_ref()).map_err(ProfileError::file(root.as_ref()))?;
        let search_path = env::var_os("PATH").unwrap_or_default();
        Ok(Self { root, python: set(PYTHON_VARIABLE), search_path, packages: None })
    }

    /// Uses this Python, a path or a name on the search path, whatever the environment says.
    #[must_use]
    pub fn with_python(mut self, python: impl Into<PathBuf>) -> Self {
        self.python = Some(python.into());
        self
    }

    /// Looks for `python3` and `uv` in these folders, whatever the environment says.
    #[must_use]
    pub fn with_search_path(mut self, search_path: impl Into<OsString>) -> Self {
        self.search_path = search_path.into();
        self.python = None;
        self
    }

    /// Profiles have these packages too.
    #[must_use]
    pub fn with_packages(mut self, packages: Option<Arc<PackageLock>>) -> Self {
        self.packages = packages.or(self.packages);
        self
    }

    /// The packages that profiles have besides their own.
    pub fn packages(&self) -> Option<&PackageLock> {
        self.packages.as_deref()
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder that holds one folder for each installed profile.
    pub fn python_root(&self) -> PathBuf {
        self.root.join("python")
    }

    /// Refuses a folder that another user owns or may write: programs in it run outside of any cell.
    pub(super) fn check(&self) -> Result<(), ProfileError> {
        [self.root.clone(), self.python_root()].iter().try_for_each(|path| ours(path))
    }

    /// The Python that was asked for, or `python3`, as the first match on the search path.
    pub(super) fn python(&self) -> Result<PathBuf, ProfileError> {
        let name = self.python.as_deref().unwrap_or(Path::new("python3"));
        self.program(name.as_os_str()).ok_or_else(|| ProfileError::NoPython { named: self.python.clone() })
    }

    /// `uv`, when it is on the search path.
    pub(super) fn uv(&self) -> Option<PathBuf> {
        self.program(OsStr::new("uv"))
    }

    /// The folders that programs started for a set-up look in.
    pub(super) fn search_path(&self) -> &OsStr {
        &self.search_path
    }

    /// A program by path, or by name on the search path.
    fn program(&self, name: &OsStr) -> Option<PathBuf> {
        if Path::new(name).components().count() > 1 {
            let path = std::path::absolute(name).ok()?;
            return is_program(&path).then_some(path);
        }
        env::split_paths(&self.search_path)
            // An empty or relative entry means the current folder, which is no place to take a Python from.
            .filter(|folder| folder.is_absolute())
            .map(|folder| folder.join(name))
            .find(|path| is_program(path))
    }
}

/// Whether a file or folder, if there is one, can be changed by nobody but this user and the superuser. A group that is
/// this process's own is taken for the user's.
pub(super) fn ours(path: &Path) -> Result<(), ProfileError> {
    let metadata = match path.metadata() {
        Ok(metadata) => metadata,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(());
        }
        Err(error) => return Err(ProfileError::file(path)(error)),
    };
    ours_by(path, &metadata)
}

/// The same for something whose metadata is known. What a link's rights say counts for nothing.
pub(super) fn ours_by(path: &Path, metadata: &Metadata) -> Result<(), ProfileError> {
    let (owner, mode) = (metadata.uid(), if metadata.is_symlink() { 0 } else { metadata.mode() });
    let problem = if owner != rustix::process::geteuid().as_raw() && owner != 0 {
        format!("belongs to another user ({owner})")
    } else if mode & 0o002 != 0 || mode & 0o020 != 0 && metadata.gid() != rustix::process::getegid().as_raw()
    {
        "can be written by other users".to_owned()
    } else {
        return Ok(());
    };
    Err(ProfileError::Foreign { path: path.to_owned(), problem })
}

fn set(variable: &str) -> Option<PathBuf> {
    env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from)
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}
