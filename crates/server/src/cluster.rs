//! Several servers as one: the seam between a server and the others that share its store.
//!
//! [`Cluster`] is what a server asks of it: a queue of accepted runs, the events of runs, cancelling, what keys have
//! used, a list of who is there, and the end of the ledger. [`Alone`] is the server that has no others, [`Nats`] the one that meets them over NATS.
//!
//! The store keeps the truth. The queue holds the id of a run whose row is there already (`ordain_store::QueuedRun`), so
//! a message that is lost or comes twice does no harm: rows without a message are offered again, and the claim of a run
//! can be finished once.

mod alone;
mod nats;

use std::convert::Infallible;
use std::fmt;
use std::time::Duration;

use futures_util::stream::BoxStream;
use ordain_checks::Schedules;
use ordain_store::QueuedRun;
use ordain_types::{BoxFuture, RunId, RunKind};
use serde::{Deserialize, Serialize};

pub use alone::Alone;
pub(crate) use nats::SAID_EVERY;
pub use nats::{
    Announced, ClusterError, ClusterOptions, ClusterStatus, ExecutorMember, LedgerEnds, Link, Nats,
    NodeMember,
};

/// An answer of the cluster, which may take a moment.
pub type Answer<'a, T> = BoxFuture<'a, Result<T, ClusterError>>;

/// What a server asks of the cluster that it is a node of.
pub trait Cluster: fmt::Debug + Send + Sync {
    /// Whether other nodes may carry out what this one accepts. If not, it is carried out where it came in: nothing is
    /// ever offered, taken or told.
    fn is_shared(&self) -> bool;

    /// Whether the others can be reached at this moment, and the queue gives out work.
    fn is_connected(&self) -> bool;

    /// Names this node, until its process ends.
    fn node(&self) -> &str;

    /// The fingerprint of the workspace whose runs it takes.
    fn workspace(&self) -> &str;

    /// Puts an accepted run into its lane of the queue. One that is there already stays there once. Whether it was begun
    /// before is counted as an attempt.
    fn offer<'a>(&'a self, run: &'a QueuedRun, was_begun: bool) -> BoxFuture<'a, Result<(), OfferError>>;

    /// Whether a run is in the queue: it waits, or a node carries it out.
    fn has<'a>(&'a self, run: &'a QueuedRun) -> Answer<'a, bool>;

    /// Takes the next run of a lane; `None` if there is none for a while.
    fn take(&self, lane: Lane) -> Answer<'_, Option<Taken>>;

    /// Tells the node that waits for a run, unless it is this one, what happens in it; others can ask for it too.
    fn tell<'a>(&'a self, node: &'a str, run: &'a RunId, events: Vec<u8>) -> BoxFuture<'a, ()>;

    /// Hears what happened and happens in one run, or without one what happens from now on in all runs that this node
    /// waits for.
    fn hear<'a>(&'a self, run: Option<&'a RunId>) -> Answer<'a, BoxStream<'static, (RunId, Vec<u8>)>>;

    /// Asks the node that carries out a run, if any, to stop.
    fn cancel<'a>(&'a self, run: &'a RunId) -> BoxFuture<'a, ()>;

    /// The runs that nodes ask to stop, as they come.
    fn cancelled(&self) -> Answer<'_, BoxStream<'static, RunId>>;

    /// Tells the other nodes what keys have used here.
    fn spent<'a>(&'a self, spent: &'a [Spent]) -> BoxFuture<'a, ()>;

    /// What keys have used on other nodes, as it is told.
    fn spent_elsewhere(&self) -> Answer<'_, BoxStream<'static, Spent>>;

    /// The node that holds the cell of a session. If none does, this one does from now on. `None` if the session would
    /// be a new one and its owner has `most` already.
    fn hold<'a>(&'a self, owner: &'a str, session: &'a str, most: usize) -> Answer<'a, Option<Held>>;

    /// The holding of a session, wherever it is; `None` if no node holds it.
    fn holding<'a>(&'a self, owner: &'a str, session: &'a str) -> Answer<'a, Option<String>>;

    /// Ends a holding; whether there was one. Its node finds out and ends the cell.
    fn let_go<'a>(&'a self, owner: &'a str, session: &'a str) -> Answer<'a, bool>;

    /// Says that this node is there, for a few seconds.
    fn say<'a>(&'a self, member: &'a NodeMember) -> Answer<'a, ()>;

    /// Whether a node is there and takes work.
    fn is_there<'a>(&'a self, node: &'a str) -> Answer<'a, bool>;

    /// Says that this node is gone.
    fn leave(&self) -> BoxFuture<'_, ()>;

    /// The nodes that are there.
    fn members(&self) -> Answer<'_, Vec<NodeMember>>;

    /// The end of the ledger that a node told last, with what names this telling.
    fn ledger_end(&self) -> Answer<'_, (Option<String>, u64)>;

    /// Tells the other nodes an end of the ledger, unless one of them told another one behind `last`.
    fn tell_ledger_end(&self, end: String, last: u64) -> BoxFuture<'_, ()>;
}

