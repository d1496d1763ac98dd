//! Why a profile could not be found or set up, and what to do about it.

use std::{
    io,
    path::{Path, PathBuf},
};

use super::Profile;

/// Why a profile could not be found or set up. Whatever was installed before is still there and unchanged.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// No profile has this name.
    #[error("unknown profile `{name}`")]
    Unknown {
        /// What was asked for.
        name: String,
        /// The profile that was probably meant.
        nearest: Option<&'static str>,
    },
    /// Neither the variables nor the home folder say where profiles belong.
    #[error(
        "there is no folder for Python profiles: neither `ORDAIN_DATA_DIR`, `XDG_DATA_HOME` nor `HOME` is set"
    )]
    NoDataDir,
    /// The folder for profiles can't be used.
    #[error("the folder for Python profiles can't be used")]
    DataDir {
        /// What was tried on which file, and what the system said.
        source: io::Error,
    },
    /// Another user can change files in the folder that would then be run.
    #[error("`{}` {problem}, so nothing in it is used", path.display())]
    Foreign {
        /// The file or folder.
        path: PathBuf,
        /// Why it is not ours.
        problem: String,
    },
    /// The disk is full. What was begun is removed.
    #[error("the disk that holds `{}` is full", path.display())]
    DiskFull {
        /// The folder for profiles.
        path: PathBuf,
    },
    /// There is no Python to run.
    #[error("{}", no_python(named.as_ref()))]
    NoPython {
        /// What `ORDAIN_PYTHON` named, if it was set.
        named: Option<PathBuf>,
    },
    /// What was found can't be run, or is not a Python.
    #[error("`{}` did not say which Python it is: {reason}", python.display())]
    Probe {
        /// What was run.
        python: PathBuf,
        /// What it did instead.
        reason: String,
    },
    /// The Python is older or newer than the locked packages support.
    #[error("`{}` is Python {found}, and cells need Python 3.11 to 3.14", python.display())]
    Unsupported {
        /// What was run.
        python: PathBuf,
        /// Its version.
        found: String,
    },
    /// Another implementation than `CPython`.
    #[error("`{}` is {implementation}, and cells need CPython", python.display())]
    NotCPython {
        /// What was run.
        python: PathBuf,
        /// What it says it is.
        implementation: String,
    },
    /// Neither uv nor pip is there.
    #[error("there is neither `uv` on the search path nor `pip` in `{}`", python.display())]
    NoInstaller {
        /// The Python that has no pip.
        python: PathBuf,
    },
    /// The lock file of a workspace's packages cannot be used. Nothing was installed.
    #[error("the lock of Python packages `{}` {problem}", path.display())]
    Lock {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// There are no wheels of these packages that fit together.
    #[error("the packages cannot be locked: {line}")]
    Unresolved {
        /// The last telling line of pip's output.
        line: String,
    },
    /// The packages could not be fetched.
    #[error("{tool} could not reach the package index: {line}")]
    Offline {
        /// `uv` or `pip`.
        tool: &'static str,
        /// The last telling line of its output.
        line: String,
    },
    /// A downloaded package is not the one that was locked. Nothing of it was installed.
    #[error("{tool} was served a package whose hash is not the locked one: {line}")]
    WrongHash {
        /// `uv` or `pip`.
        tool: &'static str,
        /// The last telling line of its output.
        line: String,
    },
    /// The installer failed for a reason of its own.
    #[error("{tool} failed ({status}): {line}")]
    Install {
        /// `uv`, `pip` or the bytecode compiler.
        tool: &'static str,
        /// How it ended.
        status: String,
        /// The last telling line of its output.
        line: String,
    },
    /// The installer said it was done, but the packages are not the locked ones.
    #[error("{tool} left the profile incomplete: {what}")]
    Incomplete {
        /// `uv` or `pip`.
        tool: &'static str,
        /// The first difference.
        what: String,
    },
    /// A profile that is asked for by name has not been set up.
    #[error("the profile `{profile}` is not set up")]
    NotSetUp {
        /// Which one.
        profile: Profile,
    },
    /// An installed profile lost files or was edited.
    #[error("the installed profile `{}` is damaged: {what}", folder.display())]
    Damaged {
        /// Which one.
        profile: Profile,
        /// Its folder.
        folder: PathBuf,
        /// The first thing found wrong.
        what: String,
    },
}

