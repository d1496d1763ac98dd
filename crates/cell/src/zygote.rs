//! The supervisor's side of a zygote: starting it, ordering cells, hearing how they end.

use std::collections::HashMap;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ordain_lockdown::control::{Order, Report};
use ordain_lockdown::step::Step;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fs::MemfdFlags;
use rustix::process::{Pid, PidfdFlags};
use serde::Serialize;
use tokio::net::UnixStream;
use tokio::sync::oneshot;

use crate::control;
use crate::error::CellError;
use crate::filter;
use crate::group::MemoryGroup;
use crate::profile::{Depth, Installed};
use crate::scratch::Scratch;

static LOCKDOWN: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/lockdown.so"));
static ZYGOTE_SOURCE: &str = include_str!("../python/zygote.py");
/// The only text that is an argument, which others on the machine can read: it receives the rest and runs it.
static BOOT: &str = "import os, socket\n\
    control_socket = socket.socket(fileno=0)\n\
    text, descriptors, _, _ = socket.recv_fds(control_socket, 1 << 16, 9)\n\
    exec(compile(os.pread(descriptors[0], 1 << 20, 0), '<ordain zygote>', 'exec'))\n";
static RUNNER_SOURCE: &str = include_str!("../python/runner.py");
static TABLES_SOURCE: &str = include_str!("../python/tables.py");
/// The Python that decides how tables are read: several files, one module.
pub static READING_SOURCE: &str = concat!(
    include_str!("../python/reading.py"),
    "\n\n",
    include_str!("../python/dates.py"),
    "\n\n",
    include_str!("../python/columns.py"),
    "\n\n",
    include_str!("../python/layout.py"),
    "\n\n",
    include_str!("../python/loading.py"),
    "\n\n",
    include_str!("../python/trees.py"),
    "\n\n",
    include_str!("../python/blocks.py"),
    "\n\n",
    include_str!("../python/messages.py"),
    "\n\n",
    include_str!("../python/pieces.py"),
    "\n\n",
    include_str!("../python/whole.py")
);
/// The Python that makes frames of tables.
pub static FRAMES_SOURCE: &str =
    concat!(include_str!("../python/frames.py"), "\n\n", include_str!("../python/database.py"));

/// How long a zygote may take to import everything. pandas takes about a second on a small machine; a loaded one may
/// need many times that.
const START_TIME_MAX: Duration = Duration::from_mins(2);
/// How much of a zygote's last words is kept.
const SAID_BYTES_MAX: u64 = 8 * 1024;
/// Number of files and folders that a work folder holds.
const WORK_INODES: u64 = 16 * 1024;

/// What a zygote is started with.
#[derive(Debug, Clone)]
pub(crate) struct ZygoteSpec {
    pub(crate) interpreter: PathBuf,
    /// The encoded root.
    pub(crate) root: Vec<u8>,
    pub(crate) settings: Settings,
    /// The packages that it is shown, to be compared with what was set up.
    pub(crate) packages: Option<Installed>,
    /// The folder on disk that its root shows.
    pub(crate) scratch: Option<Arc<Scratch>>,
}

/// The settings of the zygote's Python side.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Settings {
    /// Folders to find packages in.
    pub(crate) paths: Vec<String>,
    /// Modules to import ahead.
    pub(crate) imports: Vec<&'static str>,
    /// The program that warms up zygote and cells.
    pub(crate) rehearsal: &'static str,
    /// How often the zygote runs it.
    pub(crate) rehearsals: u32,
    /// The lockdown's options, as a number.
    pub(crate) options: u32,
}

/// A zygote that serves.
#[derive(Debug)]
pub(crate) struct Zygote {
    control: Arc<UnixStream>,
    process: Mutex<Child>,
    cells: Arc<Cells>,
    next_cell: AtomicU64,
    scratch: Option<Arc<Scratch>>,
    _group: Option<Arc<MemoryGroup>>,
}

