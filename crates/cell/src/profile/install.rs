//! Runs uv or pip, and the bytecode compiler, and reports how far they are.

use std::{
    ffi::OsStr,
    io::{BufRead, BufReader, Read},
    path::Path,
    process::{Child, Command, Stdio},
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::Duration,
};

use super::{
    DataDir, Interpreter, Phase, ProfileError, Progress,
    lock::{Requirement, normal_name},
    tool_output::Output,
};

/// Compiles a folder of modules; see its first lines.
const COMPILE: &str = include_str!("../../python/profiles/compile.py");
/// Tells what wheels are; see its first lines.
const WHEELS: &str = include_str!("../../python/profiles/wheels.py");
/// How often the package folder is looked at while an installer works in silence.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);
/// A line of an installer's output beyond this is read on but not kept.
const LINE_BYTES_MAX: u64 = 64 << 10;

/// The folders and files of one installation.
#[derive(Debug)]
pub(super) struct InstallPaths<'a> {
    /// Where the packages go.
    pub(super) site: &'a Path,
    /// The lock file.
    pub(super) requirements: &'a Path,
    /// For the installer's temporary files: on the same disk as `site`, and removed with it after a crash.
    pub(super) temporary: &'a Path,
}

/// Installs the packages with uv when it is there and works, with pip otherwise.
pub(super) fn packages(
    data_dir: &DataDir,
    interpreter: &Interpreter,
    place: &InstallPaths<'_>,
    wanted: &[Requirement],
    progress: &mut dyn Progress,
) -> Result<(), ProfileError> {
    if let Some(uv) = data_dir.uv() {
        let mut command = Command::new(uv);
        command
            .args(["pip", "install", "--no-progress", "--color", "never", "--no-python-downloads"])
            .args(["--only-binary", ":all:"])
            .args([OsStr::new("--python"), interpreter.launcher.as_os_str()]);
        match install("uv", command, data_dir, place, wanted, progress) {
            // pip may know a mirror or proxy that uv does not.
            Err(error @ (ProfileError::Offline { .. } | ProfileError::Install { .. }))
                if interpreter.has_pip =>
            {
                progress.message(&format!("{error}; trying pip"));
                empty(place.site)?;
            }
            outcome => return outcome,
        }
    }
    let mut command = pip(interpreter, "install")?;
    command.args(["--no-warn-conflicts", "--no-compile", "--ignore-installed"]);
    install("pip", command, data_dir, place, wanted, progress)
}

/// Has an installer put the locked packages into their folder.
fn install(
    tool: &'static str,
    mut command: Command,
    data_dir: &DataDir,
    place: &InstallPaths<'_>,
    wanted: &[Requirement],
    progress: &mut dyn Progress,
) -> Result<(), ProfileError> {
    command
        .args(["--require-hashes", "--no-deps"])
        .args([OsStr::new("--target"), place.site.as_os_str()])
        .args([OsStr::new("-r"), place.requirements.as_os_str()]);
    clean(&mut command, data_dir, place);
    progress.phase(Phase::Downloading, Some(wanted.len()));
    let mut is_installing = false;
    run(tool, command, data_dir, |event| match event {
        Event::Line(line) => {
            if let Some(package) = fetched(line) {
                progress.package(package);
            }
        }
        Event::Look => {
            let count = distributions(place.site).len();
            if count > 0 && !is_installing {
                is_installing = true;
                progress.phase(Phase::Installing, Some(wanted.len()));
            }
            progress.done(count);
        }
    })
}

/// A command of pip's for wheels alone, that asks nothing and writes plain lines.
fn pip(interpreter: &Interpreter, command: &str) -> Result<Command, ProfileError> {
    if !interpreter.has_pip {
        return Err(ProfileError::NoInstaller { python: interpreter.launcher.clone() });
    }
    let mut pip = Command::new(&interpreter.launcher);
    pip.args(["-m", "pip", command, "--no-input", "--no-color", "--progress-bar", "off", "--retries", "3"])
        .args(["--disable-pip-version-check", "--only-binary", ":all:"]);
    Ok(pip)
}

/// The package that an installer is about to fetch, by a line of it.
fn fetched(line: &str) -> Option<&str> {
    let line = line.trim();
    line.strip_prefix("Downloading ").or_else(|| line.strip_prefix("Collecting "))?.split_whitespace().next()
}

/// Downloads the wheels of packages, and of those that they need, in versions that fit together.
pub(super) fn download(
    data_dir: &DataDir,
    interpreter: &Interpreter,
    place: &InstallPaths<'_>,
    asked: &[String],
    progress: &mut dyn Progress,
) -> Result<(), ProfileError> {
    let mut command = pip(interpreter, "download")?;
    command
        .args([OsStr::new("--dest"), place.site.as_os_str()])
        .args([OsStr::new("--constraint"), place.requirements.as_os_str()])
        .arg("--")
        .args(asked);
    clean(&mut command, data_dir, place);
    let done = run("pip", command, data_dir, |event| {
        if let Event::Line(line) = event
            && let Some(package) = fetched(line)
        {
            progress.package(package);
        }
    });
    done.map_err(|error| match error {
        ProfileError::Install { line, .. } => ProfileError::Unresolved { line },
        other => other,
    })
}

/// Tells what the wheels of a folder are, as JSON.
pub(super) fn look_into(
    data_dir: &DataDir,
    interpreter: &Interpreter,
    place: &InstallPaths<'_>,
) -> Result<String, ProfileError> {
    let mut command = Command::new(&interpreter.executable);
    command.args(["-I", "-S", "-W", "ignore", "-c", WHEELS]).arg(place.site);
    clean(&mut command, data_dir, place);
    let mut answer = String::new();
    run("the look into wheels", command, data_dir, |event| {
        if let Event::Line(line) = event {
            answer.push_str(line);
        }
    })?;
    Ok(answer)
}

