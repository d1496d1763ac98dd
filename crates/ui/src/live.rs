//! A run that goes on: what it is doing, what a model says, what code prints. The server sends this again and again.

use maud::{Markup, html};
use serde_json::Value;

use crate::parts::chip;
use crate::shell::Viewer;
use crate::text::{lines, short_id, visible, when};

/// Characters of a model's text and of output that are shown while they come.
const TAIL_CHARS: usize = 2000;
/// Checks that are shown while they come.
const CHECKS_SHOWN: usize = 12;

/// A run that goes on.
#[derive(Debug, Clone)]
pub struct LiveRun {
    /// Its id.
    pub run_id: String,
    /// What made it.
    pub kind: String,
    /// What was asked.
    pub request: String,
    /// When it began.
    pub started_at: String,
    /// What happened so far: the event's name and its data.
    pub events: Vec<(String, Value)>,
}

/// The page of a run that goes on.
pub fn page(run: &LiveRun, viewer: &Viewer) -> Markup {
    html! {
        p.crumbs { a href="/runs" { "Runs" } " / " code { (short_id(&run.run_id)) } }
        h1.request { (lines(&run.request, 300)) }
        (followed(run, viewer, "page"))
    }
}

/// The part of a page that follows a run until it has ended. `shape` says what replaces it then: `page` or `card`.
pub fn followed(run: &LiveRun, viewer: &Viewer, shape: &str) -> Markup {
    html! {
        div.live hx-sse:connect={ "/runs/" (run.run_id) "/live?shape=" (shape) } hx-swap="innerMorph" {
            (progress(run, viewer))
        }
    }
}

/// What is shown when it has ended. The mark tells the page not to ask again.
pub fn over(ended: &Markup) -> Markup {
    html! { div data-over { (ended) } }
}

/// What is known of it at this moment.
pub fn progress(run: &LiveRun, viewer: &Viewer) -> Markup {
    let stages: Vec<&str> = run
        .events
        .iter()
        .filter(|(name, _)| name == "stage")
        .filter_map(|(_, data)| data["stage"].as_str())
        .collect();
    let told = tail(&run.events, &["text"]);
    let printed = tail(&run.events, &["stdout", "stderr"]);
    html! {
        p.meta { (chip("live", "running")) " " (visible(&run.kind)) " · since " (when(&run.started_at)) }
        ol.steps-live {
            @for (place, stage) in stages.iter().enumerate() {
                li.now[place + 1 == stages.len()] { (visible(stage)) @if place + 1 == stages.len() { "…" } }
            }
            @if stages.is_empty() { li.now { "starting…" } }
        }
        (checks(run))
        @if !told.is_empty() { pre.told tabindex="0" aria-label="The model's text" { (told) } }
        @if !printed.is_empty() { pre.output tabindex="0" aria-label="Output" { (printed) } }
        @if viewer.may_run {
            form.inline method="post" action={ "/runs/" (run.run_id) "/cancel" } {
                (viewer.hidden_token())
                button.danger type="submit" { "Cancel" }
            }
        }
    }
}

/// Checks that are done, the last ones.
fn checks(run: &LiveRun) -> Markup {
    let done: Vec<&Value> =
        run.events.iter().filter(|(name, _)| name == "check").map(|(_, data)| data).collect();
    let expected = run.events.iter().rev().find_map(|(_, data)| data["checks"].as_u64());
    let text = |data: &Value, name: &str| visible(data[name].as_str().unwrap_or_default());
    html! {
        @if run.kind == "check" {
            p { (done.len()) @if let Some(expected) = expected { " of " (expected) } " checks done" }
            ul.plain { @for data in done.iter().rev().take(CHECKS_SHOWN) {
                li { (crate::checks::status_named(&text(data, "status"))) " " code { (text(data, "check_id")) } " " (text(data, "summary")) }
            } }
        }
    }
}

/// The end of what came as pieces.
fn tail(events: &[(String, Value)], names: &[&str]) -> String {
    let mut text = String::new();
    for (_, data) in events.iter().filter(|(name, _)| names.contains(&name.as_str())) {
        text.push_str(data["text"].as_str().unwrap_or_default());
    }
    let skipped = text.chars().count().saturating_sub(TAIL_CHARS);
    let begin = text.char_indices().nth(skipped).map_or(text.len(), |(at, _)| at);
    lines(&text[begin..], TAIL_CHARS)
}