/// What a cell is ordered for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To wait for a job: it warms up first.
    Idle,
    /// For a job that waits already: warming up would only be waited for.
    Job,
}

/// How a cell ended, as the zygote saw it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ended {
    pub(crate) status: i32,
    pub(crate) cpu: Duration,
}

/// What the control socket reports about a cell.
#[derive(Debug)]
pub(crate) struct Promises {
    /// The process descriptor, right after the fork.
    pub(crate) process: oneshot::Receiver<OwnedFd>,
    /// The work folder, when the cell is locked down; or the step that failed.
    pub(crate) work: oneshot::Receiver<Result<OwnedFd, CellError>>,
    /// The end.
    pub(crate) ended: oneshot::Receiver<Ended>,
}

#[derive(Debug)]
struct Waiting {
    process: Option<oneshot::Sender<OwnedFd>>,
    work: Option<oneshot::Sender<Result<OwnedFd, CellError>>>,
    ended: Option<oneshot::Sender<Ended>>,
}

/// What is known of a zygote's cells, shared by all that come from it.
#[derive(Debug)]
pub(crate) struct Cells {
    waiting: Mutex<HashMap<u64, Waiting>>,
    is_lost: AtomicBool,
    /// What the zygote said of itself before it went.
    failure: Mutex<Option<CellError>>,
    /// The outer process. When it is killed, the zygote and its cells follow, but not at once.
    outer: OwnedFd,
}

impl Zygote {
    /// Starts an interpreter and waits until it serves. Meanwhile its packages are looked at: what runs in a zygote
    /// until then is jailed already, and no job reaches one whose packages are not those that were set up.
    pub(crate) async fn start(spec: &ZygoteSpec) -> Result<Self, CellError> {
        let packages = spec.packages.clone();
        let look = move || packages.map_or(Ok(()), |packages| packages.look(Depth::Glance));
        let looked = tokio::task::spawn_blocking(look);
        let started = Self::start_unseen(spec).await;
        looked.await.map_err(|_| CellError::Lost)??;
        started
    }

    async fn start_unseen(spec: &ZygoteSpec) -> Result<Self, CellError> {
        let (ours, theirs) = control::pair().map_err(CellError::host("make a control socket"))?;
        let mut process = spawn(spec, theirs)?;
        // Joining takes the kernel some milliseconds, in which the interpreter starts; it waits for what it is made of.
        let id = process.id();
        let joined = move || MemoryGroup::of_this_process().filter(|group| group.join(id).is_ok());
        let group = tokio::task::spawn_blocking(joined).await.ok().flatten();
        let stderr = process.stderr.take();
        let control = control::watched(ours).map_err(CellError::host("watch a control socket"))?;
        match introduce(&control, spec).await {
            Ok(Report::Serving) => Self::serving(control, process, group, spec.scratch.clone()),
            Ok(Report::Failed { step, errno, .. }) => {
                reap(&mut process);
                Err(jail_error(step, errno))
            }
            _ => {
                drop(control);
                reap(&mut process);
                Err(CellError::Zygote { said: last_words(stderr) })
            }
        }
    }

    fn serving(
        control: UnixStream,
        process: Child,
        group: Option<Arc<MemoryGroup>>,
        scratch: Option<Arc<Scratch>>,
    ) -> Result<Self, CellError> {
        let control = Arc::new(control);
        let outer = Pid::from_child(&process);
        let outer = rustix::process::pidfd_open(outer, PidfdFlags::empty())
            .map_err(|error| CellError::host("watch a zygote")(error.into()))?;
        let cells = Arc::new(Cells::new(outer));
        tokio::spawn(listen(Arc::downgrade(&control), Arc::clone(&cells)));
        let (process, next_cell) = (Mutex::new(process), AtomicU64::new(1));
        Ok(Self { control, process, cells, next_cell, scratch, _group: group })
    }

