//! `ordain executor`: serves cells to other machines over gRPC.

mod operator;
mod tls;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use ordain_cell::profile::{DataDir, PackageLock, Profile, ProfileError};
use ordain_cell::{CellError, LocalOptions};
use ordain_server::cluster::Announced;
use ordain_server::grpc::server::{BoundServer, Reload, ServeError, ServeOptions};
use ordain_types::{parse_bytes, parse_duration};
use tokio::signal::unix::{SignalKind, signal};

use crate::cluster::ClusterArgs;
use crate::commands::python;
use crate::failure::{Failure, Outcome, UNAVAILABLE, USAGE};
use crate::trace;
use operator::Operator;

const EXAMPLES: &str = "\
Examples:
  ordain executor                                       on this machine only, port 50051
  ordain executor --listen 127.0.0.1:0 --json           any free port; the first line says which
  ordain executor --profiles core,data --idle-cells 8   pandas jobs find a warm cell
  ordain executor --lock shop/ordain.lock               the packages of that workspace as well
  ordain executor --listen 0.0.0.0:50051 --tls-cert server.pem --tls-key server.key --client-ca ca.pem
                                                        for other machines, callers need a certificate
  ordain executor --cluster nats://a:4222 …             nodes started with `--executor cluster` find it

An address that other machines can reach needs TLS, and a client CA or a token; otherwise nothing starts.
Environment: ORDAIN_EXECUTOR_TOKEN is a secret that callers have to show.
ORDAIN_EXECUTOR_CERT, ORDAIN_EXECUTOR_KEY and ORDAIN_EXECUTOR_CLIENT_CA stand for the three flags; GRPC_CERT_FILE and
GRPC_KEY_FILE are understood too, and GRPC_USE_SECURE=true refuses to start without them.
OTEL_EXPORTER_OTLP_ENDPOINT names a collector for traces; without it none are sent.
SIGHUP reads the certificates again. SIGTERM lets running jobs end, then stops.
Exit code: 0 stopped as asked, 2 usage or configuration, 3 no sandbox or no port.";

/// Serve cells to other machines over gRPC
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct Args {
    /// The address and port to listen on; port 0 takes a free one
    #[arg(long, default_value = "127.0.0.1:50051", value_name = "ADDRESS:PORT")]
    listen: SocketAddr,
    #[command(flatten)]
    tls: tls::TlsArgs,
    /// Take plain connections from other machines; the token then travels for all to read
    #[arg(long)]
    allow_plaintext: bool,
    /// The Python packages on offer: core, data and full, separated by commas
    #[arg(long, default_value = "core", value_delimiter = ',', value_parser = python::read_profile)]
    profiles: Vec<Profile>,
    /// Offer the packages of a workspace too, from its `ordain.lock`
    #[arg(long, value_name = "FILE")]
    lock: Option<PathBuf>,
    /// Idle cells kept ready for each profile
    #[arg(long, default_value_t = 4, value_name = "N")]
    idle_cells: usize,
    /// Jobs that run at once
    #[arg(long, default_value_t = 32, value_name = "N", value_parser = at_least_one)]
    running: usize,
    /// Jobs that may wait for a place
    #[arg(long, default_value_t = 512, value_name = "N")]
    waiting: usize,
    /// Sessions that may be open at once
    #[arg(long, default_value_t = 64, value_name = "N")]
    sessions: usize,
    /// The longest time that a job may ask for
    #[arg(long, default_value = "10m", value_name = "TIME", value_parser = parse_duration)]
    wall_max: Duration,
    /// The most memory that a job may ask for
    #[arg(long, default_value = "4GiB", value_name = "SIZE", value_parser = parse_bytes)]
    memory_max: u64,
    /// The size of all tables together that are kept between jobs; 0 keeps none
    #[arg(long, default_value = "512MiB", value_name = "SIZE", value_parser = parse_bytes)]
    keep_tables: u64,
    /// How long running jobs may go on after SIGTERM
    #[arg(long, default_value = "30s", value_name = "TIME", value_parser = parse_duration)]
    drain: Duration,
    /// Take code under the contract `open`, where only the jail defends
    #[arg(long)]
    allow_open: bool,
    /// Do not tell callers the proto file
    #[arg(long)]
    no_reflection: bool,
    /// Serve figures for Prometheus at http://ADDRESS:PORT/metrics; beyond this machine the token is asked for
    #[arg(long, value_name = "ADDRESS:PORT")]
    metrics: Option<SocketAddr>,
    #[command(flatten)]
    cluster: ClusterArgs,
    /// The address at which nodes of the cluster reach it, such as `https://cells-1:50051` [default: where it listens]
    #[arg(long, value_name = "URL", help_heading = "Cluster")]
    announce: Option<String>,
    /// Write the log as JSON lines
    #[arg(long)]
    json: bool,
}

