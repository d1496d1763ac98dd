//! What checks gave, as a file for somebody: each check with its rule, its failing rows and its code. Opening and choosing
//! work without a script.

use std::collections::HashMap;

use maud::{Markup, html};
use ordain_checks::report::PastResult;
use ordain_checks::report::words::{by_weight, count, duration, sentence};
use ordain_checks::{CheckResult, CheckStatus, Mark, RunReport};

use super::page::failing_rows;
use super::{sparkline, status};
use crate::code::listing;
use crate::parts::{facts, fold, json};
use crate::text::{counted, grouped, in_path, short_id, visible, when};

/// The content of the file. `history` is of earlier runs, the oldest first.
pub(crate) fn report(report: &RunReport, history: &[PastResult]) -> Markup {
    let mut past: HashMap<&str, Vec<PastResult>> = HashMap::new();
    for one in history {
        past.entry(one.check_id.as_str()).or_default().push(one.clone());
    }
    html! {
        h1 { "Checks of " (visible(&report.workspace)) }
        @let open = report.not_evaluated();
        p.meta { (counted(report.results.len(), "check", "checks")) " · " @if open > 0 { (grouped(open as u64)) " not evaluated · " } (when(&report.started_at)) " · " (duration(report.duration_ms)) }
        fieldset.shown {
            legend.unseen { "Show" }
            label { input type="radio" name="show" id="show-all" checked; " all" }
            @for of in CheckStatus::ALL.into_iter().filter(|of| count(report, *of) > 0) {
                label { input type="radio" name="show" id={ "show-" (of.name().to_lowercase()) }; " " (status(Some(Mark::of(of, None)))) " " (grouped(count(report, of))) }
            }
        }
        @for result in by_weight(&report.results) {
            @let before = past.remove(result.check_id.as_str()).unwrap_or_default();
            (one(result, &[before, vec![PastResult::of(report, result)]].concat()))
        }
    }
}

fn one(result: &CheckResult, history: &[PastResult]) -> Markup {
    let is_bad = result.status == CheckStatus::Fail || result.is_open();
    let title = html! {
        h2 { (status(Some(result.mark()))) " " (visible(&result.check_name)) " " code.muted { (visible(&result.check_id)) } }
        " " (sparkline(history))
    };
    html! {
        div class={ "result " (result.status.name().to_lowercase()) } {
            (fold(&title, is_bad, &html! {
                p.said { (visible(&sentence(result))) }
                @if !result.rule.is_empty() { p { "Rule: " (visible(&result.rule)) } }
                @if let Some(read) = &result.understood { p { "Understood as: " (visible(read)) } }
                (about(result))
                @for note in &result.notes { p.muted { (visible(note)) } }
                (failing_rows(result))
                @for artifact in &result.artifacts { p.muted { "All failing rows: " code { (visible(artifact)) } } }
                @if let Some(plan) = &result.plan { (fold(&html! { "Plan" }, false, &json(plan))) }
                @if let Some(code) = &result.code { (fold(&html! { "Code" }, false, &listing(code, &[], &in_path(&result.check_id)))) }
                @if let Some(against) = &result.compiled_against { (fold(&html! { "Compiled against" }, false, &json(against))) }
            }))
        }
    }
}

fn about(result: &CheckResult) -> Markup {
    let text = |text: &str| html! { (visible(text)) };
    let mut about = vec![
        ("severity", text(result.severity.name())),
        ("tables", text(&result.target_table.join(", "))),
        ("kind", text(&result.kind)),
        ("took", text(&duration(result.duration_ms))),
    ];
    about.extend(result.failed.zip(result.evaluated).map(|(failed, evaluated)| {
        ("failing rows", text(&format!("{} of {}", grouped(failed), grouped(evaluated))))
    }));
    about.extend(result.owner.as_ref().map(|owner| ("owner", text(owner))));
    about.extend((!result.tags.is_empty()).then(|| ("tags", text(&result.tags.join(", ")))));
    about.extend(result.code_from.map(|from| ("code from", text(from.name()))));
    about.extend(result.recompiled.as_ref().map(|why| ("recompiled because", text(why))));
    about.extend(result.data_fingerprint.as_ref().map(|hash| ("data", text(&short_id(hash)))));
    about.extend(result.code_hash.as_ref().map(|hash| ("code hash", text(&short_id(hash)))));
    facts(&about)
}
