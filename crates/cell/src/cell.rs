//! One cell, from the supervisor's side: started, given a job, watched, ended.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use ordain_lockdown::control::Report;
use ordain_types::{Cause, Limits};
use rustix::io::Errno;
use rustix::net::{AddressFamily, RecvFlags, SocketFlags, SocketType};
use rustix::process::Signal;
use tokio::net::UnixStream;
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::capture::{Capture, Captured};
use crate::compiled::Compiled;
use crate::control;
use crate::error::CellError;
use crate::host::{Host, HostFuture, NoHost};
use crate::job::{Discard, Job, Output};
use crate::scratch::Scratch;
use crate::wire::{self, Claim, ClaimedLimit, FrameBuffer, FromCell, JobHeader, WireError};
use crate::zygote::{Cells, Ended, Purpose, Zygote};

/// How long a cell may take from its fork until it is ready. A loaded machine needs more than the usual few
/// milliseconds.
const READY_TIME_MAX: Duration = Duration::from_secs(30);
/// How long a cell that has closed its wire may take to end, as long as its deadline is not passed.
const LAST_BREATH_MAX: Duration = Duration::from_secs(1);
/// How long it may take even when its deadline is near: a cell that exits in time is not blamed for the kernel's work.
const LAST_BREATH_MIN: Duration = Duration::from_millis(200);
/// How long the end of a cell that is ending is waited for.
const END_TIME_MAX: Duration = Duration::from_secs(5);
/// Host calls that one job may make.
const HOST_CALLS_MAX: u64 = 10_000_000;

/// A cell that is ready for a job, or a session's between two jobs.
#[derive(Debug)]
pub(crate) struct Cell {
    wire: UnixStream,
    frames: FrameBuffer,
    capture: Capture,
    process: Process,
    work: Arc<OwnedFd>,
    /// Until the end has been told.
    ended: Option<oneshot::Receiver<Ended>>,
    /// All cells of the same zygote: what becomes of it becomes of them.
    family: Arc<Cells>,
    /// The folder on disk in which it may write.
    scratch: Option<Arc<Scratch>>,
}

/// How a job ended, before artifacts are looked at.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) cause: Cause,
    pub(crate) signal: Option<i32>,
    pub(crate) claim: Option<Box<Claim>>,
    pub(crate) captured: Captured,
    pub(crate) detail: Option<String>,
    pub(crate) host_calls: u64,
    pub(crate) run: Duration,
    /// Whether the cell was lost with its zygote before it had written anything.
    pub(crate) is_lost_in_silence: bool,
}

/// Why the watch over a job stopped.
enum Stop {
    Result(Box<Claim>),
    WireClosed,
    Deadline,
    ScratchLimit(u64),
    OutputLimit,
    Protocol(WireError),
    HostCalls,
}

/// What became of a cell whose wire closed.
#[derive(Clone, Copy)]
enum End {
    /// The zygote has told how it ended.
    Told(Ended),
    /// The zygote is gone, and all its cells with it.
    ZygoteLost,
    /// It goes on without a wire.
    OnlyWireClosed,
}

impl Cell {
    /// Orders a cell and waits until it has warmed up.
    pub(crate) async fn start(zygote: &Zygote, work_bytes: u64, purpose: Purpose) -> Result<Self, CellError> {
        // A cell that is not ready in time finds its wire closed and ends.
        let started = tokio::time::timeout(READY_TIME_MAX, Self::start_now(zygote, work_bytes, purpose));
        started.await.unwrap_or(Err(CellError::Lost))
    }

    async fn start_now(zygote: &Zygote, work_bytes: u64, purpose: Purpose) -> Result<Self, CellError> {
        let (ours, theirs) = wire_pair().map_err(CellError::host("make a wire"))?;
        let (capture, ends) = Capture::new().map_err(CellError::host("make output pipes"))?;
        let descriptors = [theirs.as_fd(), ends.stdout.as_fd(), ends.stderr.as_fd()];
        let promises = zygote.order(work_bytes, purpose, descriptors)?;
        drop((theirs, ends));
        let process = promises.process.await;
        let family = Arc::clone(zygote.cells());
        // Without a process there is no folder either, but there may be the reason.
        let work = promises.work.await.map_err(|_| family.reason())??;
        let process = process.map_err(|_| family.reason())?;
        let mut cell = Self::assembled(ours, capture, process, work, promises.ended, family);
        cell.scratch = zygote.scratch().cloned();
        match cell.next_frame().await {
            Ok(Some(FromCell::Ready)) => Ok(cell),
            _ => Err(CellError::Lost),
        }
    }

