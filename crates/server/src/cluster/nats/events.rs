//! Events of runs that one node carries out and others watch, and cancelling across nodes.

use std::future::ready;
use std::time::Duration;

use async_nats::jetstream::consumer::DeliverPolicy;
use async_nats::jetstream::consumer::pull::OrderedConfig;
use async_nats::jetstream::stream::{Config, StorageType};
use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use ordain_types::RunId;

use super::super::Spent;
use super::{ClusterError, Nats, refused};

/// How long events are kept for those who come back.
const KEPT_FOR: Duration = Duration::from_mins(15);
/// Bytes of events that are kept; the oldest go first.
const KEPT_BYTES_MAX: i64 = 256 << 20;

/// Stands for the node in the subject of events that happen where the run is waited for.
const HERE: &str = "here";

pub(super) fn config(store: &str) -> Config {
    Config {
        name: format!("ordain-{store}-events"),
        subjects: vec![format!("ordain.{store}.events.>")],
        max_age: KEPT_FOR,
        max_bytes: KEPT_BYTES_MAX,
        storage: StorageType::Memory,
        ..Config::default()
    }
}

impl Nats {
    pub(super) async fn publish_event(&self, node: &str, run: &RunId, event: Vec<u8>) {
        // This node knows already what happens here.
        let node = if node == self.node { HERE } else { node };
        let subject = format!("ordain.{}.events.{node}.{run}", self.store);
        // A watcher who misses an event finds the run's end in the store.
        let _ = self.link.client.publish(subject, event.into()).await;
    }

    /// The events of a run from its beginning, whichever node waits for it; without one, those of this node's runs from
    /// now on. The latter come straight from who tells them, not by way of the stream that keeps them: a caller waits for
    /// the last one. What is missed while the connection is lost can be asked for.
    pub(super) async fn events_of(
        &self,
        run: Option<&RunId>,
    ) -> Result<BoxStream<'static, (RunId, Vec<u8>)>, ClusterError> {
        let Some(run) = run else {
            let subject = format!("ordain.{}.events.{}.*", self.store, self.node);
            let subscribed = self.link.client.subscribe(subject).await;
            let messages = subscribed.map_err(refused("give out events"))?;
            return Ok(messages.filter_map(|message| ready(event(&message))).boxed());
        };
        let filter_subject = format!("ordain.{}.events.*.{run}", self.store);
        let deliver_policy = DeliverPolicy::All;
        let config = OrderedConfig { filter_subject, deliver_policy, ..OrderedConfig::default() };
        let consumer = self.places.events.create_consumer(config).await;
        let consumer = consumer.map_err(refused("give out events"))?;
        let messages = consumer.messages().await.map_err(refused("give out events"))?;
        let messages = messages.take_while(|message| ready(message.is_ok()));
        Ok(messages.filter_map(|message| ready(message.ok().and_then(|message| event(&message)))).boxed())
    }

    pub(super) async fn publish_cancel(&self, run: &RunId) {
        let subject = format!("ordain.{}.cancel", self.store);
        // The run is recorded as cancelled already; a node that misses this rolls back at its end.
        let _ = self.link.client.publish(subject, run.to_string().into()).await;
    }

    pub(super) async fn cancels(&self) -> Result<BoxStream<'static, RunId>, ClusterError> {
        let subscribed = self.link.client.subscribe(format!("ordain.{}.cancel", self.store)).await;
        let messages = subscribed.map_err(refused("listen for cancelled runs"))?;
        Ok(messages.map(|message| RunId(String::from_utf8_lossy(&message.payload).into_owned())).boxed())
    }

    pub(super) async fn publish_spent(&self, spent: &[Spent]) {
        let subject = format!("ordain.{}.spent.{}", self.store, self.node);
        let told = serde_json::to_vec(spent).unwrap_or_default();
        // What is not heard is not counted elsewhere; every node still counts for itself.
        let _ = self.link.client.publish(subject, told.into()).await;
    }

    pub(super) async fn spends(&self) -> Result<BoxStream<'static, Spent>, ClusterError> {
        let subscribed = self.link.client.subscribe(format!("ordain.{}.spent.*", self.store)).await;
        let messages = subscribed.map_err(refused("tell what keys have used"))?;
        let own = format!("ordain.{}.spent.{}", self.store, self.node);
        let of_others = messages.filter(move |message| ready(message.subject.as_str() != own));
        let spent = |message: async_nats::Message| {
            let spent: Vec<Spent> = serde_json::from_slice(&message.payload).unwrap_or_default();
            stream::iter(spent)
        };
        Ok(of_others.flat_map(spent).boxed())
    }
}

/// The run that a message is about, and what it says.
fn event(message: &async_nats::Message) -> Option<(RunId, Vec<u8>)> {
    let run = message.subject.rsplit_once('.')?.1.to_owned();
    Some((RunId(run), message.payload.to_vec()))
}
