//! Nodes that meet over NATS.
//!
//! Subjects name the store and the fingerprint of the workspace, so that a node with another workspace takes no work.

mod events;
mod ledger;
mod members;
mod queue;
mod sessions;
mod status;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use async_nats::jetstream::context::{
    ConsumerInfoError, ConsumerInfoErrorKind, CreateKeyValueError, CreateKeyValueErrorKind,
    CreateStreamError, CreateStreamErrorKind, RequestError, RequestErrorKind,
};
use async_nats::jetstream::stream::{DirectGetError, DirectGetErrorKind, StorageType};
use async_nats::jetstream::{self, ErrorCode, consumer, kv, stream};
use async_nats::{Client, ConnectOptions, ServerAddr, StatusCode};
use futures_util::stream::BoxStream;
use ordain_engine::OtherNodes;
use ordain_store::{QueuedRun, Secret};
use ordain_types::{BoxFuture, RunId};

pub use ledger::LedgerEnds;
pub(crate) use members::SAID_EVERY;
pub use members::{Announced, ExecutorMember, NodeMember};
pub use status::ClusterStatus;

use super::{Answer, Cluster, Held, Lane, OfferError, Spent, Taken};

/// How long connecting may take.
const CONNECT_TIME_MAX: Duration = Duration::from_secs(5);
/// How often a server is asked whether it is there; one that misses three is left for another.
const PING_EVERY: Duration = Duration::from_secs(3);
/// Servers from which on everything is kept three times.
const REPLICATED_FROM: usize = 3;

/// How NATS is reached.
#[derive(Debug, Clone)]
pub struct ClusterOptions {
    /// The addresses of its servers, separated by commas; the first one's user and password, or token, are shown to all.
    pub servers: Secret,
    /// The authority of their certificates, PEM.
    pub ca: Option<PathBuf>,
    /// The certificate to show them, PEM, and its private key.
    pub certificate: Option<(PathBuf, PathBuf)>,
}

/// Why there is no cluster.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// An address cannot be read.
    #[error("`{address}` is not the address of a NATS server")]
    Address {
        /// What was written, without what may be a secret.
        address: String,
    },
    /// No server answers, or none lets us in.
    #[error("cannot connect to NATS at {servers}: {message}")]
    Unreachable {
        /// The servers, without secrets.
        servers: String,
        /// What the client says.
        message: String,
    },
    /// A server answered with an error.
    #[error("NATS could not {action}: {message}")]
    Refused {
        /// What was asked of it.
        action: &'static str,
        /// What it said.
        message: String,
    },
}

impl ClusterError {
    /// What would help.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Address { .. } => "write nats://HOST:4222 or tls://HOST:4222, several separated by commas",
            Self::Unreachable { .. } => {
                "see that the servers run, and that user, password and certificates are right"
            }
            Self::Refused { .. } => {
                "start the NATS servers with JetStream: `nats-server --jetstream`, version 2.12 or newer"
            }
        };
        Some(hint.to_owned())
    }
}

fn refused<E: Into<Box<dyn std::error::Error + Send + Sync>>>(
    action: &'static str,
) -> impl FnOnce(E) -> ClusterError {
    move |error| {
        let error = error.into();
        let mut message = error.to_string();
        if let Some(source) = error.source() {
            message = format!("{message}: {source}");
        }
        ClusterError::Refused { action, message }
    }
}

/// A connection to NATS. It is made again by itself whenever it breaks.
#[derive(Debug, Clone)]
pub struct Link {
    client: Client,
    jetstream: jetstream::Context,
    replicas: usize,
}

