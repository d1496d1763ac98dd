//! `/metrics` of an executor, on an address of its own: gRPC callers have no business there, and Prometheus speaks plain
//! HTTP. It is off unless an address is given.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tonic::Code;

use super::Shared;
use super::caller::Token;
use crate::figures::{Figures, Gauge, Help, MEDIA_TYPE, escaped};

/// Connections to this address at once.
const CONNECTIONS_MAX: usize = 16;
/// How long a header may take.
const HEADER_TIME_MAX: Duration = Duration::from_secs(10);
/// How long to wait when the machine has no descriptors left.
const PAUSE: Duration = Duration::from_millis(50);

/// What each figure means.
const HELP: [Help; 9] = [
    ("ordain_cell_ends_total", "counter", "Jobs by how their code ended."),
    ("ordain_cells_active", "gauge", "Cells that run a job."),
    ("ordain_cells_idle", "gauge", "Cells that are ready and wait for a job."),
    ("ordain_grpc_handled_total", "counter", "Calls by method and status."),
    ("ordain_grpc_handling_seconds", "histogram", "Time from a call that brings a job to its end."),
    ("ordain_info", "gauge", "What is running."),
    ("ordain_queue_depth", "gauge", "Jobs that wait for a cell."),
    ("ordain_sessions_open", "gauge", "Sessions that are open."),
    ("ordain_trace_spans_total", "counter", "Spans by what became of them, where a collector is configured."),
];

/// Counts a call that is over.
pub(crate) fn handled(figures: &Figures, method: &str, code: Code) {
    figures.count("ordain_grpc_handled_total", &format!("method=\"{method}\",code=\"{code:?}\""));
}

/// Counts a job that is over.
pub(crate) fn job(figures: &Figures, method: &str, cause: Option<&str>, elapsed: Duration) {
    figures.observe("ordain_grpc_handling_seconds", &format!("method=\"{method}\""), elapsed.as_secs_f64());
    if let Some(cause) = cause {
        figures.count("ordain_cell_ends_total", &format!("cause=\"{cause}\""));
    }
}

/// Answers until the executor ends.
pub(crate) async fn serve(listener: TcpListener, shared: Arc<Shared>, token: Option<Arc<Token>>) {
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    while let Ok(place) = Arc::clone(&places).acquire_owned().await {
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        let (shared, token) = (Arc::clone(&shared), token.clone());
        tokio::spawn(async move {
            let answer = service_fn(move |request| {
                let (shared, token) = (Arc::clone(&shared), token.clone());
                async move { Ok::<_, Infallible>(answer(&request, &shared, token.as_deref()).await) }
            });
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEADER_TIME_MAX)
                .serve_connection(TokioIo::new(stream), answer);
            // A client that hangs up needs no answer.
            let _ = connection.await;
            drop(place);
        });
    }
}

async fn answer(
    request: &Request<Incoming>,
    shared: &Shared,
    token: Option<&Token>,
) -> Response<Full<Bytes>> {
    let given = request.headers().get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    let given = given.and_then(|value| value.strip_prefix("Bearer ")).unwrap_or_default();
    let (status, text) = match (request.method(), request.uri().path()) {
        _ if token.is_some_and(|token| !token.is(given)) => {
            (StatusCode::UNAUTHORIZED, "send the header `Authorization: Bearer TOKEN`\n".to_owned())
        }
        (&Method::GET, "/metrics") => (StatusCode::OK, shared.figures.write(&HELP, &gauges(shared).await)),
        _ => (StatusCode::NOT_FOUND, "there is only GET /metrics\n".to_owned()),
    };
    let mut response = Response::new(Full::new(Bytes::from(text)));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(MEDIA_TYPE));
    response
}

async fn gauges(shared: &Shared) -> Vec<Gauge> {
    let load = shared.executor.load();
    let info = format!(
        "version=\"{}\",isolation=\"{}\"",
        env!("CARGO_PKG_VERSION"),
        escaped(shared.executor.level().as_str())
    );
    let plain = |name, value: usize| (name, String::new(), value.to_string());
    let mut gauges = vec![
        ("ordain_info", info, "1".to_owned()),
        plain("ordain_cells_active", load.running),
        plain("ordain_cells_idle", shared.executor.idle_cells().await),
        plain("ordain_queue_depth", load.waiting),
        plain("ordain_sessions_open", shared.sessions.count()),
    ];
    gauges.extend(shared.options.tracer.figures());
    gauges
}
