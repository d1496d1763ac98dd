//! Settings as `ordain config` shows them, who writes plans, and what the machine offers to isolate code.

use maud::{Markup, html};

use crate::parts::chip;
use crate::text::{lines, visible};

/// A setting's value, and where it comes from.
#[derive(Debug, Clone)]
pub struct Setting {
    /// Its key in `ordain.toml`, or its variable.
    pub key: String,
    /// The value; `None` if it is not set.
    pub value: Option<String>,
    /// Where the value comes from.
    pub source: String,
    /// What it means.
    pub about: String,
}

/// A layer of isolation.
#[derive(Debug, Clone)]
pub struct Layer {
    /// What it is called.
    pub name: String,
    /// Whether it holds.
    pub holds: bool,
    /// What was found.
    pub found: String,
    /// How to get it.
    pub remedy: Option<String>,
}

/// What the page shows.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// Every setting.
    pub settings: Vec<Setting>,
    /// The model that writes plans; without one the reader does.
    pub model: Option<String>,
    /// How well code is isolated.
    pub isolation: String,
    /// The layers, where they could be looked at.
    pub layers: Vec<Layer>,
    /// Python profiles and whether each is ready.
    pub profiles: Vec<(String, String)>,
    /// The program's version.
    pub version: String,
}

/// Somebody who could write plans.
#[derive(Debug, Clone)]
pub struct Writer {
    /// What a request or `ordain.toml` names it.
    pub name: String,
    /// Whether it can be used now.
    pub is_ready: bool,
    /// Why, or why not, and what would make it ready.
    pub why: String,
    /// The models that it serves, where it said so.
    pub models: Vec<String>,
}

/// Who writes plans, as people call them: a model, or without one the reader.
pub(crate) fn planner(model: Option<&str>) -> String {
    model.map_or_else(|| "the reader".to_owned(), visible)
}

/// Who could write plans.
pub fn models(now: Option<&str>, writers: &[Writer]) -> Markup {
    html! {
        p.crumbs { a href="/settings" { "Settings" } " / Models" }
        h1 { "Models" }
        p { "Plans are written by " strong { (planner(now)) } ". Another one is chosen with " code { "model.name" } " in " code { "ordain.toml" } " or when the server starts." }
        div.scroll tabindex="0" role="region" aria-label="Models" { table.list.stack {
            thead { tr { th scope="col" { "Name" } th scope="col" { "Ready" } th scope="col" { "Why" } } }
            tbody { @for writer in writers { tr data-row {
                td { code { (visible(&writer.name)) } }
                td { (chip(if writer.is_ready { "good" } else { "off" }, if writer.is_ready { "ready" } else { "not ready" })) }
                td.wide { (visible(&writer.why)) @if !writer.models.is_empty() { "; serves " (lines(&writer.models.join(", "), 300)) } }
            } } }
        } }
    }
}

/// The whole page.
pub fn page(settings: &Settings) -> Markup {
    html! {
        h1 { "Settings" }
        p.muted { "They are changed in " code { "ordain.toml" } ", by variables, or by flags; a value comes from the first place that has one." }
        div.scroll tabindex="0" role="region" aria-label="Settings" { table.list.stack {
            thead { tr { th scope="col" { "Setting" } th scope="col" { "Value" } th scope="col" { "From" } th scope="col" { "Meaning" } } }
            tbody { @for setting in &settings.settings { tr data-row {
                td { code { (visible(&setting.key)) } }
                td { @if let Some(value) = &setting.value { span.break { (visible(value)) } } @else { span.null { "not set" } } }
                td { (visible(&setting.source)) }
                td { (visible(&setting.about)) }
            } } }
        } }
        section #models {
            h2 { "Models" }
            p { "Plans are written by " strong { (planner(settings.model.as_deref())) } ". " a href="/settings/models" { "Who else could write them" } }
        }
        section #doctor {
            h2 { "Doctor" }
            p { "Isolation of code: " strong { (visible(&settings.isolation)) } " · Ordain " (visible(&settings.version)) }
            ul.plain {
                @for layer in &settings.layers { li {
                    (chip(if layer.holds { "good" } else { "bad" }, if layer.holds { "holds" } else { "missing" })) " " strong { (visible(&layer.name)) } " " span.muted { (visible(&layer.found)) }
                    @if let Some(remedy) = &layer.remedy { p.hint { (visible(remedy)) } }
                } }
                @for (profile, state) in &settings.profiles { li { (chip(if state == "ready" { "good" } else { "off" }, state)) " Python profile " strong { (visible(profile)) } } }
            }
        }
    }
}
