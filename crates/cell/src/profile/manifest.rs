//! The manifest of an installed profile, and the check that the folder still is what it says.
//!
//! The manifest is written last, so a folder without one is unfinished. It carries its own hash, so an edited or
//! truncated one is noticed, and it names every top-level entry of the package folder, so a removed package is too.
//! Checking that costs one small read and one directory listing.

use std::{
    collections::BTreeSet,
    io,
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{DataDir, Interpreter, Profile, ProfileError, data_dir, inventory, lock};

/// The manifest's name in the profile's folder.
pub(super) const FILE: &str = "profile.json";
/// The package folder's name in the profile's folder.
pub(super) const SITE: &str = "site";
/// A manifest of the largest profile is under 64 KiB.
const BYTES_MAX: u64 = 1 << 20;

/// A profile that is ready for cells.
#[derive(Debug, Clone)]
pub struct Installed {
    /// Which one.
    pub profile: Profile,
    /// The folder that a cell adds to its module search path.
    pub site: PathBuf,
    /// The Python it is for, as it is now.
    pub interpreter: Interpreter,
    /// The packages with their versions, by name.
    pub packages: Vec<(String, String)>,
    /// What the packages take on disk, bytecode included.
    pub bytes: u64,
    /// When it was set up, in seconds since 1970.
    pub created_unix_s: u64,
    /// The hash of the list of its files.
    pub files_sha256: String,
}

/// What `profile.json` says.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Manifest {
    profile: Profile,
    python: String,
    executable: PathBuf,
    packages: Vec<(String, String)>,
    bytes: u64,
    created_unix_s: u64,
    /// The names in the package folder.
    entries: BTreeSet<String>,
    /// The hash of the list of all files.
    files_sha256: String,
}

/// The manifest with the hash of its own text.
#[derive(Debug, Serialize, Deserialize)]
struct Sealed {
    manifest: Manifest,
    sha256: String,
}

impl Manifest {
    /// Describes a folder whose packages are all in place.
    pub(super) fn describe(
        profile: Profile,
        interpreter: &Interpreter,
        packages: Vec<(String, String)>,
        bytes: u64,
        folder: &Path,
    ) -> Result<Self, ProfileError> {
        let site = folder.join(SITE);
        let files_sha256 = inventory::write(&site, folder)?;
        let entries = entries(&site).map_err(ProfileError::file(&site))?;
        let created_unix_s = now_unix_s();
        let (python, executable) = (interpreter.version_text(), interpreter.executable.clone());
        Ok(Self { profile, python, executable, packages, bytes, created_unix_s, entries, files_sha256 })
    }

    /// Writes it into the profile's folder.
    pub(super) fn write(self, folder: &Path) -> Result<(), ProfileError> {
        let path = folder.join(FILE);
        let failed = ProfileError::file(&path);
        let sealed = self.hash().map(|sha256| Sealed { manifest: self, sha256 });
        let text = sealed.and_then(|sealed| serde_json::to_vec_pretty(&sealed));
        text.map_err(io::Error::from).and_then(|text| fs_err::write(&path, text)).map_err(failed)
    }

    fn hash(&self) -> serde_json::Result<String> {
        Ok(ordain_types::hex(&Sha256::digest(serde_json::to_vec(self)?)))
    }
}

/// The present, in seconds since 1970.
pub(super) fn now_unix_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |age| age.as_secs())
}

/// The profile as its folder holds it, `None` when there is no such folder.
pub(super) fn read(
    profile: Profile,
    data_dir: &DataDir,
    interpreter: &Interpreter,
) -> Result<Option<Installed>, ProfileError> {
    if let Some(packages) = data_dir.packages() {
        packages.check(interpreter)?;
    }
    let folder = data_dir.python_root().join(lock::folder_name(profile, data_dir, interpreter));
    match fs_err::symlink_metadata(&folder) {
        Ok(_) => check(profile, &folder, interpreter).map(Some),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(ProfileError::file(&folder)(error)),
    }
}

fn check(profile: Profile, folder: &Path, interpreter: &Interpreter) -> Result<Installed, ProfileError> {
    let damaged = |what: String| ProfileError::Damaged { profile, folder: folder.into(), what };
    let path = folder.join(FILE);
    for part in [folder, &path, &folder.join(SITE)] {
        data_dir::ours(part)?;
    }
    let bytes = match fs_err::metadata(&path) {
        Ok(metadata) if metadata.len() > BYTES_MAX => {
            return Err(damaged("its manifest is too large".into()));
        }
        Ok(_) => fs_err::read(&path).map_err(ProfileError::file(&path))?,
        Err(error) if is_absent(&error) => return Err(damaged("it has no manifest".into())),
        Err(error) => return Err(ProfileError::file(&path)(error)),
    };
    let sealed: Sealed = serde_json::from_slice(&bytes)
        .map_err(|error| damaged(format!("its manifest is malformed: {error}")))?;
    let manifest = sealed.manifest;
    if manifest.hash().ok().as_ref() != Some(&sealed.sha256) || manifest.profile != profile {
        return Err(damaged("its manifest was edited".into()));
    }
    let site = folder.join(SITE);
    let entries = match entries(&site) {
        Ok(entries) => entries,
        Err(error) if is_absent(&error) => return Err(damaged("its packages are gone".into())),
        Err(error) => return Err(ProfileError::file(&site)(error)),
    };
    if let Some(missing) = manifest.entries.difference(&entries).next() {
        return Err(damaged(format!("`{missing}` is missing")));
    }
    Ok(Installed {
        profile,
        site,
        interpreter: interpreter.clone(),
        packages: manifest.packages,
        bytes: manifest.bytes,
        created_unix_s: manifest.created_unix_s,
        files_sha256: manifest.files_sha256,
    })
}

/// Missing, or something else than a file or folder stands in its place.
fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn entries(site: &Path) -> io::Result<BTreeSet<String>> {
    fs_err::read_dir(site)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
}
