//! Which Python is behind `python3`, asked once and remembered.
//!
//! Starting Python to ask takes ten to a hundred milliseconds (a version-switching shim alone is a shell script), so
//! the answer is kept in the data folder. It counts only while both the program that was asked and the real
//! interpreter it named are the same files as then.

use std::{
    collections::BTreeMap,
    env,
    io::Read,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};

use super::{DataDir, ProfileError, data_dir};

/// The program that asks; see its first lines.
const PROBE: &str = include_str!("../../python/profiles/probe.py");
/// What a Python may say about itself; an honest answer is under one kilobyte.
const ANSWER_BYTES_MAX: u64 = 64 << 10;
/// How long a Python may take to say it; a cold disk and a slow shim stay far below.
const ANSWER_WAIT_MAX: Duration = Duration::from_secs(30);
/// Shims and environments a machine may reasonably switch between; beyond it the memory starts anew.
const REMEMBERED_MAX: usize = 32;
/// Variables that make a version-switching shim answer with another Python.
const SWITCHES: [&str; 3] = ["PYENV_VERSION", "ASDF_PYTHON_VERSION", "MISE_PYTHON_VERSION"];

/// The machine's Python, as it described itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interpreter {
    /// The interpreter's own file: no shim, no symbolic link.
    pub executable: PathBuf,
    /// The name it was started by; inside a virtual environment, the environment's Python, which has its pip.
    pub launcher: PathBuf,
    /// The folder the interpreter and its standard library were installed under.
    pub base_prefix: PathBuf,
    /// The standard library.
    pub stdlib: PathBuf,
    /// The part of the standard library that depends on the platform.
    pub platstdlib: PathBuf,
    /// Where packages of its own are installed. Cells do not see them.
    pub platlib: PathBuf,
    /// Major, minor and patch version.
    pub version: (u8, u8, u8),
    /// Such as `cp311`, or `cp313t` for a free-threaded build: which compiled packages it can load.
    pub abi_tag: String,
    /// Such as `linux-x86_64`.
    pub platform: String,
    /// `glibc` or `musl`.
    pub libc: String,
    /// Whether `python -m pip` is there.
    pub has_pip: bool,
}

impl Interpreter {
    /// The version as people write it, such as `3.11.7`.
    pub fn version_text(&self) -> String {
        let (major, minor, patch) = self.version;
        format!("{major}.{minor}.{patch}")
    }
}

/// The interpreter behind the data folder's Python, from memory when nothing changed.
pub(super) fn find(data_dir: &DataDir) -> Result<Interpreter, ProfileError> {
    data_dir.check()?;
    data_dir::ours(&Memory::path(data_dir))?;
    let python = data_dir.python()?;
    let key = memory_key(&python);
    if let Some(known) = Memory::read(data_dir).known(&key, &python) {
        return Ok(known);
    }
    ask(data_dir, &python, key)
}

/// The interpreter behind the data folder's Python, asked anew.
pub(super) fn find_anew(data_dir: &DataDir) -> Result<Interpreter, ProfileError> {
    data_dir.check()?;
    let python = data_dir.python()?;
    let key = memory_key(&python);
    ask(data_dir, &python, key)
}

fn ask(data_dir: &DataDir, python: &Path, key: String) -> Result<Interpreter, ProfileError> {
    let interpreter = probe(data_dir, python)?;
    // The memory only saves time: a data folder that can't be written is reported by a set-up, not here.
    let _ = Memory::read(data_dir).remember(data_dir, key, python, &interpreter);
    Ok(interpreter)
}

/// What the probe prints. The fields after the version are missing when the Python is too old.
#[derive(Debug, Deserialize)]
struct Answer {
    version: (u8, u8, u8),
    implementation: String,
    executable: PathBuf,
    launcher: PathBuf,
    #[serde(flatten)]
    rest: BTreeMap<String, serde_json::Value>,
}

