//! Settings, models and what the machine offers.

use axum::response::Response;
use ordain_cell::probe;
use ordain_cell::profile::{self, DataDir, State, Status};
use ordain_planner::{Candidate, survey};
use ordain_ui::Place;
use ordain_ui::settings::{Layer, Setting, Settings, Writer};
use tokio::sync::OnceCell;

use super::visit::{Turned, Visit};
use crate::http::caller::Read;

/// Layers, and Python profiles with their states.
type Machine = (Vec<Layer>, Vec<(String, String)>);

/// Looking at the layers starts a cell, and what a machine offers does not change while a server runs.
static MACHINE: OnceCell<Machine> = OnceCell::const_new();

async fn look() -> Machine {
    let listed = || DataDir::from_env().and_then(|data_dir| profile::list(&data_dir)).unwrap_or_default();
    let profiles = tokio::task::spawn_blocking(listed).await.unwrap_or_default();
    let layers = match profiles.first() {
        Some(first) => probe(&first.interpreter).await.layers,
        None => Vec::new(),
    };
    let layer = |layer: ordain_cell::Layer| Layer {
        name: layer.name.to_owned(),
        holds: layer.holds,
        found: layer.found,
        remedy: layer.remedy.map(str::to_owned),
    };
    let state = |status: &Status| match status.state {
        State::Ready(_) => "ready",
        State::Missing => "not set up",
        State::Damaged(_) => "damaged",
    };
    let profiles = profiles.iter().map(|status| (status.profile.to_string(), state(status).to_owned()));
    (layers.into_iter().map(layer).collect(), profiles.collect())
}

/// The page.
pub(super) async fn page(visit: Visit<Read>) -> Result<Response, Turned> {
    let service = &visit.service;
    let options = &service.inner.options;
    let machine = MACHINE.get_or_init(look).await;
    let resolved = options.checks.as_ref().and_then(|checks| checks.workspace().resolved().ok());
    let settings = resolved.unwrap_or_default().into_iter().map(|resolved| Setting {
        key: resolved.key.to_owned(),
        value: resolved.value,
        source: resolved.source.to_owned(),
        about: resolved.about.to_owned(),
    });
    let content = ordain_ui::settings::page(&Settings {
        settings: settings.collect(),
        model: service.inner.planner.model(),
        isolation: options.isolation.clone(),
        layers: machine.0.clone(),
        profiles: machine.1.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    });
    visit.page(Place::Settings, "Settings", &content).await
}

/// Who could write plans. It is looked at when somebody asks, since servers of models are asked what they serve.
pub(super) async fn models(visit: Visit<Read>) -> Result<Response, Turned> {
    let service = &visit.service;
    let writers = match &service.inner.options.checks {
        None => Vec::new(),
        Some(checks) => {
            let workspace = checks.workspace();
            survey(&workspace.model, |name| workspace.environment.get(name)).await
        }
    };
    let writers: Vec<Writer> = writers.into_iter().map(writer).collect();
    let content = ordain_ui::settings::models(service.inner.planner.model().as_deref(), &writers);
    visit.page(Place::Settings, "Models", &content).await
}

fn writer(candidate: Candidate) -> Writer {
    let Candidate { name, is_ready, reason, hint, models } = candidate;
    let why = hint.map_or_else(|| reason.clone(), |hint| format!("{reason}; {hint}"));
    Writer { name, is_ready, why, models }
}
