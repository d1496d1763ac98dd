//! The report as one HTML file that needs nothing from anywhere.
//!
//! Markup is made by `maud`, which escapes every value, and the page forbids itself scripts and requests by its own
//! content policy: a check's name or a cell's value stays text even if an escape were forgotten. Opening and filtering
//! work without a script.

mod sparkline;

use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde_json::Value;

use super::PastResult;
use super::words::{by_weight, count, cut, duration, failed, sample_columns, sentence, value, visible};
use crate::result::{CheckResult, CheckStatus, RunReport};

const STYLE: &str = include_str!("html/report.css");
/// Nothing may be fetched, and nothing may run.
const CONTENT_POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";
/// Longer values are cut in the table of failing rows.
const CELL_MAX: usize = 200;
/// Longer code is cut; the code itself is in the JSON report.
const CODE_MAX: usize = 100_000;

/// The report as a single HTML file. `history` is of earlier runs, the oldest first.
pub fn render_html(report: &RunReport, history: &[PastResult]) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(CONTENT_POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="referrer" content="no-referrer";
                title { "Checks of " (visible(&report.workspace)) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                (head(report))
                main { @for result in by_weight(report) { (check(report, result, history)) } }
                footer { "Run " code { (visible(&report.run_id)) } " · made by Ordain · format " (report.schema_version) }
            }
        }
    };
    let mut text = page.into_string();
    text.push('\n');
    text
}

fn head(report: &RunReport) -> Markup {
    let total = report.results.len();
    html! {
        header {
            h1 { "Checks of " (visible(&report.workspace)) }
            p.when {
                (total) @if total == 1 { " check" } @else { " checks" }
                " · " (visible(&report.started_at)) " · " (duration(report.duration_ms))
            }
            // The inputs come first so that the style sheet can see which one is chosen.
            fieldset.filter {
                legend { "Show" }
                label.choice { input type="radio" name="show" id="show-all" checked; span { "all " (total) } }
                @for status in CheckStatus::ALL {
                    label.choice {
                        input type="radio" name="show" id={ "show-" (class(status)) } disabled[count(report, status) == 0];
                        span class={ "badge " (class(status)) } { (status.name()) " " (count(report, status)) }
                    }
                }
            }
            @if total > 0 { (bar(report)) }
        }
    }
}

/// The shares of the statuses as one bar.
fn bar(report: &RunReport) -> Markup {
    html! {
        div.bar aria-hidden="true" {
            @for status in CheckStatus::ALL {
                @let share = count(report, status);
                @if share > 0 { span class=(class(status)) style={ "flex-grow:" (share) } {} }
            }
        }
    }
}

fn check(report: &RunReport, result: &CheckResult, history: &[PastResult]) -> Markup {
    let is_open = matches!(result.status, CheckStatus::Fail | CheckStatus::Error);
    html! {
        details class={ "check " (class(result.status)) } open[is_open] {
            summary {
                span class={ "badge " (class(result.status)) } { (result.status.name()) }
                span.title { code { (visible(&result.check_id)) } " " (visible(&result.check_name)) }
                span.count { (failed(result)) }
                (sparkline::of(report, result, history))
            }
            @if !result.rule.is_empty() { p.note { "Rule: " (visible(&result.rule)) } }
            @if let Some(rule) = &result.understood { p.note { "Read as: " (visible(rule)) } }
            p.sentence { (visible(&sentence(result))) }
            (facts(result))
            @for note in &result.notes { p.note { (visible(note)) } }
            (rows(result))
            @if let Some(plan) = &result.plan { (folded("Plan", &pretty(plan))) }
            @if let Some(code) = &result.code { (folded("Code", code)) }
            @if let Some(schema) = &result.compiled_against { (folded("Compiled against", &pretty(schema))) }
        }
    }
}

fn facts(result: &CheckResult) -> Markup {
    let mut facts: Vec<(&str, String)> = vec![
        ("severity", result.severity.name().to_owned()),
        ("tables", result.target_table.join(", ")),
        ("kind", result.kind.clone()),
    ];
    facts.extend(result.owner.clone().map(|owner| ("owner", owner)));
    if !result.tags.is_empty() {
        facts.push(("tags", result.tags.join(", ")));
    }
    facts.extend(result.code_from.map(|from| ("code from", from.name().to_owned())));
    facts.extend(result.recompiled.clone().map(|why| ("recompiled because", why)));
    facts.extend(result.data_fingerprint.clone().map(|hash| ("data", cut(&hash, 16))));
    facts.extend(result.code_hash.clone().map(|hash| ("code hash", cut(&hash, 16))));
    facts.push(("took", duration(result.duration_ms)));
    html! { dl { @for (name, text) in &facts { div { dt { (name) } dd { (visible(text)) } } } } }
}

fn rows(result: &CheckResult) -> Markup {
    let (keys, values) = sample_columns(result);
    let shown = result.samples.len() as u64;
    html! {
        @if !result.samples.is_empty() {
            div.rows {
                table {
                    caption {
                        "Failing rows"
                        @if let Some(all) = result.failed.filter(|all| *all > shown) { ": " (shown) " of " (all) }
                    }
                    thead { tr {
                        @for name in &keys { th.key scope="col" { (visible(name)) } }
                        @for name in &values { th scope="col" { (visible(name)) } }
                    } }
                    tbody { @for row in &result.samples { tr {
                        @for name in &keys { td.key { (cell(row.key.get(*name))) } }
                        @for name in &values { td { (cell(row.values.get(*name))) } }
                    } } }
                }
            }
        }
        @for artifact in &result.artifacts { p.note { "All failing rows: " code { (visible(artifact)) } } }
    }
}

fn cell(cell: Option<&Value>) -> Markup {
    match cell {
        None => html! {},
        Some(Value::Null) => html! { em { "null" } },
        Some(Value::String(text)) if text.is_empty() => html! { em { "empty text" } },
        Some(cell) => html! { (visible(&cut(&value(cell), CELL_MAX))) },
    }
}

fn folded(title: &str, text: &str) -> Markup {
    let is_cut = text.chars().count() > CODE_MAX;
    html! {
        details.folded {
            summary { (title) @if is_cut { " (beginning)" } }
            pre tabindex="0" { code { (lines(&cut(text, CODE_MAX))) } }
        }
    }
}

/// Text of several lines, each made harmless.
fn lines(text: &str) -> String {
    text.lines().map(|line| visible(&line.replace('\t', "    "))).collect::<Vec<_>>().join("\n")
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

const fn class(status: CheckStatus) -> &'static str {
    match status {
        CheckStatus::Pass => "pass",
        CheckStatus::Warn => "warn",
        CheckStatus::Fail => "fail",
        CheckStatus::Error => "error",
        CheckStatus::Skipped => "skipped",
    }
}
