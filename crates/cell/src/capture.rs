//! Takes a cell's stdout and stderr as it writes them, up to the limit.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use tokio::net::unix::pipe;

use crate::job::{Output, Stream};

/// How much is read at once.
const PIECE_BYTES: usize = 16 * 1024;

/// Both streams of one cell.
#[derive(Debug)]
pub(crate) struct Capture {
    stdout: pipe::Receiver,
    stderr: pipe::Receiver,
}

/// What came out, within the limit.
#[derive(Debug, Default)]
pub(crate) struct Captured {
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
    pub(crate) is_truncated: bool,
    bytes_max: usize,
    is_stdout_open: bool,
    is_stderr_open: bool,
}

impl Captured {
    pub(crate) fn new(bytes_max: u64) -> Self {
        Self {
            bytes_max: usize::try_from(bytes_max).unwrap_or(usize::MAX),
            is_stdout_open: true,
            is_stderr_open: true,
            ..Self::default()
        }
    }

    /// Keeps what fits; says whether everything did.
    fn take(&mut self, stream: Stream, bytes: &[u8], output: &mut dyn Output) -> bool {
        let room = self.bytes_max - self.stdout.len() - self.stderr.len();
        let kept = &bytes[..bytes.len().min(room)];
        match stream {
            Stream::Stdout => self.stdout.extend_from_slice(kept),
            Stream::Stderr => self.stderr.extend_from_slice(kept),
        }
        if !kept.is_empty() {
            output.write(stream, kept);
        }
        self.is_truncated |= kept.len() < bytes.len();
        !self.is_truncated
    }
}

/// The cell's ends of the two pipes, to be handed over and closed.
#[derive(Debug)]
pub(crate) struct Ends {
    pub(crate) stdout: OwnedFd,
    pub(crate) stderr: OwnedFd,
}

impl Capture {
    /// Makes two pipes.
    pub(crate) fn new() -> io::Result<(Self, Ends)> {
        let (stdout, stdout_end) = pipe_pair()?;
        let (stderr, stderr_end) = pipe_pair()?;
        Ok((Self::of(stdout, stderr)?, Ends { stdout: stdout_end, stderr: stderr_end }))
    }

    /// Reads from two pipes that do not block.
    pub(crate) fn of(stdout: OwnedFd, stderr: OwnedFd) -> io::Result<Self> {
        let [stdout, stderr] = [stdout, stderr].map(pipe::Receiver::from_owned_fd);
        Ok(Self { stdout: stdout?, stderr: stderr? })
    }

    /// What it reads from: stdout, then stderr.
    pub(crate) fn descriptors(&self) -> [BorrowedFd<'_>; 2] {
        [self.stdout.as_fd(), self.stderr.as_fd()]
    }

    /// Waits for output and takes it. Returns `false` when the limit is passed. Never returns once both streams have
    /// ended, so it can stand in a `select!`.
    pub(crate) async fn next(&self, captured: &mut Captured, output: &mut dyn Output) -> bool {
        tokio::select! {
            _ = self.stdout.readable(), if captured.is_stdout_open => self.read(Stream::Stdout, captured, output),
            _ = self.stderr.readable(), if captured.is_stderr_open => self.read(Stream::Stderr, captured, output),
            else => std::future::pending().await,
        }
    }

    /// Takes what is there now, without waiting. Returns `false` when the limit is passed.
    ///
    /// It asks the kernel and not the runtime, which may not have heard yet of bytes that were written just before
    /// the result.
    pub(crate) fn drain(&self, captured: &mut Captured, output: &mut dyn Output) -> bool {
        [(Stream::Stdout, &self.stdout), (Stream::Stderr, &self.stderr)]
            .map(|(stream, pipe)| {
                let read = |piece: &mut [u8]| rustix::io::read(pipe, piece).map_err(io::Error::from);
                read_all(read, stream, captured, output)
            })
            .into_iter()
            .all(|is_within| is_within)
    }

    /// Reads one stream that the runtime says is ready.
    fn read(&self, stream: Stream, captured: &mut Captured, output: &mut dyn Output) -> bool {
        let pipe = match stream {
            Stream::Stdout => &self.stdout,
            Stream::Stderr => &self.stderr,
        };
        read_all(|piece| pipe.try_read(piece), stream, captured, output)
    }
}

/// Reads one stream until it would wait, ends, or passes the limit.
fn read_all(
    mut read: impl FnMut(&mut [u8]) -> io::Result<usize>,
    stream: Stream,
    captured: &mut Captured,
    output: &mut dyn Output,
) -> bool {
    let mut piece = [0; PIECE_BYTES];
    loop {
        match read(&mut piece) {
            Ok(length) if length > 0 => {
                if !captured.take(stream, &piece[..length], output) {
                    return false;
                }
                if length < piece.len() {
                    return true;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return true,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(_) | Err(_) => {
                match stream {
                    Stream::Stdout => captured.is_stdout_open = false,
                    Stream::Stderr => captured.is_stderr_open = false,
                }
                return true;
            }
        }
    }
}

fn pipe_pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let (reader, writer) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
    rustix::io::ioctl_fionbio(&reader, true)?;
    Ok((reader, writer))
}
