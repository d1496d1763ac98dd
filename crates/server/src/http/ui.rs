//! The web UI: looks things up, and serves the pages that `ordain_ui` makes of them.
//!
//! A page takes a [`Visit`](visit::Visit) as an API route takes a [`May`](super::caller::May): that is where the key
//! behind the browser's session is looked at. Everything that changes something is a form that arrives as
//! [`Sent`](visit::Sent), which only a page of this server can have sent, and goes through the same calls as the API.

mod approvals;
mod ask;
mod checks;
mod counts;
mod keys;
mod ledger;
mod overview;
mod plans;
mod reply;
mod runs;
mod settings;
mod shelf;
mod sign_in;
mod sign_ins;
mod tables;
mod visit;

pub(crate) use checks::edit::Draft;
pub(crate) use counts::{RunCounts, UsualChanges};
pub(crate) use reply::{POLICY, ProblemForm, asset};
pub(crate) use shelf::Shelf;
pub(crate) use sign_ins::SignIns;

use axum::Router;
use axum::routing::{get, post};

use super::service::Service;

/// The screens and their forms.
pub(crate) fn routes() -> Router<Service> {
    Router::new()
        .route("/", get(overview::page))
        .route("/sign-in", get(sign_in::page).post(sign_in::enter))
        .route("/sign-out", post(sign_in::leave))
        .route("/theme", post(sign_in::theme))
        .route("/ask", get(ask::new))
        .route("/ask/words", get(ask::words))
        .route("/ask/{conversation}", get(ask::page).post(ask::create))
        .route("/runs", get(runs::list))
        .route("/runs/live", get(runs::live::list))
        .route("/runs/{run}", get(runs::page))
        .route("/runs/{run}/live", get(runs::live::stream))
        .route("/runs/{run}/diff/{table}", get(runs::diff))
        .route("/runs/{run}/files/{name}", get(runs::file))
        .route("/runs/{run}/approve", post(runs::decide::approve))
        .route("/runs/{run}/reject", post(runs::decide::reject))
        .route("/runs/{run}/undo", post(runs::decide::undo))
        .route("/runs/{run}/answer", post(runs::decide::answer))
        .route("/runs/{run}/rate", post(runs::decide::rate))
        .route("/runs/{run}/cancel", post(runs::decide::cancel))
        .route("/runs/{run}/again", post(runs::decide::again))
        .route("/approvals", get(approvals::page))
        .route("/checks", get(checks::grid))
        .route("/checks/run", post(checks::run_all))
        .route("/checks/{check}", get(checks::page))
        .route("/checks/{check}/run", post(checks::run_one))
        .route("/checks/{check}/edit", get(checks::edit::form).post(checks::edit::tried))
        .route("/compared-checks", get(checks::compare))
        .route("/new-check", get(checks::edit::new_form).post(checks::edit::new_tried))
        .route("/suggested-checks", get(checks::edit::suggestions).post(checks::edit::suggestions_chosen))
        .route("/save-check", post(checks::edit::save))
        .route("/tables", get(tables::list))
        .route("/tables/{table}", get(tables::rows))
        .route("/tables/{table}/history", get(tables::history))
        .route("/plans", get(plans::list))
        .route("/plans/{plan}", get(plans::page))
        .route("/plans/{plan}/pin", post(plans::pin))
        .route("/plans/{plan}/unpin", post(plans::unpin))
        .route("/plans/{plan}/evict", post(plans::evict))
        .route("/ledger", get(ledger::list))
        .route("/ledger/verify", post(ledger::verify))
        .route("/ledger/{seq}", get(ledger::page))
        .route("/keys", get(keys::page).post(keys::create))
        .route("/keys/{key}/rotate", post(keys::rotate))
        .route("/keys/{key}/revoke", post(keys::revoke))
        .route("/settings", get(settings::page))
        .route("/settings/models", get(settings::models))
}
