//! Whether the server is alive, whether it can work, and what it is. No key is needed for these.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use ordain_store::StoreError;
use serde::Serialize;
use utoipa::ToSchema;

use super::answer;
use super::service::Service;

/// How long the store may take to say that it is there.
const STORE_WAIT: std::time::Duration = std::time::Duration::from_secs(3);
/// Free bytes below which no work should come: a run must be able to write its record.
const DISK_FLOOR_BYTES: u64 = 64 << 20;

/// That the process is alive.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Alive {
    /// Always `ok`.
    #[schema(example = "ok")]
    status: &'static str,
}

/// Whether the server can work.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Ready {
    /// Whether all parts are.
    ready: bool,
    /// Each part.
    parts: Vec<Part>,
}

/// One thing that the server needs.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Part {
    /// What it is: `accepting`, `store`, `isolation`, `executors`, `disk`.
    name: &'static str,
    /// Whether it is as it should be.
    ok: bool,
    /// What was found.
    found: String,
}

/// What the server is.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct About {
    /// Always `ordain`.
    #[schema(example = "ordain")]
    name: &'static str,
    /// The version.
    #[schema(example = "0.1.0")]
    version: &'static str,
    /// Who writes plans when a request names nobody.
    planner: String,
    /// How well cells are isolated.
    isolation: String,
}

/// Whether the process is alive
#[utoipa::path(get, path = "/healthz", tag = "operations", operation_id = "healthz", security(()),
    responses((status = 200, description = "It is", body = Alive)))]
pub(crate) async fn healthz() -> Response {
    answer::json(&Alive { status: "ok" })
}

/// Whether the server can work
#[utoipa::path(get, path = "/readyz", tag = "operations", operation_id = "readyz", security(()),
    responses(
        (status = 200, description = "It can", body = Ready),
        (status = 503, description = "It cannot, or it is stopping", body = Ready),
    ))]
pub(crate) async fn readyz(State(service): State<Service>) -> Response {
    let options = &service.inner.options;
    let stopping = service.is_draining();
    let found = if stopping { "stopping" } else { "new work is taken" };
    let mut parts = vec![Part { name: "accepting", ok: !stopping, found: found.to_owned() }];
    // A store whose connections are all taken cannot work either.
    let store = service.engine().store();
    let looked = tokio::time::timeout(STORE_WAIT, async {
        store.check().await?;
        store.newest_seq().await
    });
    parts.push(match looked.await {
        Ok(Ok(seq)) => Part { name: "store", ok: true, found: format!("{seq} ledger entries") },
        Ok(Err(error)) => Part { name: "store", ok: false, found: reason(&error) },
        Err(_) => Part { name: "store", ok: false, found: "it does not answer".to_owned() },
    });
    parts.push(Part { name: "isolation", ok: options.isolation != "none", found: options.isolation.clone() });
    if let Some(pool) = &options.executors {
        let members = pool.members();
        let well = members.iter().filter(|member| member.is_well).count();
        let found = format!("{well} of {} can be reached", members.len());
        parts.push(Part { name: "executors", ok: well > 0, found });
    }
    if options.cluster.is_shared() {
        let ok = options.cluster.is_connected();
        let found =
            if ok { "the queue answers" } else { "the NATS servers do not answer, or have lost the queue" };
        parts.push(Part { name: "cluster", ok, found: found.to_owned() });
    }
    parts.push(disk(&options.state));
    let ready = parts.iter().all(|part| part.ok);
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, answer::json(&Ready { ready, parts })).into_response()
}

/// What the server is
#[utoipa::path(get, path = "/version", tag = "operations", operation_id = "version", security(()),
    responses((status = 200, description = "Name, version, planner and isolation", body = About)))]
pub(crate) async fn version(State(service): State<Service>) -> Response {
    answer::json(&About {
        name: "ordain",
        version: env!("CARGO_PKG_VERSION"),
        planner: service.inner.planner.name(),
        isolation: service.inner.options.isolation.clone(),
    })
}

/// Why the store cannot be used: what was looked at is named, and no place.
fn reason(error: &StoreError) -> String {
    match error {
        StoreError::File { message, .. } | StoreError::Ledger { message, .. } => message.clone(),
        StoreError::CommitUnknown { .. } => error.to_string(),
        other => other.code().to_owned(),
    }
}

fn disk(state: &std::path::Path) -> Part {
    match rustix::fs::statvfs(state) {
        Ok(room) => {
            let bytes = room.f_bavail.saturating_mul(room.f_frsize);
            let found = format!("{} free", ordain_types::format_bytes(bytes));
            Part { name: "disk", ok: bytes >= DISK_FLOOR_BYTES, found }
        }
        Err(error) => Part { name: "disk", ok: false, found: error.to_string() },
    }
}
