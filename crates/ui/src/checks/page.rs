//! One check: the rule as written, as understood and as code, its history, and the failing rows.

use maud::{Markup, html};
use ordain_checks::report::PastResult;
use ordain_checks::report::words::sample_columns;
use ordain_checks::{Check, CheckResult, CodeFrom};
use serde_json::Value;

use super::{run_form, sparkline, status};
use crate::chart::{Chart, count};
use crate::code::listing;
use crate::parts::{empty, facts, fold, json};
use crate::shell::Viewer;
use crate::text::{cell, duration, grouped, in_path, lines, visible, when};

/// Rows of the history that the page shows.
const HISTORY_MAX: usize = 60;

/// What the page shows.
#[derive(Debug, Clone)]
pub struct CheckPage {
    /// The check as its owner wrote it.
    pub check: Check,
    /// The file that holds it, and the line.
    pub file: String,
    /// The line at which it begins.
    pub line: u32,
    /// Its code, who wrote it, when, and the plan behind it.
    pub compiled: Option<(String, CodeFrom, String, Value)>,
    /// Why the next run compiles it anew.
    pub stale: Option<String>,
    /// What its last runs gave, oldest first.
    pub history: Vec<PastResult>,
    /// The last result in full, while its report is kept.
    pub result: Option<CheckResult>,
}

/// The whole page.
pub fn page(shown: &CheckPage, viewer: &Viewer) -> Markup {
    let check = &shown.check;
    html! {
        p.crumbs { a href="/checks" { "Checks" } " / " code { (visible(&check.check_id)) } }
        div.title {
            h1 { (visible(&check.check_name)) }
            div.acts {
                @if viewer.is_admin { a.button href={ "/checks/" (in_path(&check.check_id)) "/edit" } { "Edit the rule" } }
                @if viewer.may_run { (run_form(&format!("/checks/{}/run", in_path(&check.check_id)), "Run this check", viewer)) }
            }
        }
        p.meta { (status(shown.history.last().map(PastResult::mark))) " " (sparkline(&shown.history))
            @if let Some(last) = shown.history.last() { " last run " (when(&last.started_at)) } @else { " It has never run." } }
        @if let Some(why) = &shown.stale { p.notice { "The next run makes its code anew: " (visible(why)) } }
        (last_result(shown))
        section #rule { h2 { "Rule" } (rule(shown)) }
        (code(shown))
        (history(shown))
    }
}

fn rule(shown: &CheckPage) -> Markup {
    let check = &shown.check;
    let mut about = vec![
        ("tables", html! { (visible(&check.target_table.join(", "))) }),
        ("kind", html! { code { (visible(check.kind.name())) } }),
        ("severity", html! { (check.severity.name()) }),
        ("file", html! { code { (visible(&shown.file)) ":" (shown.line) } }),
    ];
    about.extend(check.owner.as_ref().map(|owner| ("owner", html! { (visible(owner)) })));
    about.extend(
        (!check.tags.is_empty())
            .then(|| ("tags", html! { @for tag in &check.tags { span.tag { (visible(tag)) } " " } })),
    );
    about.extend(
        check.filter.as_ref().map(|filter| ("only rows where", html! { code { (visible(filter)) } })),
    );
    about
        .extend(check.schedule.as_ref().map(|schedule| ("schedule", html! { code { (visible(schedule)) } })));
    about.extend(
        (!check.depends_on.is_empty()).then(|| ("after", html! { (visible(&check.depends_on.join(", "))) })),
    );
    html! {
        @if !check.description.is_empty() { p { (lines(&check.description, 4000)) } }
        @if let Some(hint) = &check.calculation_hint { blockquote { (lines(hint, 4000)) } }
        @if let Some(read) = shown.compiled.as_ref().and_then(|(.., plan)| check.understood(plan)) { p { "Understood as: " strong { (visible(&read)) } } }
        @if !check.params.is_empty() { (json(&Value::Object(check.params.clone()))) }
        (facts(&about))
    }
}

