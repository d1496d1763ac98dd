//! Events of runs that one node carries out and others watch, and cancelling across nodes.

use std::time::Duration;

use async_nats::jetstream::consumer::DeliverPolicy;
use async_nats::jetstream::consumer::pull::{Ordered, OrderedConfig};
use async_nats::jetstream::stream::{self, StorageType};
use futures_util::StreamExt as _;
use ordain_types::RunId;

use super::{Cluster, ClusterError, refused};

/// How long events are kept for those who come back.
const KEPT_FOR: Duration = Duration::from_mins(15);
/// Bytes of events that are kept; the oldest go first.
const KEPT_BYTES_MAX: i64 = 256 << 20;

pub(super) fn config(store: &str) -> stream::Config {
    stream::Config {
        name: format!("ordain-{store}-events"),
        subjects: vec![format!("ordain.{store}.events.>")],
        max_age: KEPT_FOR,
        max_bytes: KEPT_BYTES_MAX,
        storage: StorageType::Memory,
        ..stream::Config::default()
    }
}

/// Events as they come.
pub(crate) struct Heard(Ordered);

impl Heard {
    /// The next event, with the run that it is of. `None` if there are no more to come from here.
    pub(crate) async fn next(&mut self) -> Option<(RunId, Vec<u8>)> {
        let message = self.0.next().await?.ok()?;
        let run = message.subject.rsplit_once('.')?.1.to_owned();
        Some((RunId(run), message.payload.to_vec()))
    }
}

impl Cluster {
    /// Tells the node that waits for a run what happens in it; others can ask for it too.
    pub(crate) async fn tell(&self, node: &str, run: &RunId, event: Vec<u8>) {
        let subject = format!("ordain.{}.events.{node}.{run}", self.store);
        // A watcher who misses an event finds the run's end in the store.
        let _ = self.link.client.publish(subject, event.into()).await;
    }

    /// Hears what happens from now on in the runs that this node waits for.
    pub(crate) async fn hear_own(&self) -> Result<Heard, ClusterError> {
        self.hear(format!("ordain.{}.events.{}.>", self.store, self.node), DeliverPolicy::New).await
    }

    /// Hears what happened and happens in one run, whoever waits for it.
    pub(crate) async fn hear_run(&self, run: &RunId) -> Result<Heard, ClusterError> {
        self.hear(format!("ordain.{}.events.*.{run}", self.store), DeliverPolicy::All).await
    }

    async fn hear(
        &self,
        filter_subject: String,
        deliver_policy: DeliverPolicy,
    ) -> Result<Heard, ClusterError> {
        let config = OrderedConfig { filter_subject, deliver_policy, ..OrderedConfig::default() };
        let consumer = self.events.create_consumer(config).await;
        let consumer = consumer.map_err(refused("give out events"))?;
        let heard = consumer.messages().await;
        heard.map(Heard).map_err(refused("give out events"))
    }

    /// Asks the node that carries out a run, if any, to stop.
    pub(crate) async fn cancel(&self, run: &RunId) {
        let subject = format!("ordain.{}.cancel", self.store);
        // The run is recorded as cancelled already; a node that misses this rolls back at its end.
        let _ = self.link.client.publish(subject, run.to_string().into()).await;
    }

    /// The runs that nodes ask to stop, as they come.
    pub(crate) async fn cancelled(&self) -> Result<async_nats::Subscriber, ClusterError> {
        let subscribed = self.link.client.subscribe(format!("ordain.{}.cancel", self.store)).await;
        subscribed.map_err(refused("listen for cancelled runs"))
    }
}
