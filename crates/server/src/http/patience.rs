//! A connection whose other end has to read.
//!
//! A caller that asks and never reads keeps its answer in memory and its place taken. So a caller that has something to read
//! must take some of it within a time, or the connection ends. Silence with nothing to read, as on a quiet stream of
//! events, is not meant.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

use crate::listen::Connection;

/// What has to be taken within the time. One byte now and then is not reading.
const PROGRESS_BYTES: usize = 16 << 10;

/// A stream that gives up on a reader that does not read.
#[derive(Debug)]
pub(crate) struct Patient {
    stream: Box<dyn Connection>,
    patience: Duration,
    /// Until when the reader has to have taken something, while it has something to take.
    deadline: Pin<Box<Sleep>>,
    is_waiting: bool,
    taken: usize,
}

impl Patient {
    pub(crate) fn new(stream: Box<dyn Connection>, patience: Duration) -> Self {
        let deadline = Box::pin(tokio::time::sleep(patience));
        Self { stream, patience, deadline, is_waiting: false, taken: 0 }
    }

    /// Looks at the clock while the reader has something to take.
    fn wait<T>(&mut self, context: &mut Context<'_>) -> Poll<io::Result<T>> {
        if !self.is_waiting {
            (self.is_waiting, self.taken) = (true, 0);
            self.deadline.as_mut().reset(Instant::now() + self.patience);
        }
        ready!(self.deadline.as_mut().poll(context));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the reader does not read")))
    }

    fn took(&mut self, bytes: usize, offered: usize) {
        self.taken += bytes;
        if bytes == offered || self.taken >= PROGRESS_BYTES {
            self.is_waiting = false;
        }
    }
}

impl AsyncRead for Patient {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Patient {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match Pin::new(&mut self.stream).poll_write(context, bytes) {
            Poll::Ready(Ok(written)) => {
                self.took(written, bytes.len());
                Poll::Ready(Ok(written))
            }
            Poll::Ready(error) => Poll::Ready(error),
            Poll::Pending => self.wait(context),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