    fn assembled(
        wire: UnixStream,
        capture: Capture,
        process: OwnedFd,
        work: OwnedFd,
        ended: oneshot::Receiver<Ended>,
        family: Arc<Cells>,
    ) -> Self {
        let (process, work) = (Process(process), Arc::new(work));
        let (frames, ended) = (FrameBuffer::default(), Some(ended));
        Self { wire, frames, capture, process, work, ended, family, scratch: None }
    }

    /// Sends the descriptors of an idle cell to another process, and keeps nothing but its process and its end.
    pub(crate) fn hand_over(
        self,
        to: &UnixStream,
    ) -> io::Result<(Process, Option<oneshot::Receiver<Ended>>)> {
        let [stdout, stderr] = self.capture.descriptors();
        let outer = self.family.outer();
        let parts =
            [self.wire.as_fd(), stdout, stderr, self.process.0.as_fd(), self.work.as_fd(), outer.as_fd()];
        control::send(to.as_fd(), &Report::Locked { cell: 0 }.encode(), &parts)?;
        Ok((self.process, self.ended))
    }

    /// The cell that another process handed over, by its six descriptors.
    pub(crate) fn received(descriptors: Vec<OwnedFd>, ended: oneshot::Receiver<Ended>) -> io::Result<Self> {
        let six: Result<[OwnedFd; 6], _> = descriptors.try_into();
        let [wire, stdout, stderr, process, work, outer] = six.map_err(|_| io::ErrorKind::InvalidData)?;
        let (wire, capture) = (control::watched(wire)?, Capture::of(stdout, stderr)?);
        Ok(Self::assembled(wire, capture, process, work, ended, Arc::new(Cells::new(outer))))
    }

    /// All cells of its zygote.
    pub(crate) fn family(&self) -> &Arc<Cells> {
        &self.family
    }

    /// Its work folder.
    pub(crate) fn work(&self) -> &Arc<OwnedFd> {
        &self.work
    }

    /// Has the cell make empty files for its next job.
    pub(crate) async fn make_files(&mut self, names: &[&str]) -> Result<(), CellError> {
        let mut frame = wire::encode_files(names);
        let made = async {
            while !frame.is_empty() {
                self.wire.writable().await.ok()?;
                send_some(&self.wire, &mut frame).ok()?;
            }
            match self.next_frame().await {
                Ok(Some(FromCell::Ready)) => Some(()),
                _ => None,
            }
        };
        tokio::time::timeout(READY_TIME_MAX, made).await.ok().flatten().ok_or(CellError::Lost)
    }

    /// Its process descriptor.
    pub(crate) fn process(&self) -> &OwnedFd {
        &self.process.0
    }

    /// Whether it is still there, as far as its wire tells, and not about to go with its zygote. An idle cell has
    /// nothing to say.
    ///
    /// It asks the kernel and not the runtime, which hears of a closed wire only in its next round.
    pub(crate) fn is_alive(&self) -> bool {
        if self.family.is_lost() {
            return false;
        }
        let flags = RecvFlags::PEEK | RecvFlags::DONTWAIT;
        let said = rustix::net::recv(&self.wire, &mut [0_u8; 1], flags);
        self.frames.is_empty() && matches!(said, Err(Errno::AGAIN))
    }

    /// Has the cell compile a job's code without running it.
    pub(crate) async fn compile(&mut self, job: &Job) -> Option<Compiled> {
        let frame = encode(job, &Compiled::default(), true).ok()?;
        let ran = self.carry_out(frame, job, &mut NoHost, &mut Discard).await.ok()?;
        Compiled::read(&ran.claim?.values)
    }

    /// Runs one job to its end. `Err` means that the job did not reach the cell.
    pub(crate) async fn run(
        &mut self,
        job: &Job,
        compiled: &Compiled,
        host: &mut dyn Host,
        output: &mut dyn Output,
    ) -> Result<Ran, CellError> {
        self.carry_out(encode(job, compiled, false)?, job, host, output).await
    }

