//! Keys of callers.

use std::time::Duration;

use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use ordain_store::{EntryNote, NewKey, Secret};
use ordain_types::parse_duration;
use ordain_ui::{Notice, Place};
use serde::Deserialize;

use super::reply;
use super::visit::{Nothing, Sent, Turned, Visit};
use crate::http::body::Query;
use crate::http::caller::{Admin, Caller, Scope};
use crate::http::problem::Problem;
use crate::http::service::Service;

/// How long a rotated key stays good beside the new one.
const OVERLAP: Duration = Duration::from_hours(24);

/// The key that was made a moment ago.
#[derive(Debug, Deserialize)]
pub(super) struct Made {
    made: Option<String>,
}

/// The keys.
pub(super) async fn page(visit: Visit<Admin>, query: Query<Made>) -> Result<Response, Turned> {
    let service = &visit.service;
    let store = service.engine().store();
    let secret = query.made.as_ref().and_then(|name| service.inner.new_keys.take(&visit.caller.id, name));
    let secret = secret.as_ref().map(|secret| secret.0.as_str());
    let content = ordain_ui::keys::page(&store.keys().await?, &store.timestamp(), secret, &[], &visit.viewer);
    visit.page(Place::Keys, "Keys", &content).await
}

/// The page again with what was typed, and what is wrong with it.
async fn again(sent: &Sent<Admin, Vec<(String, String)>>, problem: &Problem) -> Result<Response, Turned> {
    let service = &sent.visit.service;
    let (store, viewer) = (service.engine().store(), &sent.visit.viewer);
    let content = ordain_ui::keys::page(&store.keys().await?, &store.timestamp(), None, &sent.form, viewer);
    let notice = Notice { is_problem: true, text: problem.detail.clone() };
    let shell = sent.visit.shell(Some(notice)).await?;
    let mut response = reply::html(sent.visit.headers(), shell.page(Place::Keys, "Keys", &content));
    *response.status_mut() = StatusCode::UNPROCESSABLE_ENTITY;
    Ok(response)
}

/// Leads to the page that shows a new key once. Loading that page again makes no second key.
async fn made(service: &Service, caller: &Caller, secret: Secret) -> Result<Response, Turned> {
    service.reload_keys().await?;
    let name = service.inner.new_keys.leave(&caller.id, secret)?;
    Ok(Redirect::to(&format!("/keys?made={name}")).into_response())
}

/// Makes a key.
pub(super) async fn create(sent: Sent<Admin, Vec<(String, String)>>) -> Result<Response, Turned> {
    let service = &sent.visit.service;
    let new = match new_key(&sent.form) {
        Ok(new) => new,
        Err(problem) => return again(&sent, &problem).await,
    };
    let note = EntryNote::by(&sent.visit.caller.id, "ui");
    let (_, secret) = service.engine().store().create_key(new, note).await?;
    made(service, &sent.visit.caller, secret).await
}

fn new_key(form: &[(String, String)]) -> Result<NewKey, Problem> {
    let field = |name: &str| form.iter().find(|(of, _)| of == name).map_or("", |(_, value)| value.trim());
    let wrong = |field: &str, why: String| Problem::unprocessable("bad_form", field, why);
    let scopes: Vec<String> =
        form.iter().filter(|(of, _)| of == "scope").map(|(_, scope)| scope.clone()).collect();
    for scope in &scopes {
        scope.parse::<Scope>().map_err(|why| wrong("/scope", why))?;
    }
    if scopes.is_empty() {
        return Err(wrong("/scope", "a key needs at least one scope".to_owned()));
    }
    let expires_in = match field("expires") {
        "" | "never" => None,
        text => Some(parse_duration(text).map_err(|why| wrong("/expires", why.to_string()))?),
    };
    Ok(NewKey { name: field("name").to_owned(), scopes, expires_in, ..NewKey::default() })
}

/// Gives a key another secret. The one before stays good for a day.
pub(super) async fn rotate(Path(key): Path<String>, sent: Sent<Admin, Nothing>) -> Result<Response, Turned> {
    let service = &sent.visit.service;
    let note = EntryNote::by(&sent.visit.caller.id, "ui");
    let (_, secret) = service.engine().store().rotate_key(&key, OVERLAP, note).await?;
    made(service, &sent.visit.caller, secret).await
}

/// Makes a key useless from now on.
pub(super) async fn revoke(Path(key): Path<String>, sent: Sent<Admin, Nothing>) -> Result<Response, Turned> {
    let service = &sent.visit.service;
    service.engine().store().revoke_key(&key, EntryNote::by(&sent.visit.caller.id, "ui")).await?;
    service.reload_keys().await?;
    Ok(Redirect::to("/keys").into_response())
}