fn probe(data_dir: &DataDir, python: &Path) -> Result<Interpreter, ProfileError> {
    let failed = |reason: String| ProfileError::Probe { python: python.into(), reason };
    let child = Command::new(python)
        .args(["-E", "-c", PROBE])
        // In the root folder no stray `json.py` can be imported, and a shim's answer doesn't depend on where we are.
        .current_dir("/")
        .env("PATH", data_dir.search_path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| failed(error.to_string()))?;
    let answer = wait_for_answer(child).map_err(&failed)?;
    let line = answer.lines().rev().find(|line| line.starts_with('{')).unwrap_or("");
    let answer: Answer =
        serde_json::from_str(line).map_err(|_| failed("its answer is not the expected one".into()))?;
    judge(python, answer)
}

/// Turns an answer into an interpreter that cells can use, or says why they can't.
fn judge(python: &Path, answer: Answer) -> Result<Interpreter, ProfileError> {
    let (major, minor, patch) = answer.version;
    // Said before anything is fetched: the locked packages have wheels for these alone.
    if !((3, 11)..=(3, 14)).contains(&(major, minor)) {
        return Err(ProfileError::Unsupported {
            python: python.into(),
            found: format!("{major}.{minor}.{patch}"),
        });
    }
    if answer.implementation != "cpython" {
        let implementation = answer.implementation.chars().take(40).collect();
        return Err(ProfileError::NotCPython { python: python.into(), implementation });
    }
    let failed = |reason: &str| ProfileError::Probe { python: python.into(), reason: reason.into() };
    let text = |name: &str| {
        let value = answer.rest.get(name).and_then(serde_json::Value::as_str);
        value.map(str::to_owned).ok_or_else(|| failed("its answer is incomplete"))
    };
    let interpreter = Interpreter {
        executable: answer.executable,
        launcher: answer.launcher,
        base_prefix: text("base_prefix")?.into(),
        stdlib: text("stdlib")?.into(),
        platstdlib: text("platstdlib")?.into(),
        platlib: text("platlib")?.into(),
        version: answer.version,
        abi_tag: text("abi_tag")?,
        platform: text("platform")?,
        libc: text("libc")?,
        has_pip: answer.rest.get("has_pip").and_then(serde_json::Value::as_bool).unwrap_or(false),
    };
    // The tag becomes part of a folder's name.
    if interpreter.abi_tag.is_empty() || !interpreter.abi_tag.bytes().all(|byte| byte.is_ascii_alphanumeric())
    {
        return Err(failed("its ABI tag is malformed"));
    }
    if !interpreter.executable.is_absolute() || !interpreter.executable.is_file() {
        return Err(failed("it does not know its own executable"));
    }
    Ok(interpreter)
}

/// The child's output, as long as it ends well, in time and within the size cap.
fn wait_for_answer(mut child: Child) -> Result<String, String> {
    let stdout = child.stdout.take().ok_or("it has no output")?;
    let reader = thread::spawn(move || {
        let mut answer = String::new();
        stdout.take(ANSWER_BYTES_MAX).read_to_string(&mut answer).map(|_| answer)
    });
    let began = Instant::now();
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if began.elapsed() < ANSWER_WAIT_MAX => thread::sleep(Duration::from_millis(2)),
            Ok(None) => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("it gave no answer within {} seconds", ANSWER_WAIT_MAX.as_secs()));
            }
            Err(error) => return Err(error.to_string()),
        }
    };
    if !status.success() {
        return Err(format!("it failed ({status})"));
    }
    match reader.join() {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err("its answer could not be read".into()),
    }
}

/// Answers of earlier probes, by the program that was asked.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Memory {
    /// Answers of another format are not understood and asked again.
    format: u32,
    pythons: BTreeMap<String, Remembered>,
}

/// One answer, with the files it holds for.
#[derive(Debug, Serialize, Deserialize)]
struct Remembered {
    asked: FileMark,
    real: FileMark,
    interpreter: Interpreter,
}

/// Raised when a probe tells more or something else than before.
const MEMORY_FORMAT: u32 = 1;

impl Memory {
    fn path(data_dir: &DataDir) -> PathBuf {
        data_dir.python_root().join("interpreters.json")
    }

    /// What is remembered; nothing, if the file is missing, unreadable or of another format.
    fn read(data_dir: &DataDir) -> Self {
        let memory = fs_err::read(Self::path(data_dir))
            .ok()
            .and_then(|bytes| serde_json::from_slice::<Self>(&bytes).ok())
            .filter(|memory| memory.format == MEMORY_FORMAT && memory.pythons.len() <= REMEMBERED_MAX);
        memory.unwrap_or_default()
    }

