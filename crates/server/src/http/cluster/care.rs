//! What a node does for its cluster besides carrying out runs: it hears events and cancels, says that it is there, and
//! offers runs again that have no message.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use ordain_store::QueuedRun;
use ordain_types::RunId;

use crate::cluster::{Cluster, ClusterError, NodeMember, OfferError, SAID_EVERY, binding};
use crate::http::service::Service;
use crate::listen::Address;

use super::{about, unbound};

/// How often the queue is looked through for runs of nodes that are gone.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// Every how manyth look is about runs without a message too.
const WHOLE_LOOK_EVERY: u64 = 5;
/// Runs that one look is about.
const LOOKED_AT_MAX: u64 = 200;
/// How often other nodes are told what keys have used.
const TOLD_EVERY: Duration = Duration::from_millis(100);
/// How long files are kept that came with a run which is not in the queue: it may just be about to be accepted.
const UPLOADS_KEPT_MS: u64 = 3_600_000;
/// After how long the same trouble is told again.
const TOLD_AGAIN_AFTER: Duration = Duration::from_mins(1);
/// Different troubles that are told in that time.
const TROUBLES_MAX: usize = 32;
/// How long to wait after the servers gave an error.
const TROUBLE_WAIT: Duration = Duration::from_secs(1);

/// The troubles with the cluster that were told a moment ago.
#[derive(Debug, Default)]
pub(crate) struct Troubles(Mutex<HashMap<String, Instant>>);

impl Troubles {
    fn is_news(&self, what: &str) -> bool {
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        told.retain(|_, at| at.elapsed() < TOLD_AGAIN_AFTER);
        let is_news = told.len() < TROUBLES_MAX && !told.contains_key(what);
        if is_news {
            told.insert(what.to_owned(), Instant::now());
        }
        is_news
    }
}

impl Service {
    /// Takes part in the cluster, until this is dropped.
    pub(crate) async fn keep_cluster(self) {
        let cluster = &*self.inner.options.cluster;
        if !cluster.is_shared() {
            return;
        }
        tokio::join!(
            self.keep_hearing(cluster),
            self.keep_cancelling(cluster),
            self.keep_saying(cluster),
            self.keep_telling(cluster),
            self.keep_counting(cluster),
            self.keep_offering(cluster),
            self.keep_ledger(cluster),
        );
    }

    async fn keep_hearing(&self, cluster: &dyn Cluster) {
        loop {
            match cluster.hear(None).await {
                Ok(events) => self.hear(events, true).await,
                Err(error) => self.trouble(&error),
            }
            tokio::time::sleep(TROUBLE_WAIT).await;
        }
    }

    async fn keep_cancelling(&self, cluster: &dyn Cluster) {
        loop {
            match cluster.cancelled().await {
                Ok(mut cancelled) => {
                    while let Some(run) = cancelled.next().await {
                        if let Some(run) = self.inner.working.find(run.as_str()) {
                            run.cancel();
                        }
                    }
                }
                Err(error) => self.trouble(&error),
            }
            tokio::time::sleep(TROUBLE_WAIT).await;
        }
    }

    /// Tells other nodes what keys have used here.
    async fn keep_telling(&self, cluster: &dyn Cluster) {
        loop {
            tokio::time::sleep(TOLD_EVERY).await;
            let untold = self.inner.rates.untold();
            if !untold.is_empty() {
                cluster.spent(&untold).await;
            }
        }
    }

    /// Counts what keys have used on other nodes.
    async fn keep_counting(&self, cluster: &dyn Cluster) {
        loop {
            match cluster.spent_elsewhere().await {
                Ok(mut spent) => {
                    while let Some(spent) = spent.next().await {
                        self.inner.rates.spent_elsewhere(spent, &self.inner.options);
                    }
                }
                Err(error) => self.trouble(&error),
            }
            tokio::time::sleep(TROUBLE_WAIT).await;
        }
    }

    async fn keep_saying(&self, cluster: &dyn Cluster) {
        let options = &self.inner.options;
        loop {
            let member = NodeMember {
                node: cluster.node().to_owned(),
                address: shown_address(&options.listen),
                version: env!("CARGO_PKG_VERSION").to_owned(),
                workspace: cluster.workspace().to_owned(),
                slots: options.slots as usize,
                working: self.inner.working.count(),
                waited_for: self.inner.live.count(),
                draining: self.is_draining(),
            };
            if let Err(error) = cluster.say(&member).await {
                self.trouble(&error);
            }
            tokio::time::sleep(SAID_EVERY).await;
        }
    }

