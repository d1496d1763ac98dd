//! Serves cells to callers on other machines.
//!
//! An executor has cells and nothing else: no store, no model, no password. What it must not do by accident is decided
//! here, before the first connection: an address that others can reach needs TLS and a proof of who calls.

mod caller;
mod events;
mod job;
mod kept;
mod listen;
mod metrics;
mod service;
mod sessions;
mod tls;
mod upload;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ordain_cell::profile::Profile;
use ordain_cell::{CellError, LocalExecutor, LocalOptions};
use ordain_types::{BoxFuture, Limits};
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, mpsc, watch};
use tokio_stream::wrappers::ReceiverStream;
use tonic::codec::CompressionEncoding;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::Server;
use tonic_health::server::HealthReporter;

use super::convert::{self, MESSAGE_BYTES_MAX};
use super::log::{Log, LogEvent};
use super::proto;
use super::proto::executor_server::ExecutorServer;
use crate::cluster::ExecutorMember;
use crate::figures::Figures;
use crate::trace::Tracer;
use caller::{Caller, Door, Token};
use kept::Kept;
use service::Service;
use sessions::Sessions;
use tls::Tls;
pub use tls::TlsFiles;

/// How often idle sessions and files are looked for.
const SESSION_ROUND: Duration = Duration::from_secs(5);
/// How often the other end of a silent connection is asked whether it is there, and how long it may take to say so.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// How long the last spans may take to a collector.
const LAST_SPANS: Duration = Duration::from_secs(5);
/// The least length of a token. Sixteen random bytes in hexadecimal have 32 characters.
const TOKEN_BYTES_MIN: usize = 16;

/// How an executor is served.
#[derive(Debug, Clone)]
pub struct ServeOptions {
    /// The cells.
    pub local: LocalOptions,
    /// The Python packages on offer. They have to be set up.
    pub profiles: Vec<Profile>,
    /// The highest limits that a job may ask for.
    pub limits_max: Limits,
    /// The largest sum of files for one job.
    pub files_bytes_max: u64,
    /// The size of all files together that are kept between jobs; 0 keeps none.
    pub kept_bytes_max: u64,
    /// Whether code is taken under the contract `open`, where only the jail defends.
    pub allow_open: bool,
    /// Connections at once.
    pub connections_max: usize,
    /// How long a caller may take from connecting to its first words.
    pub handshake_max: Duration,
    /// After how long without a job a session ends, and a kept file goes that no job uses.
    pub session_idle_max: Duration,
    /// How long running jobs may go on when the executor is stopped.
    pub drain_max: Duration,
    /// The certificates; none for plain connections.
    pub tls: Option<TlsFiles>,
    /// The secret that callers have to show.
    pub token: Option<String>,
    /// Plain connections are taken on an address that others can reach. The token then travels for all to read.
    pub allow_plaintext: bool,
    /// Whether callers can ask for the proto file.
    pub reflection: bool,
    /// Where figures for Prometheus are served, if anywhere. Beyond this machine the token has to be shown for them.
    pub metrics: Option<SocketAddr>,
    /// Takes spans of calls.
    pub tracer: Tracer,
}

impl ServeOptions {
    /// Defaults: plain connections, the `core` profile.
    pub fn new(local: LocalOptions) -> Self {
        Self {
            local,
            profiles: vec![Profile::Core],
            limits_max: convert::ceilings(),
            files_bytes_max: 512 << 20,
            kept_bytes_max: 512 << 20,
            allow_open: false,
            connections_max: 1024,
            handshake_max: Duration::from_secs(10),
            session_idle_max: Duration::from_mins(15),
            drain_max: Duration::from_secs(30),
            tls: None,
            token: None,
            allow_plaintext: false,
            reflection: true,
            metrics: None,
            tracer: Tracer::default(),
        }
    }
}

