//! Settings as `ordain config` shows them, who writes plans, and what the machine offers to isolate code.

use maud::{Markup, html};

use crate::parts::chip;
use crate::text::visible;

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
    /// Who writes plans.
    pub planner: String,
    /// How well code is isolated.
    pub isolation: String,
    /// The layers, where they could be looked at.
    pub layers: Vec<Layer>,
    /// Python profiles and whether each is ready.
    pub profiles: Vec<(String, String)>,
    /// The program's version.
    pub version: String,
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
            p { "Plans are written by " strong { (visible(&settings.planner)) } ". " code { "ordain models" } " says what else could be used here, and why this one was chosen." }
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
