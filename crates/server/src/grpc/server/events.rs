//! The stream of events that answers a call.
//!
//! What comes while code runs is not held back, since writing output cannot wait; the output limit bounds it. What
//! comes afterwards, artifacts above all, is made only as fast as the caller takes it. When the caller goes away the
//! stream is dropped, and with it the job and its cell.

use std::pin::Pin;
use std::task::{Context, Poll};

use ordain_cell::{Output, Stream as OutputStream};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_stream::Stream;
use tonic::Status;

use crate::grpc::convert::PIECE_BYTES;
use crate::grpc::proto::{self, event};

type Item = Result<proto::Event, Status>;

/// Pieces of artifacts that wait for the caller.
const TAIL_EVENTS_MAX: usize = 4;

/// The events of one job, as tonic sends them.
#[derive(Debug)]
pub(crate) struct Events {
    live: mpsc::UnboundedReceiver<Item>,
    tail: mpsc::Receiver<Item>,
    task: JoinHandle<()>,
}

/// Where a job tells what comes while it runs.
#[derive(Debug, Clone)]
pub(crate) struct Live(mpsc::UnboundedSender<Item>);

/// Where a job tells what comes after it ran.
pub(crate) type Tail = mpsc::Sender<Item>;

impl Events {
    /// Starts a job that tells its events. It ends when the stream is dropped.
    pub(crate) fn of<F>(job: impl FnOnce(Live, Tail) -> F) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let (live, live_events) = mpsc::unbounded_channel();
        let (tail, tail_events) = mpsc::channel(TAIL_EVENTS_MAX);
        let task = tokio::spawn(job(Live(live), tail));
        Self { live: live_events, tail: tail_events, task }
    }
}

impl Stream for Events {
    type Item = Item;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Item>> {
        match self.live.poll_recv(context) {
            // The job has let go of its live end, so it is done running.
            Poll::Ready(None) => self.tail.poll_recv(context),
            live => live,
        }
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Live {
    /// Tells one event. Nobody may be there to hear it, and then the job ends anyway.
    pub(crate) fn tell(&self, event: event::Event) {
        let _ = self.0.send(Ok(proto::Event { event: Some(event) }));
    }
}

impl Output for Live {
    fn write(&mut self, stream: OutputStream, bytes: &[u8]) {
        let stream = match stream {
            OutputStream::Stdout => proto::Stream::Stdout,
            OutputStream::Stderr => proto::Stream::Stderr,
        };
        for piece in bytes.chunks(PIECE_BYTES) {
            let output = proto::Output { stream: stream.into(), data: piece.to_vec() };
            self.tell(event::Event::Output(output));
        }
    }
}