impl Link {
    /// Connects, under a name that operators of NATS see.
    pub async fn connect(options: &ClusterOptions, name: &str) -> Result<Self, ClusterError> {
        let given = options.servers.0.split(',').map(str::trim).filter(|address| !address.is_empty());
        let servers = given.map(address).collect::<Result<Vec<_>, _>>()?;
        let shown = servers.iter().map(|server| format!("{}:{}", server.host(), server.port()));
        let shown = shown.collect::<Vec<_>>().join(", ");
        let connect = ConnectOptions::new().name(name).connection_timeout(CONNECT_TIME_MAX);
        let mut connect = connect.ping_interval(PING_EVERY);
        match servers.iter().find_map(|server| Some((server.username()?, server.password()))) {
            Some((user, Some(password))) => {
                connect = connect.user_and_password(user.to_owned(), password.to_owned());
            }
            Some((token, None)) => connect = connect.token(token.to_owned()),
            None => {}
        }
        if let Some(ca) = &options.ca {
            connect = connect.add_root_certificates(ca.clone()).require_tls(true);
        }
        if let Some((certificate, key)) = &options.certificate {
            connect = connect.add_client_certificate(certificate.clone(), key.clone());
        }
        let replicas = if servers.len() >= REPLICATED_FROM { 3 } else { 1 };
        let client = connect
            .connect(servers)
            .await
            .map_err(|error| ClusterError::Unreachable { servers: shown, message: error.to_string() })?;
        Ok(Self { jetstream: jetstream::new(client.clone()), client, replicas })
    }

    async fn stream(&self, config: stream::Config) -> Result<stream::Stream, ClusterError> {
        let config = stream::Config { num_replicas: self.replicas, ..config };
        once_joined("make a stream", || self.jetstream.get_or_create_stream(config.clone())).await
    }

    /// A list whose entries vanish unless they are written again within the time.
    async fn list(
        &self,
        name: String,
        max_age: Duration,
        storage: StorageType,
    ) -> Result<kv::Store, ClusterError> {
        if let Ok(list) = self.jetstream.get_key_value(&name).await {
            return Ok(list);
        }
        let config = kv::Config {
            bucket: name,
            max_age,
            storage,
            num_replicas: self.replicas,
            ..kv::Config::default()
        };
        once_joined("make a list", || self.jetstream.create_key_value(config.clone())).await
    }
}

/// How long servers that have just started are given to find one another.
const JOIN_WAIT: Duration = Duration::from_secs(20);

