//! Runs the real binary, and looks at what it leaves.

use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead as _, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use ordain_testkit::processes::descendants;
use rustix::process::{Pid, Signal};
use serde_json::Value;

/// What a run of the binary gave.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    pub(crate) fn of(output: &Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        Self { code: output.status.code(), stdout: text(&output.stdout), stderr: text(&output.stderr) }
    }

    /// The record of `--json`, which is all that stdout holds.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// Names another build of the binary, for long runs: one with optimisations needs a third of the processor time.
const PROGRAM: &str = "ORDAIN_TEST_PROGRAM";

/// The binary with arguments and nothing on its standard input.
pub(crate) fn ordain<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(arguments: I) -> Command {
    let program = std::env::var_os(PROGRAM).unwrap_or_else(|| env!("CARGO_BIN_EXE_ordain").into());
    let mut command = Command::new(program);
    // A helper would outlive the test; the tests of helpers have folders of their own.
    command.env("ORDAIN_RESIDENT", "off");
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs a command to its end.
pub(crate) fn run(mut command: Command) -> Ran {
    Ran::of(&command.output().unwrap())
}

/// Runs `ordain` in a folder to its end.
pub(crate) fn run_in(folder: &Path, arguments: &[&str]) -> Ran {
    let mut command = ordain(arguments);
    command.current_dir(folder);
    run(command)
}

/// Runs `ordain exec -` with a program on standard input. The jail alone defends, so that any program can be tried.
pub(crate) fn exec(program: impl AsRef<[u8]>, arguments: &[&str]) -> Ran {
    let mut command = ordain(["exec", "-", "--policy", "open"]);
    command.args(arguments);
    run_with_input(command, program.as_ref())
}

/// Runs a command with something on its standard input.
pub(crate) fn run_with_input(mut command: Command, input: &[u8]) -> Ran {
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    // A program that is refused by its size is not read to its end.
    let _ = child.stdin.take().unwrap().write_all(input);
    Ran::of(&child.wait_with_output().unwrap())
}

/// The workspace of an example, in a folder that is removed when the test ends.
pub(crate) fn init(example: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::TempDir::new().unwrap();
    let root = folder.path().join("shop");
    let made = run(ordain([OsStr::new("init"), "--example".as_ref(), example.as_ref(), root.as_ref()]));
    assert_eq!(made.code, Some(0), "{made:?}");
    (folder, root)
}

/// The text with every time in it replaced, because times differ from run to run.
pub(crate) fn without_times(text: &str) -> String {
    let mut words: Vec<&str> = text.split(' ').collect();
    for at in 1..words.len() {
        let is_unit = words[at].starts_with("ms");
        if is_unit && words[at - 1].parse::<f64>().is_ok() {
            words[at - 1] = "N";
        }
    }
    words.join(" ")
}

/// A running binary, killed with the test if it has not ended.
pub(crate) struct Running(pub(crate) Child);

impl Running {
    pub(crate) fn start(mut command: Command) -> Self {
        Self(command.spawn().unwrap())
    }

    /// Waits until its stdout holds these bytes.
    pub(crate) fn wait_for(&mut self, text: &str) {
        let mut found = vec![0; text.len()];
        self.0.stdout.as_mut().unwrap().read_exact(&mut found).unwrap();
        assert_eq!(String::from_utf8(found).unwrap(), text);
    }

    /// Sends it a signal, and its process group too when it leads one, as a terminal does.
    pub(crate) fn signal(&self, signal: Signal) {
        let process = self.process();
        if rustix::process::getpgid(Some(process)).unwrap() == process {
            rustix::process::kill_process_group(process, signal).unwrap();
        } else {
            rustix::process::kill_process(process, signal).unwrap();
        }
    }

    /// Everything below it.
    pub(crate) fn descendants(&self) -> Vec<u32> {
        descendants(self.0.id())
    }

    /// Its exit code; a process that goes on is a failed test.
    pub(crate) fn exit_code(&mut self) -> Option<i32> {
        let mut code = None;
        let has_ended = eventually(|| match self.0.try_wait().unwrap() {
            Some(status) => {
                code = status.code();
                true
            }
            None => false,
        });
        assert!(has_ended, "it goes on");
        code
    }

    fn process(&self) -> Pid {
        Pid::from_child(&self.0)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Waits until something holds, for as long as a loaded machine may need.
pub(crate) fn eventually(mut holds: impl FnMut() -> bool) -> bool {
    for _ in 0..1500 {
        if holds() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    false
}

/// A folder that is removed when the test ends.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("ordain-cli-{}-{count}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Writes a file and returns its path as text.
    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.0.join(name);
        fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// A path in it, as text.
    pub(crate) fn join(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }

    /// The names in it, sorted, hidden ones too.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The head and the body of a request.
pub(crate) type Sent = (String, Vec<u8>);

/// Answers requests with this status, one after the other, and gives back what was sent.
pub(crate) fn receiver(status: &'static str, count: usize) -> (u16, std::thread::JoinHandle<Vec<Sent>>) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let answer = move |stream: std::io::Result<std::net::TcpStream>| {
        let mut reader = std::io::BufReader::new(stream.unwrap());
        let (mut head, mut length) = (String::new(), 0);
        while !head.ends_with("\r\n\r\n") {
            let before = head.len();
            assert_ne!(reader.read_line(&mut head).unwrap(), 0, "cut off: {head}");
            let line = head[before..].to_lowercase();
            length = line.strip_prefix("content-length: ").map_or(length, |n| n.trim().parse().unwrap());
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
        reader.get_mut().write_all(answer.as_bytes()).unwrap();
        (head, body)
    };
    (port, std::thread::spawn(move || listener.incoming().take(count).map(answer).collect()))
}