/// Why an executor could not be served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Others could reach it without proving who they are. Nothing was opened.
    #[error("`{address}` can be reached from other machines, and {lacks}")]
    Exposed {
        /// The address.
        address: SocketAddr,
        /// What is missing.
        lacks: &'static str,
    },
    /// The token could be guessed.
    #[error("the token has {bytes} characters; at least {TOKEN_BYTES_MIN} are needed")]
    WeakToken {
        /// Its length.
        bytes: usize,
    },
    /// The address cannot be listened on.
    #[error("cannot listen on `{address}`")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system said.
        source: std::io::Error,
    },
    /// A certificate or key is not good.
    #[error("cannot use {what} for TLS: {said}")]
    Tls {
        /// The file.
        what: String,
        /// What is wrong with it.
        said: String,
    },
    /// The transport failed.
    #[error("the transport failed: {said}")]
    Transport {
        /// What it said.
        said: String,
    },
    /// No cells can be had.
    #[error(transparent)]
    Cell(#[from] CellError),
}

impl ServeError {
    /// What the reader can do about it.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Exposed { .. } => {
                "give --tls-cert and --tls-key, and --client-ca or the variable ORDAIN_EXECUTOR_TOKEN; or listen on \
                 127.0.0.1"
            }
            Self::WeakToken { .. } => "make one with `openssl rand -hex 32`",
            Self::Listen { .. } => "another program may use the port: choose one with --listen",
            Self::Tls { .. } => "both files are PEM; the key belongs to the first certificate",
            Self::Transport { .. } => return None,
            Self::Cell(error) => return error.hint(),
        };
        Some(hint.to_owned())
    }
}

/// What all calls of an executor share.
pub(crate) struct Shared {
    executor: LocalExecutor,
    options: ServeOptions,
    sessions: Sessions,
    kept: Kept,
    places: Arc<Semaphore>,
    log: Arc<dyn Log>,
    figures: Arc<Figures>,
    instance: String,
    is_stopping: AtomicBool,
}

/// An executor that is bound to its address and has its cells warm, but takes no calls yet.
pub struct BoundServer {
    listener: TcpListener,
    address: SocketAddr,
    tls: Option<Arc<Tls>>,
    metrics: Option<TcpListener>,
    shared: Arc<Shared>,
}

/// Reads a running executor's certificates again.
#[derive(Debug, Clone)]
pub struct Reload(watch::Sender<u64>);

impl Reload {
    /// Reads them again, soon.
    pub fn now(&self) {
        self.0.send_modify(|count| *count += 1);
    }
}

impl BoundServer {
    /// Checks the options, starts the cells and binds the address. Port 0 takes a free one.
    pub async fn bind(
        address: SocketAddr,
        options: ServeOptions,
        log: Arc<dyn Log>,
    ) -> Result<Self, ServeError> {
        check_exposure(address, &options)?;
        let tls = options.tls.clone().map(Tls::read).transpose()?.map(Arc::new);
        let listen = |source| ServeError::Listen { address, source };
        let listener = crate::listen(address).map_err(listen)?;
        let address = listener.local_addr().map_err(listen)?;
        let metrics = match options.metrics {
            None => None,
            Some(address) => {
                let listen = |source| ServeError::Listen { address, source };
                Some(crate::listen(address).map_err(listen)?)
            }
        };
        let executor = LocalExecutor::new(options.local.clone())?;
        for profile in &options.profiles {
            executor.warm(*profile).await?;
        }
        let shared = Shared {
            executor,
            sessions: Sessions::new(options.local.sessions_max, options.session_idle_max),
            kept: Kept::new(options.kept_bytes_max, options.session_idle_max),
            places: Arc::new(Semaphore::new(options.local.running_max + options.local.waiting_max)),
            log,
            figures: Arc::default(),
            instance: random_name().map_err(|error| ServeError::Transport { said: error.to_string() })?,
            is_stopping: AtomicBool::new(false),
            options,
        };
        Ok(Self { listener, address, tls, metrics, shared: Arc::new(shared) })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Describes it to a cluster, under the address at which nodes reach it.
    pub fn described(&self, address: String) -> impl Fn() -> ExecutorMember + Send + use<> {
        let shared = Arc::clone(&self.shared);
        move || ExecutorMember {
            address: address.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            profiles: shared.options.profiles.iter().map(|profile| profile.name().to_owned()).collect(),
            slots: shared.options.local.running_max,
            working: shared.executor.load().running,
        }
    }

    /// Where its figures are, if they are served.
    pub fn metrics_address(&self) -> Option<SocketAddr> {
        self.metrics.as_ref().and_then(|listener| listener.local_addr().ok())
    }

    /// Something that reads the certificates again, to be given to [`BoundServer::serve`].
    pub fn reload() -> (Reload, watch::Receiver<u64>) {
        let (sender, receiver) = watch::channel(0);
        (Reload(sender), receiver)
    }

    /// Takes calls until `stop` is done; then lets running jobs end, and ends all cells.
    pub fn serve(
        self,
        stop: impl Future<Output = ()> + Send + 'static,
        reload: watch::Receiver<u64>,
    ) -> BoxFuture<'static, Result<(), ServeError>> {
        self.serve_boxed(Box::pin(stop), reload)
    }

