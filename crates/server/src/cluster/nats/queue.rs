//! The queue: one message for each accepted run, which a node with a free slot takes.

use std::convert::Infallible;
use std::time::Duration;

use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::stream::{DiscardPolicy, LastRawMessageErrorKind, RetentionPolicy};
use async_nats::jetstream::{self, ErrorCode, context::PublishError};
use async_nats::jetstream::{AckKind, Message, consumer, stream};
use futures_util::StreamExt as _;
use ordain_store::QueuedRun;
use ordain_types::{BoxFuture, RunId};

use super::super::{Lane, OfferError, Place, Taken, binding};
use super::{ClusterError, Nats, refused};

/// Runs that may wait in the queue; the next one is refused.
const QUEUED_MAX: i64 = 10_000;
/// How long a node may say nothing about a run before another one takes it.
const ACK_WAIT: Duration = Duration::from_secs(10);
/// How long one question for work waits for an answer.
const TAKE_WAIT: Duration = Duration::from_secs(5);
/// How long the server knows a message again that is offered twice.
const KNOWN_AGAIN: Duration = Duration::from_mins(2);
/// After how long without any node the place in the queue of a workspace's fingerprint is forgotten.
const FORGOTTEN_AFTER: Duration = Duration::from_hours(24);
/// How long a message is kept that no node takes, such as one for a node that is gone. What still has a row is offered again.
const KEPT_FOR: Duration = Duration::from_hours(7 * 24);
/// Nodes that wait for work at once.
const NODES_MAX: i64 = 10_000;
/// Follows the node's name in the message of a run that a node began before there was a message.
const BEGUN: &str = " again";
/// Runs that all nodes together carry out at once.
const WORKING_MAX: i64 = 100_000;

pub(super) fn stream_name(store: &str) -> String {
    format!("ordain-{store}-runs")
}

pub(super) fn config(store: &str) -> stream::Config {
    stream::Config {
        name: stream_name(store),
        subjects: vec![format!("ordain.{store}.runs.>")],
        retention: RetentionPolicy::WorkQueue,
        max_messages: QUEUED_MAX,
        discard: DiscardPolicy::New,
        duplicate_window: KNOWN_AGAIN,
        max_age: KEPT_FOR,
        ..stream::Config::default()
    }
}

pub(super) fn consumer_name(workspace: &str, lane: Lane) -> String {
    format!("{}-{workspace}", lane.as_str())
}

pub(super) fn consumer(store: &str, workspace: &str, lane: Lane) -> consumer::pull::Config {
    consumer::pull::Config {
        durable_name: Some(consumer_name(workspace, lane)),
        filter_subject: format!("ordain.{store}.runs.{workspace}.{}.>", lane.as_str()),
        ack_wait: ACK_WAIT,
        max_ack_pending: WORKING_MAX,
        max_waiting: NODES_MAX,
        inactive_threshold: FORGOTTEN_AFTER,
        ..consumer::pull::Config::default()
    }
}

impl Nats {
    pub(super) async fn publish(&self, run: &QueuedRun, was_begun: bool) -> Result<(), OfferError> {
        // A run that goes on after it waited was offered before, so that its id alone is not enough.
        let (subject, of) = self.subject(run).await.map_err(OfferError::Other)?;
        self.put(subject, format!("{}.{}.{of}", run.run_id, run.accepted_at), was_begun).await
    }

    /// Puts a part of a run of checks into the queue, if it is not there. One that the servers don't take now is offered again.
    pub(super) async fn publish_part(&self, run: &RunId, part: u32) {
        let subject =
            format!("ordain.{}.runs.{}.{}.{run}.{part}", self.store, self.workspace, Lane::Parts.as_str());
        if self.is_there(&subject).await.is_ok_and(|is_there| !is_there) {
            let _ = self.put(subject.clone(), subject, false).await;
        }
    }

