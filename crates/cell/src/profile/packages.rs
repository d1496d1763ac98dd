//! Packages that the owner of a workspace asks for, beyond those of the profiles.
//!
//! They are locked once: pip finds versions that fit together and go with the packages of the profiles, and the lock file
//! holds each with the hash of its wheel. From then on a profile with these packages is a profile of its own, set up from
//! both lock files in one folder.
//!
//! Invariant: nothing of a package runs outside of a cell. Only wheels are taken, which are unpacked and not executed.

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::install::{self, InstallPaths};
use super::lock::{self, normal_name};
use super::{DataDir, Interpreter, Phase, Profile, ProfileError, Progress, interpreter};

/// The first line of a lock file.
const TITLE: &str = "# Written by `ordain config python lock`; do not edit it.";
/// A lock of some hundred packages has 100 KiB.
const BYTES_MAX: u64 = 1 << 20;
/// Packages that a workspace may ask for.
const ASKED_MAX: usize = 100;
const ASKED: &str = "# packages: ";
const PYTHON: &str = "# python: ";
const MODULES: &str = "# modules: ";

/// The lock file of a workspace's packages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackageLock {
    path: PathBuf,
    asked: Vec<String>,
    /// The Python and the platform that the wheels are for.
    python: String,
    modules: Vec<String>,
    text: String,
}

impl PackageLock {
    /// Reads a lock file; `None` if there is none.
    pub fn read(path: &Path) -> Result<Option<Self>, ProfileError> {
        let failed = |problem: &str| ProfileError::Lock { path: path.into(), problem: problem.to_owned() };
        match fs_err::metadata(path) {
            Ok(metadata) if metadata.len() > BYTES_MAX => return Err(failed("is too large")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            found => found.map_err(|error| failed(&format!("cannot be read: {error}")))?,
        };
        let text =
            fs_err::read_to_string(path).map_err(|error| failed(&format!("cannot be read: {error}")))?;
        Self::parse(path, text).map(Some)
    }

    fn parse(path: &Path, text: String) -> Result<Self, ProfileError> {
        let failed = |problem: String| ProfileError::Lock { path: path.into(), problem };
        let said = |mark: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(mark));
            line.ok_or_else(|| failed(format!("has no line `{}…`", mark.trim_start())))
        };
        let list = |mark: &str| -> Result<Vec<String>, ProfileError> {
            serde_json::from_str(said(mark)?).map_err(|error| failed(format!("cannot be read: {error}")))
        };
        let (asked, modules, python) = (list(ASKED)?, list(MODULES)?, said(PYTHON)?.to_owned());
        // The installer reads the file too: every line has to be a pin with its hash and nothing else.
        for (number, line) in text.lines().enumerate() {
            let is_hash = line.strip_prefix("    --hash=sha256:").is_some_and(is_sha256);
            if !(line.starts_with('#') || is_hash || is_pin(line)) {
                return Err(failed(format!("is not understood at line {}", number + 1)));
            }
        }
        Ok(Self { path: path.into(), asked, python, modules, text })
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The packages that it was made for, as they were asked for.
    pub fn asked(&self) -> &[String] {
        &self.asked
    }

    /// The modules that the packages make importable.
    pub fn modules(&self) -> &[String] {
        &self.modules
    }

    /// How many packages it holds, those that the asked ones need among them.
    pub fn packages(&self) -> usize {
        self.text.lines().filter(|line| is_pin(line)).count()
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Refuses an interpreter that the wheels are not for.
    pub(super) fn check(&self, interpreter: &Interpreter) -> Result<(), ProfileError> {
        let here = platform(interpreter);
        if self.python == here {
            return Ok(());
        }
        let problem = format!("was made for {}, and this Python is {here}", self.python);
        Err(ProfileError::Lock { path: self.path.clone(), problem })
    }
}

/// Why a package cannot be asked for in these words; `None` if it can.
pub fn wrong_package(asked: &str) -> Option<&'static str> {
    let name: &str =
        asked.split(|sign: char| !sign.is_ascii_alphanumeric() && !"._-".contains(sign)).next()?;
    let is_name = name.starts_with(|sign: char| sign.is_ascii_alphanumeric());
    let is_plain = |sign: char| sign.is_ascii_alphanumeric() || "._-[],<>=!~*+ ".contains(sign);
    if !is_name || !asked.chars().all(is_plain) || asked.len() > 200 {
        return Some(
            "a package is asked for by its name and versions, such as `networkx` or `humanize>=4,<5`",
        );
    }
    None
}

/// Finds versions that fit together, and writes them with the hashes of their wheels.
pub fn lock_packages(
    asked: &[String],
    path: &Path,
    data_dir: &DataDir,
    progress: &mut dyn Progress,
) -> Result<PackageLock, ProfileError> {
    let refused = |problem: String| ProfileError::Lock { path: path.into(), problem };
    if asked.len() > ASKED_MAX {
        return Err(refused(format!("can hold {ASKED_MAX} packages that are asked for")));
    }
    let interpreter = interpreter::find_anew(data_dir)?;
    let root = data_dir.python_root();
    fs_err::create_dir_all(&root).map_err(ProfileError::file(&root))?;
    let folder = root.join(format!(".lock.{}.partial", std::process::id()));
    let found = wheels(asked, &folder, data_dir, &interpreter, progress);
    if folder.exists() {
        fs_err::remove_dir_all(&folder).map_err(ProfileError::file(&folder))?;
    }
    let wheels: Vec<Wheel> = serde_json::from_str(&found?).map_err(|error| refused(error.to_string()))?;
    let lock = PackageLock::parse(path, text(asked, &interpreter, &wheels))?;
    fs_err::write(path, lock.text()).map_err(ProfileError::file(path))?;
    Ok(lock)
}