fn last_result(shown: &CheckPage) -> Markup {
    let Some(result) = &shown.result else { return html! {} };
    html! {
        section #result {
            h2 { "Last result" }
            p.said { (visible(&result.summary)) }
            @if let Some(reason) = &result.reason { p.problem { (visible(reason)) } }
            p.meta {
                @if let (Some(failed), Some(evaluated)) = (result.failed, result.evaluated) { (grouped(failed)) " of " (grouped(evaluated)) " rows fail · " }
                (duration(result.duration_ms))
                @if let Some(last) = shown.history.last() { " · " a href={ "/runs/" (visible(&last.run_id)) } { "the run" } }
            }
            @if let Some(why) = &result.recompiled { p.muted { "Its code was made anew: " (visible(why)) } }
            @for note in &result.notes { p.muted { (visible(note)) } }
            (failing_rows(result))
        }
    }
}

/// The failing rows, with the offending cells marked.
pub(super) fn failing_rows(result: &CheckResult) -> Markup {
    let (keys, values) = sample_columns(result);
    let shown = result.samples.len() as u64;
    html! {
        @if !result.samples.is_empty() {
            h3 { "Failing rows" @if let Some(all) = result.failed.filter(|all| *all > shown) { span.muted { " the first " (shown) " of " (grouped(all)) } } }
            div.scroll tabindex="0" role="region" aria-label={ "Failing rows of " (visible(&result.check_id)) } {
                table {
                    thead { tr { @for name in &keys { th scope="col" { (visible(name)) } } @for name in &values { th scope="col" { (visible(name)) } } } }
                    tbody { @for row in &result.samples { tr {
                        @for name in &keys { td { (cell(row.key.get(*name))) } }
                        @for name in &values { td.offends { (cell(row.values.get(*name))) } }
                    } } }
                }
            }
        }
    }
}

fn code(shown: &CheckPage) -> Markup {
    html! {
        section #code {
            h2 { "Code" }
            @match &shown.compiled {
                None => { (empty("It has no code yet.", &html! { p { "Its first run makes it." } })) },
                Some((code, from, at, plan)) => {
                    p.muted { "From " (from.name()) ", " (when(at)) }
                    (listing(code, &[], "code"))
                    @if !plan.is_null() { (fold(&html! { "Plan" }, false, &json(plan))) }
                    @if let Some(against) = shown.result.as_ref().and_then(|result| result.compiled_against.as_ref()) {
                        (fold(&html! { "Compiled against" }, false, &json(against)))
                    }
                }
            }
        }
    }
}

/// Failing rows of each run.
fn chart(shown: &CheckPage) -> Chart {
    let counted = shown.history.iter().filter_map(|past| Some((past, past.failed?)));
    Chart {
        title: "Failing rows a run".to_owned(),
        series: vec![("failing".to_owned(), "bad")],
        is_stacked: true,
        rows: counted
            .map(|(past, failed)| (past.started_at.chars().take(19).collect(), vec![count(failed)]))
            .collect(),
    }
}

fn history(shown: &CheckPage) -> Markup {
    let newest = shown.history.iter().rev().take(HISTORY_MAX);
    html! {
        @if !shown.history.is_empty() {
            section #history {
                h2 { "History" }
                (crate::chart::show(&chart(shown)))
                div.scroll tabindex="0" role="region" aria-label="History" {
                    table.list {
                        thead { tr { th scope="col" { "Status" } th.right scope="col" { "Failing" } th.right scope="col" { "Share" } th scope="col" { "When" } th scope="col" { "Run" } } }
                        tbody { @for past in newest { tr {
                            td { (status(Some(past.mark()))) }
                            td.right { @if let Some(failed) = past.failed { (grouped(failed)) } }
                            td.right { @if let Some(share) = past.failed_pct { (ordain_checks::report::words::percent(share)) } }
                            td { (when(&past.started_at)) }
                            td { a href={ "/runs/" (visible(&past.run_id)) } { (crate::text::short_id(&past.run_id)) } }
                        } } }
                    }
                }
            }
        }
    }
}
