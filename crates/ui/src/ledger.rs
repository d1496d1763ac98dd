//! The ledger: its entries, one of them, and whether it is whole.

use maud::{Markup, html};
use ordain_store::{LedgerEntry, LedgerReport};
use serde_json::Value;

use crate::parts::{Pager, chip, facts, json};
use crate::shell::Viewer;
use crate::text::{grouped, in_path, lines, short_id, visible, when};

/// The list, newest first, or what was searched for, and what the last look at all of it gave.
pub fn list(
    entries: &[LedgerEntry],
    report: Option<&LedgerReport>,
    about: &str,
    pager: &Pager,
    viewer: &Viewer,
) -> Markup {
    html! {
        div.title {
            h1 { "Ledger" }
            form.inline method="post" action="/ledger/verify" { (viewer.hidden_token()) button type="submit" { "Verify the whole ledger" } }
        }
        @if let Some(report) = report { (verified(report)) }
        form.search role="search" method="get" action="/ledger" {
            label { span.unseen { "An entry’s number, or a run’s id" } input type="search" name="about" value=(about) maxlength="40" placeholder="Entry or run"; }
            button type="submit" { "Search" }
        }
        @if entries.is_empty() { p.muted { "No entry has that number or is about that run." } }
        div.scroll tabindex="0" role="region" aria-label="Entries" {
            table.list {
                thead { tr { th.right scope="col" { "Entry" } th scope="col" { "What" } th scope="col" { "Who" } th scope="col" { "About" } th scope="col" { "Run" } th scope="col" { "When" } } }
                tbody { @for entry in entries { (row(entry)) } }
            }
        }
        (pager.show())
    }
}

fn row(entry: &LedgerEntry) -> Markup {
    let body: Value = serde_json::from_str(entry.body.get()).unwrap_or_default();
    let request = body["content"]["run"]["request"].as_str().unwrap_or_default();
    html! {
        tr data-row {
            td.right { a href={ "/ledger/" (entry.seq) } { (grouped(entry.seq)) } }
            td { (visible(&entry.kind)) }
            td { code { (visible(body["who"].as_str().unwrap_or_default())) } }
            td.wide { (lines(request, 120)) }
            td { @if let Some(run) = &entry.run_id { a href={ "/runs/" (in_path(run)) } { (short_id(run)) } } }
            td { (when(&entry.at)) }
        }
    }
}

fn verified(report: &LedgerReport) -> Markup {
    html! {
        @if report.is_whole() { p.notice role="status" { "The ledger is whole: " (grouped(report.entries)) " entries, every link and signature." } }
        @else {
            div.notice.bad role="alert" {
                p { strong { "The ledger is not whole." } }
                ul { @for finding in report.findings.iter().take(50) { li { code { (finding.code) } @if let Some(seq) = finding.seq { " entry " (seq) } ": " (visible(&finding.message)) } } }
            }
        }
    }
}

/// One entry.
pub fn page(entry: &LedgerEntry) -> Markup {
    let body: Value = serde_json::from_str(entry.body.get()).unwrap_or_default();
    html! {
        p.crumbs { a href="/ledger" { "Ledger" } " / " (entry.seq) }
        h1 { "Entry " (entry.seq) ": " (visible(&entry.kind)) }
        (facts(&[
            ("when", when(&entry.at)),
            ("who", html! { code { (visible(body["who"].as_str().unwrap_or_default())) } }),
            ("through", html! { (visible(body["through"].as_str().unwrap_or_default())) }),
            ("run", html! { @if let Some(run) = &entry.run_id { a href={ "/runs/" (in_path(run)) } { (short_id(run)) } } @else { span.muted { "none" } } }),
        ]))
        (facts(&[
            ("hash", html! { code.break { (visible(&entry.hash)) } }),
            ("hash of the entry before", html! { code.break { (visible(&entry.previous)) } }),
            ("signature", html! { code.break { (visible(&entry.signature)) } }),
        ]))
        section { h2 { "What is recorded" } @if body.is_null() { (chip("bad", "unreadable")) } (json(&body)) }
    }
}
