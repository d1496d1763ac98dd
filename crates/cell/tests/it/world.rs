//! An executor for one test, programs for it, and what came of them in a form that is short to compare.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use ordain_cell::profile::{DataDir, Profile};
use ordain_cell::{
    CellError, Discard, Execution, Executor, Host, InputFile, Job, LocalExecutor, LocalOptions, NoHost,
    Output, Stream,
};
use ordain_types::{Cause, Limits};
use ordain_verify::{Contract, Policy, Schema, VerifiedCode};

/// One executor with its own zygote, ended with the test.
pub(crate) struct World {
    pub(crate) executor: LocalExecutor,
}

impl World {
    /// The `core` profile and no more cells than jobs: starting it costs about a tenth of a second.
    pub(crate) fn new() -> Self {
        Self::with(|_| {})
    }

    /// The same with some options changed.
    pub(crate) fn with(change: impl FnOnce(&mut LocalOptions)) -> Self {
        let mut options = LocalOptions::new(DataDir::from_env().unwrap());
        options.idle_cells = 0;
        change(&mut options);
        Self { executor: LocalExecutor::new(options).unwrap() }
    }

    /// Runs a program with default limits and no host.
    pub(crate) async fn run(&self, code: &str) -> Execution {
        self.run_job(job(code)).await.unwrap()
    }

    /// Runs a program in a session.
    pub(crate) async fn run_in(&self, session: &str, code: &str) -> Execution {
        self.run_job(in_session(session, code)).await.unwrap()
    }

    /// Runs a program with some limits changed.
    pub(crate) async fn run_limited(&self, code: &str, change: impl FnOnce(&mut Limits)) -> Execution {
        let mut job = job(code);
        change(&mut job.limits);
        self.run_job(job).await.unwrap()
    }

    /// Runs a program until its time is over. It gets more time until it has come so far as to print something, for as
    /// long as a loaded machine may need.
    pub(crate) async fn run_out_of_time(&self, job: Job, host: &mut dyn Host) -> Execution {
        let mut wall = Duration::from_millis(400);
        loop {
            let mut job = job.clone();
            job.limits.wall = wall;
            let execution = self.run_job_with(job, host).await;
            assert_eq!(execution.cause, Cause::Timeout, "{execution:?}");
            if !execution.stdout.is_empty() || wall > Duration::from_mins(1) {
                return execution;
            }
            wall *= 4;
        }
    }

    /// Runs a program that may call a host.
    pub(crate) async fn run_with(&self, code: &str, host: &mut dyn Host) -> Execution {
        self.run_job_with(job(code), host).await
    }

    /// Runs any job that may call a host.
    pub(crate) async fn run_job_with(&self, job: Job, host: &mut dyn Host) -> Execution {
        self.executor.run(job, host, &mut Discard).await.unwrap()
    }

    /// Runs any job.
    pub(crate) async fn run_job(&self, job: Job) -> Result<Execution, CellError> {
        self.executor.run(job, &mut NoHost, &mut Discard).await
    }

    /// Runs a program and passes its output on as it comes.
    pub(crate) async fn run_live(&self, code: &str, output: &mut dyn Output) -> Execution {
        self.executor.run(job(code), &mut NoHost, output).await.unwrap()
    }

    /// Runs an endless program and leaves it once it has printed something.
    pub(crate) async fn begin_and_leave(&self, job: Job) {
        let (started, has_started) = tokio::sync::oneshot::channel();
        let (mut host, mut output) = (NoHost, Started(Some(started)));
        let run = self.executor.run(job, &mut host, &mut output);
        tokio::select! {
            ended = run => panic!("it ended: {ended:?}"),
            started = has_started => started.unwrap(),
        }
    }
}

/// Tells when the first output has come.
pub(crate) struct Started(pub(crate) Option<tokio::sync::oneshot::Sender<()>>);

impl Output for Started {
    fn write(&mut self, _stream: Stream, _bytes: &[u8]) {
        if let Some(started) = self.0.take() {
            started.send(()).unwrap();
        }
    }
}

/// Code that the verifier has accepted; these tests are about the jail, so it is asked for syntax and size only.
pub(crate) fn verified(code: &str) -> VerifiedCode {
    let policy = Policy::for_contract(Contract::Open);
    let verdict = ordain_verify::verify(code, &policy, &Schema::default());
    assert!(verdict.is_accepted(), "{:?}", verdict.findings);
    verdict.into_verified().unwrap()
}

/// A job for the `core` profile, with more time than any machine needs.
pub(crate) fn job(code: &str) -> Job {
    let mut job = Job::new(verified(code), Profile::Core);
    job.limits.wall = Duration::from_mins(10);
    job
}

/// A job of a session.
pub(crate) fn in_session(session: &str, code: &str) -> Job {
    Job { session: Some(session.to_owned()), ..job(code) }
}

/// A file under its own name.
pub(crate) fn input(path: &Path) -> InputFile {
    InputFile { name: path.file_name().unwrap().to_str().unwrap().to_owned(), path: path.to_owned() }
}

/// What a program printed.
pub(crate) fn stdout(execution: &Execution) -> &str {
    std::str::from_utf8(&execution.stdout).unwrap()
}

/// What a program wrote to stderr.
pub(crate) fn stderr(execution: &Execution) -> &str {
    std::str::from_utf8(&execution.stderr).unwrap()
}

/// Asserts that a program came to its end, and returns what it printed.
#[track_caller]
pub(crate) fn printed(execution: &Execution) -> &str {
    assert_eq!(execution.cause, Cause::Ok, "{execution:?}");
    stdout(execution)
}

/// The exception that ended a program, as `(type, message, line)`.
#[track_caller]
pub(crate) fn raised(execution: &Execution) -> (&str, &str, Option<u64>) {
    let error = execution.error.as_ref().unwrap_or_else(|| panic!("nothing was raised: {execution:?}"));
    (&error.kind, &error.message, error.line)
}

/// Waits until something holds, for as long as a loaded machine may need; the caller asserts what it means.
pub(crate) async fn eventually(mut holds: impl FnMut() -> bool) -> bool {
    for _ in 0..1500 {
        if holds() {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    false
}

/// A folder that is removed when the test ends.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("ordain-cell-{}-{count}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Writes a file and returns its path.
    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    /// The names in it, sorted, hidden ones too.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
