//! The start: how everything stands, what needs somebody, and the last thirty days.

use maud::{Markup, html};
use ordain_checks::Mark;
use ordain_types::RunRecord;

use crate::chart::{self, Chart};
use crate::checks::status;
use crate::parts::{became, empty, state};
use crate::text::{grouped, in_path, lines, visible, when};

/// What the page shows.
#[derive(Debug, Clone, Default)]
pub struct Overview {
    /// How many checks have each status; `None` has never run.
    pub checks: Vec<(Option<Mark>, usize)>,
    /// Checks that failed or could not be evaluated: id and name.
    pub failing: Vec<(Mark, String, String)>,
    /// Runs that wait for approval, newest first, and how many there are.
    pub waiting: (Vec<RunRecord>, u64),
    /// The newest runs.
    pub newest: Vec<RunRecord>,
    /// Runs that go on.
    pub running: usize,
    /// Jobs that wait for a cell.
    pub queued: usize,
    /// The model that writes plans; without one the reader does.
    pub model: Option<String>,
    /// How well code is isolated.
    pub isolation: String,
    /// Charts of the last thirty days.
    pub charts: Vec<Chart>,
    /// Things to ask first.
    pub examples: Vec<String>,
}

/// The whole page.
pub fn page(overview: &Overview) -> Markup {
    html! {
        h1 { "Overview" }
        (health(overview))
        @if overview.newest.is_empty() && overview.running == 0 { (first(overview)) }
        (needs_you(overview))
        @if !overview.newest.is_empty() {
            @if !overview.charts.is_empty() { section { h2 { "The last thirty days" } div.charts { @for chart in &overview.charts { (chart::show(chart)) } } } }
            section {
                h2 { "Newest runs" }
                ul.plain.lined.timed { @for run in &overview.newest {
                    li { (became(run)) " " a href={ "/runs/" (run.run_id.as_str()) } { (lines(&run.request, 120)) } " " span.muted { (when(&run.started_at)) } }
                } }
            }
        }
    }
}

/// How everything stands, in one line.
fn health(overview: &Overview) -> Markup {
    html! {
        dl.health {
            div { dt { "Checks" } dd {
                @if overview.checks.iter().all(|(_, count)| *count == 0) { span.muted { "none" } }
                @for (of, count) in overview.checks.iter().filter(|(_, count)| *count > 0) { (status(*of)) " " (grouped(*count as u64)) " " }
            } }
            div { dt { "Waiting for you" } dd { a href="/approvals" { (grouped(overview.waiting.1)) } } }
            div { dt { "Running" } dd { (overview.running) } }
            @if overview.queued > 0 { div { dt { "Waiting for a cell" } dd { (overview.queued) } } }
            div { dt { "Plans by" } dd { a href="/settings#models" { (crate::settings::planner(overview.model.as_deref())) } } }
            @if overview.isolation != "full" { div { dt { "Isolation of code" } dd { a href="/settings#doctor" { (visible(&overview.isolation)) } } } }
        }
    }
}

/// Three things to click for somebody who is here for the first time.
fn first(overview: &Overview) -> Markup {
    html! {
        section.welcome {
            p.strong { "Nothing has run here yet." }
            ul.examples {
                @if let Some(example) = overview.examples.first() { li { a href={ "/ask?draft=" (in_path(example)) } { strong { "Ask: " } (visible(example)) } } }
                @else { li { a href="/ask" { "Ask something" } } }
                li { a href="/tables" { "Look at the tables" } }
                li { a href="/checks" { "Look at the checks" } }
            }
        }
    }
}

fn needs_you(overview: &Overview) -> Markup {
    let (waiting, total) = &overview.waiting;
    html! {
        section {
            h2 { "Needs you" }
            @if waiting.is_empty() && overview.failing.is_empty() { (empty("Nothing.", &html! {})) }
            ul.plain.lined {
                @for run in waiting { li { (state(run.state)) " " a href={ "/approvals#run-" (run.run_id.as_str()) } { (lines(&run.request, 120)) } " " span.muted { (lines(&run.receipt.text, 160)) } } }
                @if *total > waiting.len() as u64 { li { a href="/approvals" { "All " (grouped(*total)) " that wait" } } }
                @for (of, id, name) in &overview.failing { li { (status(Some(*of))) " " a href={ "/checks/" (in_path(id)) } { (visible(name)) } " " code.muted { (visible(id)) } } }
            }
        }
    }
}
