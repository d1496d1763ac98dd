//! The plans that are kept and used again.

use maud::{Markup, html};
use ordain_store::CachedPlan;

use crate::code::listing;
use crate::parts::{Pager, chip, empty, facts};
use crate::shell::Viewer;
use crate::text::{grouped, in_path, lines, short_id, visible, when};

/// A plan, and why it no longer holds, if it does not.
#[derive(Debug, Clone)]
pub struct Shown {
    /// The plan.
    pub plan: CachedPlan,
    /// Why it is stale.
    pub stale: Option<String>,
}

/// The list.
pub fn list(plans: &[Shown], pager: &Pager) -> Markup {
    html! {
        h1 { "Plans" }
        @if plans.is_empty() { (empty("No plan is kept yet.", &html! { p { "A plan that did well is kept and runs again without a planner." } })) }
        @else {
            div.scroll tabindex="0" role="region" aria-label="Plans" {
                table.list {
                    thead { tr { th scope="col" { "Plan" } th scope="col" { "Written for" } th scope="col" { "By" } th.right scope="col" { "Uses" } th scope="col" { "Last used" } } }
                    tbody { @for shown in plans { tr data-row {
                        td { @if shown.stale.is_some() { (chip("wait", "stale")) } @else { (chip("good", "holds")) } @if shown.plan.pinned { " " (chip("calm", "pinned")) } }
                        td.wide { a href={ "/plans/" (in_path(&shown.plan.plan_id)) } { (lines(&shown.plan.request, 120)) } span.muted.below { (visible(&shown.plan.title)) } }
                        td { (visible(shown.plan.model.as_deref().unwrap_or(shown.plan.source.as_str()))) }
                        td.right { (grouped(shown.plan.uses)) }
                        td { (when(&shown.plan.last_used_at)) }
                    } } }
                }
            }
        }
        (pager.show())
    }
}

/// One plan.
pub fn page(shown: &Shown, viewer: &Viewer) -> Markup {
    let plan = &shown.plan;
    let button = |verb: &str, words: &str| {
        html! {
            form.inline method="post" action={ "/plans/" (in_path(&plan.plan_id)) "/" (verb) } { (viewer.hidden_token()) button type="submit" { (words) } } " "
        }
    };
    html! {
        p.crumbs { a href="/plans" { "Plans" } " / " code { (short_id(&plan.plan_id)) } }
        h1.request { (lines(&plan.request, 300)) }
        p.meta { @if let Some(why) = &shown.stale { (chip("wait", "stale")) " " (visible(why)) } @else { (chip("good", "holds")) } @if plan.pinned { " " (chip("calm", "pinned")) } }
        @if viewer.is_admin { p { @if plan.pinned { (button("unpin", "Unpin")) } @else { (button("pin", "Pin")) } (button("evict", "Forget")) } }
        (facts(&[
            ("kind", html! { (visible(&plan.kind)) }),
            ("by", html! { (visible(plan.model.as_deref().unwrap_or(plan.source.as_str()))) }),
            ("written in", html! { a href={ "/runs/" (in_path(&plan.run_id)) } { (short_id(&plan.run_id)) } }),
            ("uses", html! { (grouped(plan.uses)) }),
            ("last used", html! { (when(&plan.last_used_at)) }),
        ]))
        section { h2 { "Code" } (listing(&plan.code, &[], "code")) }
        section {
            h2 { "Compiled against" }
            div.scroll tabindex="0" role="region" aria-label="Compiled against" { table {
                thead { tr { th scope="col" { "Part" } th scope="col" { "Hash or type" } } }
                tbody { @for (part, value) in &plan.components { tr { td { (visible(part)) } td { code.break { (lines(value, 200)) } } } } }
            } }
        }
    }
}