/// Carries out `ordain executor …`.
#[expect(clippy::needless_pass_by_value, reason = "every command takes its arguments for itself")]
pub(crate) fn run(args: Args) -> Outcome {
    let mut options = options(&args).map_err(|problem| Failure::new(USAGE, problem.what, problem.hint))?;
    for profile in &options.profiles {
        python::ensure_at(&options.local.data_dir, *profile)?;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    options.tracer = runtime.block_on(async { trace::tracer("ordain-executor") })?;
    let served = runtime.block_on(serve(&args, options));
    runtime.shutdown_background();
    served.map(|()| ExitCode::SUCCESS)
}

async fn serve(args: &Args, options: ServeOptions) -> Result<(), Failure> {
    let link = args.cluster.connect("ordain executor").await?;
    let scheme = if options.tls.is_some() { "https" } else { "http" };
    let bound =
        BoundServer::bind(args.listen, options, Arc::new(Operator::new(args.json))).await.map_err(failure)?;
    let announced = match link {
        None => None,
        Some(link) => {
            let address = announced_address(args, scheme, bound.address())?;
            let (list, describe) =
                (Arc::new(Announced::find(&link).await?), bound.described(address.clone()));
            let keeping = Arc::clone(&list);
            let keeping = tokio::spawn(async move { keeping.keep(describe).await });
            Some((list, address, keeping))
        }
    };
    let (reload, asked) = BoundServer::reload();
    let stop = stop_signal().map_err(failure)?;
    let stop = async move {
        stop.await;
        if let Some((list, address, keeping)) = announced {
            keeping.abort();
            list.leave(&address).await;
        }
    };
    let watching = tokio::spawn(watch_hangups(reload));
    let served = bound.serve(stop, asked).await;
    watching.abort();
    served.map_err(failure)
}

#[expect(clippy::needless_pass_by_value, reason = "it takes the place of the error")]
fn failure(error: ServeError) -> Failure {
    let code = match error {
        ServeError::Exposed { .. } | ServeError::WeakToken { .. } | ServeError::Tls { .. } => USAGE,
        _ => UNAVAILABLE,
    };
    Failure::of(code, &error, error.hint().as_deref())
}

/// Where nodes of the cluster reach it.
fn announced_address(args: &Args, scheme: &str, listens: SocketAddr) -> Result<String, Failure> {
    match &args.announce {
        Some(address) => Ok(address.clone()),
        None if listens.ip().is_unspecified() => {
            let hint = format!(
                "name the address at which nodes reach it: --announce {scheme}://HOST:{}",
                listens.port()
            );
            Err(Failure::usage(format!("{listens} is no address that a node can call"), &hint))
        }
        None => Ok(format!("{scheme}://{listens}")),
    }
}

/// Done when the operator asks for the end.
fn stop_signal() -> Result<impl Future<Output = ()> + Send + 'static, ServeError> {
    let watched =
        |kind| signal(kind).map_err(|source| CellError::Host { action: "watch for signals", source });
    let (mut terminate, mut interrupt) =
        (watched(SignalKind::terminate())?, watched(SignalKind::interrupt())?);
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

async fn watch_hangups(reload: Reload) {
    let Ok(mut hangups) = signal(SignalKind::hangup()) else { return };
    while hangups.recv().await.is_some() {
        reload.now();
    }
}

/// What is wrong with the configuration.
pub(crate) struct Problem {
    what: String,
    hint: Option<&'static str>,
}

fn options(args: &Args) -> Result<ServeOptions, Problem> {
    let wrong = |error: ProfileError| Problem { what: error.to_string(), hint: None };
    let data_dir = DataDir::from_env().map_err(wrong)?;
    let lock = args.lock.as_deref().map(read_lock).transpose().map_err(wrong)?;
    let mut local = LocalOptions::new(data_dir.with_packages(lock));
    local.idle_cells = args.idle_cells;
    local.running_max = args.running;
    local.waiting_max = args.waiting;
    local.sessions_max = args.sessions;
    let mut options = ServeOptions::new(local);
    options.profiles.clone_from(&args.profiles);
    options.profiles.sort();
    options.profiles.dedup();
    options.limits_max.wall = args.wall_max;
    options.limits_max.cpu = Some(args.wall_max);
    options.limits_max.memory_bytes = args.memory_max;
    options.limits_max.work_bytes = None;
    options.kept_bytes_max = args.keep_tables;
    options.drain_max = args.drain;
    options.allow_open = args.allow_open;
    options.allow_plaintext = args.allow_plaintext;
    options.reflection = !args.no_reflection;
    options.metrics = args.metrics;
    options.tls = args.tls.resolve(&|name| std::env::var(name).ok())?;
    options.token = std::env::var("ORDAIN_EXECUTOR_TOKEN").ok().filter(|token| !token.is_empty());
    Ok(options)
}

fn read_lock(path: &Path) -> Result<Arc<PackageLock>, ProfileError> {
    let missing = || ProfileError::Lock { path: path.to_owned(), problem: "is missing".to_owned() };
    PackageLock::read(path)?.map(Arc::new).ok_or_else(missing)
}

fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("at least one job has to run".to_owned()),
        Ok(number) => Ok(number),
        Err(_) => Err("write a whole number".to_owned()),
    }
}