    async fn carry_out(
        &mut self,
        frame: Vec<u8>,
        job: &Job,
        host: &mut dyn Host,
        output: &mut dyn Output,
    ) -> Result<Ran, CellError> {
        let started = Instant::now();
        let mut watch = Watch {
            captured: Captured::new(job.limits.output_bytes),
            outgoing: frame,
            deadline: started + job.limits.wall,
            host_calls: 0,
        };
        if !self.is_alive() || watch.send(&self.wire).is_err() {
            return Err(CellError::Lost);
        }
        let stop = self.watch(&mut watch, host, output).await;
        let run = started.elapsed();
        let is_within = self.capture.drain(&mut watch.captured, output);
        let stop = match stop {
            Stop::Result(_) | Stop::WireClosed if !is_within => Stop::OutputLimit,
            stop => stop,
        };
        Ok(self.judge(stop, watch, &job.limits, run).await)
    }

    /// Watches wire, output and clock until one of them ends the job.
    async fn watch(&mut self, watch: &mut Watch, host: &mut dyn Host, output: &mut dyn Output) -> Stop {
        let deadline = tokio::time::sleep_until(watch.deadline);
        tokio::pin!(deadline);
        let scratch = self.scratch.clone();
        let quota = async {
            match &scratch {
                Some(scratch) => scratch.is_passed().await,
                None => std::future::pending().await,
            }
        };
        tokio::pin!(quota);
        loop {
            match self.frames.next() {
                Err(error) => return Stop::Protocol(error),
                Ok(Some(FromCell::Result(claim))) => return Stop::Result(claim),
                Ok(Some(FromCell::Ready)) => return Stop::Protocol(WireError::OutOfTurn),
                Ok(Some(FromCell::Call(call))) => {
                    if let Some(stop) = watch.count_call() {
                        return stop;
                    }
                    let answer = match call {
                        Ok(call) => host.call(call),
                        Err(refusal) => Box::pin(std::future::ready(Err(refusal))),
                    };
                    if let Some(stop) = self.answer(watch, answer, output).await {
                        return stop;
                    }
                    continue;
                }
                Ok(None) => {}
            }
            tokio::select! {
                biased;
                _ = self.wire.readable() => match self.fill() {
                    Ok(true) => {}
                    Ok(false) | Err(_) => return Stop::WireClosed,
                },
                is_within = self.capture.next(&mut watch.captured, output) => if !is_within {
                    return Stop::OutputLimit;
                },
                _ = self.wire.writable(), if !watch.outgoing.is_empty() => if watch.send(&self.wire).is_err() {
                    return Stop::WireClosed;
                },
                () = &mut deadline => return Stop::Deadline,
                () = &mut quota => return Stop::ScratchLimit(scratch.as_ref().map_or(0, |scratch| scratch.bytes)),
            }
        }
    }

    /// Waits for the host's answer, still watching output and clock, and queues it for the cell.
    async fn answer(
        &self,
        watch: &mut Watch,
        answer: HostFuture<'_>,
        output: &mut dyn Output,
    ) -> Option<Stop> {
        tokio::pin!(answer);
        loop {
            tokio::select! {
                biased;
                answer = &mut answer => {
                    watch.outgoing = wire::encode_reply(&answer);
                    if watch.send(&self.wire).is_err() {
                        // The cell has ended without waiting for the answer. What it said before that is still to be read.
                        watch.outgoing.clear();
                    }
                    return None;
                }
                is_within = self.capture.next(&mut watch.captured, output) => if !is_within {
                    return Some(Stop::OutputLimit);
                },
                () = tokio::time::sleep_until(watch.deadline) => return Some(Stop::Deadline),
            }
        }
    }