    /// The folder on disk in which its cells may write.
    pub(crate) fn scratch(&self) -> Option<&Arc<Scratch>> {
        self.scratch.as_ref()
    }

    /// What is known of its cells.
    pub(crate) fn cells(&self) -> &Arc<Cells> {
        &self.cells
    }

    /// Orders a cell that will keep these three descriptors.
    pub(crate) fn order(
        &self,
        work_bytes: u64,
        purpose: Purpose,
        descriptors: [BorrowedFd<'_>; 3],
    ) -> Result<Promises, CellError> {
        let cell = self.next_cell.fetch_add(1, Ordering::Relaxed);
        let is_idle = purpose == Purpose::Idle;
        let scratch_bytes = self.scratch.as_ref().map_or(0, |scratch| scratch.bytes);
        let order =
            Order { cell, work_bytes, work_inodes: WORK_INODES, scratch_bytes, own_network: false, is_idle };
        let promises = self.cells.expect(cell);
        let sent = control::send(self.control.as_fd(), &order.encode(), &descriptors);
        if sent.is_err() || self.is_lost() {
            return Err(self.cells.reason());
        }
        Ok(promises)
    }

    /// Tells the zygote to end, and with it every cell.
    pub(crate) fn shut_down(&self) {
        // This works even while the listener still holds the socket.
        let _ = rustix::net::shutdown(&*self.control, rustix::net::Shutdown::Both);
    }

    /// Whether the zygote is gone.
    pub(crate) fn is_lost(&self) -> bool {
        self.cells.is_lost()
    }

    /// The outer process's number, for tests and measurements.
    pub(crate) fn process_id(&self) -> u32 {
        lock(&self.process).id()
    }
}

impl Drop for Zygote {
    /// Ends the zygote and with it every cell, and waits until the process is gone: nothing is left behind.
    fn drop(&mut self) {
        self.shut_down();
        reap(&mut lock(&self.process));
    }
}

impl Cells {
    pub(crate) fn new(outer: OwnedFd) -> Self {
        Self { waiting: Mutex::default(), is_lost: AtomicBool::new(false), failure: Mutex::default(), outer }
    }

    /// Whether the zygote is gone, or about to go.
    pub(crate) fn is_lost(&self) -> bool {
        self.is_lost.load(Ordering::Acquire) || self.is_outer_gone()
    }

    fn is_outer_gone(&self) -> bool {
        // A process descriptor is readable once its process has ended, for any process that holds one.
        let mut look = [PollFd::new(&self.outer, PollFlags::IN)];
        !matches!(rustix::event::poll(&mut look, Some(&Timespec::default())), Ok(0))
    }

    /// The descriptor of the zygote's outer process.
    pub(crate) fn outer(&self) -> &OwnedFd {
        &self.outer
    }

    /// Why no cell came of an order.
    pub(crate) fn reason(&self) -> CellError {
        lock(&self.failure).take().unwrap_or(CellError::Lost)
    }

    fn expect(&self, cell: u64) -> Promises {
        let (process_sender, process) = oneshot::channel();
        let (work_sender, work) = oneshot::channel();
        let (ended_sender, ended) = oneshot::channel();
        let waiting =
            Waiting { process: Some(process_sender), work: Some(work_sender), ended: Some(ended_sender) };
        lock(&self.waiting).insert(cell, waiting);
        Promises { process, work, ended }
    }