/// Downloads the wheels into a folder, and tells what they are.
fn wheels(
    asked: &[String],
    folder: &Path,
    data_dir: &DataDir,
    interpreter: &Interpreter,
    progress: &mut dyn Progress,
) -> Result<String, ProfileError> {
    let (constraints, wheels) = (folder.join("constraints.txt"), folder.join("wheels"));
    fs_err::create_dir_all(&wheels).map_err(ProfileError::file(&wheels))?;
    // A package of the profiles is taken as it is there.
    let pins = lock::built_in(Profile::Full, interpreter);
    let pins: Vec<String> = pins.iter().map(|pin| format!("{}=={}", pin.name, pin.version)).collect();
    fs_err::write(&constraints, pins.join("\n")).map_err(ProfileError::file(&constraints))?;

    progress.phase(Phase::Downloading, None);
    let place = InstallPaths { site: &wheels, requirements: &constraints, temporary: folder };
    install::download(data_dir, interpreter, &place, asked, progress)?;
    install::look_into(data_dir, interpreter, &place)
}

/// A downloaded wheel.
#[derive(Debug, Deserialize)]
struct Wheel {
    name: String,
    version: String,
    sha256: String,
    modules: Vec<String>,
}

fn text(asked: &[String], interpreter: &Interpreter, wheels: &[Wheel]) -> String {
    let profiles = lock::built_in(Profile::Full, interpreter);
    let is_of_profiles = |wheel: &Wheel| profiles.iter().any(|pin| pin.name == normal_name(&wheel.name));
    // What the profiles make importable is theirs.
    let mut modules: Vec<&String> =
        wheels.iter().filter(|wheel| !is_of_profiles(wheel)).flat_map(|wheel| &wheel.modules).collect();
    modules.sort();
    modules.dedup();
    let mut text = format!(
        "{TITLE}\n{ASKED}{}\n{PYTHON}{}\n{MODULES}{}\n",
        serde_json::json!(asked),
        platform(interpreter),
        serde_json::json!(modules)
    );
    for wheel in wheels {
        // Writing to a text cannot fail.
        let _ = write!(
            text,
            "{}=={} \\\n    --hash=sha256:{}\n",
            normal_name(&wheel.name),
            wheel.version,
            wheel.sha256
        );
    }
    text
}

fn platform(interpreter: &Interpreter) -> String {
    format!("{} {} {}", interpreter.abi_tag, interpreter.platform, interpreter.libc)
}

/// Whether a line pins a package: `name==1.2 \`.
fn is_pin(line: &str) -> bool {
    let pin = line.strip_suffix(" \\").and_then(|pin| pin.split_once("=="));
    let is_plain = |text: &str, signs: &str| {
        !text.is_empty() && text.chars().all(|sign| sign.is_ascii_alphanumeric() || signs.contains(sign))
    };
    pin.is_some_and(|(name, version)| {
        is_plain(name, "-") && !name.starts_with('-') && is_plain(version, ".+!_")
    })
}

fn is_sha256(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_asked_for_by_name_and_version_alone() {
        for good in ["networkx", "humanize>=4,<5", "a.b_c-d[x,y]==1.*", "pkg ~= 2.1"] {
            assert_eq!(wrong_package(good), None, "{good}");
        }
        for bad in [
            "",
            "-r x",
            "--index-url=x",
            "https://a/b.whl",
            "a @ file:///x",
            "./folder",
            "a; b",
            "a\n-r b",
            "/x",
        ] {
            assert!(wrong_package(bad).is_some(), "{bad}");
        }
    }

    #[test]
    fn a_lock_file_with_anything_but_hashed_pins_is_refused() {
        let head = format!("{TITLE}\n{ASKED}[\"a\"]\n{PYTHON}cp311 linux-x86_64 glibc\n{MODULES}[\"a\"]\n");
        let read = |rest: &str| PackageLock::parse(Path::new("ordain.lock"), format!("{head}{rest}"));
        let good = format!("a==1.0 \\\n    --hash=sha256:{}\n", "0a".repeat(32));
        assert_eq!(read(&good).unwrap().packages(), 1);
        for bad in [
            "--index-url https://x\n",
            "a==1.0\n",
            "a==1.0 --hash=md5:0 \\\n",
            "-r x \\\n",
            "a @ file:///x \\\n",
        ] {
            let error = read(bad).unwrap_err();
            assert_eq!(
                error.to_string(),
                "the lock of Python packages `ordain.lock` is not understood at line 5",
                "{bad}"
            );
        }
        let error = PackageLock::parse(Path::new("ordain.lock"), good).unwrap_err();
        assert!(error.to_string().contains("has no line `# packages: …`"), "{error}");
    }
}
