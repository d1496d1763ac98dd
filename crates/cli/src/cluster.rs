//! The cluster that a command has to do with: named by a flag or by the environment.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ordain_server::cluster::{Announced, ClusterOptions, LedgerEnds, Link, Nats};
use ordain_server::grpc::ExecutorPool;
use ordain_store::{Database, Secret, Store, StoreOptions};
use ordain_workspace::Workspace;

use crate::failure::Failure;

/// Which cluster.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct ClusterArgs {
    /// The NATS servers of the cluster, such as `nats://a:4222,nats://b:4222` [default: `ORDAIN_CLUSTER`]
    #[arg(long, value_name = "URL[,URL]", help_heading = "Cluster")]
    cluster: Option<String>,
}

impl ClusterArgs {
    fn servers(&self) -> Option<String> {
        self.cluster.clone().or_else(|| variable("ORDAIN_CLUSTER"))
    }

    /// Connects to the cluster's servers; `None` if no cluster is named.
    pub(crate) async fn connect(&self, name: &str) -> Result<Option<Link>, Failure> {
        let Some(servers) = self.servers() else { return Ok(None) };
        let file = |name| variable(name).map(PathBuf::from);
        let certificate = match (file("ORDAIN_CLUSTER_CERT"), file("ORDAIN_CLUSTER_KEY")) {
            (Some(certificate), Some(key)) => Some((certificate, key)),
            (None, None) => None,
            _ => {
                let hint = "set ORDAIN_CLUSTER_CERT and ORDAIN_CLUSTER_KEY, or neither";
                return Err(Failure::usage("a certificate for the cluster comes with its key", hint));
            }
        };
        let ca = file("ORDAIN_CLUSTER_CA");
        let options = ClusterOptions { servers: Secret(servers), ca, certificate };
        Ok(Some(Link::connect(&options, name).await?))
    }

    /// Compares where the ledger ends with what other nodes know, before anything is done: a database that is older is
    /// refused, and a folder without a checkpoint gets theirs.
    pub(crate) async fn meet_end(&self, options: StoreOptions) -> Result<(), Failure> {
        let Some(link) = self.connect("ordain").await? else { return Ok(()) };
        check_shared(&options.database)?;
        let looking =
            StoreOptions { tables: Vec::new(), invariants: Vec::new(), allow_older: true, ..options };
        let store = Store::open(looking).await?;
        let (newest, _) = LedgerEnds::find(&link, &store.id().await?).await?.last().await?;
        store.meet_end(newest.as_deref()).await?;
        Ok(())
    }

    /// Joins the cluster of a workspace as one of its nodes; `None` if no cluster is named.
    pub(crate) async fn join(&self, workspace: &Workspace, store: &Store) -> Result<Option<Nats>, Failure> {
        let Some(link) = self.connect("ordain").await? else { return Ok(None) };
        check_shared(&workspace.database)?;
        let (id, fingerprint) = (store.id().await?, workspace.fingerprint()?);
        Ok(Some(Box::pin(Nats::join(link, &id, &fingerprint)).await?))
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Refuses a database that nodes cannot share.
pub(crate) fn check_shared(database: &Database) -> Result<(), Failure> {
    if matches!(database, Database::Postgres { .. }) {
        return Ok(());
    }
    let hint =
        "name a PostgreSQL database in `[store] url` or ORDAIN_STORE_URL; one server alone needs no cluster";
    Err(Failure::usage("nodes of a cluster share a PostgreSQL database", hint))
}

/// How often executors are looked for.
const LOOK_EVERY: Duration = Duration::from_secs(3);

/// Adds the executors that announce themselves to a pool, from now on.
pub(crate) async fn gather(link: &Link, pool: Arc<ExecutorPool>) -> Result<(), Failure> {
    let announced = Announced::find(link).await?;
    tokio::spawn(async move {
        loop {
            // What cannot be listed or reached now may be so a moment later.
            for member in announced.members().await.unwrap_or_default() {
                let _ = pool.add(&member.address);
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    });
    Ok(())
}
