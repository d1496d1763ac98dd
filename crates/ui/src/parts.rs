//! Small pieces that several pages share.

use maud::{Markup, html};
use ordain_types::{RunKind, RunRecord, RunState};
use serde_json::Value;

use crate::text::{cell, heading, in_path, is_number, visible};

/// Rows of an answer that a page shows.
const ANSWER_ROWS_MAX: usize = 100;

/// The next page of a list, if there is one.
#[derive(Debug, Clone, Default)]
pub struct Pager {
    /// Where the first page is, unless this is the first.
    pub first: Option<String>,
    /// Where the next page is.
    pub next: Option<String>,
}

impl Pager {
    /// The pages of a list at an address, filtered by these fields. `next` is where the next one begins.
    pub fn new(address: &str, filters: &[(&str, &str)], is_first: bool, next: Option<&str>) -> Self {
        let at = |cursor: Option<&str>| {
            let cursor = cursor.map(|cursor| ("cursor", cursor));
            Self::address(address, filters.iter().copied().chain(cursor))
        };
        Self { first: (!is_first).then(|| at(None)), next: next.map(|cursor| at(Some(cursor))) }
    }

    /// An address with fields.
    pub(crate) fn address<'a>(address: &str, fields: impl Iterator<Item = (&'a str, &'a str)>) -> String {
        let fields: Vec<String> = fields.map(|(name, value)| format!("{name}={}", in_path(value))).collect();
        if fields.is_empty() { address.to_owned() } else { format!("{address}?{}", fields.join("&")) }
    }

    pub(crate) fn show(&self) -> Markup {
        html! {
            @if self.first.is_some() || self.next.is_some() {
                nav.pager aria-label="Pages" {
                    @if let Some(first) = &self.first { a href=(first) { "First page" } }
                    @if let Some(next) = &self.next { a rel="next" href=(next) { "Next page" } }
                }
            }
        }
    }
}

/// A state as a word with a shape and a colour of its own.
pub(crate) fn state(state: RunState) -> Markup {
    let (shape, word) = match state {
        RunState::Committed => ("good", "committed"),
        RunState::Answered => ("calm", "answered"),
        RunState::Declined => ("off", "declined"),
        RunState::Held => ("wait", "waits for approval"),
        RunState::Waiting => ("wait", "waits for an answer"),
        RunState::Rejected => ("bad", "rejected"),
        RunState::RolledBack => ("off", "rolled back"),
        RunState::Failed => ("bad", "failed"),
        RunState::Undone => ("off", "undone"),
        RunState::Conflicted => ("bad", "conflicted"),
    };
    chip(shape, word)
}

/// What became of a run. Of checks that ran, what matters is whether they passed.
pub(crate) fn became(record: &RunRecord) -> Markup {
    match (&record.status, record.kind, record.state) {
        (Some(status), RunKind::Check, RunState::Answered) => crate::checks::status_named(status),
        _ => state(record.state),
    }
}

/// A word with a shape and a colour: `good`, `bad`, `wait`, `calm`, `off` or `live`.
pub(crate) fn chip(shape: &str, word: &str) -> Markup {
    html! { span class={ "chip " (shape) } { (word) } }
}

/// Names and what they are.
pub(crate) fn facts(facts: &[(&str, Markup)]) -> Markup {
    html! { dl.facts { @for (name, value) in facts { div { dt { (name) } dd { (value) } } } } }
}

/// A list that is empty: what would be here, and how to get it.
pub(crate) fn empty(what: &str, how: &Markup) -> Markup {
    html! { div.empty { p.strong { (what) } (how) } }
}

/// Rows that a plan gave, as a table if they have names, else as they are.
pub(crate) fn answer_rows(rows: &Value, order: &[String]) -> Markup {
    let Some(list) = rows.as_array().filter(|list| !list.is_empty() && list.iter().all(Value::is_object))
    else {
        return html! {};
    };
    let is_there = |name: &&str| list.iter().take(ANSWER_ROWS_MAX).any(|row| row.get(name).is_some());
    let mut columns: Vec<&str> = order.iter().map(String::as_str).filter(is_there).collect();
    for name in list.iter().take(ANSWER_ROWS_MAX).filter_map(Value::as_object).flat_map(|row| row.keys()) {
        if !columns.contains(&name.as_str()) {
            columns.push(name);
        }
    }
    html! {
        @if let Some(chart) = crate::chart::of_rows(list) { (crate::chart::show(&chart)) }
        div.scroll tabindex="0" role="region" aria-label="Rows of the answer" {
            table {
                thead { tr { @for name in &columns { th.right[is_number(list[0].get(name))] scope="col" { (heading(name)) } } } }
                tbody { @for row in list.iter().take(ANSWER_ROWS_MAX) { tr {
                    @for name in &columns { td.right[is_number(row.get(name))] { (cell(row.get(name))) } }
                } } }
            }
        }
        @if list.len() > ANSWER_ROWS_MAX {
            p.muted { "The first " (ANSWER_ROWS_MAX) " of " (list.len()) " rows; the record has them all." }
        }
    }
}

/// The engine's own sentence about what happened to the data.
pub(crate) fn receipt(record: &RunRecord) -> Markup {
    let mark = match record.state {
        RunState::Committed => "good",
        RunState::Held | RunState::Waiting => "wait",
        RunState::Conflicted | RunState::Failed => "bad",
        _ => "off",
    };
    html! {
        p class={ "receipt " (mark) } {
            (crate::icons::icon("receipt")) span.unseen { "Receipt: " } span { (visible(&record.receipt.text)) }
        }
    }
}

/// Something to open: a title and what is inside.
pub(crate) fn fold(title: &Markup, is_open: bool, inside: &Markup) -> Markup {
    html! { details.fold open[is_open] { summary { (title) } div.inside { (inside) } } }
}

/// JSON for people.
pub(crate) fn json(value: &Value) -> Markup {
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    html! { pre.json tabindex="0" { (crate::text::lines(&text, 100_000)) } }
}
