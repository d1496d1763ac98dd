//! The Python packages that cells can import, as three ready-made profiles.
//!
//! A profile is a hash-locked requirement file in this repository and, on a user's machine, a folder of installed
//! packages shared by all workspaces:
//!
//! ```text
//! <data dir>/python/data-cp311-3f9c0a17be42/
//!     site/           the packages; a cell sees this folder read-only
//!     files.txt       every file of them, with its hash
//!     profile.json    the manifest, written last
//! ```
//!
//! There is no virtual environment: packages sit in a plain folder, so the folder can be built elsewhere and renamed
//! into place. [`find`] is for every start and costs no Python process; [`set_up`] is for the first use.
//!
//! Invariant: a folder under its final name is complete. It is built under a temporary name, while an exclusive file
//! lock keeps other processes out, and gets its name in one rename. A crash leaves only a temporary folder, which the
//! next set-up removes.

mod data_dir;
mod error;
mod install;
mod interpreter;
mod inventory;
mod lock;
mod manifest;
mod marker;
mod packages;
mod progress;
mod set_up;
mod status;
mod tool_output;

use std::str::FromStr;

use ordain_verify::{CORE_IMPORTS, DATA_IMPORTS, FULL_IMPORTS};

pub use data_dir::DataDir;
pub(crate) use data_dir::LOCK_VARIABLE;
pub use error::ProfileError;
pub use interpreter::Interpreter;
pub(crate) use inventory::Depth;
pub use manifest::Installed;
pub use packages::{PackageLock, lock_packages, wrong_package};
pub use progress::{Phase, Progress, Silent};
pub use set_up::set_up;
pub use status::{State, Status, list};

/// A set of Python packages that a cell may import.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    /// The standard library and tinydb.
    Core,
    /// `core` with tables, spreadsheets and charts: numpy, pandas, pyarrow, openpyxl, matplotlib.
    Data,
    /// `data` with the scientific, office, PDF, image and text packages that code tasks reach for.
    Full,
}

ordain_types::names!(Profile, name { Core = "core", Data = "data", Full = "full" });

impl Profile {
    /// The modules that its packages are imported by.
    pub fn imports(self) -> &'static [&'static str] {
        match self {
            Self::Core => CORE_IMPORTS,
            Self::Data => DATA_IMPORTS,
            Self::Full => FULL_IMPORTS,
        }
    }
}

impl FromStr for Profile {
    type Err = ProfileError;

    fn from_str(text: &str) -> Result<Self, ProfileError> {
        Self::named(text).ok_or_else(|| ProfileError::Unknown {
            name: text.chars().take(40).collect(),
            nearest: ordain_types::nearest(text, Self::ALL.map(Self::name)),
        })
    }
}

/// The profile as it is installed for the machine's Python, or `None` when it has not been set up.
///
/// A folder that was tampered with or lost files is [`ProfileError::Damaged`], never a profile. No process is
/// started unless `python3` itself changed since the last call.
pub fn find(profile: Profile, data_dir: &DataDir) -> Result<Option<Installed>, ProfileError> {
    let interpreter = interpreter::find(data_dir)?;
    manifest::read(profile, data_dir, &interpreter)
}

/// The installed profile, set up first if it is missing or damaged.
pub fn ensure(
    profile: Profile,
    data_dir: &DataDir,
    progress: &mut dyn Progress,
) -> Result<Installed, ProfileError> {
    match find(profile, data_dir) {
        Ok(Some(installed)) => Ok(installed),
        Ok(None) | Err(ProfileError::Damaged { .. }) => set_up(profile, data_dir, false, progress),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_is_read_by_its_name() {
        for profile in Profile::ALL {
            assert_eq!(profile.to_string().parse::<Profile>().unwrap(), profile);
        }
    }

    #[test]
    fn a_mistyped_profile_is_answered_with_the_nearest_one() {
        let error = "dtaa".parse::<Profile>().unwrap_err();
        assert_eq!(error.to_string(), "unknown profile `dtaa`");
        assert_eq!(error.hint().unwrap(), "did you mean `data`?");
        let error = "everything".parse::<Profile>().unwrap_err();
        assert_eq!(error.hint().unwrap(), "the profiles are `core`, `data` and `full`");
    }
}