    async fn put(&self, subject: String, id: String, was_begun: bool) -> Result<(), OfferError> {
        let payload = format!("{}{}", self.node, if was_begun { BEGUN } else { "" });
        let message = PublishMessage::build().message_id(id).payload(payload.into());
        let sent = self.link.jetstream.send_publish(subject, message).await;
        let acked = match sent {
            Ok(acknowledgement) => acknowledgement.await,
            Err(error) => Err(error),
        };
        match acked {
            Ok(_) => Ok(()),
            Err(error) if is_full(&error) => Err(OfferError::Full),
            Err(error) => Err(OfferError::Other(refused("take a run into the queue")(error))),
        }
    }

    pub(super) async fn is_published(&self, run: &QueuedRun) -> Result<bool, ClusterError> {
        let (subject, _) = self.subject(run).await?;
        self.is_there(&subject).await
    }

    async fn is_there(&self, subject: &str) -> Result<bool, ClusterError> {
        match self.places.runs.get_last_raw_message_by_subject(subject).await {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => Ok(false),
            Err(error) => Err(refused("look into the queue")(error)),
        }
    }

    pub(super) async fn pull(&self, lane: Lane) -> Result<Option<Taken>, ClusterError> {
        let asked =
            self.places.work[lane as usize].batch().max_messages(1).expires(TAKE_WAIT).messages().await;
        let mut answers = asked.map_err(refused("give out work"))?;
        let Some(message) = answers.next().await else { return Ok(None) };
        let message = message.map_err(refused("give out work"))?;
        let mut names = message.subject.rsplit('.');
        let part = if lane == Lane::Parts { names.next().and_then(|part| part.parse().ok()) } else { None };
        let run = names.next().map(|run| RunId(run.to_owned()));
        let attempt = message.info().map_err(refused("give out work"))?.delivered;
        let text = String::from_utf8_lossy(&message.payload).into_owned();
        let (node, before) = text.strip_suffix(BEGUN).map_or((text.as_str(), 0), |node| (node, 1));
        let (node, attempt) = (node.to_owned(), attempt.unsigned_abs() + before);
        let place = Box::new(Delivered(message));
        Ok(run.map(|run| Taken { run, part, node, row: None, attempt, place }))
    }

    /// Where the message of a run is, and whose lane that is. A run of a node that is gone is for every node.
    async fn subject(&self, run: &QueuedRun) -> Result<(String, String), ClusterError> {
        let (mut lane, mut of) = (Lane::of(run.kind, &run.who), self.workspace.clone());
        if let (_, Some(node)) = binding(run) {
            if self.takes_work(node).await? {
                (lane, of) = (Lane::Own, node.to_owned());
            } else {
                self.forget_lane_of(node).await?;
            }
        }
        Ok((format!("ordain.{}.runs.{of}.{}.{}", self.store, lane.as_str(), run.run_id), of))
    }

    /// Forgets the messages for a node that is gone.
    pub(super) async fn forget_lane_of(&self, node: &str) -> Result<(), ClusterError> {
        let subject = format!("ordain.{}.runs.{node}.>", self.store);
        let purged = self.places.runs.purge().filter(subject).await;
        purged.map(drop).map_err(refused("forget the work of a node"))
    }
}

/// The message of a run that was taken.
#[derive(Debug)]
struct Delivered(Message);

impl Place for Delivered {
    fn keep(&self) -> BoxFuture<'_, Infallible> {
        Box::pin(async {
            loop {
                tokio::time::sleep(ACK_WAIT / 4).await;
                // Without a connection another node will take the run, and one of the two ends it.
                let _ = self.0.ack_with(AckKind::Progress).await;
            }
        })
    }

    fn done(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            let _ = self.0.ack().await;
        })
    }

    fn give_back(&self, after: Duration) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let _ = self.0.ack_with(AckKind::Nak(Some(after))).await;
        })
    }
}

/// The server's word for a stream that takes no more messages.
fn is_full(error: &PublishError) -> bool {
    let source =
        std::error::Error::source(error).and_then(|source| source.downcast_ref::<jetstream::Error>());
    source.is_some_and(|error| error.error_code() == ErrorCode::STREAM_STORE_FAILED)
}