/// Makes something on servers that may not have found one another yet.
async fn once_joined<T, E, F>(action: &'static str, make: impl Fn() -> F) -> Result<T, ClusterError>
where
    E: std::error::Error + Send + Sync + 'static,
    F: Future<Output = Result<T, E>>,
{
    let started = Instant::now();
    loop {
        match Box::pin(make()).await {
            Err(error) if is_joining(&error) && started.elapsed() < JOIN_WAIT => {
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
            result => return result.map_err(refused(action)),
        }
    }
}

/// Whether NATS says that its servers are not together yet, too few of them or none that leads, or says nothing at all.
fn is_joining(error: &(dyn std::error::Error + 'static)) -> bool {
    let is_joining = |error: &jetstream::Error| {
        [ErrorCode::CLUSTER_NO_PEERS, ErrorCode::CLUSTER_NOT_AVAILABLE, ErrorCode::CLUSTER_NOT_LEADER]
            .contains(&error.error_code())
    };
    std::iter::successors(Some(error), |error| error.source()).any(|error| {
        let stream = error.downcast_ref::<CreateStreamError>().map(CreateStreamError::kind);
        let consumer = error.downcast_ref::<stream::ConsumerError>().map(stream::ConsumerError::kind);
        let info = error.downcast_ref::<ConsumerInfoError>().map(ConsumerInfoError::kind);
        let asked = error.downcast_ref::<RequestError>().map(RequestError::kind);
        let got = error.downcast_ref::<DirectGetError>().map(DirectGetError::kind);
        let is_unanswered = match got {
            Some(DirectGetErrorKind::ErrorResponse(status, _)) => status == StatusCode::NO_RESPONDERS,
            got => got == Some(DirectGetErrorKind::TimedOut),
        };
        let is_late =
            info == Some(ConsumerInfoErrorKind::TimedOut) || asked == Some(RequestErrorKind::TimedOut);
        let list = error.downcast_ref::<CreateKeyValueError>().map(CreateKeyValueError::kind);
        let is_list_late =
            matches!(list, Some(CreateKeyValueErrorKind::JetStream | CreateKeyValueErrorKind::TimedOut));
        if is_unanswered || is_late || is_list_late {
            return true;
        }
        match (stream, consumer) {
            (Some(CreateStreamErrorKind::TimedOut | CreateStreamErrorKind::JetStreamUnavailable), _)
            | (_, Some(stream::ConsumerErrorKind::TimedOut | stream::ConsumerErrorKind::Request)) => true,
            (Some(CreateStreamErrorKind::JetStream(error)), _)
            | (_, Some(stream::ConsumerErrorKind::JetStream(error))) => is_joining(&error),
            _ => false,
        }
    })
}

/// A name that nobody else has.
fn random_name(action: &'static str) -> Result<String, ClusterError> {
    let mut random = [0; 6];
    getrandom::fill(&mut random)
        .map_err(|error| ClusterError::Refused { action, message: error.to_string() })?;
    Ok(ordain_types::hex(&random))
}

/// An address with a scheme that we know. The part before an `@` may be a password, so no message repeats it.
fn address(text: &str) -> Result<ServerAddr, ClusterError> {
    let bad = || {
        let shown = text.rsplit_once('@').map_or(text, |(_, host)| host);
        ClusterError::Address {
            address: shown.chars().filter(|shown| !shown.is_control()).take(100).collect(),
        }
    };
    if !text.starts_with("nats://") && !text.starts_with("tls://") {
        return Err(bad());
    }
    text.parse().map_err(|_| bad())
}

/// This process as a node of a cluster over NATS.
#[derive(Debug)]
pub struct Nats {
    link: Link,
    node: String,
    /// Names the store that all nodes share.
    store: String,
    workspace: String,
    places: Places,
    /// The lanes that gave out nothing but an error when they were last asked.
    troubled: [AtomicBool; 4],
}

/// What the servers keep for a cluster.
#[derive(Debug)]
struct Places {
    runs: stream::Stream,
    /// The queue's lanes, in the order of [`Lane::ALL`].
    work: [consumer::Consumer<consumer::pull::Config>; 4],
    events: stream::Stream,
    nodes: kv::Store,
    /// The nodes that hold sessions.
    sessions: kv::Store,
    ledger: LedgerEnds,
}

impl Places {
    /// Makes what is not there.
    async fn make(link: &Link, store: &str, workspace: &str, node: &str) -> Result<Self, ClusterError> {
        let runs = link.stream(queue::config(store)).await?;
        let lane = async |lane| {
            let of = if lane == Lane::Own { node } else { workspace };
            let (name, config) = (queue::consumer_name(of, lane), queue::consumer(store, of, lane));
            let make = || runs.get_or_create_consumer(&name, config.clone());
            once_joined("make the queue's consumer", make).await
        };
        let [interactive, background, parts, own] = Lane::ALL;
        let work = [lane(interactive).await?, lane(background).await?, lane(parts).await?, lane(own).await?];
        let events = link.stream(events::config(store)).await?;
        let nodes = link.list(members::nodes_list(store), members::GONE_AFTER, StorageType::Memory).await?;
        let sessions = link.list(sessions::list_name(store), sessions::KEPT_FOR, StorageType::File).await?;
        let ledger = LedgerEnds::find(link, store).await?;
        Ok(Self { runs, work, events, nodes, sessions, ledger })
    }
}

impl Nats {
    /// Joins the cluster of a store.
    pub async fn join(link: Link, store: &str, workspace: &str) -> Result<Self, ClusterError> {
        let node = random_name("name this node")?;
        let places = Box::pin(Places::make(&link, store, workspace, &node)).await?;
        let (store, workspace) = (store.to_owned(), workspace.to_owned());
        Ok(Self { link, node, store, workspace, places, troubled: <[AtomicBool; 4]>::default() })
    }

    /// Says that this node is there. Servers that came back with empty disks have lost what they kept; it is made again.
    async fn say_or_join_again(&self, member: &NodeMember) -> Result<(), ClusterError> {
        let said = members::say(&self.places.nodes, &self.node, member).await;
        if said.is_ok() && !self.is_troubled() {
            return Ok(());
        }
        Box::pin(Places::make(&self.link, &self.store, &self.workspace, &self.node)).await?;
        members::say(&self.places.nodes, &self.node, member).await
    }

    fn is_troubled(&self) -> bool {
        self.troubled.iter().any(|lane| lane.load(Ordering::Relaxed))
    }

    /// The connection to the cluster's servers.
    pub fn link(&self) -> &Link {
        &self.link
    }
}

impl Cluster for Nats {
    fn is_shared(&self) -> bool {
        true
    }

    fn is_connected(&self) -> bool {
        let is_connected = self.link.client.connection_state() == async_nats::connection::State::Connected;
        is_connected && !self.is_troubled()
    }

    fn node(&self) -> &str {
        &self.node
    }

    fn workspace(&self) -> &str {
        &self.workspace
    }

    fn offer<'a>(&'a self, run: &'a QueuedRun, was_begun: bool) -> BoxFuture<'a, Result<(), OfferError>> {
        Box::pin(self.publish(run, was_begun))
    }

    fn has<'a>(&'a self, run: &'a QueuedRun) -> Answer<'a, bool> {
        Box::pin(self.is_published(run))
    }

    fn take(&self, lane: Lane) -> Answer<'_, Option<Taken>> {
        Box::pin(async move {
            let taken = self.pull(lane).await;
            self.troubled[lane as usize].store(taken.is_err(), Ordering::Relaxed);
            taken
        })
    }

    fn tell<'a>(&'a self, node: &'a str, run: &'a RunId, event: Vec<u8>) -> BoxFuture<'a, ()> {
        Box::pin(self.publish_event(node, run, event))
    }

    fn hear<'a>(&'a self, run: Option<&'a RunId>) -> Answer<'a, BoxStream<'static, (RunId, Vec<u8>)>> {
        Box::pin(self.events_of(run))
    }

    fn cancel<'a>(&'a self, run: &'a RunId) -> BoxFuture<'a, ()> {
        Box::pin(self.publish_cancel(run))
    }

    fn cancelled(&self) -> Answer<'_, BoxStream<'static, RunId>> {
        Box::pin(self.cancels())
    }

    fn spent<'a>(&'a self, spent: &'a [Spent]) -> BoxFuture<'a, ()> {
        Box::pin(self.publish_spent(spent))
    }

    fn spent_elsewhere(&self) -> Answer<'_, BoxStream<'static, Spent>> {
        Box::pin(self.spends())
    }

    fn hold<'a>(&'a self, owner: &'a str, session: &'a str, most: usize) -> Answer<'a, Option<Held>> {
        Box::pin(self.hold_session(owner, session, most))
    }

    fn holding<'a>(&'a self, owner: &'a str, session: &'a str) -> Answer<'a, Option<String>> {
        Box::pin(self.holding_of(owner, session))
    }

    fn let_go<'a>(&'a self, owner: &'a str, session: &'a str) -> Answer<'a, bool> {
        Box::pin(self.forget_session(owner, session))
    }

    fn say<'a>(&'a self, member: &'a NodeMember) -> Answer<'a, ()> {
        Box::pin(self.say_or_join_again(member))
    }

    fn is_there<'a>(&'a self, node: &'a str) -> Answer<'a, bool> {
        Box::pin(self.takes_work(node))
    }

    fn leave(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            let _ = self.places.nodes.purge(&self.node).await;
            let _ = self.forget_lane_of(&self.node).await;
            let _ = self.places.runs.delete_consumer(&queue::consumer_name(&self.node, Lane::Own)).await;
        })
    }

    fn members(&self) -> Answer<'_, Vec<NodeMember>> {
        Box::pin(members::members(&self.places.nodes))
    }

    fn ledger_end(&self) -> Answer<'_, (Option<String>, u64)> {
        Box::pin(self.places.ledger.last())
    }

    fn tell_ledger_end(&self, end: String, last: u64) -> BoxFuture<'_, ()> {
        Box::pin(self.places.ledger.tell(end, last))
    }
}

impl OtherNodes for Nats {
    fn count(&self) -> BoxFuture<'_, usize> {
        Box::pin(async {
            let members = self.members().await.unwrap_or_default();
            let takes_parts = |node: &&NodeMember| node.workspace == self.workspace && !node.draining;
            members.iter().filter(takes_parts).count().max(1)
        })
    }

    fn offer_part<'a>(&'a self, run: &'a RunId, part: u32) -> BoxFuture<'a, ()> {
        Box::pin(self.publish_part(run, part))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_cannot_be_read_is_named_without_its_password() {
        let error = address("http://shop:secret@a:4222").unwrap_err();
        assert_eq!(error.to_string(), "`a:4222` is not the address of a NATS server");
        assert_eq!(address("nats://shop:secret@a").unwrap().port(), 4222);
        assert!(address("tls://a:4443").unwrap().tls_required());
    }
}