    async fn keep_offering(&self, cluster: &dyn Cluster) {
        // A run is left alone at first: its node may just be about to offer it. How long it is there is not asked of a clock,
        // because those of nodes differ.
        let mut seen: HashMap<RunId, u64> = HashMap::new();
        for look in 1_u64.. {
            tokio::time::sleep(LOOK_EVERY).await;
            let is_whole = look.is_multiple_of(WHOLE_LOOK_EVERY);
            let queued = match self.engine().store().queue(LOOKED_AT_MAX).await {
                Ok(queued) => queued,
                Err(error) => {
                    self.inner.log.trouble("cluster", &error.to_string());
                    continue;
                }
            };
            if is_whole && let Err(error) = self.engine().store().forget_uploads(UPLOADS_KEPT_MS).await {
                self.inner.log.trouble("cluster", &error.to_string());
            }
            let is_looked_at = |run: &&QueuedRun| {
                let looks = seen.get(&run.run_id).map_or(0, |first| look - first);
                if binding(run).1.is_some() { looks > 0 } else { is_whole && looks >= WHOLE_LOOK_EVERY }
            };
            for run in queued.iter().filter(is_looked_at) {
                if let Err(error) = self.offer_again(cluster, run).await {
                    self.trouble(&error);
                    break;
                }
            }
            seen = (queued.into_iter().map(|run| run.run_id))
                .map(|run| (run.clone(), seen.get(&run).copied().unwrap_or(look)))
                .collect();
        }
    }

    /// Compares the end of the ledger with what other nodes know, and tells them a newer one.
    async fn keep_ledger(&self, cluster: &dyn Cluster) {
        loop {
            tokio::time::sleep(SAID_EVERY).await;
            let (told, last) = match cluster.ledger_end().await {
                Ok(told) => told,
                Err(error) => {
                    self.trouble(&error);
                    continue;
                }
            };
            match self.engine().store().meet_end(told.as_deref()).await {
                Ok(Some(newer)) => cluster.tell_ledger_end(newer, last).await,
                Ok(None) => {}
                Err(error) => self.trouble(&error),
            }
        }
    }

    /// Offers an accepted run that has no message: its node died, or the servers lost it. A run that is bound to a node is
    /// left to it as long as it is there, and one for another workspace to the nodes that have that one, as long as there
    /// are any.
    async fn offer_again(&self, cluster: &dyn Cluster, run: &QueuedRun) -> Result<(), ClusterError> {
        let (workspace, node) = binding(run);
        let is_cared_for = match node {
            Some(node) if node == cluster.node() => {
                self.inner.working.find(run.run_id.as_str()).is_some() || cluster.has(&unbound(run)).await?
            }
            Some(node) => cluster.is_there(node).await?,
            None => false,
        };
        if is_cared_for {
            return Ok(());
        }
        if workspace != cluster.workspace() {
            let members = cluster.members().await?;
            if members.iter().any(|node| node.workspace == workspace) {
                return Ok(());
            }
        }
        if cluster.has(run).await? {
            return Ok(());
        }
        match self.recorded(&run.run_id, &run.claim).await {
            Ok(None) => {}
            Ok(Some(_)) => {
                let _ = self.take_off(&about(run, false), false).await;
                return Ok(());
            }
            Err(_) => return Ok(()),
        }
        if !self.is_next_turn(run).await.unwrap_or_default() {
            return Ok(());
        }
        self.inner.metrics.count("ordain_cluster_offered_again_total", "");
        match cluster.offer(run, node.is_some()).await {
            Ok(()) | Err(OfferError::Full) => Ok(()),
            Err(OfferError::Other(error)) => Err(error),
        }
    }

    /// Logs trouble with the cluster. The same trouble is logged at most once a minute.
    pub(super) fn trouble(&self, error: &dyn std::error::Error) {
        let what = error.to_string();
        if self.inner.troubles.is_news(&what) {
            self.inner.log.trouble("cluster", &what);
        }
    }
}

/// Where a node listens. One that listens on all of its addresses is shown by its machine's name.
fn shown_address(listen: &Address) -> String {
    if let Address::Tcp(listen) = listen
        && listen.ip().is_unspecified()
        && let Ok(name) = fs_err::read_to_string("/proc/sys/kernel/hostname")
    {
        return format!("{}:{}", name.trim_end(), listen.port());
    }
    listen.to_string()
}
