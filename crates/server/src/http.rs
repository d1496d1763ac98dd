//! The HTTP service over one workspace.
//!
//! A request passes, from the outside in: the connection's limits ([`serve`]), the frame that gives it an id, checks
//! `Host` and `Origin`, catches panics, counts and logs it ([`frame`](mod@frame)), then its route. A route takes a
//! [`caller::May`], which is where keys, scopes and rate limits are looked at: a handler that does not name what its
//! caller may do cannot get at the caller. Whatever goes wrong becomes a [`Problem`], which the frame writes down
//! with the request's id.
//!
//! Work goes through [`Service::begin`]: every run, short or long, is a task of its own with events of its own, so that
//! waiting for it, watching it, cancelling it and losing the connection to it are all the same run.

mod answer;
mod artifacts;
mod body;
mod caller;
mod chat;
mod checks;
mod cluster;
mod code;
mod cors;
mod cursor;
mod docs;
mod drain;
mod events;
mod exec;
mod files;
mod frame;
mod health;
mod keyring;
mod ledger;
mod live;
mod lock;
mod log;
mod mcp;
mod metrics;
mod openai;
mod openapi;
mod order;
mod patience;
mod places;
mod plans;
mod problem;
mod rate;
mod read;
mod requests;
mod runs;
mod schedules;
mod schema;
mod sending;
mod serve;
mod service;
mod session_book;
mod sessions;
mod sight;
mod spans;
mod tables;
mod telling;
mod turns;
mod ui;
mod uploads;
mod wait;

pub use caller::Scope;
pub use lock::{ServeLock, ServeLockError};
pub use log::LogFormat;
pub use mcp::serve_stdio;
pub use openapi::document;
pub use problem::Problem;
pub use serve::{ServeError, check_address, raise_descriptor_limit, serve};
pub use service::{HttpOptions, Service};

use axum::Router;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// All routes, over a service.
pub fn router(service: &Service) -> Router {
    let (routes, _) = documented().split_for_parts();
    let routes = routes
        .merge(docs::routes())
        .route("/mcp", axum::routing::any(mcp::post))
        .merge(openai::routes_without_version())
        .merge(if service.inner.options.ui { ui::routes() } else { Router::new() })
        .fallback(frame::not_found)
        .method_not_allowed_fallback(frame::method_not_allowed)
        // Bodies are read by the routes, each with its own limit; this one is for forms.
        .layer(axum::extract::DefaultBodyLimit::max(files::UPLOAD_BYTES_MAX))
        .with_state(service.clone());
    frame::around(routes, service)
}

/// The routes that stand in the `OpenAPI` document, with their descriptions.
fn documented() -> OpenApiRouter<Service> {
    OpenApiRouter::with_openapi(openapi::base())
        .routes(routes!(requests::create))
        .routes(routes!(chat::create))
        .routes(routes!(openai::create))
        .routes(routes!(openai::models::list))
        .routes(routes!(openai::models::get))
        .routes(routes!(exec::create))
        .routes(routes!(code::create))
        .routes(routes!(runs::list))
        .routes(routes!(runs::get))
        .routes(routes!(runs::approve))
        .routes(routes!(runs::reject))
        .routes(routes!(runs::undo))
        .routes(routes!(runs::cancel))
        .routes(routes!(runs::answer_question))
        .routes(routes!(runs::rate))
        .routes(routes!(events::stream))
        .routes(routes!(artifacts::download))
        .routes(routes!(checks::list, checks::edit::add))
        .routes(routes!(checks::get, checks::edit::change, checks::edit::remove))
        .routes(routes!(checks::edit::compile))
        .routes(routes!(checks::edit::accept))
        .routes(routes!(checks::run::all))
        .routes(routes!(checks::run::one))
        .routes(routes!(checks::look::history))
        .routes(routes!(checks::look::changes))
        .routes(routes!(checks::look::report))
        .routes(routes!(checks::look::prompts))
        .routes(routes!(checks::look::data))
        .routes(routes!(checks::look::suggestions))
        .routes(routes!(plans::list))
        .routes(routes!(plans::get, plans::evict))
        .routes(routes!(plans::pin))
        .routes(routes!(plans::unpin))
        .routes(routes!(read::read))
        .routes(routes!(tables::list))
        .routes(routes!(tables::rows))
        .routes(routes!(tables::history))
        .routes(routes!(ledger::list))
        .routes(routes!(ledger::verify))
        .routes(routes!(sessions::list))
        .routes(routes!(sessions::get, sessions::end))
        .routes(routes!(health::healthz))
        .routes(routes!(health::readyz))
        .routes(routes!(health::version))
        .routes(routes!(metrics::scrape))
}
