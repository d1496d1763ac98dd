//! Takes connections, and lets them go.
//!
//! A connection costs a place, so places are bounded ([`places`](super::places)); a header that does not arrive in time,
//! or an answer that nobody reads, closes it, so that nobody holds a place by doing nothing. Stopping goes in order: not ready, no new connections, what goes on may end,
//! the rest is cancelled and rolled back, then the cells end. The ledger is durable with every entry, so nothing is
//! left to flush but the last answers.

use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::http::{StatusCode, header};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use ordain_store::{Store, StoreError};
use ordain_types::BoxFuture;

use super::patience::Patient;
use super::places::Places;
use super::problem::Problem;
use super::service::{HttpOptions, Service};
use crate::cluster::Lane;
use crate::listen::{Address, Connection, Listener};

/// The largest header, all fields together.
const HEADER_BYTES_MAX: usize = 64 << 10;
/// Fields of one header.
const HEADERS_MAX: usize = 100;
/// Descriptors that are not for connections.
const DESCRIPTORS_KEPT: usize = 1024;
/// How long to wait when the system has no descriptor left for a connection.
const NO_DESCRIPTOR_WAIT: Duration = Duration::from_millis(50);
/// How long the last spans may take to a collector.
const LAST_SPANS: Duration = Duration::from_secs(5);
/// How long a connection may last that is there for a health check.
const SPARE_TIME: Duration = Duration::from_secs(5);
/// How long last answers may take once no run goes on.
const LAST_ANSWERS: Duration = Duration::from_secs(5);

/// Why a server does not start.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address is not this machine's alone, and nobody has a key.
    #[error("refusing to listen on {listen}, which other machines can reach, while there is no key")]
    NoKeys {
        /// The address.
        listen: Address,
    },
    /// The keys cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl ServeError {
    /// What would help.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NoKeys { .. } => Some(
                "make a key with `ordain keys create --scope read,run`, or listen on 127.0.0.1".to_owned(),
            ),
            Self::Store(error) => error.hint(),
        }
    }
}

/// Refuses an address that other machines can reach, unless somebody has a key.
pub async fn check_address(options: &HttpOptions, store: &Store) -> Result<(), ServeError> {
    if !options.needs_keys() {
        return Ok(());
    }
    let now = store.timestamp();
    let has_keys = store.keys().await?.iter().any(|key| key.is_good(&now));
    if has_keys { Ok(()) } else { Err(ServeError::NoKeys { listen: options.listen.clone() }) }
}

/// Serves until `stop` is done, then lets what goes on come to its end.
pub fn serve(
    listener: impl Into<Listener>,
    service: Service,
    stop: impl Future<Output = ()> + Send + 'static,
) -> BoxFuture<'static, ()> {
    serve_boxed(listener.into(), service, Box::pin(stop))
}

fn serve_boxed(listener: Listener, service: Service, stop: BoxFuture<'static, ()>) -> BoxFuture<'static, ()> {
    Box::pin(serve_until(listener, service, stop))
}

async fn serve_until(listener: Listener, service: Service, stop: BoxFuture<'static, ()>) {
    let router = super::router(&service);
    let options = &service.inner.options;
    let places = Places::new(most(options.connections_max), options.connections_per_address);
    let spare = spare_router();
    let graceful = GracefulShutdown::new();
    let housekeeping = tokio::spawn(service.clone().end_idle_sessions());
    let sending = tokio::spawn(service.clone().keep_sending());
    let schedules = tokio::spawn(service.clone().keep_schedules());
    let cluster = tokio::spawn(service.clone().keep_cluster());
    // It ends by itself, so that no run is taken that nobody carries out.
    for lane in Lane::ALL {
        tokio::spawn(service.clone().keep_working(lane));
    }
    tokio::pin!(stop);
    loop {
        let accepted = async {
            let place = places.take().await;
            (listener.accept().await, place)
        };
        let (accepted, place) = tokio::select! {
            biased;
            () = &mut stop => break,
            accepted = accepted => accepted,
        };
        let mut place = places.settle(place);
        match accepted {
            // A caller with too many connections loses the new one; its others go on.
            Ok((_, from)) if !places.admits(&mut place, from) => {}
            Ok((stream, _)) if place.is_spare => {
                let connection = connection(&service, stream, spare.clone());
                tokio::spawn(async move {
                    let _ = tokio::time::timeout(SPARE_TIME, connection).await;
                    drop(place);
                });
            }
            Ok((stream, _)) => {
                let connection = connection(&service, stream, router.clone());
                let connection = graceful.watch(connection);
                let open = Open::new(&service);
                tokio::spawn(async move {
                    // A caller that breaks off is no failure of ours.
                    let _ = connection.await;
                    drop((place, open));
                });
            }
            // The caller has gone again, or there are no descriptors left: others come and go meanwhile.
            Err(_) => tokio::time::sleep(NO_DESCRIPTOR_WAIT).await,
        }
    }
    drop(listener);
    housekeeping.abort();
    schedules.abort();
    service.inner.log.event("stopping: no new work is taken");
    service.begin_draining();
    let drain_time = service.inner.options.drain_time;
    // Idle connections are closed at once; the others when their answer is written.
    let answers = tokio::spawn(graceful.shutdown());
    tokio::join!(service.finish_runs(drain_time), service.inner.working.finish(drain_time));
    cluster.abort();
    service.inner.options.cluster.leave().await;
    sending.abort();
    let _ = tokio::time::timeout(LAST_ANSWERS, answers).await;
    service.inner.options.tracer.flush(LAST_SPANS).await;
    service.inner.log.event("stopped");
}

/// How many connections are taken. The store, the cells and the files of runs need descriptors as well, so that
/// connections may never take the last ones.
fn most(connections_max: usize) -> usize {
    use rustix::process::{Resource, getrlimit};
    let most = getrlimit(Resource::Nofile)
        .current
        .map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX));
    connections_max.min(most.saturating_sub(DESCRIPTORS_KEPT).max(most / 2)).max(1)
}

/// What callers get while all places are taken: whether the server is alive, and otherwise when to come back.
fn spare_router() -> axum::Router {
    let full = async || {
        let detail = "all connections of this server are taken";
        let problem = Problem::new(StatusCode::SERVICE_UNAVAILABLE, "connections_full", detail);
        let body = serde_json::to_string(&problem).unwrap_or_default();
        let headers = [
            (header::CONTENT_TYPE, "application/problem+json"),
            (header::RETRY_AFTER, "1"),
            (header::CONNECTION, "close"),
        ];
        (StatusCode::SERVICE_UNAVAILABLE, headers, body)
    };
    axum::Router::new().route("/healthz", axum::routing::get(super::health::healthz)).fallback(full)
}

/// Lets this process have as many descriptors as the system permits: every connection needs one.
pub fn raise_descriptor_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    // A process that may not raise it goes on with what it has.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
}

/// One more open connection, for as long as it lives.
struct Open(Service);

impl Open {
    fn new(service: &Service) -> Self {
        service.inner.connections.fetch_add(1, Ordering::Relaxed);
        Self(service.clone())
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.inner.connections.fetch_sub(1, Ordering::Relaxed);
    }
}

fn connection(
    service: &Service,
    stream: Box<dyn Connection>,
    router: axum::Router,
) -> http1::Connection<TokioIo<Patient>, TowerToHyperService<axum::Router>> {
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(service.inner.options.header_time)
        .max_headers(HEADERS_MAX)
        .max_buf_size(HEADER_BYTES_MAX)
        .serve_connection(
            TokioIo::new(Patient::new(stream, service.inner.options.write_time)),
            TowerToHyperService::new(router),
        )
}