    fn serve_boxed(
        self,
        stop: BoxFuture<'static, ()>,
        reload: watch::Receiver<u64>,
    ) -> BoxFuture<'static, Result<(), ServeError>> {
        Box::pin(self.serve_until(stop, reload))
    }

    async fn serve_until(
        self,
        stop: BoxFuture<'static, ()>,
        reload: watch::Receiver<u64>,
    ) -> Result<(), ServeError> {
        let metrics_address = self.metrics_address();
        let Self { listener, address, tls, metrics, shared } = self;
        let (accepted, connections) = mpsc::channel(64);
        let health = HealthReporter::new();
        set_health(&health, tonic_health::ServingStatus::Serving).await;
        let router = router(&shared, &health)?;
        shared.log.write(&LogEvent::Listening {
            address: address.to_string(),
            tls: tls.is_some(),
            client_certificates: shared.options.tls.as_ref().is_some_and(|files| files.client_ca.is_some()),
            token: shared.options.token.is_some(),
            isolation: shared.executor.level().to_string(),
            metrics: metrics_address.map(|address| address.to_string()),
        });
        let background = [
            tokio::spawn(listen::accept(
                listener,
                tls.clone(),
                listen::Bounds::of(&shared.options),
                accepted,
            )),
            tokio::spawn(end_idle(Arc::clone(&shared))),
            tokio::spawn(reload_certificates(Arc::clone(&shared), tls, reload)),
            tokio::spawn(serve_metrics(metrics, Arc::clone(&shared))),
        ];
        let (stopping, stopped) = tokio::sync::oneshot::channel();
        let signal = {
            let shared = Arc::clone(&shared);
            async move {
                stop.await;
                shared.is_stopping.store(true, Ordering::Release);
                set_health(&health, tonic_health::ServingStatus::NotServing).await;
                shared.log.write(&LogEvent::Stopping { running: shared.executor.load().running });
                let _ = stopping.send(());
            }
        };
        let serving = router.serve_with_incoming_shutdown(ReceiverStream::new(connections), signal);
        let drained = async {
            // Somebody who only watches would otherwise keep the executor from ending.
            let _ = stopped.await;
            tokio::time::sleep(shared.options.drain_max).await;
        };
        let served = tokio::select! {
            served = serving => served.map_err(|error| ServeError::Transport { said: error.to_string() }),
            () = drained => Ok(()),
        };
        for task in background {
            task.abort();
        }
        shared.executor.close().await;
        shared.options.tracer.flush(LAST_SPANS).await;
        shared.log.write(&LogEvent::Stopped);
        served
    }
}

impl std::fmt::Debug for BoundServer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("BoundServer").field("address", &self.address).finish_non_exhaustive()
    }
}

/// Refuses what would let strangers run code.
fn check_exposure(address: SocketAddr, options: &ServeOptions) -> Result<(), ServeError> {
    if let Some(token) = options.token.as_ref().filter(|token| token.len() < TOKEN_BYTES_MIN) {
        return Err(ServeError::WeakToken { bytes: token.len() });
    }
    if let Some(address) = options.metrics
        && !address.ip().is_loopback()
        && options.token.is_none()
    {
        return Err(ServeError::Exposed { address, lacks: "figures are shown without a token" });
    }
    if address.ip().is_loopback() {
        return Ok(());
    }
    let knows_callers =
        options.token.is_some() || options.tls.as_ref().is_some_and(|files| files.client_ca.is_some());
    if !knows_callers {
        let lacks = "callers need neither a client certificate nor a token";
        return Err(ServeError::Exposed { address, lacks });
    }
    if options.tls.is_none() && !options.allow_plaintext {
        return Err(ServeError::Exposed { address, lacks: "connections are not encrypted" });
    }
    Ok(())
}