    /// Fulfils a promise. A receiver that is gone no longer wants to know.
    fn tell(&self, report: Report, descriptor: Option<OwnedFd>) {
        let mut waiting = lock(&self.waiting);
        match report {
            Report::Forked { cell } => {
                let sender = waiting.get_mut(&cell).and_then(|it| it.process.take());
                sender.zip(descriptor).map(|(sender, process)| sender.send(process));
            }
            Report::Locked { cell } => {
                let sender = waiting.get_mut(&cell).and_then(|it| it.work.take());
                sender.zip(descriptor).map(|(sender, work)| sender.send(Ok(work)));
            }
            // No cell has this number: the zygote speaks of itself, and ends.
            Report::Failed { cell: 0, step, errno } => {
                *lock(&self.failure) = Some(jail_error(step, errno));
            }
            Report::Failed { cell, step, errno } => {
                let Some(it) = waiting.get_mut(&cell) else { return };
                it.work.take().map(|sender| sender.send(Err(jail_error(step, errno))));
                // A cell that was not even forked has no process and no end that could be told.
                if it.process.is_some() {
                    waiting.remove(&cell);
                }
            }
            Report::Ended { cell, status, cpu_us, .. } => {
                let ended = Ended { status, cpu: Duration::from_micros(cpu_us) };
                let sender = waiting.remove(&cell).and_then(|mut it| it.ended.take());
                sender.map(|sender| sender.send(ended));
            }
            Report::Serving => {}
        }
    }

