//! The runner's hold on the executor process.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use ordain_cell::profile::Profile;

use super::program::ProgramLimits;
use super::protocol::{Answer, ROLE_VARIABLE, Request, RunRequest};

/// How long the start may take: a profile may have to be set up first.
const START_TIME_MAX: Duration = Duration::from_mins(15);
/// How long an outcome is waited for beyond the program's wall limit before the executor is taken to be stuck.
const OUTCOME_TIME_MAX: Duration = Duration::from_mins(1);

/// Who waits for the answers to which request.
type Waiting = Arc<Mutex<HashMap<u64, Sender<(Instant, Answer)>>>>;

/// The executor process.
#[derive(Debug)]
pub(super) struct Client {
    child: Child,
    socket: UnixStream,
    waiting: Waiting,
    next_id: u64,
    log: PathBuf,
}

/// A program that runs.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) folder: PathBuf,
    pub(super) started: Instant,
    answers: Receiver<(Instant, Answer)>,
    patience: Duration,
}

/// How a run came to its end, as the executor told it.
#[derive(Debug)]
pub(super) enum End {
    /// The outcome came after that time; what came of it is in the folder, but for the problems.
    Saved { elapsed: Duration, problems: Vec<String> },
    /// The executor could not run it.
    NotRun(String),
    /// No outcome came.
    NoOutcome,
}

/// What an executor process is started with.
#[derive(Debug)]
pub(super) struct Start<'a> {
    pub(super) command: Command,
    pub(super) canary: &'a str,
    pub(super) work: &'a Path,
    pub(super) temporary: &'a Path,
    pub(super) log: &'a Path,
    pub(super) profile: Profile,
}

impl Client {
    /// Starts the executor and waits until it is ready.
    pub(super) fn start(start: Start<'_>) -> Result<Self> {
        let (socket, theirs) = UnixStream::pair().context("failed to make a socket")?;
        let log = fs_err::File::create(start.log)?;
        let mut command = start.command;
        command
            .env(ROLE_VARIABLE, "1")
            .env("ATTACK_CANARY", start.canary)
            .env("TMPDIR", start.temporary)
            .current_dir(start.work)
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .stderr(Stdio::from(log.into_file()));
        let child = command.spawn().context("failed to start the executor")?;
        // The command holds the other end of the socket, which would keep the socket open after the executor's end.
        drop(command);
        let waiting = Waiting::default();
        let listener = BufReader::new(socket.try_clone()?);
        let heard = Arc::clone(&waiting);
        std::thread::spawn(move || hear(listener, &heard));
        let mut client = Self { child, socket, waiting, next_id: 1, log: start.log.to_owned() };
        let answers = client.expect(0);
        client.send(&Request::Start { profile: start.profile, limits: ProgramLimits::default() })?;
        match answers.recv_timeout(START_TIME_MAX) {
            Ok((_, Answer::Ready)) => Ok(client),
            Ok((_, Answer::CannotStart { reason })) => bail!("the executor could not start: {reason}"),
            _ => bail!("the executor did not start: {}", client.log_text()),
        }
    }

    /// The number of the process.
    pub(super) fn process(&self) -> u32 {
        self.child.id()
    }

    /// Whether the process is still there.
    pub(super) fn is_alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Everything that the process wrote to its log so far.
    pub(super) fn log_text(&self) -> String {
        let bytes = fs_err::read(&self.log).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Starts a program whose results go to `folder`, which must not exist yet.
    pub(super) fn run(
        &mut self,
        name: &str,
        code: &str,
        limits: &ProgramLimits,
        (input, store): (&Path, &Path),
        folder: PathBuf,
    ) -> Result<Running> {
        fs_err::create_dir(&folder)?;
        let id = self.next_id;
        let request = RunRequest {
            id,
            name: name.to_owned(),
            code: code.to_owned(),
            limits: limits.clone(),
            input: input.to_owned(),
            store: store.to_owned(),
            folder: folder.clone(),
        };
        let answers = self.expect(id);
        self.next_id += 1;
        let started = Instant::now();
        self.send(&Request::Run(request))?;
        Ok(Running { folder, started, answers, patience: limits.wall + OUTCOME_TIME_MAX })
    }

    /// The processes that are idle cells.
    pub(super) fn idle(&mut self) -> Result<Vec<u32>> {
        let id = self.next_id;
        let answers = self.expect(id);
        self.next_id += 1;
        self.send(&Request::Idle { id })?;
        match answers.recv_timeout(OUTCOME_TIME_MAX) {
            Ok((_, Answer::Idle { processes, .. })) => Ok(processes),
            Ok((_, Answer::NotRun { reason, .. })) => bail!("the pool cannot be filled: {reason}"),
            _ => bail!("the executor did not say which cells are idle"),
        }
    }

    /// Asks the executor to end, and kills it if it has not after `patience`.
    pub(super) fn close(&mut self, patience: Duration) -> Result<ExitStatus> {
        let asked = Instant::now();
        // A process that is gone already cannot be asked; its status tells how it went.
        let _ = self.send(&Request::Close);
        while asked.elapsed() < patience {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        self.child.kill()?;
        self.child.wait()?;
        bail!("it had not ended after {patience:?} and was killed")
    }

    fn expect(&self, id: u64) -> Receiver<(Instant, Answer)> {
        let (sender, receiver) = mpsc::channel();
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).insert(id, sender);
        receiver
    }

    fn send(&mut self, request: &Request) -> io::Result<()> {
        let mut line = serde_json::to_vec(request)?;
        line.push(b'\n');
        self.socket.write_all(&line)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Running {
    /// Waits for the outcome and for everything that came of it.
    pub(super) fn wait(self) -> End {
        let outcome_by = self.started + self.patience;
        let arrived = match self.next(outcome_by) {
            Ok((arrived, Answer::Ended { .. })) => arrived,
            Ok((_, Answer::NotRun { reason, .. })) => return End::NotRun(reason),
            _ => return End::NoOutcome,
        };
        match self.next(Instant::now() + OUTCOME_TIME_MAX) {
            Ok((_, Answer::Saved { problems, .. })) => {
                End::Saved { elapsed: arrived.duration_since(self.started), problems }
            }
            _ => End::NoOutcome,
        }
    }

    fn next(&self, by: Instant) -> Result<(Instant, Answer), RecvTimeoutError> {
        self.answers.recv_timeout(by.saturating_duration_since(Instant::now()))
    }
}

/// Hands every answer, with the moment it came, to the caller that waits for it.
fn hear(lines: BufReader<UnixStream>, waiting: &Waiting) {
    for line in lines.lines() {
        let Ok(line) = line else { break };
        let arrived = Instant::now();
        let Ok(answer) = serde_json::from_str::<Answer>(&line) else { break };
        let waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sender) = waiting.get(&answer.id()) {
            // A caller that gave up waiting needs no answer.
            let _ = sender.send((arrived, answer));
        }
    }
    // Dropping the senders tells everyone who still waits that nothing will come.
    waiting.lock().unwrap_or_else(PoisonError::into_inner).clear();
}