    /// Names the cause. Everything but the claim is the supervisor's own knowledge.
    async fn judge(&mut self, stop: Stop, watch: Watch, limits: &Limits, run: Duration) -> Ran {
        let mut ran = Ran {
            cause: Cause::Ok,
            signal: None,
            claim: None,
            captured: watch.captured,
            detail: None,
            host_calls: watch.host_calls,
            run,
            is_lost_in_silence: false,
        };
        match stop {
            Stop::Result(claim) => {
                (ran.cause, ran.detail) = claimed_cause(&claim, limits);
                ran.claim = Some(claim);
                return ran;
            }
            Stop::WireClosed => {
                let end = self.wait_end(watch.deadline).await;
                let is_silent = ran.captured.stdout.is_empty() && ran.captured.stderr.is_empty();
                ran.is_lost_in_silence = matches!(end, End::ZygoteLost) && is_silent;
                let (cause, signal, detail) = cause_of_end(end, limits);
                (ran.cause, ran.signal, ran.detail) = (cause, signal, Some(detail));
            }
            Stop::Deadline => {
                ran.cause = Cause::Timeout;
                ran.detail =
                    Some(format!("it ran longer than {}", ordain_types::format_duration(limits.wall)));
            }
            Stop::ScratchLimit(bytes) => {
                ran.cause = Cause::DiskLimit;
                ran.detail =
                    Some(format!("it wrote more than {} to disk", ordain_types::format_bytes(bytes)));
            }
            Stop::OutputLimit => {
                ran.cause = Cause::OutputLimit;
                let limit = ordain_types::format_bytes(limits.output_bytes);
                ran.detail = Some(format!("it wrote more than {limit} to stdout and stderr"));
            }
            Stop::Protocol(error) => {
                ran.cause = Cause::ProtocolError;
                ran.detail = Some(format!("it sent {error}"));
            }
            Stop::HostCalls => {
                ran.cause = Cause::ProtocolError;
                ran.detail = Some(format!("it made more than {HOST_CALLS_MAX} host calls"));
            }
        }
        self.process.signal(Signal::KILL);
        ran
    }

    /// Waits until the cell has ended by itself; kills it if it only closed its wire.
    async fn wait_end(&mut self, deadline: Instant) -> End {
        let Some(ended) = &mut self.ended else { return End::ZygoteLost };
        let left = deadline.saturating_duration_since(Instant::now());
        let breath = left.clamp(LAST_BREATH_MIN, LAST_BREATH_MAX);
        let Ok(told) = tokio::time::timeout(breath, ended).await else {
            self.process.signal(Signal::KILL);
            // On a busy machine the zygote may take longer to go than its cells.
            return if self.family.is_lost() { End::ZygoteLost } else { End::OnlyWireClosed };
        };
        self.ended = None;
        told.map_or(End::ZygoteLost, End::Told)
    }

    /// Ends the cell and waits until nothing of it can change any more.
    pub(crate) async fn end(&mut self) {
        self.process.signal(Signal::KILL);
        if let Some(ended) = self.ended.take() {
            let _ = tokio::time::timeout(END_TIME_MAX, ended).await;
        }
    }

    /// Stops a session's cell until its next job.
    pub(crate) fn pause(&self) {
        self.process.signal(Signal::STOP);
    }

    /// Lets it go on.
    pub(crate) fn resume(&self) {
        self.process.signal(Signal::CONT);
    }

    /// The next frame; `None` when the wire is closed.
    async fn next_frame(&mut self) -> Result<Option<FromCell>, WireError> {
        loop {
            if let Some(frame) = self.frames.next()? {
                return Ok(Some(frame));
            }
            if self.wire.readable().await.is_err() || !self.fill().unwrap_or(false) {
                return Ok(None);
            }
        }
    }

    /// Takes what the wire has now. `false` when it is closed.
    fn fill(&mut self) -> io::Result<bool> {
        match self.wire.try_read_buf(self.frames.space()) {
            Ok(0) => Ok(false),
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(true),
            Err(error) => Err(error),
        }
    }
}

/// A cell's process, which is killed with all its threads when this is dropped.
#[derive(Debug)]
pub(crate) struct Process(OwnedFd);

impl Process {
    fn signal(&self, signal: Signal) {
        let _ = rustix::process::pidfd_send_signal(&self.0, signal);
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}

/// The state of one job's watch.
struct Watch {
    captured: Captured,
    outgoing: Vec<u8>,
    deadline: Instant,
    host_calls: u64,
}

impl Watch {
    /// Counts a call, unless it may not come now.
    fn count_call(&mut self) -> Option<Stop> {
        // A cell waits for the answer to its call, so a second call before that, or one while the job is still being
        // sent, is not of the runner's making.
        if !self.outgoing.is_empty() {
            return Some(Stop::Protocol(WireError::OutOfTurn));
        }
        self.host_calls += 1;
        if self.host_calls > HOST_CALLS_MAX {
            return Some(Stop::HostCalls);
        }
        // Calls that come without a pause would otherwise never let the clock have its turn.
        (Instant::now() >= self.deadline).then_some(Stop::Deadline)
    }