fn router(
    shared: &Arc<Shared>,
    health: &HealthReporter,
) -> Result<tonic::transport::server::Router, ServeError> {
    let service = ExecutorServer::new(Service { shared: Arc::clone(shared) })
        .max_decoding_message_size(MESSAGE_BYTES_MAX)
        .max_encoding_message_size(MESSAGE_BYTES_MAX)
        .accept_compressed(CompressionEncoding::Gzip)
        .send_compressed(CompressionEncoding::Gzip);
    let token = shared.options.token.as_deref().map(|secret| Arc::new(Token::new(secret)));
    let described = || {
        tonic_reflection::server::Builder::configure()
            .register_encoded_file_descriptor_set(proto::DESCRIPTORS)
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
    };
    let failed = |error: tonic_reflection::server::Error| ServeError::Transport { said: error.to_string() };
    let is_shown = shared.options.reflection;
    let reflection = is_shown.then(|| described().build_v1()).transpose().map_err(failed)?;
    // Many tools still ask by the older name.
    let reflection_alpha = is_shown.then(|| described().build_v1alpha()).transpose().map_err(failed)?;
    let streams = u32::try_from(shared.options.local.running_max + shared.options.local.waiting_max);
    Ok(Server::builder()
        .http2_keepalive_interval(Some(KEEP_ALIVE))
        .http2_keepalive_timeout(Some(KEEP_ALIVE))
        .http2_max_header_list_size(16 << 10)
        // Calls that find no place are answered so; a connection with more streams than that is not.
        .max_concurrent_streams(streams.unwrap_or(u32::MAX).saturating_add(64))
        .add_service(InterceptedService::new(service, Door { token, figures: Arc::clone(&shared.figures) }))
        .add_service(tonic_health::pb::health_server::HealthServer::new(
            tonic_health::server::HealthService::from_health_reporter(health.clone()),
        ))
        .add_optional_service(reflection)
        .add_optional_service(reflection_alpha))
}

async fn set_health(health: &HealthReporter, serving: tonic_health::ServingStatus) {
    // The empty name stands for the whole server.
    for service in ["", "ordain.executor.v1.Executor"] {
        health.set_service_status(service, serving).await;
    }
}

/// Serves the figures, if an address was given. On this machine no token is needed for them.
async fn serve_metrics(listener: Option<TcpListener>, shared: Arc<Shared>) {
    let Some(listener) = listener else { return };
    let is_near = listener.local_addr().is_ok_and(|address| address.ip().is_loopback());
    let token =
        shared.options.token.as_deref().filter(|_| !is_near).map(|secret| Arc::new(Token::new(secret)));
    metrics::serve(listener, shared, token).await;
}

async fn end_idle(shared: Arc<Shared>) {
    use ordain_cell::Executor as _;
    loop {
        tokio::time::sleep(SESSION_ROUND).await;
        for id in shared.sessions.take_idle() {
            shared.executor.end_session(&id).await;
        }
        shared.kept.forget_idle();
    }
}

async fn reload_certificates(shared: Arc<Shared>, tls: Option<Arc<Tls>>, mut asked: watch::Receiver<u64>) {
    while asked.changed().await.is_ok() {
        let event = match tls.as_ref().map(|tls| tls.reload()) {
            None | Some(Ok(())) => LogEvent::Reloaded,
            Some(Err(error)) => {
                LogEvent::Failed { what: format!("{error}; the certificates of before still hold") }
            }
        };
        shared.log.write(&event);
    }
}

/// A name that nobody can guess.
fn random_name() -> Result<String, getrandom::Error> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes)?;
    Ok(ordain_types::hex(&bytes))
}
