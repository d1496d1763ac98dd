//! The rounds in which a plan was written: what each gave, what was wrong with it, and what the next one changed.

use maud::{Markup, html};
use ordain_types::RunRecord;
use serde_json::Value;

use crate::code::{changed, listing};
use crate::parts::{chip, fold};
use crate::text::visible;

/// Nothing where the first code was good.
pub(super) fn section(record: &RunRecord) -> Markup {
    let history = &record.verdict.history;
    let is_plain = history.len() < 2 && record.verdict.modifications.is_empty();
    html! {
        @if !is_plain {
            section #rounds {
                h2 { "Rounds" }
                ol.plain {
                    @for (place, round) in history.iter().enumerate() {
                        li { (one(round, place.checked_sub(1).and_then(|before| history[before]["code"].as_str()))) }
                    }
                }
                @if !record.verdict.modifications.is_empty() {
                    h3 { "Changed on the way" }
                    ul { @for done in &record.verdict.modifications {
                        li { @if let Some(round) = done["round"].as_u64() { "Round " (round) ": " } (visible(done["what"].as_str().unwrap_or_default())) }
                    } }
                }
            }
        }
    }
}

fn one(round: &Value, before: Option<&str>) -> Markup {
    let is_accepted = round["accepted"].as_bool().unwrap_or_default();
    let findings = round["findings"].as_array().map(Vec::as_slice).unwrap_or_default();
    let trouble = round["trouble"]["message"].as_str();
    let title = html! {
        "Round " (round["round"].as_u64().unwrap_or_default()) " "
        @if is_accepted { (chip("good", "accepted")) } @else { (chip("bad", "refused")) }
        @if let Some(trouble) = trouble { " " span.muted { (visible(trouble)) } }
    };
    let inside = html! {
        @if let Some(code) = round["code"].as_str() {
            @match before {
                Some(before) => {
                    (changed(before, code))
                    @for finding in findings { p { code { (visible(finding["code"].as_str().unwrap_or_default())) } " line " (finding["line"].as_u64().unwrap_or_default()) ": " (visible(finding["message"].as_str().unwrap_or_default())) } }
                }
                None => { (listing(code, findings, &format!("round-{}", round["round"].as_u64().unwrap_or_default()))) },
            }
        }
    };
    fold(&title, !is_accepted, &inside)
}