    /// Drops every promise: the waiting callers learn that the zygote is gone.
    pub(crate) fn lose(&self) {
        self.is_lost.store(true, Ordering::Release);
        lock(&self.waiting).clear();
    }
}

/// Hears reports until the zygote or the supervisor's handle on it is gone.
async fn listen(control: std::sync::Weak<UnixStream>, cells: Arc<Cells>) {
    while let Some(control) = control.upgrade() {
        match control::receive_report(&control).await {
            Ok(Some((report, descriptors))) => cells.tell(report, descriptors.into_iter().next()),
            Ok(None) | Err(_) => break,
        }
    }
    cells.lose();
}

fn spawn(spec: &ZygoteSpec, control: OwnedFd) -> Result<Child, CellError> {
    let mut command = Command::new(&spec.interpreter);
    // -I ignores the environment and the current folder, -S the site packages of the interpreter.
    command.args(["-I", "-S", "-B", "-c", BOOT]);
    // An empty environment, given at exec: clearing it later would leave the first block in memory. What is set here
    // keeps libraries from starting threads in the zygote.
    command.env_clear();
    command.envs([
        // Each arena reserves address space, which is limited; and one interpreter lock makes two plenty.
        ("MALLOC_ARENA_MAX", "2"),
        ("OPENBLAS_NUM_THREADS", "1"),
        ("OMP_NUM_THREADS", "1"),
        ("JE_ARROW_MALLOC_CONF", "background_thread:false"),
        ("ARROW_DEFAULT_MEMORY_POOL", "system"),
        ("MPLBACKEND", "Agg"),
        ("MPLCONFIGDIR", "/work/tmp/matplotlib"),
        ("PYTHONUTF8", "1"),
        ("HOME", "/work"),
        ("LANG", "C.UTF-8"),
    ]);
    // A group of its own, so that Ctrl-C at the terminal reaches the supervisor alone, which then ends the cells.
    command.process_group(0);
    command.current_dir("/").stdin(Stdio::from(control)).stdout(Stdio::null()).stderr(Stdio::piped());
    let failed = |source| CellError::Start { interpreter: spec.interpreter.display().to_string(), source };
    command.spawn().map_err(failed)
}

/// Sends the zygote everything it is made of, as sealed-off memory files.
fn hand_over(control: &UnixStream, spec: &ZygoteSpec) -> io::Result<()> {
    let filters = [filter::zygote_filter(), filter::cell_filter()]
        .map(|program| program.into_iter().flat_map(u64::to_ne_bytes).collect::<Vec<u8>>());
    let [zygote, runner, tables, reading, frames] =
        [ZYGOTE_SOURCE, RUNNER_SOURCE, TABLES_SOURCE, READING_SOURCE, FRAMES_SOURCE].map(str::as_bytes);
    let parts = [zygote, LOCKDOWN, runner, tables, reading, frames, &spec.root, &filters[0], &filters[1]];
    let files = parts.iter().map(|part| memory_file(part)).collect::<io::Result<Vec<_>>>()?;
    let descriptors: Vec<_> = files.iter().map(AsFd::as_fd).collect();
    let settings = serde_json::to_vec(&spec.settings)?;
    control::send(control.as_fd(), &settings, &descriptors)
}

fn memory_file(bytes: &[u8]) -> io::Result<OwnedFd> {
    let file = rustix::fs::memfd_create("ordain", MemfdFlags::CLOEXEC)?;
    let mut rest = bytes;
    while !rest.is_empty() {
        let written = rustix::io::write(&file, rest)?;
        rest = &rest[written..];
    }
    Ok(file)
}

/// Hands the zygote what it is made of and waits for its first word.
async fn introduce(control: &UnixStream, spec: &ZygoteSpec) -> io::Result<Report> {
    hand_over(control, spec)?;
    let started = tokio::time::timeout(START_TIME_MAX, first_report(control)).await;
    started.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}

async fn first_report(control: &UnixStream) -> io::Result<Report> {
    match control::receive_report(control).await? {
        Some((report, _)) => Ok(report),
        None => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

fn jail_error(step: u8, errno: i32) -> CellError {
    let step = Step::from_number(step).map_or("enter the jail", Step::name);
    CellError::Jail { step, source: io::Error::from_raw_os_error(errno) }
}

/// What the zygote said last, on one line without control characters.
fn last_words(stderr: Option<std::process::ChildStderr>) -> String {
    let mut text = Vec::new();
    if let Some(stderr) = stderr {
        let _ = stderr.take(SAID_BYTES_MAX).read_to_end(&mut text);
    }
    let text = String::from_utf8_lossy(&text);
    let line = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it said nothing");
    line.chars().filter(|character| !character.is_control()).take(400).collect()
}

/// Waits for a process that is ending, and kills it if it does not.
fn reap(process: &mut Child) {
    let deadline = Instant::now() + Duration::from_secs(2);
    while Instant::now() < deadline {
        match process.try_wait() {
            Ok(None) => std::thread::sleep(Duration::from_micros(500)),
            _ => return,
        }
    }
    let _ = process.kill();
    let _ = process.wait();
}

/// A lock whose holder panicked still guards whole data: every change under it is a single step.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The cells of a zygote whose outer process is this one, which have no parent that waits for them.
    fn cells() -> Cells {
        let outer = rustix::process::pidfd_open(rustix::process::getpid(), PidfdFlags::empty());
        Cells::new(outer.unwrap())
    }

    #[test]
    fn what_a_zygote_says_of_itself_before_it_ends_is_the_reason() {
        let cells = cells();
        cells.tell(Report::Failed { cell: 0, step: Step::Receive as u8, errno: libc::ENOMEM }, None);
        cells.lose();
        assert!(cells.is_lost());
        let reason = cells.reason();
        assert!(matches!(reason, CellError::Jail { .. }), "{reason}");
    }

    #[tokio::test]
    async fn a_refused_fork_reaches_the_waiting_caller() {
        let cells = cells();
        let promises = cells.expect(7);
        let step = Step::CloneCell as u8;
        cells.tell(Report::Failed { cell: 7, step, errno: libc::EAGAIN }, None);
        assert!(promises.process.await.is_err(), "no process will ever be told");
        let error = promises.work.await.unwrap().unwrap_err();
        assert!(error.to_string().starts_with("failed to fork a cell with its namespaces: "), "{error}");
        assert!(lock(&cells.waiting).is_empty());
    }

    #[tokio::test]
    async fn a_lost_zygote_reaches_the_waiting_caller() {
        let cells = cells();
        let promises = cells.expect(7);
        cells.lose();
        assert!(
            promises.process.await.is_err() && promises.work.await.is_err() && promises.ended.await.is_err()
        );
    }
}