    /// Sends what the wire takes now.
    fn send(&mut self, wire: &UnixStream) -> io::Result<()> {
        send_some(wire, &mut self.outgoing)
    }
}

/// Sends what the wire takes now, and leaves the rest.
fn send_some(wire: &UnixStream, outgoing: &mut Vec<u8>) -> io::Result<()> {
    while !outgoing.is_empty() {
        match wire.try_write(outgoing) {
            Ok(length) => drop(outgoing.drain(..length)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn wire_pair() -> io::Result<(UnixStream, OwnedFd)> {
    let flags = SocketFlags::CLOEXEC;
    let (ours, theirs) = rustix::net::socketpair(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    let ours = std::os::unix::net::UnixStream::from(ours);
    ours.set_nonblocking(true)?;
    Ok((UnixStream::from_std(ours)?, theirs))
}

fn encode(job: &Job, compiled: &Compiled, compile: bool) -> Result<Vec<u8>, CellError> {
    let header = JobHeader {
        name: &job.name,
        memory_bytes: job.limits.memory_bytes,
        processes: job.limits.processes,
        cpu_seconds: job.limits.cpu.map_or(0, |cpu| cpu.as_secs().max(1)),
        files: job.files.iter().map(|file| file.name.as_str()).collect(),
        values: &job.values,
        tables: &job.tables,
        frames: &job.frames,
        failing: job.failing.as_ref(),
        helpers: &job.helpers,
        collect: &job.collect,
        session: job.session.is_some() || job.may_share,
        fresh: job.is_fresh,
        compile,
        compiled: [compiled.helpers.len(), compiled.program.len()],
    };
    let too_large = || CellError::File {
        name: job.name.clone(),
        problem: "is larger, with its values, than a frame may be".to_owned(),
    };
    wire::encode_job(&header, compiled, job.code.code()).ok_or_else(too_large)
}

/// What the code's own account of its end means.
fn claimed_cause(claim: &Claim, limits: &Limits) -> (Cause, Option<String>) {
    match claim.limit.filter(|_| claim.error.is_some()) {
        Some(ClaimedLimit::Memory) => {
            let limit = ordain_types::format_bytes(limits.memory_bytes);
            (Cause::MemoryLimit, Some(format!("it asked for more than {limit}")))
        }
        Some(ClaimedLimit::Processes) => {
            (Cause::ProcessLimit, Some(format!("it started more than {} threads", limits.processes)))
        }
        None if claim.error.is_none() && claim.exit == 0 => (Cause::Ok, None),
        None => (Cause::Error, None),
    }
}

/// What the kernel's account of a cell's end means, when there was no result.
fn cause_of_end(end: End, limits: &Limits) -> (Cause, Option<i32>, String) {
    const SIGKILL: i32 = 9;
    const SIGXCPU: i32 = 24;
    let Ended { status, cpu } = match end {
        End::Told(ended) => ended,
        End::ZygoteLost => return (Cause::Crash, None, "its zygote was lost while it ran".to_owned()),
        End::OnlyWireClosed => {
            return (Cause::NoResult, None, "it closed its wire and gave no result".to_owned());
        }
    };
    let signal = status & 0x7f;
    match signal {
        0 => (Cause::NoResult, None, format!("it exited with {} and gave no result", (status >> 8) & 0xff)),
        // The kernel enforces the limit by counting ticks and accounts by measuring, which may differ by much on a
        // loaded or virtual machine. Nothing else kills at half the limit but a shortage of the whole machine.
        SIGKILL | SIGXCPU if limits.cpu.is_some_and(|limit| cpu * 2 >= limit) => (
            Cause::CpuLimit,
            Some(signal),
            format!("it used {} of CPU time", ordain_types::format_duration(cpu)),
        ),
        // Only the kernel's out-of-memory killer kills a cell without the supervisor's knowing.
        SIGKILL => (Cause::MemoryLimit, Some(signal), "the kernel killed it for its memory".to_owned()),
        signal => (Cause::Crash, Some(signal), format!("it died of signal {signal}")),
    }
}