    fn known(mut self, key: &str, python: &Path) -> Option<Interpreter> {
        let known = self.pythons.remove(key)?;
        let is_same = FileMark::of(python)? == known.asked
            && FileMark::of(&known.interpreter.executable)? == known.real
            && known.interpreter.launcher.exists();
        is_same.then_some(known.interpreter)
    }

    fn remember(
        mut self,
        data_dir: &DataDir,
        key: String,
        python: &Path,
        interpreter: &Interpreter,
    ) -> std::io::Result<()> {
        let (Some(asked), Some(real)) = (FileMark::of(python), FileMark::of(&interpreter.executable)) else {
            return Ok(());
        };
        if self.format != MEMORY_FORMAT || self.pythons.len() >= REMEMBERED_MAX {
            self = Self { format: MEMORY_FORMAT, pythons: BTreeMap::new() };
        }
        self.pythons.insert(key, Remembered { asked, real, interpreter: interpreter.clone() });
        fs_err::create_dir_all(data_dir.python_root())?;
        // Two processes may remember at once: each writes its own file, and the later rename stands.
        let path = Self::path(data_dir);
        let draft = path.with_extension(format!("{}.draft", std::process::id()));
        fs_err::write(&draft, serde_json::to_vec(&self)?)?;
        fs_err::rename(&draft, &path)
    }
}

/// The program and everything else that decides what a shim answers.
fn memory_key(python: &Path) -> String {
    let switches = SWITCHES.into_iter().filter_map(|name| Some(format!(" {name}={}", env::var(name).ok()?)));
    std::iter::once(python.display().to_string()).chain(switches).collect()
}

/// What changes when a file is replaced.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct FileMark {
    device: u64,
    inode: u64,
    bytes: u64,
    modified_s: i64,
    modified_ns: i64,
}

impl FileMark {
    fn of(path: &Path) -> Option<Self> {
        let metadata = path.metadata().ok()?;
        Some(Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            bytes: metadata.len(),
            modified_s: metadata.mtime(),
            modified_ns: metadata.mtime_nsec(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(json: &str) -> Result<Interpreter, ProfileError> {
        judge(Path::new("/usr/bin/python3"), serde_json::from_str(json).unwrap())
    }

    #[test]
    fn a_python_without_locked_packages_is_refused_before_any_download() {
        for version in ["[3,10,14]", "[3,15,0]", "[4,0,0]"] {
            let json = format!(
                r#"{{"version":{version},"implementation":"cpython","executable":"/bin/sh","launcher":"/bin/sh"}}"#
            );
            let error = answer(&json).unwrap_err();
            assert!(error.to_string().ends_with("cells need Python 3.11 to 3.14"), "{error}");
        }
    }

    #[test]
    fn an_old_python_is_refused_by_its_version_alone() {
        let json =
            r#"{"version":[2,7,18],"implementation":"unknown","executable":"/bin/sh","launcher":"/bin/sh"}"#;
        let error = answer(json).unwrap_err();
        assert_eq!(
            error.to_string(),
            "`/usr/bin/python3` is Python 2.7.18, and cells need Python 3.11 to 3.14"
        );
        assert!(error.hint().unwrap().contains("ORDAIN_PYTHON"));
    }

    #[test]
    fn another_implementation_is_refused() {
        let json =
            r#"{"version":[3,11,0],"implementation":"pypy","executable":"/bin/sh","launcher":"/bin/sh"}"#;
        assert_eq!(
            answer(json).unwrap_err().to_string(),
            "`/usr/bin/python3` is pypy, and cells need CPython"
        );
    }

    #[test]
    fn an_abi_tag_that_would_leave_the_folder_is_refused() {
        let json = r#"{"version":[3,11,0],"implementation":"cpython","executable":"/bin/sh","launcher":"/bin/sh",
            "base_prefix":"/usr","stdlib":"/usr","platstdlib":"/usr","platlib":"/usr","platform":"linux","libc":"glibc",
            "abi_tag":"../../x"}"#;
        assert!(matches!(answer(json), Err(ProfileError::Probe { .. })));
    }
}
