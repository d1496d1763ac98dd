//! Where plans run: in cells of this machine, or on executors that are named by a flag or by the environment.

use std::path::PathBuf;
use std::sync::Arc;

use ordain_cell::profile::Profile;
use ordain_cell::{Executor, LocalExecutor, LocalOptions};
use ordain_server::grpc::{ConnectError, ExecutorPool, PoolOptions, RemoteOptions, RemoteTls};
use ordain_workspace::Workspace;

use crate::commands::python;
use crate::engine;
use crate::failure::Failure;
use crate::resident;

/// Stands for the executors that announce themselves to the cluster.
const OF_CLUSTER: &str = "cluster";

/// Which executors to use.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct ExecutorArgs {
    /// Run plans on these executors, separated by commas, or on those of the `cluster` [default: `ORDAIN_EXECUTOR`, else here]
    #[arg(long, value_name = "URL[,URL]", help_heading = "Executors")]
    executor: Option<String>,
}

/// The executor that a command uses.
#[derive(Debug)]
pub(crate) enum Chosen {
    /// Cells of this machine.
    Local(Arc<LocalExecutor>),
    /// Executors elsewhere.
    Remote(Arc<ExecutorPool>),
}

impl Chosen {
    /// The executor, to be shared.
    pub(crate) fn executor(&self) -> Arc<dyn Executor> {
        match self {
            Self::Local(executor) => executor.clone(),
            Self::Remote(pool) => pool.clone(),
        }
    }

    /// The executors elsewhere, if there are any.
    pub(crate) fn pool(&self) -> Option<Arc<ExecutorPool>> {
        match self {
            Self::Local(_) => None,
            Self::Remote(pool) => Some(Arc::clone(pool)),
        }
    }

    /// Ends the cells of this machine, if there are any.
    pub(crate) async fn close(&self) {
        if let Self::Local(executor) = self {
            executor.close().await;
        }
    }
}

impl ExecutorArgs {
    /// Whether plans run elsewhere, so that nothing has to be set up here.
    pub(crate) fn is_remote(&self) -> bool {
        self.addresses(&from_environment).is_some()
    }

    /// Sees that Python is set up for a profile, unless plans run elsewhere.
    pub(crate) fn ensure_python(&self, profile: Profile, workspace: &Workspace) -> Result<(), Failure> {
        if !self.is_remote() {
            python::ensure_for(workspace, profile)?;
        }
        Ok(())
    }

    /// Makes the executor. Has to be called inside a tokio runtime.
    pub(crate) fn open(&self, workspace: &Workspace, idle_cells: usize) -> Result<Chosen, Failure> {
        let Some(addresses) = self.addresses(&from_environment) else {
            let wanted = |cells: &mut LocalOptions| cells.idle_cells = idle_cells;
            return Ok(Chosen::Local(engine::executor(Some(workspace), resident::find(), wanted)?));
        };
        Ok(Chosen::Remote(Arc::new(Self::pool(&addresses, workspace)?)))
    }

    /// Whether plans run on those executors that announce themselves to the cluster.
    pub(crate) fn is_of_cluster(&self) -> bool {
        self.addresses(&from_environment).as_deref() == Some(OF_CLUSTER)
    }

    fn pool(addresses: &str, workspace: &Workspace) -> Result<ExecutorPool, ConnectError> {
        let named = addresses.split(',').map(str::trim).filter(|address| !address.is_empty());
        let mut remote = remote_options(&from_environment);
        // What holds for cells of this machine holds for those of others.
        remote.minimum = workspace.minimum_isolation;
        let options = PoolOptions { remote, ..PoolOptions::default() };
        if addresses == OF_CLUSTER {
            return Ok(ExecutorPool::growing(&options));
        }
        ExecutorPool::new(named, &options)
    }

    fn addresses(&self, variable: &dyn Fn(&str) -> Option<String>) -> Option<String> {
        self.executor.clone().or_else(|| variable("ORDAIN_EXECUTOR")).or_else(|| {
            // The names that other code agents use for the same.
            let host = variable("CODE_EXECUTOR_HOST")?;
            let port = variable("CODE_EXECUTOR_PORT").unwrap_or_else(|| "50051".to_owned());
            let is_secure = variable("GRPC_USE_SECURE").is_some_and(|value| is_true(&value));
            Some(format!("{}://{host}:{port}", if is_secure { "https" } else { "http" }))
        })
    }
}

/// How executors elsewhere are called. Certificates and the token are the machine's, so the environment alone names them.
fn remote_options(variable: &dyn Fn(&str) -> Option<String>) -> RemoteOptions {
    let file = |names: &[&str]| names.iter().find_map(|name| variable(name)).map(PathBuf::from);
    RemoteOptions {
        tls: RemoteTls {
            ca: file(&["ORDAIN_EXECUTOR_CA", "GRPC_CERT_FILE"]),
            certificate: file(&["ORDAIN_EXECUTOR_CLIENT_CERT"]),
            key: file(&["ORDAIN_EXECUTOR_CLIENT_KEY"]),
            domain: variable("ORDAIN_EXECUTOR_NAME"),
        },
        token: variable("ORDAIN_EXECUTOR_TOKEN"),
        allow_plaintext: variable("ORDAIN_EXECUTOR_ALLOW_PLAINTEXT").is_some_and(|value| is_true(&value)),
        ..RemoteOptions::default()
    }
}

fn from_environment(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

fn is_true(text: &str) -> bool {
    matches!(text.trim().to_ascii_lowercase().as_str(), "true" | "1" | "yes" | "on")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(flag: Option<&str>, variables: &[(&str, &str)]) -> Option<String> {
        let args = ExecutorArgs { executor: flag.map(str::to_owned) };
        args.addresses(&|name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn the_flag_goes_before_the_environment_and_that_before_other_names() {
        let own = ("ORDAIN_EXECUTOR", "http://b:2");
        let other = [("CODE_EXECUTOR_HOST", "c"), ("CODE_EXECUTOR_PORT", "3")];
        assert_eq!(addresses(Some("http://a:1"), &[own]).as_deref(), Some("http://a:1"));
        assert_eq!(addresses(None, &[own, other[0]]).as_deref(), Some("http://b:2"));
        assert_eq!(addresses(None, &other).as_deref(), Some("http://c:3"));
        let secure = [other[0], ("GRPC_USE_SECURE", "true")];
        assert_eq!(addresses(None, &secure).as_deref(), Some("https://c:50051"));
        assert_eq!(addresses(None, &[]), None);
    }
}