impl ProfileError {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Unknown { nearest: Some(nearest), .. } => format!("did you mean `{nearest}`?"),
            Self::Unknown { nearest: None, .. } => "the profiles are `core`, `data` and `full`".into(),
            Self::NoDataDir => "set ORDAIN_DATA_DIR to a folder you can write to".into(),
            Self::DataDir { .. } => "set ORDAIN_DATA_DIR to a folder that you can read and write".into(),
            Self::Foreign { path, .. } => format!(
                "if you trust what is in it: `chown -R $(id -u) {0} && chmod -R go-w {0}`; else set ORDAIN_DATA_DIR to a \
                 folder of your own",
                path.display()
            ),
            Self::DiskFull { .. } => {
                "free some space (`core` needs 1 MiB, `data` about 400 MiB, `full` about 1.5 GiB), \
                 or set ORDAIN_DATA_DIR to a folder on another disk"
                    .into()
            }
            Self::NoPython { named: None } => {
                "install Python 3.11 to 3.14 (Debian, Ubuntu: `apt install python3 python3-pip`; Fedora: \
                 `dnf install python3 python3-pip`), or set ORDAIN_PYTHON to one"
                    .into()
            }
            Self::NoPython { named: Some(_) } | Self::Probe { .. } => {
                "set ORDAIN_PYTHON to a CPython of version 3.11 to 3.14, such as `/usr/bin/python3`".into()
            }
            Self::Unsupported { .. } | Self::NotCPython { .. } => {
                "install CPython 3.11 to 3.14 and set ORDAIN_PYTHON to it, for example \
                 `ORDAIN_PYTHON=/usr/bin/python3.12`"
                    .into()
            }
            Self::NoInstaller { python } => format!(
                "install uv (`curl -LsSf https://astral.sh/uv/install.sh | sh`) or pip \
                 (`{} -m ensurepip --user`; Debian, Ubuntu: `apt install python3-pip`)",
                python.display()
            ),
            Self::Lock { .. } => "run `ordain config python lock` in the workspace to make it anew".into(),
            Self::Unresolved { .. } => {
                "only wheels for this Python are taken, in versions that go with the packages of the profiles \
                 (`ordain config python list --json` shows them); ask for other versions under `[python] packages`"
                    .into()
            }
            Self::Offline { tool, .. } => format!(
                "a profile is downloaded once, on first use: connect to the network, or give {tool} a mirror or \
                 proxy by its own settings, and run `ordain config python setup` again"
            ),
            Self::WrongHash { .. } => {
                "a proxy or mirror may have altered the package; clear the installer's cache, try without the \
                 mirror, and run `ordain config python setup` again"
                    .into()
            }
            Self::Install { .. } | Self::Incomplete { .. } => {
                "run `ordain config python setup` again; if it fails in the same way, set ORDAIN_PYTHON to another Python".into()
            }
            Self::NotSetUp { profile } => format!("run `ordain config python setup {profile}`"),
            Self::Damaged { profile, .. } => {
                format!("run `ordain config python setup {profile} --force` to build it again")
            }
        };
        Some(hint)
    }

    /// The error for a lock file that is not there.
    pub fn no_lock(path: PathBuf) -> Self {
        Self::Lock { path, problem: "is missing".to_owned() }
    }

    /// The error for a failed file operation, which tells a full disk from other trouble.
    pub(super) fn file(path: &Path) -> impl FnOnce(io::Error) -> ProfileError + use<> {
        let path = path.to_owned();
        move |source| match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::DiskFull { path },
            _ => Self::DataDir { source },
        }
    }
}

fn no_python(named: Option<&PathBuf>) -> String {
    match named {
        Some(path) => format!("there is no program `{}`, which ORDAIN_PYTHON names", path.display()),
        None => "there is no `python3` on the search path".into(),
    }
}