/// Compiles the installed modules to bytecode, as cells can't.
pub(super) fn compile(
    data_dir: &DataDir,
    interpreter: &Interpreter,
    place: &InstallPaths<'_>,
    progress: &mut dyn Progress,
) -> Result<(), ProfileError> {
    let mut command = Command::new(&interpreter.executable);
    command.args(["-I", "-S", "-W", "ignore", "-c", COMPILE]).arg(place.site);
    clean(&mut command, data_dir, place);
    progress.phase(Phase::Compiling, None);
    let mut is_counted = false;
    run("the bytecode compiler", command, data_dir, |event| {
        let Event::Line(line) = event else { return };
        let mut numbers = line.split_whitespace().map_while(|word| word.parse().ok());
        if let (Some(done), Some(total)) = (numbers.next(), numbers.next()) {
            if !is_counted {
                is_counted = true;
                progress.phase(Phase::Compiling, Some(total));
            }
            progress.done(done);
        }
    })
}

/// Keeps the user's proxies, mirrors and certificates, and takes away what would change where or what is installed.
fn clean(command: &mut Command, data_dir: &DataDir, place: &InstallPaths<'_>) {
    for variable in [
        "PYTHONPATH",
        "PYTHONHOME",
        "PYTHONSTARTUP",
        "PYTHONPYCACHEPREFIX",
        "PYTHONDONTWRITEBYTECODE",
        "PYTHONOPTIMIZE",
        "PIP_TARGET",
        "PIP_PREFIX",
        "PIP_ROOT",
        "PIP_REQUIRE_VIRTUALENV",
        "PIP_NO_BINARY",
        "PIP_CONSTRAINT",
        "PIP_REQUIREMENT",
        "PIP_DRY_RUN",
        "PIP_REPORT",
        "PIP_QUIET",
        "PIP_VERBOSE",
        "PIP_LOG",
        "UV_TARGET",
        "UV_CONSTRAINT",
        "UV_OVERRIDE",
        "UV_NO_BINARY",
        "UV_SYSTEM_PYTHON",
        "UV_PYTHON",
    ] {
        command.env_remove(variable);
    }
    command
        .env("PATH", data_dir.search_path())
        // A configured `user = true` does not go with a target folder.
        .env("PIP_USER", "0")
        .env("PYTHONUNBUFFERED", "1")
        // The messages are read for their words.
        .env("LC_ALL", "C.UTF-8")
        .env("TMPDIR", place.temporary)
        .current_dir(place.temporary)
        .stdin(Stdio::null());
}

enum Event<'a> {
    /// The program wrote a line.
    Line(&'a str),
    /// Time passed.
    Look,
}

/// Runs a program to its end, telling `on_event` of every line it writes and, in between, of time passing.
fn run(
    tool: &'static str,
    mut command: Command,
    data_dir: &DataDir,
    mut on_event: impl FnMut(Event<'_>),
) -> Result<(), ProfileError> {
    let failed = |status: String, line: String| ProfileError::Install { tool, status, line };
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map(Running)
        .map_err(|error| failed("not started".into(), error.to_string()))?;
    let (sender, lines) = mpsc::sync_channel(256);
    if let Some(stdout) = child.0.stdout.take() {
        read_lines(stdout, sender.clone());
    }
    if let Some(stderr) = child.0.stderr.take() {
        read_lines(stderr, sender);
    }
    let mut output = Output::default();
    loop {
        match lines.recv_timeout(LOOK_INTERVAL) {
            Ok(line) => {
                on_event(Event::Line(&line));
                output.push(&line);
            }
            Err(RecvTimeoutError::Timeout) => on_event(Event::Look),
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    let status = child.0.wait().map_err(|error| failed("lost".into(), error.to_string()))?;
    on_event(Event::Look);
    if status.success() { Ok(()) } else { Err(output.error(tool, &status.to_string(), data_dir.root())) }
}

/// A child that does not outlive the set-up that started it, even when a [`Progress`] panics.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // Both do nothing to a child that has ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Sends each line on; ends when the stream ends or the receiver is gone.
fn read_lines(stream: impl Read + Send + 'static, lines: mpsc::SyncSender<String>) {
    thread::spawn(move || {
        let mut reader = BufReader::new(stream);
        let mut line = Vec::new();
        loop {
            line.clear();
            match reader.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => return,
                Ok(_) if lines.send(String::from_utf8_lossy(&line).trim_end().to_owned()).is_err() => return,
                Ok(_) => {}
            }
        }
    });
}

/// The distributions in a package folder, name in normal form and version.
pub(super) fn distributions(site: &Path) -> Vec<(String, String)> {
    let Ok(entries) = fs_err::read_dir(site) else { return Vec::new() };
    let mut found: Vec<_> = entries
        .filter_map(|entry| {
            let name = entry.ok()?.file_name().into_string().ok()?;
            let (name, version) = name.strip_suffix(".dist-info")?.split_once('-')?;
            Some((normal_name(name), version.to_owned()))
        })
        .collect();
    found.sort();
    found
}

fn empty(folder: &Path) -> Result<(), ProfileError> {
    fs_err::remove_dir_all(folder).map_err(ProfileError::file(folder))?;
    fs_err::create_dir(folder).map_err(ProfileError::file(folder))
}
