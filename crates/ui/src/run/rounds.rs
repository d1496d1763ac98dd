//! The rounds in which a plan was written: what each gave, what was wrong with it, and what the next one changed.

use maud::{Markup, html};
use ordain_types::{Judged, Round, RunRecord};

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
                        li { (one(round, code_of(record, round), place.checked_sub(1).and_then(|before| code_of(record, &history[before])))) }
                    }
                }
                @if !record.verdict.modifications.is_empty() {
                    h3 { "Changed on the way" }
                    ul { @for done in &record.verdict.modifications {
                        li { @if done.round > 0 { "Round " (done.round) ": " } (visible(&done.what)) }
                    } }
                }
            }
        }
    }
}

fn one(round: &Round, code: Option<&str>, before: Option<&str>) -> Markup {
    match round {
        Round::Judged(judged) => judged_round(judged, code, before),
        Round::Stale { stale, .. } => html! { p { "A kept plan was not used: " (visible(stale)) } },
        Round::KeptFailed { trouble, .. } => {
            html! { p { "A kept plan did not hold: " (visible(&trouble.message)) } }
        }
        Round::Looked { look, shown } => {
            let inside = html! { pre tabindex="0" { (visible(look)) } pre tabindex="0" { (visible(shown)) } };
            fold(&html! { "The planner looked at the data first" }, false, &inside)
        }
        Round::ExecutorLost { executor_lost } => {
            html! { p { "An executor was lost: " (visible(executor_lost)) } }
        }
    }
}

/// The code of a round. The last one's is the plan's own.
fn code_of<'a>(record: &'a RunRecord, round: &'a Round) -> Option<&'a str> {
    match round {
        Round::Judged(judged) => {
            let of_plan =
                || record.plan.steps.first().map(|step| step.code.as_str()).filter(|_| judged.accepted);
            judged.code.as_deref().or_else(of_plan)
        }
        _ => None,
    }
}

fn judged_round(judged: &Judged, code: Option<&str>, before: Option<&str>) -> Markup {
    let title = html! {
        "Round " (judged.round) " "
        @if judged.accepted { (chip("good", "accepted")) } @else { (chip("bad", "refused")) }
        @if let Some(trouble) = &judged.trouble { " " span.muted { (visible(&trouble.message)) } }
    };
    let inside = html! {
        @if let Some(code) = code {
            @match before {
                Some(before) => {
                    (changed(before, code))
                    @for finding in &judged.findings { p { code { (visible(finding["code"].as_str().unwrap_or_default())) } " line " (finding["line"].as_u64().unwrap_or_default()) ": " (visible(finding["message"].as_str().unwrap_or_default())) } }
                }
                None => { (listing(code, &judged.findings, &format!("round-{}", judged.round))) },
            }
        }
    };
    fold(&title, !judged.accepted, &inside)
}
