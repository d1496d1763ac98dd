//! What waits for a person: each diff, the rule that asked, and one button that says what it commits.

use maud::{Markup, html};
use ordain_types::{RunRecord, RunState};
use serde_json::Value;

use crate::diff;
use crate::parts::{chip, empty, fold, receipt};
use crate::run;
use crate::shell::Viewer;
use crate::text::{cell, counted, in_path, lines, visible, when};

/// A run that waits.
#[derive(Debug, Clone)]
pub struct Waiting {
    /// The run.
    pub record: RunRecord,
    /// Rows that are no longer as they were when the run saw them.
    pub conflicts: Vec<Conflict>,
    /// What it does that no committed run did of late: `rows added to users`, `price of inventory changed`.
    pub unheard: Vec<String>,
}

/// A row that changed since a run saw it.
#[derive(Debug, Clone)]
pub struct Conflict {
    /// The table.
    pub table: String,
    /// The row, by the values of its key.
    pub row: String,
    /// Cells that differ: column, what the run saw, what is there now.
    pub cells: Vec<(String, Option<Value>, Option<Value>)>,
}

/// The whole page. `total` counts those on other pages too.
pub fn page(waiting: &[Waiting], total: u64, viewer: &Viewer) -> Markup {
    html! {
        h1 { "Approvals" }
        @if waiting.is_empty() {
            (empty("Nothing waits for you.", &html! {
                p { "A change waits here when it is asked for with “Hold for approval”, or when " code { "[approval]" } " in " code { "ordain.toml" } " says so." }
            }))
        } @else {
            p.muted { (counted(usize::try_from(total).unwrap_or(usize::MAX), "run waits", "runs wait")) ". Kinds of changes that were not committed lately come first, then the newest." }
        }
        @for one in waiting { (item(one, viewer)) }
    }
}

fn item(waiting: &Waiting, viewer: &Viewer) -> Markup {
    let record = &waiting.record;
    html! {
        article.approval id={ "run-" (record.run_id.as_str()) } data-row {
            h2 { a href={ "/runs/" (record.run_id.as_str()) } { (lines(&record.request, 200)) } }
            p.meta {
                (when(&record.started_at))
                @for what in &waiting.unheard { " · " (chip("wait", &format!("new: {}", visible(what)))) }
                @if record.state == RunState::Waiting { " · " (chip("wait", "waits for an answer")) }
                @else if waiting.conflicts.is_empty() { " · " (chip("good", "no conflict")) } @else { " · " (chip("bad", "conflict")) }
                @for invariant in &record.invariants { " · " (visible(&invariant.name)) @if invariant.holds { " holds" } @else { " is broken" } }
            }
            (receipt(record))
            (run::held_by(record))
            @if let Some(text) = &record.answer.text { p.said.muted { span.not-made { (run::unmade(record.state)) } (lines(text, 2000)) } }
            @if !waiting.conflicts.is_empty() { (conflicts(&waiting.conflicts)) }
            (diff::of_run(record))
            @for step in &record.plan.steps {
                (fold(&html! { "Code" @if !step.title.is_empty() { ": " (visible(&step.title)) } }, false,
                    &crate::code::listing(&step.code, &record.verdict.findings, &format!("{}-{}", record.run_id, in_path(&step.id)))))
            }
            (run::decision(record, !waiting.conflicts.is_empty(), viewer))
        }
    }
}

pub(crate) fn conflicts(conflicts: &[Conflict]) -> Markup {
    html! {
        div.problem role="note" {
            p { strong { (counted(conflicts.len(), "row has", "rows have")) " changed since this run saw " (if conflicts.len() == 1 { "it" } else { "them" }) "." } " It can be committed on the rows of today; if more differs than derived columns, it waits again and shows what." }
            ul { @for conflict in conflicts {
                li {
                    code { (visible(&conflict.table)) " " (visible(&conflict.row)) } ": "
                    @if conflict.cells.is_empty() { "the row is not there any more, or is there already" }
                    @for (place, (column, expected, found)) in conflict.cells.iter().enumerate() {
                        @if place > 0 { ", " }
                        (visible(column)) " was " (cell(expected.as_ref())) ", is " (cell(found.as_ref()))
                    }
                }
            } }
        }
    }
}