/// A part of the queue with slots of its own, so that nobody who waits for an answer stands behind long work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lane {
    /// Somebody waits for the answer.
    Interactive,
    /// Checks, and what is due by the clock.
    Background,
    /// Parts of runs of checks.
    Parts,
    /// Work in sessions, which only the node that holds the session can carry out, and what a node accepted for itself.
    Own,
}

impl Lane {
    /// Every lane.
    pub const ALL: [Self; 4] = [Self::Interactive, Self::Background, Self::Parts, Self::Own];

    /// The lane of a run: nobody waits for checks and for what is due by the clock.
    pub fn of(kind: RunKind, who: &str) -> Self {
        let is_background = kind == RunKind::Check || who == Schedules::WHO;
        if is_background { Self::Background } else { Self::Interactive }
    }

    /// Its name in the queue.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Interactive => "interactive",
            Self::Background => "background",
            Self::Parts => "parts",
            Self::Own => "own",
        }
    }
}

/// The node that holds the cell of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// The node.
    pub node: String,
    /// Identifies this holding. A session that was ended or lost and begins anew has another one.
    pub holding: String,
    /// Whether this node has just taken the session over from one that is gone: what its cell held is lost.
    pub was_lost: bool,
}

/// The workspace of a run that one node is to carry out, as the run's row has it: for as long as that node is there, the
/// others leave the run to it.
pub(crate) fn bound_to(workspace: &str, node: &str) -> String {
    format!("{workspace}@{node}")
}

/// The fingerprint of a run's workspace, and the node that is to carry it out, if it is bound to one.
pub(crate) fn binding(run: &QueuedRun) -> (&str, Option<&str>) {
    run.workspace.split_once('@').map_or((&run.workspace, None), |(workspace, node)| (workspace, Some(node)))
}

/// What a key has used.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent {
    /// The key's id.
    pub key: String,
    /// Requests.
    #[serde(default)]
    pub requests: u64,
    /// Tokens of models.
    #[serde(default)]
    pub tokens: u64,
    /// Bytes of records and files that were kept.
    #[serde(default)]
    pub stored: u64,
}

/// Why a run is not in the queue.
#[derive(Debug)]
pub enum OfferError {
    /// The queue is full.
    Full,
    /// The servers did not answer, or answered with an error.
    Other(ClusterError),
}

/// A run that this node has taken.
#[derive(Debug)]
pub struct Taken {
    /// The run.
    pub run: RunId,
    /// The part of it, in the lane of parts.
    pub part: Option<u32>,
    /// The node that waits for its events.
    pub node: String,
    /// Its row, where that is known and nobody else can have changed it.
    pub row: Option<Box<QueuedRun>>,
    /// Counts how often the run was taken, from one.
    pub attempt: u64,
    /// Its place in the queue.
    pub place: Box<dyn Place>,
}

/// The place in the queue of a run that was taken.
pub trait Place: fmt::Debug + Send + Sync {
    /// Says for ever that the run is being carried out, so that no other node takes it.
    fn keep(&self) -> BoxFuture<'_, Infallible>;

    /// The run has ended. If nobody hears this, the message comes again, and the run's row is gone.
    fn done(&self) -> BoxFuture<'_, ()>;

    /// Lets another node take it, or this one later.
    fn give_back(&self, after: Duration) -> BoxFuture<'_, ()>;
}
